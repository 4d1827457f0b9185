package hunt

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// TestProperties runs random calls against random far ends and checks, after every event, what must hold
// for every call: exactly one final; at most one leg alive, but for those of one fork; nobody dialled twice;
// an answer is joined or was abandoned before; a hand-off only by DEC-04; each group's bounds are kept;
// the end no later than the timers allow.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCheckedCall(t)
		c.take(c.seq.Start(c.now))
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			c.step()
		}
		c.settle()
		if c.finals != 1 {
			t.Fatalf("%d final responses, want 1", c.finals)
		}
		if got := c.seq.Deadline(); !got.IsZero() {
			t.Fatalf("a finished call waits until %v", got.Sub(c.zero))
		}
	})
}

// checkedCall drives a sequence and judges what comes out of it.
type checkedCall struct {
	t       *rapid.T
	cfg     Config
	seq     *Sequence
	zero    time.Time
	now     time.Time
	live    map[int]bool // attempts alive
	groups  []usedGroup
	peer    bool
	dialled map[int]bool
	handed  int
	finals  int
	alerted bool // a 18x went to the caller
}

func newCheckedCall(t *rapid.T) *checkedCall {
	second := func(label string, low, high int) time.Duration {
		return time.Duration(rapid.IntRange(low, high).Draw(t, label)) * time.Second
	}
	codes := rapid.SampledFrom([]trunkgroup.CauseSet{
		{}, trunkgroup.Causes(408, 500, 503), trunkgroup.Causes(404, 503), trunkgroup.Causes(503, 603), trunkgroup.Causes(486),
	})
	cfg := Config{
		Ring: second("ring", 0, 40), MaxPDD: second("max_pdd", 0, 20), HandoffReserve: second("reserve", 0, 8),
		Handoff: rapid.Bool().Draw(t, "handoff"), HandoffOn: codes.Draw(t, "handoff_on"),
		Exhausted: rapid.SampledFrom([]int{0, 480, 503}).Draw(t, "exhausted"),
		PeerFirst: rapid.Bool().Draw(t, "peer_first"),
	}
	for range rapid.IntRange(0, 5).Draw(t, "targets") {
		cfg.Targets = append(cfg.Targets, Target{
			Dialable: rapid.IntRange(0, 3).Draw(t, "dialable") > 0, Cause: "down",
			BTimer: second("b_timer", 0, 10), Progress: second("progress", 0, 12),
			RerouteAfterProgress: rapid.Bool().Draw(t, "reroute"),
		})
	}
	drawGroups(t, &cfg, codes)
	c := &checkedCall{
		t: t, cfg: cfg, zero: time.Unix(1000, 0), live: map[int]bool{}, dialled: map[int]bool{}, groups: make([]usedGroup, len(cfg.Groups)),
	}
	c.now = c.zero
	c.seq = New(cfg, c.now)
	return c
}

// step lets one thing happen, sensible or not.
func (c *checkedCall) step() {
	attempt := rapid.IntRange(-1, max(0, len(c.seq.Attempts()))).Draw(c.t, "attempt")
	if len(c.live) > 0 && rapid.IntRange(0, 3).Draw(c.t, "right") > 0 {
		attempt = rapid.SampledFrom(c.alive()).Draw(c.t, "alive")
	}
	alive := c.live[attempt]
	gone := func() { delete(c.live, attempt) }
	switch rapid.IntRange(0, 9).Draw(c.t, "what") {
	case 0, 1:
		code := rapid.SampledFrom([]int{100, 180, 183, 199}).Draw(c.t, "provisional")
		if alive && code > 100 {
			c.progress(attempt)
		}
		c.only(c.seq.Provisional(c.now, attempt, code), alive)
	case 2:
		c.only(c.seq.TransportError(c.now, attempt, "refused"), alive, gone)
	case 3:
		c.only(c.seq.Undialable(c.now, attempt, "unresolved"), alive, gone)
	case 4, 5:
		code := rapid.SampledFrom([]int{200, 302, 404, 408, 486, 500, 503, 603}).Draw(c.t, "final")
		answered := alive && code == 200
		finals := c.finals
		c.only(c.seq.Final(c.now, attempt, code), alive, func() {
			if !answered {
				gone()
			}
		})
		if answered && (c.finals != finals+1 || c.seq.State() != Answered) {
			c.t.Fatalf("attempt %d answered and was not joined", attempt)
		}
	case 6:
		c.advance(time.Duration(rapid.IntRange(0, 15000).Draw(c.t, "ms")) * time.Millisecond)
	case 7:
		c.only(c.seq.HandoffProvisional(c.now, rapid.SampledFrom([]int{100, 180, 199}).Draw(c.t, "peer")), c.peer)
	case 8:
		r := HandoffResult{
			Answered: rapid.Bool().Draw(c.t, "answered"), Accepted: rapid.Bool().Draw(c.t, "accepted"),
			Code: rapid.SampledFrom([]int{0, 486, 503}).Draw(c.t, "code"), Definitive: rapid.Bool().Draw(c.t, "definitive"),
		}
		peer := c.peer
		c.peer = false
		c.only(c.seq.HandoffDone(c.now, r), peer)
	case 9:
		switch rapid.IntRange(0, 5).Draw(c.t, "cancel") {
		case 0:
			c.take(c.seq.Cancel(c.now))
		case 1:
			done := c.seq.State().Done()
			c.take(c.seq.Stop(c.now, "stopped"))
			if c.peer || len(c.live) > 0 {
				c.t.Fatalf("alive after a stop: %v", c.alive())
			}
			if !done { // the call gives it
				c.finals++
			}
		default:
			return
		}
		if s := c.seq.State(); !s.Done() {
			c.t.Fatalf("state %v after the caller gave up", s)
		}
	}
}

