package sbc

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The costs of the model, on one core, from docs/performance.md and the
// benchmarks of sbc/b2bua: a whole call is 114 us of six messages in and six out,
// sockets included.
const (
	costRead   = 1400 * time.Nanosecond // one datagram from the socket
	costParse  = time.Microsecond
	costInvite = 38 * time.Microsecond // to the callee's INVITE
	costStep   = 13 * time.Microsecond // each of the five messages that follow
	costRefuse = 4 * time.Microsecond  // a 503 on the wire
	costOther  = 2 * time.Microsecond  // the ACK of a 503
	capacity   = 8700                  // calls per second that these costs allow
	socketRoom = 6000                  // datagrams that the kernel keeps
)

// rush is a model of one node with one core and the real queues: a socket, a
// reader, a shard, and callers who repeat what is not answered. It is virtual
// time: nothing here depends on the machine.
type rush struct {
	now    time.Time
	inbox  inbox
	load   overload
	surge  surge
	socket []*rushCall // datagrams that wait to be read
	agenda rushAgenda

	share  float64 // of new INVITEs that the kernel lets in
	chance *rand.Rand

	taken, refused, finished, dropped, sieved, gaveUp int
	registers, registersRefused                       int
	emergencies, emergenciesTaken                     int
	waited                                            time.Duration // longest between an INVITE and its first answer
}

// rushCall is one call, or one REGISTER, as its sender sees it.
type rushCall struct {
	kind     string // INVITE, 911, REGISTER
	raw      []byte
	message  *sip.Message
	next     *sip.Message // what stands for the messages that follow
	begun    time.Time
	repeat   time.Duration
	answered bool
	left     int // messages that follow
}

// rushEvent is something that a sender does at a time.
type rushEvent struct {
	at   time.Time
	call *rushCall
}

type rushAgenda []rushEvent

func (a rushAgenda) Len() int           { return len(a) }
func (a rushAgenda) Less(i, j int) bool { return a[i].at.Before(a[j].at) }
func (a rushAgenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *rushAgenda) Push(x any)        { *a = append(*a, x.(rushEvent)) }
func (a *rushAgenda) Pop() any {
	old := *a
	x := old[len(old)-1]
	*a = old[:len(old)-1]
	return x
}

// send is the sender's part: the request, or its repetition.
func (r *rush) send(c *rushCall) {
	if c.answered && c.left == 0 {
		return
	}
	room := len(r.socket) < socketRoom
	sieved := !c.answered && c.kind == "INVITE" && r.chance.Float64() > r.share
	if sieved {
		r.sieved++
	}
	if room && !sieved {
		r.socket = append(r.socket, c)
	}
	if c.answered {
		if !room { // whoever sends it has his timers too
			heap.Push(&r.agenda, rushEvent{r.now.Add(500 * time.Millisecond), c})
		}
		return
	}
	if c.repeat > 16*time.Second {
		r.gaveUp++ // timer B
		return
	}
	heap.Push(&r.agenda, rushEvent{r.now.Add(c.repeat), c})
	c.repeat *= 2
}

// turn is how long the reader and the shard keep the core from each other: the
// time after which Go preempts a goroutine.
const turn = 10 * time.Millisecond

// arrive brings what senders have sent by now to the socket.
func (r *rush) arrive() {
	for len(r.agenda) > 0 && !r.agenda[0].at.After(r.now) {
		r.send(heap.Pop(&r.agenda).(rushEvent).call)
	}
}

// read is the reader's turn: batch by batch until the socket is empty.
func (r *rush) read() {
	for end := r.now.Add(turn); len(r.socket) > 0 && r.now.Before(end); r.arrive() {
		n := min(32, len(r.socket))
		batch := slices.Clone(r.socket[:n])
		r.socket = append(r.socket[:0], r.socket[n:]...)
		for _, c := range batch {
			r.receive(c)
		}
	}
}

func (r *rush) receive(c *rushCall) {
	r.now = r.now.Add(costRead)
	m := c.message
	if c.answered {
		m = c.next
	} else if r.surge.until.Load() != 0 && r.surge.dropsAt(r.now, c.raw) {
		r.dropped++
		return
	}
	r.now = r.now.Add(costParse)
	p := b2bua.Packet{}
	p.Message = m
	if c.kind == "911" && !c.answered {
		r.inbox.event(event{kind: evPacket, packet: p, at: r.now, urgent: true}) // of a known source: TestInboxSharesAndEmergencies
		return
	}
	r.inbox.packet(r.now, p)
}

