package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// udpSocket is one SO_REUSEPORT socket. Its reader goroutine is the only one that reads; any goroutine may write.
type udpSocket struct {
	set      *Set
	listener int
	local    netip.AddrPort
	conn     *net.UDPConn
	raw      syscall.RawConn
}

// openUDP binds one socket of a listener; shared when the listener has several.
func (s *Set) openUDP(listener int, addr netip.AddrPort, shared bool) (*udpSocket, error) {
	network := "udp4"
	if addr.Addr().Is6() {
		network = "udp6"
	}
	limits := &s.limits
	lc := net.ListenConfig{Control: controlUDP(network, shared, limits.ReceiveBuffer, limits.SendBuffer)}
	pc, err := lc.ListenPacket(context.Background(), network, addr.String())
	if err != nil {
		return nil, fmt.Errorf("udp %s: %w", addr, innermost(err))
	}
	conn := pc.(*net.UDPConn)
	u := &udpSocket{set: s, listener: listener, conn: conn, local: addrPort(conn.LocalAddr())}
	if u.raw, err = conn.SyscallConn(); err != nil {
		return nil, errors.Join(fmt.Errorf("udp %s: %w", addr, err), conn.Close())
	}
	return u, nil
}

// addrPort converts the address of a socket; IPv4-mapped addresses become IPv4.
func addrPort(a net.Addr) netip.AddrPort {
	var ap netip.AddrPort
	switch a := a.(type) {
	case *net.UDPAddr:
		ap = a.AddrPort()
	case *net.TCPAddr:
		ap = a.AddrPort()
	}
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}
