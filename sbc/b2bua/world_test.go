package b2bua

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/mint"
	"github.com/tandem-sbc/tandem/sbc/registry"
	"github.com/tandem-sbc/tandem/sbc/sessions"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

// world is a shard with everything around it written down: what it sends, what
// it records. Time moves when the test says so.
type world struct {
	t        testing.TB
	now      time.Time
	s        *Shard
	table    *trunkgroup.Table
	view     *trunkgroup.View
	random   uint64
	turns    map[string]uint64
	sent     []wire
	records  []*cdr.Record
	ups      []cdr.Record
	downs    []string
	events   []Event
	shared   []Open
	peers    []geo.PeerNode
	down     map[string]bool // nodes
	lost     time.Time       // since when they are
	boots    map[string]uint32
	trap     func(m *sip.Message) bool // sending it panics
	rename   func(text string) string  // changes what far ends send
	faults   int                       // panics met
	told     []string                  // nodes that were told something alone
	unsent   []uint64                  // refs of what could not be sent to a node
	forward  []string
	passed   []Packet // what went to another node, as it was
	passedBy string   // the node that passed on what packetBy gives
	pinged   []PingResult
	isolated bool
	blame    []string
	seats    *sessions.Table
	limits   *limit.Set
	// routes decides; nil: nobody does. What it returns nil for waits in queries.
	routes   func(q *RouteQuery) *trunkgroup.RouteSet
	queries  []uint64
	hooked   []*policy.Event // what webhooks would get
	queue    *limit.Queue
	charges  chargeDesk
	asked    []asked // REGISTERs that wait
	registry *registry.Registry
	// refuseRegisters: the registrar has no room.
	refuseRegisters bool
}

// wire is one message as it left.
type wire struct {
	to  transport.Target
	m   *sip.Message
	ref uint64
}

const (
	carrierAddr = "192.0.2.10:5060"
	pbx1Addr    = "198.51.100.10:5060"
	pbx2Addr    = "198.51.100.11:5060"
	offer       = "v=0\r\no=- 1 1 IN IP4 192.0.2.10\r\ns=-\r\nc=IN IP4 192.0.2.10\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n"
	answerSDP   = "v=0\r\no=- 2 2 IN IP4 198.51.100.10\r\ns=-\r\nc=IN IP4 198.51.100.10\r\nt=0 0\r\nm=audio 5000 RTP/AVP 0\r\n"
)

func newWorld(t testing.TB) *world { return newWorldOf(t, "dal-1", "dallas", document()) }