// only takes the actions of an event, which may cause some only if it is alive.
func (c *checkedCall) only(actions []Action, alive bool, before ...func()) {
	if !alive && len(actions) > 0 {
		c.t.Fatalf("a late event caused %v", actions)
	}
	if alive {
		for _, f := range before {
			f()
		}
	}
	c.take(actions)
}

func (c *checkedCall) take(actions []Action) {
	for _, a := range actions {
		if c.finals > 0 {
			c.t.Fatalf("%v after the final response", a)
		}
		switch a.Kind {
		case Dial:
			c.judgeDial(a)
			c.dialled[a.Target], c.live[a.Attempt] = true, true
		case Abandon:
			delete(c.live, a.Attempt)
		case Relay, RelayHandoff:
			c.alerted = c.alerted || a.Code/10 == 18
		case Handoff:
			c.handed++
			c.peer = true
			c.judgeHandoff(a)
		case CancelHandoff:
			c.peer = false
		}
		if a.Kind.Final() {
			c.finals++
			if a.Kind == Answer {
				delete(c.live, a.Attempt)
			}
			if len(c.live) > 0 || a.Kind != AnswerHandoff && c.peer {
				c.t.Fatalf("%v while somebody is alive: %v", a, c.alive())
			}
		}
	}
	c.judgeGroups()
}

// judgeHandoff says DEC-04 in other words than the engine.
func (c *checkedCall) judgeHandoff(a Action) {
	on := c.cfg.HandoffOn
	if on.Empty() {
		on = trunkgroup.Causes(408, 503)
	}
	ok := c.cfg.Handoff && c.handed == 1 && a.Budget > 0 && len(c.live) == 0
	final := decides(c.seq.Attempts(), false)
	for i, at := range c.seq.Attempts() {
		quiet := at.Dialed && !at.Final && !at.Progress
		never := at.Dialed && c.cfg.Groups[c.cfg.Targets[at.Target].Group].NeverAdvance.Has(at.Code)
		listed := on.Has(at.Code) && at.Code < 600 && !(never && at.Final)
		ok = ok && (!at.Dialed || quiet || !at.Final && at.Code == 503 || listed)
		if i == final && at.Progress && !at.Final && at.Code == 408 {
			ok = false
		}
	}
	if !ok {
		c.t.Fatalf("%v is against DEC-04 after %+v", a, c.seq.Attempts())
	}
}

// advance moves the clock from deadline to deadline.
func (c *checkedCall) advance(d time.Duration) {
	end := c.now.Add(d)
	for at := c.seq.Deadline(); !at.IsZero() && !at.After(end); at = c.seq.Deadline() {
		c.now = at
		if c.peer && c.cfg.MaxPDD > 0 && !c.alerted && at.After(c.zero.Add(c.cfg.MaxPDD)) {
			c.t.Fatalf("the hand-off may take until %v", at.Sub(c.zero))
		}
		actions := c.seq.Expire(at)
		c.take(actions)
		if next := c.seq.Deadline(); next.Equal(at) && len(actions) == 0 {
			c.t.Fatalf("the timer at %v does not go away", at.Sub(c.zero))
		}
	}
	c.now = end
}

// settle lets the clock run until the call is over. What rings without a bound is answered at last.
func (c *checkedCall) settle() {
	bound := c.now.Add(HandoffLimit + time.Hour)
	for !c.seq.State().Done() {
		if c.seq.Deadline().IsZero() {
			switch {
			case c.peer:
				c.peer = false
				c.take(c.seq.HandoffDone(c.now, HandoffResult{Answered: true, Code: 200}))
			case len(c.live) > 0 && c.seq.State() == Ringing:
				c.take(c.seq.Final(c.now, c.alive()[0], 200))
			default:
				c.t.Fatalf("state %v waits for nothing", c.seq.State())
			}
			continue
		}
		c.advance(c.seq.Deadline().Sub(c.now))
		if c.now.After(bound) {
			c.t.Fatal("the call does not end")
		}
	}
}

// TestDEC05_MaxPDDBoundsEveryCall: whatever the list, a call in which nobody rings has its final no later
// than max_pdd after the caller's INVITE.
func TestDEC05_MaxPDDBoundsEveryCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCheckedCall(t)
		if c.cfg.MaxPDD == 0 {
			c.cfg.MaxPDD = 15 * time.Second
			c.seq = New(c.cfg, c.now)
		}
		c.take(c.seq.Start(c.now))
		for range rapid.IntRange(0, 10).Draw(t, "hundreds") {
			c.advance(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			for _, attempt := range c.alive() {
				c.take(c.seq.Provisional(c.now, attempt, 100))
			}
			c.take(c.seq.HandoffProvisional(c.now, 100))
		}
		c.advance(c.zero.Add(c.cfg.MaxPDD).Sub(c.now))
		if !c.seq.State().Done() || c.finals != 1 {
			t.Fatalf("state %v, %d finals at the end of max_pdd", c.seq.State(), c.finals)
		}
	})
}