// work is the shard's turn, loop by loop until nothing waits.
func (r *rush) work(calls map[*sip.Message]*rushCall) {
	for end := r.now.Add(turn); r.now.Before(end); r.arrive() {
		events := r.inbox.take(nil, stepsPerLoop)
		if len(events) == 0 {
			return
		}
		r.step(events, calls)
	}
}

func (r *rush) step(events []event, calls map[*sip.Message]*rushCall) {
	for i := range events {
		e := &events[i]
		c := calls[e.packet.Message]
		switch {
		case e.packet.Message == c.next:
			r.follow(c)
		case c.answered: // a repetition of what is under way
			r.now = r.now.Add(costOther)
		case r.load.refuses(r.now, e):
			r.refuse(c)
		default:
			r.take(c)
		}
	}
}

func (r *rush) take(c *rushCall) {
	if c.kind == "REGISTER" {
		r.now = r.now.Add(costStep)
		c.answered, c.left = true, 0
		return
	}
	r.surge.took()
	r.now = r.now.Add(costInvite)
	c.answered, c.left = true, 5
	r.taken++
	r.waited = max(r.waited, r.now.Sub(c.begun))
	if c.kind == "911" {
		r.emergenciesTaken++
	}
	heap.Push(&r.agenda, rushEvent{r.now.Add(10 * time.Millisecond), c})
}

func (r *rush) refuse(c *rushCall) {
	r.now = r.now.Add(costRefuse)
	c.answered, c.left = true, 0
	if c.kind == "REGISTER" {
		r.registersRefused++
		return
	}
	r.surge.refused(r.now)
	r.refused++
	r.now = r.now.Add(costRead + costOther) // its ACK
}

// follow is one of the messages of a call that was taken.
func (r *rush) follow(c *rushCall) {
	r.now = r.now.Add(costStep)
	if c.left--; c.left == 0 {
		r.finished++
		return
	}
	heap.Push(&r.agenda, rushEvent{r.now.Add(5 * time.Millisecond), c})
}

// offered plays a load for a while.
func offered(t testing.TB, rate int, span time.Duration, kernel bool) *rush {
	t.Helper()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := &rush{now: start, share: 1, chance: rand.New(rand.NewPCG(1, 2))}
	if kernel {
		r.surge.sieve = func(share float64) error { r.share = share; return nil }
		r.surge.timer = time.AfterFunc(time.Hour, func() {}) // the real one goes by another clock
		defer r.surge.over()
	}
	calls := map[*sip.Message]*rushCall{}
	add := func(kind string, n int, at time.Time) {
		method, user := "INVITE", "+12145550100"
		switch kind {
		case "911":
			user = "911"
			r.emergencies++
		case "REGISTER":
			method = "REGISTER"
			r.registers++
		}
		raw := fmt.Appendf(nil, "%s sip:%s@192.0.2.1 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.10;branch=z9hG4bK%d\r\nMax-Forwards: 70\r\n"+
			"From: <sip:a@b>;tag=1\r\nTo: <sip:c@d>\r\nCall-ID: c%s%d\r\nCSeq: 1 %s\r\nContact: <sip:a@b>\r\nContent-Length: 0\r\n\r\n",
			method, user, n, kind, n, method)
		m, fault := sip.Parse(raw)
		if fault != nil {
			t.Fatal(fault)
		}
		c := &rushCall{kind: kind, raw: raw, message: m, next: message(t, "BYE", "x", 1), begun: at, repeat: 500 * time.Millisecond}
		calls[m], calls[c.next] = c, c
		heap.Push(&r.agenda, rushEvent{at, c})
	}
	gap := time.Second / time.Duration(rate)
	for n, at := 0, start; at.Before(start.Add(span)); n, at = n+1, at.Add(gap) {
		add("INVITE", n, at)
		if n%(rate/20) == 0 { // twenty emergency calls and twenty REGISTERs per second
			add("911", n, at)
			add("REGISTER", n, at)
		}
	}
	for end := start.Add(span); r.now.Before(end); {
		before := r.now
		r.arrive()
		r.read()
		r.work(calls)
		if r.now.Equal(before) { // idle
			if len(r.agenda) == 0 {
				break
			}
			r.now = r.agenda[0].at
		}
	}
	return r
}