func newWorldOf(t testing.TB, node, site string, doc *trunkgroup.Document) *world {
	t.Helper()
	w := &world{
		t: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), random: 1,
		turns: map[string]uint64{}, down: map[string]bool{},
	}
	w.limits = limit.NewSet()
	w.queue = limit.NewQueue(w.limits, 100)
	table, err := trunkgroup.Compile(doc, trunkgroup.Version{Cluster: "test", Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.table, w.view = table, trunkgroup.NewView(table)
	w.limits.Replace(metersOf(table, w.now, limit.Unlimited))
	verifier, err := auth.New(bytes.Repeat([]byte("k"), 32), "sip.example.com", auth.Options{})
	if err != nil {
		t.Fatal(err)
	}
	key := bytes.Repeat([]byte("x"), 32)
	w.seats = sessions.NewTable()
	w.seats.Publish(table)
	w.s = New(Config{
		Sessions: counted{w.seats, sessions.NewMemory()},
		Node:     node, Site: site, Boot: 1,
		Listeners: []Listener{
			{Transport: trunkgroup.UDP, Advertise: "203.0.113.1:5060"},
			{Transport: trunkgroup.TCP, Advertise: "203.0.113.1:5060"},
		},
		Minter: mint.New(key, mint.NodeID(node), 1), Verifier: verifier, HandoffKey: key,
	}, w, w.now)
	return w
}

func document() *trunkgroup.Document {
	return &trunkgroup.Document{
		Cluster: "test",
		Sites:   []trunkgroup.SiteSpec{{Name: "dallas", Peers: []string{"ashburn"}}, {Name: "ashburn", Peers: []string{"dallas"}}},
		TrunkGroups: []trunkgroup.GroupSpec{
			{
				Name: "acme-in", Role: trunkgroup.OriginationCustomer, Numbers: []string{"+1214555*"},
				Distribution: trunkgroup.DistributionSpec{Method: trunkgroup.Failover, SessionAffinityHeader: "X-Room-Id"},
				Members: []trunkgroup.MemberSpec{
					{ID: "dal-1", Site: "dallas", Address: pbx1Addr, Priority: 1},
					{ID: "dal-2", Site: "dallas", Address: pbx2Addr, Priority: 2},
					{ID: "ash-1", Site: "ashburn", Address: "198.51.100.74:5060"},
				},
			},
			{
				Name: "acme-out", Role: trunkgroup.TerminationCustomer,
				Sources: []trunkgroup.SourceSpec{{IP: "198.51.100.10", Port: 5060}},
			},
			{
				Name: "carrier-a", Role: trunkgroup.PSTNProvider,
				Members: []trunkgroup.MemberSpec{
					{ID: "dal", Site: "dallas", Address: carrierAddr},
					{ID: "ash", Site: "ashburn", Address: "192.0.2.74:5060"},
				},
			},
		},
	}
}

// Env.

func (w *world) Tell(_ *trunkgroup.RoutePolicy, e *policy.Event) { w.hooked = append(w.hooked, e) }

func (w *world) Decide(ref uint64, q *RouteQuery) *trunkgroup.RouteSet {
	if w.routes == nil {
		return &trunkgroup.RouteSet{Absent: true}
	}
	set := w.routes(q)
	if set == nil {
		w.queries = append(w.queries, ref)
	}
	return set
}

func (w *world) Send(t transport.Target, b []byte, ref uint64) {
	if m, _ := sip.Parse(bytes.Clone(b)); w.trap != nil && w.trap(m) {
		panic(playedFault)
	}
	m, fault := sip.Parse(bytes.Clone(b))
	if fault != nil {
		w.t.Fatalf("the shard sent what does not parse: %v\n%s", fault, b)
	}
	if w.down[t.Node] {
		if ref != 0 {
			w.unsent = append(w.unsent, ref)
		}
		return
	}
	w.sent = append(w.sent, wire{to: t, m: m, ref: ref})
}

// settle tells the shard what could not be sent.
func (w *world) settle() {
	for len(w.unsent) > 0 {
		ref := w.unsent[0]
		w.unsent = w.unsent[1:]
		w.s.Failed(w.now, ref, errUnreachable)
	}
}

var errUnreachable = errors.New("not reachable")

func (w *world) Routing() (*trunkgroup.Table, *trunkgroup.View) { return w.table, w.view }

func (w *world) Random() uint64 {
	w.random ^= w.random << 13
	w.random ^= w.random >> 7
	w.random ^= w.random << 17
	return w.random
}

func (w *world) Turn(g *trunkgroup.Group) uint64 { w.turns[g.Name]++; return w.turns[g.Name] - 1 }
func (w *world) Isolated() bool                  { return w.isolated }
func (w *world) Peers() []geo.PeerNode           { return w.peers }

func (w *world) Peer(id uint32) (PeerState, bool) {
	for _, p := range w.peers {
		if mint.NodeID(p.Name) == id {
			st := PeerState{Name: p.Name, Boot: max(1, w.boots[p.Name]), Up: !w.down[p.Name], Down: time.Second}
			if !w.lost.IsZero() {
				st.Down = w.now.Sub(w.lost)
			}
			return st, true
		}
	}
	return PeerState{}, false
}

// Admit implements Limits by the meters of the test; without any, nothing has a
// limit.
func (w *world) Admit(ref uint64, uses []limit.Use) limit.Verdict {
	v := w.limits.Admit(w.now, uses)
	if v == limit.Waiting {
		w.queue.Add(limit.Waiter{Ref: ref, Uses: uses, Deadline: w.now.Add(500 * time.Millisecond)})
	}
	return v
}

func (w *world) Release(uses []limit.Use) { w.limits.Release(uses) }

func (w *world) Up(node string) bool { return !w.down[node] }
func (w *world) Share(o Open)        { w.shared = append(w.shared, o) }
func (w *world) ShareWith(node string, o Open) {
	w.shared, w.told = append(w.shared, o), append(w.told, node)
}

func (w *world) Paused(m *trunkgroup.Member, _ netip.AddrPort, d time.Duration) {
	w.blame = append(w.blame, m.Key+" paused "+d.String())
}
func (w *world) CallUp(r *cdr.Record)          { w.ups = append(w.ups, *r) }
func (w *world) CallDown(id string)            { w.downs = append(w.downs, id) }
func (w *world) Finished(r *cdr.Record)        { w.records = append(w.records, r) }
func (w *world) Count(e Event)                 { w.events = append(w.events, e) }
func (w *world) Pinged(_ uint64, r PingResult) { w.pinged = append(w.pinged, r) }
func (w *world) Forward(n string, p *Packet) bool {
	if w.down[n] {
		return false
	}
	w.forward = append(w.forward, n+" "+p.Message.Method())
	w.passed = append(w.passed, *p)
	return true
}

func (w *world) Evidence(m *trunkgroup.Member, _ netip.AddrPort, ok bool, cause string) {
	if !ok {
		w.blame = append(w.blame, m.Key+" "+cause)
	}
}

// The test's side.

// from gives the shard a message from an address over UDP.
func (w *world) from(addr, text string) { w.packet(addr, "", text) }

func (w *world) packet(addr, peer, text string) {
	w.t.Helper()
	if w.rename != nil {
		text = w.rename(text)
	}
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		w.t.Fatalf("test message: %v\n%s", fault, text)
	}
	p := &Packet{Packet: transport.Packet{Message: m, Transport: trunkgroup.UDP}, Peer: peer}
	if peer != "" {
		p.Transport = trunkgroup.Interconnect
	} else {
		p.Source = netip.MustParseAddrPort(addr)
	}
	w.step(func() { w.s.Receive(w.now, p) })
	*p = Packet{} // whoever kept it meets that
}

