package b2bua

import (
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Limits say whether a call may use what has a limit (DEC-10).
type Limits interface {
	// Admit takes all of the uses or none. After Waiting the uses belong to the
	// other side until it says with Shard.Admitted(ref) how the wait ended, which
	// it does exactly once.
	Admit(ref uint64, uses []limit.Use) limit.Verdict
	// Release gives back what of the uses is taken.
	Release(uses []limit.Use)
}

const (
	causeCapacity = "CAPACITY"      // a limit of concurrent calls
	causeRate     = "RATE_EXCEEDED" // a limit of calls per second
	// attemptCapacity is the cause of an attempt that was not dialled for a limit.
	attemptCapacity = "capacity"
	// reasonCapacity is what a caller hears of a full group (P-33).
	reasonCapacity = "Trunk Group Capacity Exceeded"
	// admitWait ends a wait whose end never came: it is longer than any wait.
	admitWait = 2 * time.Second
)

// waitKind is what somebody waits for.
type waitKind uint8

const (
	waitLimits waitKind = iota
	waitRoutes
	waitCredit
)

// wait is a call, or an attempt, that waits for a share of a limit, or a call that waits
// for what others say of it.
type wait struct {
	call  *Call // nil once nobody waits any more
	kind  waitKind
	try   *try   // nil for the whole call
	ref   uint64 // in Shard.waits, of a call that waits for routes or credit
	who   caller
	uses  []limit.Use
	until time.Time
}

// rates are the uses that last one second (P-34), in the order of their ends.
type rates struct {
	place
	s    *Shard
	uses []limit.Use
	ends []time.Time
}

func (r *rates) deadline() time.Time {
	if len(r.ends) == 0 {
		return time.Time{}
	}
	return r.ends[0]
}

func (r *rates) expire(now time.Time) {
	n := 0
	for n < len(r.ends) && !now.Before(r.ends[n]) {
		n++
	}
	r.s.env.Release(r.uses[:n])
	r.uses = append(r.uses[:0], r.uses[n:]...)
	r.ends = append(r.ends[:0], r.ends[n:]...)
}

// hold moves the uses that end by themselves to where they do, and returns the
// others, which last until they are released.
func (s *Shard) hold(uses []limit.Use) []limit.Use {
	kept := uses[:0]
	for _, u := range uses {
		switch {
		case !u.Taken():
		case u.Key.Kind == limit.Rate:
			s.rates.uses = append(s.rates.uses, u)
			s.rates.ends = append(s.rates.ends, s.now.Add(limit.RateSpan))
		default:
			kept = append(kept, u)
		}
	}
	s.rates.s = s
	s.alarms.set(&s.rates)
	return kept
}

// originUses are what a call uses where it came in: its customer, the customer's
// group and, inbound, the carrier's. The peer site of a hand-off does not count
// them again.
func (c *Call) originUses() []limit.Use {
	uses := make([]limit.Use, 0, 6)
	if name := c.customer.Customer; name != "" {
		uses = appendUses(uses, limit.Customer, name)
	}
	uses = appendUses(uses, limit.Group, c.customer.Name)
	if c.ingress != nil && c.ingress != c.customer {
		uses = appendUses(uses, limit.Group, c.ingress.Name)
	}
	return uses
}

// memberUses are what an attempt uses: the member and, outbound, its carrier's
// group, and the one in which that stands. A customer's group counts for the whole
// call, see originUses, but one that stands in it for the attempt.
func memberUses(cand *trunkgroup.Candidate) []limit.Use {
	m := cand.Member
	if m.Index < 0 { // the next hop of a route, which no document bounds
		return nil
	}
	uses := make([]limit.Use, 0, 6)
	carrier := m.Group.Role == trunkgroup.PSTNProvider
	if carrier || cand.Outer != nil {
		uses = appendUses(uses, limit.Group, m.Group.Name)
	}
	if carrier && cand.Outer != nil {
		uses = appendUses(uses, limit.Group, cand.Outer.Name)
	}
	return appendUses(uses, limit.Member, m.Key)
}

func appendUses(uses []limit.Use, s limit.Scope, name string) []limit.Use {
	return append(uses,
		limit.Use{Key: limit.Key{Kind: limit.Calls, Scope: s, Name: name}},
		limit.Use{Key: limit.Key{Kind: limit.Rate, Scope: s, Name: name}})
}

// emergency reports whether the call is one that no limit applies to (DEC-17).
// Who gets here is identified: strangers are refused before.
func (c *Call) emergency() bool { return trunkgroup.EmergencyNumber([]byte(c.called)) }

// admitted reports whether the call may begin its hunt. When it has to wait, it
// is routed again at the end of the wait: the configuration may be another then.
func (c *Call) admitted(who caller) bool {
	if c.token.yes || c.uses != nil {
		return true
	}
	if c.emergency() {
		// Never refused, always counted: whoever dials many of these has a
		// fault or means harm, and somebody should look (DEC-17).
		c.s.env.Count(Event{Kind: EventEmergency, Group: c.ingress})
		return true
	}
	uses := c.originUses()
	ref := c.s.newBranch()
	switch c.s.env.Admit(ref, uses) {
	case limit.Granted:
		c.uses = c.s.hold(uses)
		return true
	case limit.Waiting:
		c.wait = &wait{call: c, who: who, uses: uses, until: c.s.now.Add(admitWait)}
		c.s.waits[ref] = c.wait
		c.arm()
	case limit.Refused:
		c.full(uses)
	}
	return false
}

// full refuses a call for a limit: at once, with no other try (P-33), and with
// Retry-After where it is one of calls per second (P-34).
func (c *Call) full(uses []limit.Use) {
	c.wait = nil
	c.end.cause = causeCapacity
	for i := range uses {
		if uses[i].Short() && uses[i].Key.Kind == limit.Rate {
			c.end.cause = causeRate
		}
	}
	c.finalFailure(503, reasonCapacity, nil)
}

// Admitted tells how a wait ended: with all uses taken, or with none.
func (s *Shard) Admitted(now time.Time, ref uint64, ok bool) {
	s.now, s.hot = now, nil
	w := s.waits[ref]
	if w == nil {
		return
	}
	delete(s.waits, ref)
	c := w.call
	switch {
	case c == nil || c.phase != hunting:
		if ok {
			s.env.Release(w.uses)
		}
		return
	case w.try != nil:
		s.hot = c
		w.try.wait = nil
		c.attemptAdmitted(w.try, w.uses, ok)
	default:
		s.hot = c
		c.wait = nil
		c.callAdmitted(w, ok)
	}
	c.arm()
}

func (c *Call) callAdmitted(w *wait, ok bool) {
	if !ok {
		c.full(w.uses)
		return
	}
	c.uses = c.s.hold(w.uses)
	c.route(w.who)
}

// stopWaiting ends a wait of the call that nobody ended.
func (c *Call) stopWaiting(now time.Time) {
	w := c.wait
	if w == nil || now.Before(w.until) {
		return
	}
	c.unwait()
	switch w.kind {
	case waitLimits:
		c.full(nil) // the uses belong to the other side
	case waitRoutes:
		c.decided(&trunkgroup.RouteSet{Absent: true})
	case waitCredit:
		c.creditLate()
	}
}

// deadline is when a wait ends that nobody ended.
func (w *wait) deadline() time.Time {
	if w == nil {
		return time.Time{}
	}
	return w.until
}

// admitAttempt takes what an attempt uses and goes on to send its INVITE: at
// once, or when it has waited for it.
func (c *Call) admitAttempt(t *try) {
	if c.emergency() {
		c.attemptAdmitted(t, nil, true)
		return
	}
	uses := memberUses(&t.cand)
	ref := c.s.newBranch()
	switch c.s.env.Admit(ref, uses) {
	case limit.Granted:
		c.attemptAdmitted(t, uses, true)
	case limit.Waiting:
		t.wait = &wait{call: c, try: t, uses: uses}
		c.s.waits[ref] = t.wait
	case limit.Refused:
		c.attemptAdmitted(t, uses, false)
	}
}

func (c *Call) attemptAdmitted(t *try, uses []limit.Use, ok bool) {
	if !ok {
		c.do(c.fresh().Undialable(c.s.now, t.index, attemptCapacity))
		return
	}
	t.uses = c.s.hold(uses)
	t.enter()
	c.send(t)
}

// release gives back what an INVITE uses. A second time it does nothing.
func (tx *inviteTx) release() {
	if len(tx.uses) > 0 {
		tx.s.env.Release(tx.uses)
		tx.uses = nil
	}
	leave(&tx.seat)
}

// unwait ends a wait that nobody has ended. Who counts limits answers all the same, with uses
// to give back; an answer of others, which a full queue may lose, is not waited for.
func (c *Call) unwait() {
	w := c.wait
	if w == nil {
		return
	}
	w.call, c.wait = nil, nil
	if w.kind != waitLimits {
		delete(c.s.waits, w.ref)
	}
}

// releaseUses gives back all that the call holds. It runs when nothing of the call
// is left at the far ends.
func (c *Call) releaseUses() {
	c.unwait()
	for _, t := range c.tries {
		t.stopWaiting()
		c.s.env.Release(t.uses)
		leave(&t.seat)
	}
	c.s.env.Release(c.uses)
	c.uses = nil
	leave(&c.seat)
}

// stopWaiting lets nobody send the attempt's INVITE any more.
func (t *try) stopWaiting() {
	if t.wait != nil {
		t.wait.call, t.wait = nil, nil
	}
}
