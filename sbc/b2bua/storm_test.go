package b2bua

import (
	"bytes"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/mint"
	"github.com/tandem-sbc/tandem/sbc/sessions"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// storm is a whole cluster with its far ends in virtual time: a network that
// loses, doubles and reorders datagrams, nodes with streams between them, and
// user agents that do what user agents do, at random moments.
type storm struct {
	t       testing.TB
	now     time.Time
	rng     *rand.Rand
	plans   agenda
	seq     int
	weather weather
	table   *trunkgroup.Table
	view    *trunkgroup.View
	nodes   []*stormNode
	agents  map[string]*agent
	records []*cdr.Record
	trace   []string
	traced  string // Call-ID whose messages are traced, "*" for all
	faults  []string
	placed  []*party
	// bindings of far ends that register.
	bindings []*trunkgroup.Binding
	forked   int // attempts that lost to another one of their fork
	revision uint64
}

// weather says what happens to datagrams and how users behave.
type weather struct {
	lose, double, late float64
	// garble: how often what reaches a node is not what was sent.
	garble float64
	// manners: how often users do odd things, 0 never to 1 often.
	cancels, odd, vanish float64
	// registered: how often the far end that is called is one that registers.
	registered float64
	// parallel: how often the number that is called rings everywhere.
	parallel float64
	// changing: how often a call goes by what changes all the time.
	changing float64
	// drains: a node passes its calls on for a while.
	drains float64
}

// link is the stream between two nodes. down is when it was cut.
type stormNode struct {
	w       *storm
	name    string
	site    string
	addr    string
	boot    uint32
	s       *Shard
	dead    bool
	cut     bool                 // its interconnect is cut from all others
	seen    map[string]time.Time // peers that are known to be away, since when
	failing []func()
	rng     *rand.Rand
	turns   map[string]uint64
	started int
	ended   int
	ids     map[string]bool // record keys
	up      map[string]bool // answered calls that are told to others, by id
	seats   *sessions.Table
	limits  *limit.Set // counts, mostly without a limit
	meters  map[*limit.Meter]limit.Key
	// troubled: it was dead once.
	troubled bool
}

const stormStart = "2026-01-01T00:00:00Z"

func stormDocument() *trunkgroup.Document {
	return &trunkgroup.Document{
		Cluster: "test",
		Sites:   []trunkgroup.SiteSpec{{Name: "dallas", Peers: []string{"ashburn"}}, {Name: "ashburn", Peers: []string{"dallas"}}},
		TrunkGroups: []trunkgroup.GroupSpec{
			{
				Name: "acme-in", Role: trunkgroup.OriginationCustomer, Numbers: []string{"+1214555*"},
				Distribution: trunkgroup.DistributionSpec{Method: trunkgroup.LoadBalance, SessionAffinityHeader: "X-Room-Id"},
				Members: []trunkgroup.MemberSpec{
					{ID: "dal-1", Site: "dallas", Address: "198.51.100.10:5060"},
					{ID: "dal-2", Site: "dallas", Address: "198.51.100.11:5060"},
					{ID: "ash-1", Site: "ashburn", Address: "198.51.100.74:5060"},
					{ID: "ash-2", Site: "ashburn", Address: "198.51.100.75:5060"},
				},
			},
			{
				Name: "carrier-a", Role: trunkgroup.PSTNProvider,
				Members: []trunkgroup.MemberSpec{
					{ID: "dal", Site: "dallas", Address: carrierAddr},
					{ID: "ash", Site: "ashburn", Address: "192.0.2.74:5060"},
				},
			},
			stormGroup(),
			stormForkGroup(),
		},
	}
}

func newStorm(t testing.TB, seed uint64, weather weather) *storm {
	t.Helper()
	start, _ := time.Parse(time.RFC3339, stormStart)
	w := &storm{t: t, now: start, rng: rand.New(rand.NewPCG(seed, 7)), weather: weather, agents: map[string]*agent{}}
	d := stormDocument()
	if weather.registered > 0 && weather.parallel > 0 {
		g := &d.TrunkGroups[slices.IndexFunc(d.TrunkGroups, func(g trunkgroup.GroupSpec) bool { return g.Name == stormRegistered })]
		g.Distribution.Method = trunkgroup.Parallel
	}
	table, err := trunkgroup.Compile(d, trunkgroup.Version{Cluster: "test", Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.table, w.view = table, trunkgroup.NewView(table)
	for i, n := range [][2]string{{"dal-1", "dallas"}, {"dal-2", "dallas"}, {"ash-1", "ashburn"}, {"ash-2", "ashburn"}} {
		node := &stormNode{
			w: w, name: n[0], site: n[1], addr: fmt.Sprintf("203.0.113.%d:5060", i+1), boot: 1,
			seen: map[string]time.Time{}, rng: rand.New(rand.NewPCG(seed, uint64(100+i))), turns: map[string]uint64{},
			ids: map[string]bool{}, up: map[string]bool{},
		}
		node.start()
		w.nodes = append(w.nodes, node)
	}
	for _, addr := range []string{
		carrierAddr, "192.0.2.74:5060", "198.51.100.10:5060", "198.51.100.11:5060", "198.51.100.74:5060", "198.51.100.75:5060",
	} {
		w.agents[addr] = newAgent(w, addr)
	}
	if weather.registered > 0 {
		w.register()
	}
	if weather.parallel > 0 {
		w.fork()
	}
	if weather.changing > 0 {
		w.changes(40 * time.Second)
	}
	return w
}

func (n *stormNode) start() {
	n.limits, n.meters = limit.NewSet(), map[*limit.Meter]limit.Key{}
	n.limits.Replace(n.w.meters(n))
	key := bytes.Repeat([]byte("x"), 32)
	n.seats = sessions.NewTable()
	n.seats.Publish(n.w.table)
	n.s = New(Config{
		Sessions: counted{n.seats, sessions.NewMemory()},
		Node:     n.name, Site: n.site, Boot: n.boot, Listeners: []Listener{{Transport: trunkgroup.UDP, Advertise: n.addr}},
		Minter: mint.New(key, mint.NodeID(n.name), n.boot), HandoffKey: key,
	}, n, n.w.now)
}

func (w *storm) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.plans, todo{w.now.Add(d), w.seq, do})
}

func (w *storm) chance(p float64) bool { return p > 0 && w.rng.Float64() < p }

func (w *storm) upTo(d time.Duration) time.Duration { return time.Duration(w.rng.Int64N(int64(d) + 1)) }

// breach is a fault that only counts when far ends are what they seem.
func (w *storm) breach(format string, args ...any) {
	if w.weather.garble == 0 {
		w.fault(format, args...)
	}
}

func (w *storm) fault(format string, args ...any) {
	if len(w.faults) < 20 {
		w.faults = append(w.faults, w.now.Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	}
}

func (w *storm) note(from, to string, m *sip.Message, what string) {
	if w.traced == "" || w.traced != "*" && w.traced != string(m.CallID()) {
		return
	}
	line, _, _ := strings.Cut(string(m.Raw()), "\r\n")
	w.trace = append(w.trace, fmt.Sprintf("%s %s -> %s %s%s cid=%.22s cseq=%d %s ft=%.10s tt=%.10s br=%.20s", w.now.Format("15:04:05.000"), from, to, what, line,
		m.CallID(), m.CSeq(), m.CSeqMethod(), m.FromTag(), m.ToTag(), m.Branch()))
}

// datagram carries bytes over UDP: perhaps never, perhaps twice, perhaps late.
func (w *storm) datagram(from, to string, b []byte) {
	m, fault := sip.Parse(bytes.Clone(b))
	if fault != nil {
		if w.weather.garble > 0 && strings.HasPrefix(fault.Reason, "Several Via") {
			return // for a proxy that was never there
		}
		w.t.Fatalf("%s sent what does not parse: %v\n%s", from, fault, b)
	}
	copies := 1
	if w.chance(w.weather.lose) {
		w.note(from, to, m, "LOST ")
		copies = 0
	} else if w.chance(w.weather.double) {
		copies = 2
	}
	for range copies {
		d := time.Millisecond + w.upTo(20*time.Millisecond)
		if w.chance(w.weather.late) {
			d += w.upTo(700 * time.Millisecond)
		}
		m := m
		if w.nodeAt(to) != nil && w.chance(w.weather.garble) {
			if m = w.garbled(b); m == nil {
				continue
			}
		}
		w.after(d, func() {
			w.note(from, to, m, "")
			w.arrive(from, to, m)
		})
	}
}

func (w *storm) arrive(from, to string, m *sip.Message) {
	if a := w.agents[to]; a != nil {
		if a.asked == nil || a.asked[from] {
			a.receive(from, m)
		}
		return
	}
	if n := w.nodeAt(to); n != nil && !n.dead {
		n.receive(&Packet{Packet: transport.Packet{
			Message: m, Transport: trunkgroup.UDP, Source: netip.MustParseAddrPort(from), Local: netip.MustParseAddrPort(to),
		}})
	}
}

func (w *storm) nodeAt(addr string) *stormNode {
	for _, n := range w.nodes {
		if n.addr == addr {
			return n
		}
	}
	return nil
}

func (n *stormNode) receive(p *Packet) {
	n.s.Receive(n.w.now, p)
	*p = Packet{}
	n.settle()
}

// settle reports the sends that failed at once, after the step that made them.
func (n *stormNode) settle() {
	for len(n.failing) > 0 {
		f := n.failing[0]
		n.failing = n.failing[1:]
		f()
	}
}

func (w *storm) node(name string) *stormNode {
	for _, n := range w.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// stream carries a frame over the interconnect, in order.
func (n *stormNode) stream(to string, do func(x *stormNode)) bool {
	x := n.w.node(to)
	if _, away := n.seen[to]; x == nil || away {
		return false
	}
	boot := x.boot
	n.w.after(15*time.Millisecond, func() {
		if !x.dead && !x.cut && !n.cut && x.boot == boot {
			do(x)
			x.settle()
		}
	})
	return true
}

// Env.

func (n *stormNode) Send(t transport.Target, b []byte, ref uint64) {
	if t.Node != "" {
		m, fault := sip.Parse(bytes.Clone(b))
		if fault != nil {
			n.w.t.Fatalf("%s sent what does not parse: %v\n%s", n.name, fault, b)
		}
		ok := n.stream(t.Node, func(x *stormNode) {
			n.w.note(n.name, x.name, m, "")
			x.s.Receive(n.w.now, &Packet{Packet: transport.Packet{Message: m, Transport: trunkgroup.Interconnect}, Peer: n.name})
		})
		if !ok && ref != 0 {
			n.failing = append(n.failing, func() { n.s.Failed(n.w.now, ref, errTimeout) })
		}
		return
	}
	if t.ViaNode != "" {
		n.stream(t.ViaNode, func(x *stormNode) { n.w.datagram(x.addr, t.Addr.String(), b) })
		return
	}
	n.w.datagram(n.addr, t.Addr.String(), b)
}

func (n *stormNode) Routing() (*trunkgroup.Table, *trunkgroup.View) { return n.w.table, n.view() }
func (n *stormNode) Random() uint64                                 { return n.rng.Uint64() }
func (n *stormNode) Turn(g *trunkgroup.Group) uint64                { n.turns[g.Name]++; return n.turns[g.Name] }

func (n *stormNode) Peers() (list []geo.PeerNode) {
	for _, x := range n.w.nodes {
		if x.site != n.site {
			_, away := n.seen[x.name]
			list = append(list, geo.PeerNode{Name: x.name, Site: x.site, RTT: 30 * time.Millisecond, Fresh: !away})
		}
	}
	return list
}

func (n *stormNode) Peer(id uint32) (PeerState, bool) {
	for _, x := range n.w.nodes {
		if x != n && mint.NodeID(x.name) == id {
			since, away := n.seen[x.name]
			st := PeerState{Name: x.name, Boot: x.boot, Up: !away}
			if away {
				st.Down = n.w.now.Sub(since)
			}
			return st, true
		}
	}
	return PeerState{}, false
}

func (n *stormNode) Isolated() bool { return false }

func (n *stormNode) Up(node string) bool {
	_, away := n.seen[node]
	return n.w.node(node) != nil && !away
}

func (n *stormNode) Share(o Open) {
	for _, x := range n.w.nodes {
		if x != n {
			n.ShareWith(x.name, o)
		}
	}
}

func (n *stormNode) ShareWith(node string, o Open) {
	n.stream(node, func(x *stormNode) { x.s.Shared(n.w.now, n.name, o) })
}

func (n *stormNode) Forward(node string, p *Packet) bool {
	q := *p
	q.Relay = n.name
	return n.stream(node, func(x *stormNode) { x.s.Receive(n.w.now, &q) })
}

// Admit lets a call wait a while for its share, when there may be one.
func (n *stormNode) Admit(ref uint64, uses []limit.Use) limit.Verdict {
	v := n.limits.Admit(n.w.now, uses)
	if s := n.s; v == limit.Waiting {
		n.w.after(n.w.upTo(700*time.Millisecond), func() {
			if n.s == s && !n.dead {
				s.Admitted(n.w.now, ref, n.limits.Admit(n.w.now, uses) == limit.Granted)
				n.settle()
			}
		})
	}
	return v
}

func (n *stormNode) Release(uses []limit.Use) { n.limits.Release(uses) }

func (n *stormNode) Evidence(*trunkgroup.Member, netip.AddrPort, bool, string) {}
func (n *stormNode) Paused(*trunkgroup.Member, netip.AddrPort, time.Duration)  {}
func (n *stormNode) Pinged(uint64, PingResult)                                 {}

func (n *stormNode) CallUp(r *cdr.Record) {
	if n.up[r.CallID] {
		n.w.fault("%s says twice that call %s was answered", n.name, r.CallID)
	}
	n.up[r.CallID] = true
}

func (n *stormNode) CallDown(id string) {
	if !n.up[id] {
		n.w.fault("%s ends call %s, which was not up", n.name, id)
	}
	delete(n.up, id)
}

func (n *stormNode) Finished(r *cdr.Record) {
	key := r.CallID + " " + r.SIPCallID
	if n.ids[key] {
		n.w.fault("%s wrote two records of call %s", n.name, key)
	}
	n.ids[key] = true
	n.w.records = append(n.w.records, r)
}

func (n *stormNode) Count(e Event) {
	switch e.Kind {
	case EventCallStarted:
		n.started++
	case EventCallEnded:
		n.ended++
	}
}

// run plays everything in order of time until nothing is left to do.
func (w *storm) run() {
	for {
		next := time.Time{}
		var who *stormNode
		for _, n := range w.nodes {
			if d := n.s.Deadline(); !n.dead && !d.IsZero() && (next.IsZero() || d.Before(next)) {
				next, who = d, n
			}
		}
		if len(w.plans) > 0 && (next.IsZero() || w.plans[0].at.Before(next)) {
			x := heap.Pop(&w.plans).(todo)
			w.now = x.at
			x.do()
			continue
		}
		if who == nil {
			return
		}
		if next.After(w.now) {
			w.now = next
		}
		who.s.Advance(w.now)
		who.settle()
	}
}

// attempts lists what the records say was dialled, by egress Call-ID.
func (w *storm) attempts() map[string]cdr.Attempt {
	out := map[string]cdr.Attempt{}
	for _, r := range w.records {
		for _, a := range r.Attempts {
			if a.EgressCallID != "" {
				out[a.EgressCallID] = a
			}
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
