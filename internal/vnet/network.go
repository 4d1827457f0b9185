package vnet

import (
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Network holds hosts and the links between them. All methods may be called from
// any goroutine.
type Network struct {
	mu        sync.Mutex
	wake      chan struct{} // closed and replaced whenever something changed
	links     map[[2]string]link
	listeners map[netip.AddrPort]*Listener
	packets   map[netip.AddrPort]*PacketConn
	streams   map[*half]struct{}
	ports     uint16
	random    *rand.Rand
}

// link is one direction between two zones.
type link struct {
	delay time.Duration
	loss  float64
	cut   bool
}

// New makes a network without delay; the seed decides which packets are lost.
func New(seed uint64) *Network {
	return &Network{
		wake:      make(chan struct{}),
		links:     make(map[[2]string]link),
		listeners: make(map[netip.AddrPort]*Listener),
		packets:   make(map[netip.AddrPort]*PacketConn),
		streams:   make(map[*half]struct{}),
		ports:     40000,
		random:    rand.New(rand.NewPCG(seed, seed)),
	}
}

// Host is one machine: an address in a zone.
type Host struct {
	n    *Network
	addr netip.Addr
	zone string
}

// Host returns the host of that IP address; links are set between zones.
func (n *Network) Host(ip, zone string) *Host {
	return &Host{n: n, addr: netip.MustParseAddr(ip), zone: zone}
}

// SetDelay sets the one-way delay between two zones, both ways.
func (n *Network) SetDelay(a, b string, d time.Duration) {
	n.change(a, b, func(l *link) { l.delay = d })
	n.change(b, a, func(l *link) { l.delay = d })
}

// SetLoss sets the share of packets that are lost between two zones, both ways.
// Streams lose nothing.
func (n *Network) SetLoss(a, b string, share float64) {
	n.change(a, b, func(l *link) { l.loss = share })
	n.change(b, a, func(l *link) { l.loss = share })
}

// Cut stops everything from one zone to another, in this direction only.
func (n *Network) Cut(from, to string) { n.change(from, to, func(l *link) { l.cut = true }) }

// Heal undoes Cut.
func (n *Network) Heal(from, to string) { n.change(from, to, func(l *link) { l.cut = false }) }

// Split cuts two zones from each other in both directions.
func (n *Network) Split(a, b string) { n.Cut(a, b); n.Cut(b, a) }

// Join undoes Split.
func (n *Network) Join(a, b string) { n.Heal(a, b); n.Heal(b, a) }

func (n *Network) change(from, to string, f func(*link)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := [2]string{from, to}
	l := n.links[key]
	f(&l)
	n.links[key] = l
	n.broadcast()
}

// Crash resets every stream of the host and closes its listeners and packet
// sockets, at once and on both ends.
func (n *Network) Crash(h *Host) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for s := range n.streams {
		if s.from.addr == h.addr || s.to.addr == h.addr {
			s.fail(errReset)
		}
	}
	for at, l := range n.listeners {
		if at.Addr() == h.addr {
			l.closed = true
			delete(n.listeners, at)
		}
	}
	for at, p := range n.packets {
		if at.Addr() == h.addr {
			p.closed = true
			delete(n.packets, at)
		}
	}
	n.broadcast()
}

// errReset is what both ends of a crashed host's streams see.
var errReset = errors.New("vnet: connection reset by peer")

// broadcast wakes everybody who waits; the caller holds mu.
func (n *Network) broadcast() {
	close(n.wake)
	n.wake = make(chan struct{})
}

// wait blocks until something changes or until the moment at; zero waits for a
// change alone. The caller holds mu, which is released meanwhile.
func (n *Network) wait(at time.Time) {
	changed := n.wake
	n.mu.Unlock()
	defer n.mu.Lock()
	if at.IsZero() {
		<-changed
		return
	}
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	}
}

// port gives an ephemeral port; the caller holds mu.
func (n *Network) port() uint16 {
	n.ports++
	return n.ports
}

func tcpAddr(a netip.AddrPort) net.Addr { return net.TCPAddrFromAddrPort(a) }
