package b2bua

import (
	"container/heap"
	"flag"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

var (
	abandonSeed  = flag.Uint64("abandon.seed", 0, "seed of the abandonment test; 0 draws one")
	abandonCalls = flag.Int("abandon.calls", 100_000, "calls of the abandonment test")
)

// agenda runs things at their virtual times.
type agenda []todo

type todo struct {
	at  time.Time
	seq int
	do  func()
}

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	if !a[i].at.Equal(a[j].at) {
		return a[i].at.Before(a[j].at)
	}
	return a[i].seq < a[j].seq
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(todo)) }
func (a *agenda) Pop() any     { old := *a; x := old[len(old)-1]; *a = old[:len(old)-1]; return x }

// town is callers who abandon, a shard, and PBXs that answer at random moments.
type town struct {
	*world
	rng   *rand.Rand
	plans agenda
	seq   int
	legs  map[string]*phone   // B legs by Call-ID
	users map[string]*caller1 // callers by Call-ID
}

// phone is one B leg at a PBX.
type phone struct {
	inv                      *sip.Message
	addr                     string
	ringing, up, done, acked bool
	answered                 bool
	cancelled                bool
}

// caller1 is one caller.
type caller1 struct {
	finals  int
	ok      *sip.Message
	byeSent bool
}

func (w *town) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.plans, todo{w.now.Add(d), w.seq, do})
}

func (w *town) latency() time.Duration { return time.Duration(w.rng.IntN(40)) * time.Millisecond }

// post carries what the shard sent to its receivers, each with its own delay.
func (w *town) post() {
	sent := w.sent
	w.sent = nil
	for _, x := range sent {
		w.after(w.latency(), func() {
			if x.dest() == carrierAddr {
				w.atCaller(x.m)
			} else {
				w.atPBX(x.dest(), x.m)
			}
		})
	}
}

func (w *town) back(addr, text string) { w.after(w.latency(), func() { w.from(addr, text) }) }

func (w *town) atPBX(addr string, m *sip.Message) {
	if !m.IsRequest() {
		return
	}
	id := string(m.CallID())
	p := w.legs[id]
	switch m.Method() {
	case sip.INVITE:
		if p != nil {
			return // a repetition
		}
		p = &phone{inv: m, addr: addr}
		w.legs[id] = p
		w.ring(p)
	case sip.CANCEL:
		w.back(addr, reply(m, 200, "pbx", ""))
		if p != nil && !p.answered && !p.done {
			p.cancelled, p.done, p.ringing = true, true, false
			w.back(addr, reply(p.inv, 487, "pbx", ""))
		}
	case sip.ACK:
		if p != nil {
			p.acked = true
		}
	case sip.BYE:
		w.back(addr, reply(m, 200, "pbx", ""))
		if p != nil {
			p.up, p.done = false, true
		}
	}
}

// ring lets a PBX answer at random: 100 or not, ring or not, then an answer, a
// refusal, or a 503 that moves the call on.
func (w *town) ring(p *phone) {
	at := time.Duration(0)
	step := func(limit int) time.Duration { at += time.Duration(w.rng.IntN(limit)) * time.Millisecond; return at }
	if w.rng.IntN(4) > 0 {
		w.after(step(300), func() { w.say(p, 100, "") })
	}
	if w.rng.IntN(4) > 0 {
		w.after(step(1500), func() {
			if !p.done {
				p.ringing = true
				w.say(p, 180, "")
			}
		})
	}
	code := []int{200, 200, 200, 486, 503}[w.rng.IntN(5)]
	w.after(step(2500), func() { w.final(p, code) })
}

func (w *town) say(p *phone, code int, body string) {
	if !p.done && !p.answered {
		w.back(p.addr, reply(p.inv, code, "pbx", body, "Contact: <sip:pbx@"+p.addr+">\r\n"))
	}
}

func (w *town) final(p *phone, code int) {
	if p.done {
		return
	}
	p.ringing = false
	if code != 200 {
		w.say(p, code, "")
		p.done = true
		return
	}
	w.say(p, 200, answerSDP)
	p.answered, p.up = true, true
	w.repeat(p, 500*time.Millisecond, 32*time.Second)
}

