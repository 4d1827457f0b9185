//go:build !linux

package transport

import (
	"net"
	"net/netip"
)

// The directions of a batch.
const (
	recvBatch uintptr = iota
	sendBatch
)

// datagrams is a batch on systems without recvmmsg: one system call per datagram, and sending may wait.
type datagrams struct {
	conn    *net.UDPConn
	buffers [][]byte
	targets []netip.AddrPort
	size    int
	from    netip.AddrPort
}

func newDatagrams(u *udpSocket, slots int, _ uintptr) *datagrams {
	return &datagrams{conn: u.conn, buffers: make([][]byte, slots), targets: make([]netip.AddrPort, slots)}
}

func (d *datagrams) setBuffer(i int, b []byte) { d.buffers[i] = b }

func (d *datagrams) receive() (int, error) {
	n, from, err := d.conn.ReadFromUDPAddrPort(d.buffers[0])
	if err != nil {
		return 0, err
	}
	d.size, d.from = n, netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	return 1, nil
}

func (d *datagrams) send(first, _ int) (int, error) {
	if _, err := d.conn.WriteToUDPAddrPort(d.buffers[first], d.targets[first]); err != nil {
		return 0, err
	}
	return 1, nil
}

func (d *datagrams) source(int) netip.AddrPort          { return d.from }
func (d *datagrams) setTarget(i int, to netip.AddrPort) { d.targets[i] = to }
func (d *datagrams) length(int) int                     { return d.size }
func (d *datagrams) forget(n int)                       { clear(d.buffers[:n]) }
