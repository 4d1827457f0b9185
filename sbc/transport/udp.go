package transport

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// batchIO is what ipv4.PacketConn and ipv6.PacketConn share.
type batchIO interface {
	ReadBatch(ms []ipv4.Message, flags int) (int, error)
	WriteBatch(ms []ipv4.Message, flags int) (int, error)
}

// udpSocket is one SO_REUSEPORT socket. Its reader goroutine is the only one that reads; any goroutine may write.
type udpSocket struct {
	set      *Set
	listener int
	local    netip.AddrPort
	conn     *net.UDPConn
	io       batchIO
}

// openUDP binds one socket of a listener.
func (s *Set) openUDP(listener int, addr netip.AddrPort) (*udpSocket, error) {
	network := "udp4"
	if addr.Addr().Is6() {
		network = "udp6"
	}
	limits := &s.limits
	lc := net.ListenConfig{Control: controlUDP(network, limits.ReceiveBuffer, limits.SendBuffer)}
	pc, err := lc.ListenPacket(context.Background(), network, addr.String())
	if err != nil {
		return nil, fmt.Errorf("bind udp %s: %w", addr, err)
	}
	conn := pc.(*net.UDPConn)
	u := &udpSocket{set: s, listener: listener, conn: conn, local: addrPort(conn.LocalAddr())}
	if network == "udp4" {
		u.io = ipv4.NewPacketConn(conn)
	} else {
		u.io = ipv6.NewPacketConn(conn)
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