const playedFault = "played fault"

// step is one step of the shard with what its owner does about faults.
func (w *world) step(do func()) {
	func() {
		defer func() {
			switch cause := recover(); cause {
			case nil:
			case playedFault:
				w.faults++
				w.s.Poisoned()
			default:
				panic(cause)
			}
		}()
		do()
	}()
	w.settle()
}

// advance moves time, firing every deadline at its own instant.
func (w *world) advance(d time.Duration) {
	end := w.now.Add(d)
	for {
		next := w.s.Deadline()
		if next.IsZero() || next.After(end) {
			break
		}
		if next.After(w.now) {
			w.now = next
		}
		w.step(func() { w.s.Advance(w.now) })
	}
	w.now = end
	w.step(func() { w.s.Advance(w.now) })
}

// take removes and returns the first message sent to addr whose start line
// begins so: "INVITE", "SIP/2.0 180".
func (w *world) take(addr, start string) *sip.Message {
	w.t.Helper()
	m := w.find(addr, start)
	if m == nil {
		w.t.Fatalf("nothing that begins with %q was sent to %s; sent:\n%s", start, addr, w.trace())
	}
	return m
}

func (w *world) find(addr, start string) *sip.Message {
	for i, x := range w.sent {
		if x.dest() == addr && strings.HasPrefix(string(x.m.Raw()), start) {
			w.sent = append(w.sent[:i], w.sent[i+1:]...)
			return x.m
		}
	}
	return nil
}

func (x wire) dest() string {
	if x.to.Node != "" {
		return x.to.Node
	}
	return x.to.Addr.String()
}

func (w *world) none(addr, start string) {
	w.t.Helper()
	if m := w.find(addr, start); m != nil {
		w.t.Fatalf("%s got what it should not:\n%s", addr, m.Raw())
	}
}

func (w *world) trace() string {
	var b strings.Builder
	for _, x := range w.sent {
		line, _, _ := strings.Cut(string(x.m.Raw()), "\r\n")
		fmt.Fprintf(&b, "  -> %s %s\n", x.dest(), line)
	}
	return b.String()
}

// quiet demands that nothing is left of any call once all timers have run out.
func (w *world) quiet() {
	w.t.Helper()
	w.advance(70 * time.Second)
	if st := w.s.Stats(); st != (Stats{Open: st.Open}) {
		w.t.Fatalf("left behind: %+v", st)
	}
	w.counted(0)
	w.seated(0)
}

// seated fails unless so many calls are counted at far ends.
func (w *world) seated(want int) {
	w.t.Helper()
	n := 0
	for _, m := range w.table.Members() {
		n += w.seats.Sessions(m, nil)
	}
	if n != want {
		w.t.Errorf("%d calls are counted at far ends, want %d", n, want)
	}
}

// invite is a caller's INVITE.
type invite struct {
	called, callID, branch, from string
	seq                          int
	body                         string
	lines                        string
	host                         string
}

