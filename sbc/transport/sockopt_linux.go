package transport

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// controlUDP sets the options of a UDP socket before it is bound: large kernel buffers (past the system's limit where the process
// may), ICMP errors by the error queue, no DF bit (a long INVITE is fragmented on its way rather than lost). SO_REUSEPORT is set
// for listeners of several sockets only, since it hides that another process has the address.
func controlUDP(network string, shared bool, receive, send int) func(string, string, syscall.RawConn) error {
	return func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			s := int(fd)
			setBuffer(s, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, receive)
			setBuffer(s, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, send)
			if shared {
				if failed = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); failed != nil {
					return
				}
			}
			if network == "udp6" {
				failed = unix.SetsockoptInt(s, unix.IPPROTO_IPV6, unix.IPV6_RECVERR, 1)
				return
			}
			_ = unix.SetsockoptInt(s, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DONT)
			failed = unix.SetsockoptInt(s, unix.IPPROTO_IP, unix.IP_RECVERR, 1)
		})
		if err != nil {
			return err
		}
		return failed
	}
}

// setBuffer asks for a buffer size. The kernel cuts what an unprivileged process asks for, which is no fault.
func setBuffer(fd, force, plain, size int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, size) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, plain, size)
	}
}

// tuneTCP bounds how long written bytes may stay unacknowledged, so that a peer that vanished is noticed while calls still use
// the connection.
func tuneTCP(c *net.TCPConn, unacknowledged time.Duration) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unacknowledged.Milliseconds()))
	})
}