// repeat is the UAS core of a PBX: its 2xx again until the ACK.
func (w *town) repeat(p *phone, gap, left time.Duration) {
	w.after(gap, func() {
		if p.acked || left <= 0 {
			return
		}
		w.back(p.addr, reply(p.inv, 200, "pbx", answerSDP, "Contact: <sip:pbx@"+p.addr+">\r\n"))
		w.repeat(p, min(2*gap, 4*time.Second), left-gap)
	})
}

func (w *town) atCaller(m *sip.Message) {
	u := w.users[string(m.CallID())]
	if m.IsRequest() {
		if m.Method() == sip.BYE {
			w.back(carrierAddr, reply(m, 200, "caller", "", "Contact: <sip:bob@"+carrierAddr+">\r\n"))
		}
		return
	}
	if m.CSeqMethod() != sip.INVITE || m.Status() < 200 {
		return
	}
	branch := string(m.Branch())
	if m.Status() >= 300 {
		u.finals++
		w.back(carrierAddr, ackFor(m, branch, ""))
		return
	}
	if u.ok == nil {
		u.finals++
		u.ok = m
	}
	w.back(carrierAddr, ackFor(m, branch+"ack", ""))
	if !u.byeSent {
		u.byeSent = true
		w.back(carrierAddr, inside(m, "BYE", 2, "", ""))
	}
}

func (w *town) call(n int) {
	id := "c" + strconv.Itoa(n)
	w.users[id] = &caller1{}
	text := invite{callID: id, branch: "z9hG4bK" + id, body: offer}.String()
	w.back(carrierAddr, text)
	w.after(time.Duration(w.rng.IntN(5000))*time.Millisecond, func() {
		if w.users[id].finals == 0 {
			w.back(carrierAddr, strings.Replace(invite{callID: id, branch: "z9hG4bK" + id}.String(), "INVITE", "CANCEL", 2))
		}
	})
}

// run plays the agenda and the shard's own deadlines in order of time.
func (w *town) run() {
	for {
		w.post()
		next := w.s.Deadline()
		if len(w.plans) > 0 && (next.IsZero() || w.plans[0].at.Before(next)) {
			x := heap.Pop(&w.plans).(todo)
			w.now = x.at
			x.do()
			continue
		}
		if next.IsZero() {
			return
		}
		if next.After(w.now) {
			w.now = next
		}
		w.s.Advance(w.now)
	}
}

// Callers abandon at random moments, with answers racing: no B leg is left
// ringing or up, no caller gets two finals, one record per call.
func TestAbandonedCallsLeaveNothing(t *testing.T) {
	seed := *abandonSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	total := *abandonCalls
	if testing.Short() {
		total /= 20
	}
	t.Logf("seed %d (-abandon.seed), %d calls", seed, total)
	const batch = 500
	for done := 0; done < total; done += batch {
		w := &town{world: newWorld(t), rng: rand.New(rand.NewPCG(seed, uint64(done))), legs: map[string]*phone{}, users: map[string]*caller1{}}
		w.random = seed + uint64(done) | 1
		for n := range batch {
			w.after(time.Duration(n)*7*time.Millisecond, func() { w.call(n) })
		}
		w.run()
		w.check(t, batch)
		if t.Failed() {
			t.Fatalf("in the batch that begins at call %d", done)
		}
	}
}

func (w *town) check(t *testing.T, calls int) {
	t.Helper()
	for id, p := range w.legs {
		if p.ringing || p.up {
			t.Errorf("B leg %s at %s is left ringing=%v up=%v", id, p.addr, p.ringing, p.up)
		}
	}
	for id, u := range w.users {
		if u.finals != 1 {
			t.Errorf("caller %s got %d finals", id, u.finals)
		}
	}
	if len(w.records) != calls {
		t.Errorf("%d records of %d calls", len(w.records), calls)
	}
	answered := map[string]int{}
	for _, r := range w.records {
		if !r.Answer.IsZero() {
			answered[r.CallID]++
		}
	}
	for id, n := range answered {
		if n > 1 {
			t.Errorf("call %s answered %d times", id, n)
		}
	}
	if st := w.s.Stats(); st != (Stats{}) {
		t.Errorf("left behind: %+v", st)
	}
}
