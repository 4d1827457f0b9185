package b2bua

import (
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// passedPatience is how long a sibling may take to tell of an INVITE that was
// passed to it. One that tells nothing has refused it without a trace.
const passedPatience = 2 * time.Second

// passedInvite is an INVITE that a sibling has in our place (DEC-19). It is kept
// until repetitions of it can no more come: they go the same way, and should the
// sibling die before it rang, the call is taken after all.
type passedInvite struct {
	place
	s      *Shard
	p      Packet
	key    uint64 // of our server transaction, were it ours
	open   uint64
	branch uint64
	node   string   // who has it
	not    []string // who had it and does not take it
	rings  bool     // a 18x went to the caller
	closed bool     // it has its final response, or none of anybody's knowledge
	at     time.Time
}

func (e *passedInvite) deadline() time.Time { return e.at }

// next passes the INVITE to the sibling that is next in line. It reports false,
// and forgets the INVITE, when none takes it.
func (e *passedInvite) next() bool {
	s := e.s
	for {
		node := s.sibling(e.p.Message.CallID(), e.not)
		if node == "" {
			e.drop()
			return false
		}
		if s.env.Forward(node, &e.p) {
			if s.passed[e.open] != e {
				s.passed[e.open] = e
				e.waits(1)
			}
			e.node = node
			e.until(s.now.Add(passedPatience))
			s.env.Count(Event{Kind: EventPassed, To: node})
			return true
		}
		e.not = append(e.not, node)
	}
}

// again takes the INVITE up once more after a sibling has lost it or given it
// back: another one gets it, else it is our call.
func (e *passedInvite) again() {
	e.not = append(e.not, e.node)
	if !e.next() {
		e.s.begin(&e.p, e.key)
	}
}

func (e *passedInvite) until(at time.Time) {
	e.at = at
	e.s.alarms.set(e)
}

// expire: the sibling has told nothing, or nothing more will come.
func (e *passedInvite) expire(now time.Time) {
	if e.closed {
		e.drop()
		return
	}
	e.close(now)
}

// close keeps the INVITE for its late repetitions and the caller's ACK only.
func (e *passedInvite) close(now time.Time) {
	if !e.closed {
		e.closed = true
		e.waits(-1)
	}
	e.until(now.Add(64 * e.s.cfg.Timers.T1))
}

// waits counts those whose final response must still come, n more.
func (e *passedInvite) waits(n int) {
	e.s.passing += n
	if e.p.Transport != trunkgroup.UDP {
		e.s.passingStreams += n
	}
}

func (e *passedInvite) drop() {
	e.at = time.Time{}
	e.s.alarms.drop(e)
	if e.s.passed[e.open] == e {
		delete(e.s.passed, e.open)
		if !e.closed {
			e.waits(-1)
		}
	}
}

// passedNews takes what another node tells of an INVITE that we passed to it.
func (s *Shard) passedNews(node string, o Open) {
	e := s.passed[o.Key]
	if e == nil || e.node != node || e.closed || o.Branch != e.branch {
		return
	}
	switch o.State {
	case OpenBegun:
		e.until(s.now.Add(openTTL))
	case OpenProgress:
		e.rings = true
	case OpenClosed:
		e.close(s.now)
	case OpenReturned:
		e.again()
	}
}

// lose takes up what cannot be reached where it is. Whose callee rings already is
// not called twice: the caller learns that the call is lost and may try again.
func (e *passedInvite) lose() {
	if e.rings {
		e.drop()
		e.s.reject(&e.p, e.key, 503, "")
		return
	}
	e.again()
}

// losePassed takes up what a lost sibling had.
func (s *Shard) losePassed(node string) {
	var lost []*passedInvite
	for _, e := range s.passed {
		if e.node == node && !e.closed {
			lost = append(lost, e)
		}
	}
	slices.SortFunc(lost, func(a, b *passedInvite) int { return slices.Compare(a.p.Message.CallID(), b.p.Message.CallID()) })
	for _, e := range lost {
		s.hot = e
		e.lose()
	}
	s.hot = nil
}
