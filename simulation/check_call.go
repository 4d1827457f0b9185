package simulation

import (
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

const (
	// quiet is how long before a call nothing may have been wrong with a node
	// or a link that the call is owed.
	quiet = 20 * time.Second
	// known is the same for a member: by then all nodes believe again in one
	// that was away.
	known = 60 * time.Second
	// spent is how much of a call's time other attempts may have used: within
	// it the next member, and the peer site, still get their turn (DEC-05).
	spent = 4 * time.Second
)

// entriesCalm tells whether all nodes that the caller asked were well from before
// the call to an instant, and those that had the call in place of a node that
// drained.
func (w *world) entriesCalm(c *call, to time.Duration) bool {
	for _, n := range c.caller.entered {
		if !n.trouble.calm(c.begun-quiet, to) {
			return false
		}
		if !n.drained.calm(c.begun-quiet, to) && !w.nodes[n.index^1].trouble.calm(c.begun-quiet, to) {
			return false
		}
	}
	return true
}

// handedOnCalmly tells whether no node that the caller asked passed the call to a
// sibling from which it was then cut off: each of the two goes on with the call, as
// it must where the other one is dead (DEC-19), and the caller hears both.
func (w *world) handedOnCalmly(c *call, to time.Duration) bool {
	for _, n := range c.caller.entered {
		l, _ := w.link(n, w.nodes[n.index^1])
		if !n.drained.calm(c.begun-quiet, to) && !l.trouble.calm(c.begun, to) {
			return false
		}
	}
	return true
}

// checkFinal: every call gets a final.
func (w *world) checkFinal(c *call) {
	k := c.caller
	switch {
	case k.final > 0:
	case !w.entriesCalm(c, w.now) && (k.final == noAnswer || !k.a.ill.calm(c.begun, w.now)):
	case !k.a.ill.calm(c.begun-time.Second, w.now): // the caller itself was away
	case k.wantCancel && !k.cancelled && k.final == noAnswer: // nobody spoke to it before it gave up
		w.fault("call %d: no word at all in %v", c.index, timerB)
	default:
		w.fault("call %d: no final response (%d)", c.index, k.final)
	}
}

// checkAnswers: at most one answered B leg.
func (w *world) checkAnswers(c *call) {
	k := c.caller
	if k.extra > 0 && !k.moved && w.entriesCalm(c, k.ended+timerB) && w.handedOnCalmly(c, k.ended) {
		w.fault("call %d: the caller got %d answers", c.index, 1+k.extra)
	}
	for i, a := range c.legs {
		for _, b := range c.legs[i+1:] {
			if !a.bridged || !b.bridged || a.stood.to < b.stood.from || b.stood.to < a.stood.from {
				continue
			}
			if k.moved || !w.wellKept(a) || !w.wellKept(b) {
				continue // one of them is an orphan, or the caller called twice
			}
			w.fault("call %d: %s and %s were both answered", c.index, a.a.name, b.a.name)
		}
	}
}

// wellKept tells whether a B leg had a node and a far end that could end it when
// it had to be ended.
func (w *world) wellKept(l *callee) bool {
	from, to := l.came-quiet, min(l.stood.to, w.now)
	if !l.a.ill.calm(from, to) || w.lost[l.callID] >= 3 {
		return false
	}
	return w.allCalm(from, to)
}

// allCalm tells whether all nodes and links were well.
func (w *world) allCalm(from, to time.Duration) bool {
	for _, n := range w.nodes {
		if !n.trouble.calm(from, to) {
			return false
		}
	}
	for _, l := range w.links {
		if !l.trouble.calm(from, to) {
			return false
		}
	}
	return true
}

// allQuick tells whether no link was slow.
func (w *world) allQuick(from, to time.Duration) bool {
	for _, l := range w.links {
		if !l.slow.calm(from, to) {
			return false
		}
	}
	return true
}

// checkRecords: one rated record per call.
func (w *world) checkRecords(c *call, list []*cdr.Record) {
	k := c.caller
	rated, kept := 0, 0
	for _, r := range list {
		kept++
		if !r.Answer.IsZero() {
			rated++
		}
	}
	switch {
	case rated > 1 && !k.moved && w.entriesCalm(c, k.ended+timerB) && w.handedOnCalmly(c, k.ended):
		w.fault("call %d has %d rated records", c.index, rated)
	case rated == 0 && k.final == 200 && !c.forgotten() && w.toldInTime(c):
		w.fault("call %d was answered and has no rated record", c.index)
	case kept == 0 && k.final > 0 && !c.forgotten() && k.final != 482 && k.final != 503 && w.entriesCalm(c, w.now):
		w.fault("call %d has no record (final %d)", c.index, k.final)
	case kept > len(k.entered) && w.undrained(c) && w.entriesCalm(c, w.now):
		w.fault("call %d has %d records of %d INVITEs", c.index, kept, len(k.entered))
	}
}

// toldInTime tells whether nothing went wrong around the answer of a call, so that
// its entry has reached the other nodes: then it gets its record, by its node or
// by a survivor (DEC-24).
func (w *world) toldInTime(c *call) bool {
	from, to := c.begun-quiet, c.caller.ended+3*time.Second
	return w.entriesCalm(c, to) && w.allCalm(from, to)
}

// undrained tells whether no node that the caller asked passed calls on: one that
// loses its sibling takes the call up again, and both write what they had of it.
func (w *world) undrained(c *call) bool {
	for _, n := range c.caller.entered {
		if !n.drained.calm(c.begun-quiet, w.now) {
			return false
		}
	}
	return true
}

// parting is how long two nodes may have one hand-off: one that was asked first and
// silent may still have begun, and the origin tells it to stop.
const parting = time.Second

// checkHandoffs: at most one accepted hand-off per call and peer site.
func (w *world) checkHandoffs() {
	type taken struct {
		node string
		at   span
	}
	seen := make(map[string]taken)
	for _, r := range w.records {
		if r.Kind != cdr.KindHandoff || r.ClosedBy != "" {
			continue
		}
		n := w.nodeNamed(r.Node)
		at := span{n.clock.global(r.Start), n.clock.global(r.End)}
		old, twice := seen[r.CallID]
		seen[r.CallID] = taken{r.Node, at}
		if !twice {
			continue
		}
		if old.node == r.Node {
			w.fault("%s took the hand-off of call %s twice", r.Node, r.CallID)
		}
		if old.at.to > at.from && at.to > old.at.from && min(old.at.to, at.to)-max(old.at.from, at.from) > w.partTime(old.at, at) &&
			w.allCalm(at.from-quiet, min(old.at.to, at.to)) {
			w.fault("%s and %s both took the hand-off of call %s", old.node, r.Node, r.CallID)
		}
	}
}

// partTime is how long two nodes may both have had a hand-off. A link that is slow
// is no excuse for more, but where neither node had the news of the other one when
// it took the call: then the origin alone can decide, and the first word of the one
// and the CANCEL that it draws go over the slow link; an answer that crosses the
// CANCEL, and the BYE that follows, too.
func (w *world) partTime(a, b span) time.Duration {
	news := 2 * w.plan.lan
	if w.plan.loss > 0 {
		news += 3 * rto // segments may be lost in a row, and hold up those behind
	}
	from, to := min(a.from, b.from), max(a.from, b.from)
	quick := w.allQuick(from-quiet, to+parting)
	if !quick {
		news += slowest // the slow link may be the one between the two
	}
	if quick || to-from > news {
		return parting
	}
	return parting + 4*slowest
}