func (i invite) String() string {
	if i.called == "" {
		i.called = "+12145550100"
	}
	if i.callID == "" {
		i.callID = "call-1"
	}
	if i.branch == "" {
		i.branch = "z9hG4bKa1"
	}
	if i.seq == 0 {
		i.seq = 1
	}
	if i.host == "" {
		i.host = carrierAddr
	}
	s := "INVITE sip:" + i.called + "@203.0.113.1 SIP/2.0\r\nVia: SIP/2.0/UDP " + i.host + ";branch=" + i.branch + "\r\n" +
		"Max-Forwards: 70\r\nFrom: \"Bob\" <sip:+13105551234@" + i.host + ">;tag=caller\r\nTo: <sip:" + i.called + "@203.0.113.1>\r\n" +
		"Call-ID: " + i.callID + "\r\nCSeq: " + strconv.Itoa(i.seq) + " INVITE\r\nContact: <sip:bob@" + i.host + ">\r\n" + i.lines
	if i.body != "" {
		s += "Content-Type: application/sdp\r\n"
	}
	return s + "Content-Length: " + strconv.Itoa(len(i.body)) + "\r\n\r\n" + i.body
}

// reply writes a far end's response to one of our requests.
func reply(req *sip.Message, code int, tag, body string, lines ...string) string {
	extra := strings.Join(lines, "")
	if !strings.Contains(extra, "Contact:") {
		extra += "Contact: <sip:pbx@198.51.100.10:5060>\r\n"
	}
	var ct []byte
	if body != "" {
		ct = []byte("application/sdp")
	}
	return string(sip.AppendResponse(nil, req, code, "", []byte(tag), netip.AddrPort{}, []byte(extra), ct, []byte(body)))
}

// ackFor writes the caller's ACK of a response.
func ackFor(resp *sip.Message, branch, body string) string {
	ct := ""
	if body != "" {
		ct = "Content-Type: application/sdp\r\n"
	}
	return "ACK sip:203.0.113.1 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.10:5060;branch=" + branch + "\r\nMax-Forwards: 70\r\nFrom: " +
		string(resp.Header(sip.From)) + "\r\nTo: " + string(resp.Header(sip.To)) + "\r\nCall-ID: " + string(resp.CallID()) +
		"\r\nCSeq: " + strconv.Itoa(int(resp.CSeq())) + " ACK\r\n" + ct + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// inside writes a request of the caller in the dialog of a response.
func inside(resp *sip.Message, method string, seq int, lines, body string) string {
	ct := ""
	if body != "" {
		ct = "Content-Type: application/sdp\r\n"
	}
	return method + " sip:203.0.113.1 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKin" + method + strconv.Itoa(seq) +
		"\r\nMax-Forwards: 70\r\nFrom: " + string(resp.Header(sip.From)) + "\r\nTo: " + string(resp.Header(sip.To)) +
		"\r\nCall-ID: " + string(resp.CallID()) + "\r\nCSeq: " + strconv.Itoa(seq) + " " + method + "\r\n" + lines + ct +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// calleeRequest writes a request of the callee in the dialog of our INVITE.
func calleeRequest(inv *sip.Message, tag, method string, seq int, lines, body string) string {
	ct := ""
	if body != "" {
		ct = "Content-Type: application/sdp\r\n"
	}
	return method + " sip:203.0.113.1 SIP/2.0\r\nVia: SIP/2.0/UDP 198.51.100.10:5060;branch=z9hG4bKcallee" + method + strconv.Itoa(seq) +
		"\r\nMax-Forwards: 70\r\nFrom: " + string(inv.Header(sip.To)) + ";tag=" + tag + "\r\nTo: " + string(inv.Header(sip.From)) +
		"\r\nCall-ID: " + string(inv.CallID()) + "\r\nCSeq: " + strconv.Itoa(seq) + " " + method + "\r\n" + lines + ct +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// answeredCall sets a call up from the carrier to the first PBX and returns
// the B-leg INVITE and the caller's 200.
func (w *world) answeredCall() (b, ok *sip.Message) {
	w.t.Helper()
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(carrierAddr, "SIP/2.0 100")
	b = w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 180, "callee", ""))
	w.take(carrierAddr, "SIP/2.0 180")
	w.from(pbx1Addr, reply(b, 200, "callee", answerSDP))
	ok = w.take(carrierAddr, "SIP/2.0 200")
	w.take(pbx1Addr, "ACK")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	return b, ok
}
