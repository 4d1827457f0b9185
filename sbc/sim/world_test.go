package sim

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// world is a network in virtual time with callers and callees on it.
type world struct {
	t     testing.TB
	now   time.Time
	cores map[netip.AddrPort]core
	sent  []datagram
	order int
	rng   *rand.Rand
	// delay is drawn for each datagram from 0..delay; lose is the share that is lost.
	delay time.Duration
	lose  float64
	lost  int
	// lenient: a malformed message is dropped instead of failing the test.
	lenient bool
	// refuse: datagrams to these addresses meet ICMP.
	refuse map[netip.AddrPort]bool
	trace  []string
}

type datagram struct {
	at       time.Time
	order    int
	from, to netip.AddrPort
	data     []byte
}

var (
	callerAddr = netip.MustParseAddrPort("192.0.2.1:5060")
	calleeAddr = netip.MustParseAddrPort("192.0.2.2:5060")
	otherAddr  = netip.MustParseAddrPort("192.0.2.3:5060")
)

func newWorld(t testing.TB, seed uint64) *world {
	return &world{
		t: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), cores: map[netip.AddrPort]core{},
		rng: rand.New(rand.NewPCG(seed, 1)), refuse: map[netip.AddrPort]bool{},
	}
}

func (w *world) sender(from netip.AddrPort) Sender {
	return func(t transport.Target, data []byte, ref uint64) {
		if w.refuse[t.Addr] {
			w.cores[from].Failed(w.now, 0, &transport.ICMPError{Branch: branchIn(data), Addr: t.Addr, Errno: syscall.ECONNREFUSED})
			return
		}
		if w.rng.Float64() < w.lose {
			w.lost++
			return
		}
		at := w.now
		if w.delay > 0 {
			at = at.Add(time.Duration(w.rng.Int64N(int64(w.delay))))
		}
		w.order++
		w.sent = append(w.sent, datagram{at: at, order: w.order, from: from, to: t.Addr, data: data})
	}
}

func branchIn(data []byte) []byte {
	_, rest, _ := bytes.Cut(data, []byte("branch="))
	return rest[:bytes.IndexAny(rest, ";\r")]
}

func (w *world) callee(addr netip.AddrPort, b Behaviour) *Callee {
	c := NewCallee(CalleeConfig{Name: "callee-" + addr.Addr().String(), Behaviour: b, Seed: 1}, w.sender(addr))
	w.cores[addr] = c
	return c
}

func (w *world) caller(cfg CallerConfig, nodes ...netip.AddrPort) *Caller {
	for _, n := range nodes {
		cfg.Nodes = append(cfg.Nodes, Node{Addr: n})
	}
	c, err := NewCaller(cfg, func(Node) netip.AddrPort { return callerAddr }, w.sender(callerAddr))
	if err != nil {
		w.t.Fatal(err)
	}
	w.cores[callerAddr] = c
	return c
}

// run lets the world go on for d.
func (w *world) run(d time.Duration) {
	end := w.now.Add(d)
	for {
		next := end
		for _, c := range w.cores {
			if at := c.Deadline(); !at.IsZero() && at.Before(next) {
				next = at
			}
		}
		i := -1
		for j := range w.sent {
			if at := w.sent[j].at; at.Before(next) || at.Equal(next) && (i < 0 || w.sent[j].order < w.sent[i].order) {
				next, i = at, j
			}
		}
		if next.After(w.now) {
			w.now = next
		}
		if i >= 0 {
			d := w.sent[i]
			w.sent = slices.Delete(w.sent, i, i+1)
			w.deliver(d)
			continue
		}
		due := false
		for _, addr := range []netip.AddrPort{callerAddr, calleeAddr, otherAddr} {
			if c := w.cores[addr]; c != nil && reached(c.Deadline(), w.now) {
				c.Expire(w.now)
				due = true
			}
		}
		if !due && !next.Before(end) {
			return
		}
	}
}

func (w *world) deliver(d datagram) {
	c := w.cores[d.to]
	if c == nil {
		return
	}
	m, f := sip.Parse(bytes.Clone(d.data))
	if f != nil && w.lenient {
		return
	}
	if f != nil {
		w.t.Fatalf("%v in\n%s", f, d.data)
	}
	w.trace = append(w.trace, startLine(m))
	c.Receive(w.now, &transport.Packet{Message: m, Source: d.from, Local: d.to, Transport: trunkgroup.UDP})
}

// record places one call and returns its record once it is over.
func (w *world) record(c *Caller, p Placement) *CallRecord {
	w.t.Helper()
	var r *CallRecord
	p.Notify = func(e Event) {
		if e.Record != nil {
			r = e.Record
		}
	}
	c.Place(w.now, p)
	for range 300 {
		if r != nil {
			return r
		}
		w.run(time.Second)
	}
	w.t.Fatal("the call did not end within 300 s")
	return nil
}

func (w *world) noFaults(c *Caller, callees ...*Callee) {
	w.t.Helper()
	if list, _ := c.Faults(); len(list) > 0 {
		w.t.Errorf("faults seen by the caller: %+v", list)
	}
	for _, far := range callees {
		if a := far.Account(); len(a.Faults) > 0 {
			w.t.Errorf("faults seen by %s: %+v", a.Name, a.Faults)
		}
	}
}

func target(addr netip.AddrPort) transport.Target {
	return transport.Target{Transport: trunkgroup.UDP, Addr: addr}
}
