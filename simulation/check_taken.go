package simulation

import (
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// checkTaken: a call that a live reachable member could take is taken. The
// caller must have called until its end, from a far end that was well, to nodes
// that were well; then any member that was well for long enough, and that no
// operator and no document took out, is a reason why the call must have reached
// somebody.
func (w *world) checkTaken(c *call, records []*cdr.Record) {
	k := c.caller
	to := k.ended
	switch {
	case k.final == 200 || k.final == 0 || k.final == noAnswer:
		return
	case k.wantCancel || !k.a.ill.calm(c.begun-known, to) || !w.entriesCalm(c, to):
		return
	case k.moved: // its first INVITE may have been in the way of the second
		return
	case c.reached():
		w.checkWord(c)
		return
	case len(records) == 0:
		w.fault("call %d: final %d without a record", c.index, k.final)
		return
	}
	r := records[len(records)-1]
	if c.decision != nil && c.decision.inVain() {
		return // checked by checkDecision
	}
	if w.spentElsewhere(r) > spent || w.lossy(c) || limited(r) { // refusals for a limit are checked where they are made
		return
	}
	for _, m := range w.membersFor(c) {
		if m.Site != k.entered[len(k.entered)-1].site && r.HandedOff && w.plan.loss > 0 {
			continue // the streams may have been too late for the first word (DEC-05)
		}
		if w.owed(c, k.entered[len(k.entered)-1], m, to) {
			w.fault("call %d (%s): final %d, %s was well; record %s %s", c.index, c.number, k.final, m.Key, r.CallID, r.HangupCause)
			return
		}
	}
}

// reached tells whether a callee had the call that could say what became of it.
func (c *call) reached() bool {
	for _, l := range c.legs {
		if l.rang || l.code == 486 || l.code == 603 || l.code == 200 {
			return true
		}
	}
	return false
}

// checkWord: what a callee that was well said is what the caller heard.
func (w *world) checkWord(c *call) {
	if len(c.legs) != 1 { // a word that came after the time was up, and was not the last one
		return
	}
	want := 0
	for _, l := range c.legs {
		if l.mood == good && l.a.ill.calm(l.came, c.caller.ended) && (l.code == 486 || l.code == 603) {
			want = l.code
		}
	}
	if got := c.caller.final; want != 0 && got != want && w.allCalm(c.begun-quiet, c.caller.ended) {
		w.fault("call %d: the callee said %d, the caller heard %d", c.index, want, got)
	}
}

// spentElsewhere is the time that attempts took that came to nothing.
func (w *world) spentElsewhere(r *cdr.Record) (sum time.Duration) {
	for _, a := range r.Attempts {
		if a.Dialed {
			sum += a.Elapsed
		}
	}
	return sum
}

// limited tells whether a limit kept the call from somebody.
func limited(r *cdr.Record) bool {
	return r.HangupCause == "CAPACITY" || r.HangupCause == "RATE_EXCEEDED" ||
		slices.ContainsFunc(r.Attempts, func(a cdr.Attempt) bool { return a.Cause == "capacity" })
}

// lossy tells whether the network lost so much of a B leg that the attempt may
// have failed for it.
func (w *world) lossy(c *call) bool {
	for _, l := range c.legs {
		if w.lost[l.callID] >= 3 {
			return true
		}
	}
	return w.plan.loss > 0 && len(c.legs) == 0
}

// membersFor lists the members that any document in force offers for a call.
func (w *world) membersFor(c *call) (list []*trunkgroup.Member) {
	for _, m := range w.nodes[0].table.Members() {
		in := m.Group.Name == c.group || c.group == "" && m.Group.Role == trunkgroup.PSTNProvider && (c.decision == nil || c.decision.offers(m.Group.Name))
		if in && (m.Key != "acme-in/dal-2" || !w.log.docs[docName(1, w.plan.limited)]) {
			list = append(list, m)
		}
	}
	return list
}

// owed tells whether a member must have got the call: it was well, and so was the
// way to it.
func (w *world) owed(c *call, entry *node, m *trunkgroup.Member, to time.Duration) bool {
	if !w.byAddr[m.Addr].ill.calm(c.begun-known, to) {
		return false
	}
	if m.Site == entry.site {
		return true
	}
	for _, x := range w.membersFor(c) { // an ill one there may use the time up
		if x.Site == m.Site && !w.byAddr[x.Addr].ill.calm(c.begun-known, to) {
			return false
		}
	}
	for _, n := range w.nodes { // one that had taken the call and ends takes it along
		if n.site == m.Site && n.alive && !n.trouble.calm(c.begun, to) && n.trouble.calm(c.begun, c.begun) {
			return false
		}
	}
	for _, n := range w.nodes {
		if n.site != m.Site || !n.trouble.calm(c.begun-quiet, to) {
			continue
		}
		if w.wayCalm(c, entry, n, to) {
			return true
		}
	}
	return false
}

// wayCalm tells whether a node that was asked could hand the call to a node of the
// other site. One that drains passes the call on, and then its sibling's way counts
// (DEC-19).
func (w *world) wayCalm(c *call, entry, n *node, to time.Duration) bool {
	from := []*node{entry}
	if !entry.drained.calm(c.begun-quiet, to) {
		from = append(from, w.nodes[entry.index^1])
	}
	return !slices.ContainsFunc(from, func(x *node) bool {
		l, _ := w.link(x, n)
		return !l.trouble.calm(c.begun-quiet, to) || !l.slow.calm(c.begun-quiet, to)
	})
}
