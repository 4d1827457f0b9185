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
	dials     signal // of those who wait for a connection
	links     map[[2]string]link
	listeners map[netip.AddrPort]*Listener
	packets   map[netip.AddrPort]*PacketConn
	streams   map[*half]struct{}
	stalled   map[netip.Addr]time.Time
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
		links:     make(map[[2]string]link),
		listeners: make(map[netip.AddrPort]*Listener),
		packets:   make(map[netip.AddrPort]*PacketConn),
		streams:   make(map[*half]struct{}),
		stalled:   make(map[netip.Addr]time.Time),
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
// What a stream carries is not lost but late, as with TCP.
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

// Stall holds up all reads and writes of the host for d from now on: the machine
// has no CPU for them. Timers go on, which is worse than a process that is stopped.
func (n *Network) Stall(h *Host, d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stalled[h.addr] = time.Now().Add(d)
}

// idle is until when the host does nothing; zero when it works. The caller holds mu.
func (n *Network) idle(h *Host) time.Time {
	if until := n.stalled[h.addr]; time.Now().Before(until) {
		return until
	}
	return time.Time{}
}

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
			l.changed.wake()
			delete(n.listeners, at)
		}
	}
	for at, p := range n.packets {
		if at.Addr() == h.addr {
			p.closed = true
			p.changed.wake()
			delete(n.packets, at)
		}
	}
	n.broadcast()
}

// errReset is what both ends of a crashed host's streams see.
var errReset = errors.New("vnet: connection reset by peer")

// broadcast wakes everybody who waits: a link or a host changed. The caller holds mu.
func (n *Network) broadcast() {
	n.dials.wake()
	for h := range n.streams {
		h.changed.wake()
	}
	for _, l := range n.listeners {
		l.changed.wake()
	}
}

// signal wakes those who wait for one thing to change. Guarded by Network.mu.
type signal struct{ waiters chan struct{} }

// wake ends all waits.
func (s *signal) wake() {
	if s.waiters != nil {
		close(s.waiters)
		s.waiters = nil
	}
}

// wait blocks until s is woken or until the moment at; zero waits for s alone. The
// caller holds mu, which is released meanwhile.
func (n *Network) wait(s *signal, at time.Time) {
	if s.waiters == nil {
		s.waiters = make(chan struct{})
	}
	changed := s.waiters
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