// TestGoodputUnderTenTimesTheLoad: what a node with one core finishes when more
// is offered than it can do, in shares of what it finishes at its best, with and
// without the kernel's help. Emergency calls of known trunks are all taken,
// registrations give way.
func TestGoodputUnderTenTimesTheLoad(t *testing.T) {
	type row struct {
		load, least float64
		kernel      bool
	}
	rows := []row{{0.9, 0, true}, {1, 1, true}, {2, 0.85, true}, {10, 0.8, true}, {10, 0.4, false}}
	unit := time.Second
	if testing.Short() {
		rows, unit = []row{{1, 1, true}, {10, 0.7, true}}, time.Second/2
	}
	peak := 0 // calls per second
	for _, c := range rows {
		span := 2 * unit
		if c.load > 2 && c.kernel {
			span = 5 * unit // the second in which it begins is not the rule
		}
		r := offered(t, int(capacity*c.load), span, c.kernel)
		each := func(n int) int { return int(float64(n) / span.Seconds()) }
		good := each(r.finished)
		peak = max(peak, good)
		t.Logf("load x%.1f, filter %v: per second %d finished (%d %%), %d refused, %d dropped by readers, %d by the kernel; longest wait %v, emergencies %d of %d, REGISTERs refused %d of %d",
			c.load, c.kernel, good, 100*good/peak, each(r.refused), each(r.dropped), each(r.sieved), r.waited.Round(time.Millisecond),
			r.emergenciesTaken, r.emergencies, r.registersRefused, r.registers)
		if c.load < 1 && r.refused+r.dropped+r.sieved+r.registersRefused > 0 {
			t.Errorf("below the capacity %d were refused and %d dropped", r.refused+r.registersRefused, r.dropped+r.sieved)
		}
		if float64(good) < c.least*float64(peak) {
			t.Errorf("goodput at %.1f times the load is %d of %d", c.load, good, peak)
		}
		if r.emergenciesTaken < r.emergencies-3 { // the last ones have not been read yet
			t.Errorf("%d of %d emergency calls were taken", r.emergenciesTaken, r.emergencies)
		}
	}
}

// What a reader drops in a surge it knows by its first bytes, and nothing else.
func TestSurgeDropsNewInvitesOnly(t *testing.T) {
	var s surge
	now := time.Now()
	raw := func(first, to string) []byte {
		return []byte(first + " SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKt\r\n" + to + "\r\nFrom: <sip:a@b>;tag=1\r\n\r\n")
	}
	fresh := raw("INVITE sip:+12145550100@h", "To: <sip:c@d>")
	if s.drops(fresh) {
		t.Error("dropped although no shard refuses")
	}
	s.refused(now)
	for range surgeLeast {
		if s.dropsAt(now, fresh) {
			t.Fatal("dropped within the room")
		}
	}
	if !s.dropsAt(now, fresh) {
		t.Error("not dropped beyond the room")
	}
	for _, kept := range [][]byte{
		raw("INVITE sip:911@h", "To: <sip:c@d>"), raw("INVITE sip:77#112;x=y@h", "To: <sip:c@d>"), raw("INVITE sip:h", "To: <sip:c@d>"),
		raw("INVITE sip:1@h", "To: <sip:c@d>;tag=x"), raw("INVITE sip:1@h", "t:<sip:c@d>;tag=x"), raw("BYE sip:1@h", "To: <sip:c@d>"),
		raw("ACK sip:1@h", "To: <sip:c@d>"), raw("OPTIONS sip:1@h", "To: <sip:c@d>"), []byte("SIP/2.0 200 OK\r\n\r\n"), []byte("INVITE "), nil,
	} {
		if s.dropsAt(now, kept) {
			t.Errorf("dropped: %q", kept)
		}
	}
	for range 50 {
		s.took()
	}
	now = now.Add(surgeWindow)
	room := 0
	for range 1000 {
		if !s.dropsAt(now, fresh) {
			room++
		}
	}
	if room != surgeShare*50 {
		t.Errorf("room for %d, want %d", room, surgeShare*50)
	}
	if s.dropsAt(now.Add(surgeHold), fresh) {
		t.Error("dropped although nothing was refused for a while")
	}
	if n := testing.AllocsPerRun(100, func() { s.dropsAt(now, fresh) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The kernel lets in what there is room for, and everything again when the surge is
// over, also when nothing comes any more.
func TestSurgeSteersTheKernel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shares []float64
		s := surge{sieve: func(share float64) error { shares = append(shares, share); return nil }}
		raw := []byte("INVITE sip:1@h SIP/2.0\r\nTo: <sip:c@d>\r\n\r\n")
		s.refused(time.Now())
		for range 10 { // windows of 1000 offered, of which 100 are taken
			for range 1000 {
				s.drops(raw)
			}
			for range 100 {
				s.took()
			}
			time.Sleep(surgeWindow)
		}
		if len(shares) == 0 || shares[len(shares)-1] > 0.25 {
			t.Fatalf("shares %v", shares)
		}
		time.Sleep(3 * surgeHold)
		synctest.Wait()
		if shares[len(shares)-1] != 1 || s.until.Load() != 0 {
			t.Errorf("after the surge: shares %v, until %d", shares, s.until.Load())
		}
		n := len(shares)
		s.refused(time.Now())
		s.drops(raw)
		time.Sleep(2 * surgeHold)
		synctest.Wait()
		if s.drops(raw); s.until.Load() != 0 || len(shares) != n {
			t.Errorf("a refusal without a surge: shares %v", shares[n:])
		}
	})
}

