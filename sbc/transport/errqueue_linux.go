package transport

import (
	"encoding/binary"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// drainErrors reads the error queue of the socket: every ICMP error since the last time.
func (u *udpSocket) drainErrors() (failures []failure) {
	var data [1024]byte
	var control [512]byte
	for {
		var size, controlSize int
		var to unix.Sockaddr
		readErr := error(syscall.EBADF)
		if err := u.raw.Control(func(fd uintptr) {
			size, controlSize, _, to, readErr = unix.Recvmsg(int(fd), data[:], control[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		}); err != nil || readErr != nil {
			return failures
		}
		errno, ok := icmpErrno(control[:controlSize])
		if !ok {
			continue
		}
		u.set.counters.ICMP.Add(1)
		icmp := &ICMPError{Branch: BranchOf(data[:size]), Addr: sockaddr(to), Errno: errno}
		failures = append(failures, failure{target: u.target(icmp.Addr), err: icmp})
	}
}

// icmpErrno finds the error of an IP_RECVERR or IPV6_RECVERR control message: struct sock_extended_err of linux/errqueue.h. Errors
// that the kernel found itself were returned by the send; a packet too big for its path gets through when it is repeated,
// since the kernel has learnt the path's MTU.
func icmpErrno(control []byte) (syscall.Errno, bool) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0, false
	}
	for _, m := range messages {
		v4 := m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_RECVERR
		v6 := m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_RECVERR
		if (!v4 && !v6) || len(m.Data) < 16 {
			continue
		}
		errno, origin := syscall.Errno(binary.NativeEndian.Uint32(m.Data)), m.Data[4]
		return errno, origin != unix.SO_EE_ORIGIN_LOCAL && errno != syscall.EMSGSIZE
	}
	return 0, false
}

// sockaddr converts the address that the failed datagram was for.
func sockaddr(a unix.Sockaddr) netip.AddrPort {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return netip.AddrPort{}
}