// A REGISTER gives way as soon as calls are late, the refresh of a binding that
// stands much later; in-dialog requests never.
func TestOverloadOrder(t *testing.T) {
	start := time.Now()
	at := func(method, tag string, late time.Duration) *event {
		return &event{kind: evPacket, at: start.Add(-late), packet: b2bua.Packet{Packet: packetOf(message(t, method, tag, 1))}}
	}
	for name, c := range map[string]struct {
		known  bool
		behind bool
		late   time.Duration
		want   bool
	}{
		"in time": {false, false, 200 * time.Millisecond, false}, "late": {false, false, lateLast + 1, true},
		"calls are late": {false, true, 0, true}, "a refresh while calls are late": {true, true, lateKnown, false},
		"a refresh, late": {true, false, lateKnown, false}, "a refresh, too late": {true, false, lateKnown + 1, true},
	} {
		o := overload{known: func(*b2bua.Packet) bool { return c.known }}
		if c.behind {
			o.refuses(start, at("INVITE", "", lateAfter+1))
		}
		for _, method := range []string{"REGISTER", "SUBSCRIBE", "MESSAGE", "FOO"} {
			if got := o.refuses(start, at(method, "", c.late)); got != c.want {
				t.Errorf("%s, %s: refused %v", name, method, got)
			}
		}
		for _, method := range []string{"BYE", "REGISTER", "INVITE", "UPDATE"} {
			if o.refuses(start, at(method, "x", time.Minute)) {
				t.Errorf("%s, %s in a dialog: refused", name, method)
			}
		}
	}
	var o overload
	o.refuses(start, at("INVITE", "", lateAfter+1))
	if o.refuses(start.Add(latePatience+1), &event{kind: evPacket, at: start.Add(latePatience), packet: at("REGISTER", "", 0).packet}) {
		t.Error("a REGISTER is refused although no call has been late for a while")
	}
}

// While calls fill every turn of a shard, what waits behind them has its share;
// emergency calls of known sources wait for nobody.
func TestInboxSharesAndEmergencies(t *testing.T) {
	doc := &trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{{
			Name: "acme-out", Role: trunkgroup.TerminationCustomer, Sources: []trunkgroup.SourceSpec{{IP: "192.0.2.10"}},
			Numbering: trunkgroup.NumberingSpec{Preserve: []string{"911"}},
		}},
	}
	table, err := trunkgroup.Compile(doc, trunkgroup.Version{Cluster: "test", Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	b := inbox{table: func() *trunkgroup.Table { return table }}
	for range 100 {
		b.packet(time.Time{}, b2bua.Packet{Packet: packetOf(message(t, "INVITE", "", 1))})
		b.packet(time.Time{}, b2bua.Packet{Packet: packetOf(message(t, "REGISTER", "", 2))})
	}
	got := map[string]int{}
	for _, e := range b.take(nil, 64) {
		got[e.packet.Message.Method()]++
	}
	if got["INVITE"] != 48 || got["REGISTER"] != 16 {
		t.Errorf("%v", got)
	}
	urgent := func(source string) b2bua.Packet {
		m, fault := sip.Parse([]byte("INVITE sip:911@192.0.2.1 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.10;branch=z9hG4bKe\r\nMax-Forwards: 70\r\nFrom: <sip:a@b>;tag=1\r\n" +
			"To: <sip:c@d>\r\nCall-ID: e\r\nCSeq: 9 INVITE\r\nContent-Length: 0\r\n\r\n"))
		if fault != nil {
			t.Fatal(fault)
		}
		p := packetOf(m)
		p.Source, p.Transport = netip.MustParseAddrPort(source), trunkgroup.UDP
		return b2bua.Packet{Packet: p}
	}
	b.packet(time.Time{}, urgent("203.0.113.9:5060"))
	b.packet(time.Time{}, urgent("192.0.2.10:5060"))
	if got := names(b.take(nil, 2)); got != "INVITE9 INVITE1" {
		t.Errorf("%s", got)
	}
}
