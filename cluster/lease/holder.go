package lease

import "time"

// holder is what a node has of a limit.
type holder struct {
	grantor string // whose term this node has joined; empty before the first
	term    uint64
	seq     uint64            // of the last grant obeyed
	left    map[string]uint64 // grantor -> its last term that this node has left
	until   time.Time         // end of the lease

	hungry   bool      // the grantor wants to know of each right that becomes idle
	hungryTo time.Time // until then

	missed   uint64 // of the meter, as last seen
	lately   int    // uses that were not to be had lately
	latelyTo time.Time

	told   told
	toldAt time.Time
}

// told is what the last report said.
type told struct {
	to         string
	term, seq  uint64
	held, used int
	waiting    int
	missed     int
	hungry     bool
}

// report tells the grantor what this node holds and needs, when that changed or
// is due.
func (x *entry) report() {
	e, h := x.e, &x.hold
	x.needs()
	if h.hungry && !e.now.Before(h.hungryTo) {
		h.hungry = false
	}
	share, used := x.meter.Read()
	is := told{
		to: e.grantor(x.limit.Key, e.cfg.Site), seq: h.seq, held: max(share, used), used: used,
		waiting: x.meter.Waiting(), missed: h.lately, hungry: h.hungry,
	}
	if is.to == h.grantor {
		is.term = h.term
	}
	due := h.toldAt.Add(e.refresh())
	if x.tells(&is) || !e.now.Before(due) {
		h.told, h.toldAt = is, e.now
		due = e.now.Add(e.refresh())
		x.send(is.to, record{
			kind: kindReport, term: is.term, seq: is.seq, share: is.held, used: is.used, waiting: is.waiting, missed: is.missed,
			flags: flagIf(is.hungry, flagHungry), sent: uint64(e.now.Sub(e.start)), rows: nil,
		})
	}
	x.due(due)
	if h.hungry || h.lately > 0 || is.waiting > 0 {
		x.due(e.now.Add(poll))
	}
}

// tells reports whether what the grantor knows is no longer enough.
func (x *entry) tells(is *told) bool {
	was := &x.hold.told
	switch {
	case is.to != was.to || is.term != was.term:
		return true
	case is.held < was.held || is.waiting != was.waiting || is.missed > was.missed || is.hungry != was.hungry:
		return true
	case is.hungry && (is.used != was.used || is.seq != was.seq):
		return true
	}
	return is.held-is.used < (was.held-was.used)/2 // the slack is used up faster than expected
}

// needs notes what calls did not get since the last look.
func (x *entry) needs() {
	h, now := &x.hold, x.e.now
	missed := x.meter.Missed()
	if n := int(missed - h.missed); n > 0 {
		h.lately, h.latelyTo = max(h.lately, n), now.Add(wantFor)
	} else if !now.Before(h.latelyTo) {
		h.lately = 0
	}
	h.missed = missed
}

// called takes a grantor's call into a term.
func (x *entry) called(from string, r *record) {
	e, h := x.e, &x.hold
	if from != e.grantor(x.limit.Key, e.cfg.Site) || r.term <= h.left[from] || from == h.grantor && r.term <= h.term {
		return
	}
	h.leave()
	h.grantor, h.term, h.seq = from, r.term, 0
	if from != e.cfg.Node {
		x.bank = nil // this node obeys now: it grants no more
	}
	share, used := x.meter.Read()
	h.told = told{
		to: from, term: h.term, held: max(share, used), used: used, waiting: x.meter.Waiting(), missed: h.lately, hungry: h.hungry,
	}
	h.toldAt = e.now
	x.send(from, record{
		kind: kindReport, term: h.term, share: h.told.held, used: used, waiting: h.told.waiting, missed: h.lately,
		flags: flagIf(h.hungry, flagHungry), sent: uint64(e.now.Sub(e.start)),
	})
}

// leave leaves the term: what its grantor still sends, or sends again, counts no
// more.
func (h *holder) leave() {
	if h.left == nil {
		h.left = make(map[string]uint64)
	}
	if h.grantor != "" {
		h.left[h.grantor] = h.term
	}
	h.grantor, h.term, h.seq = "", 0, 0
}

// granted takes a grant.
func (x *entry) granted(from string, r *record) {
	e, h := x.e, &x.hold
	if from != h.grantor || r.term != h.term || r.seq < h.seq {
		return
	}
	if sent := e.start.Add(time.Duration(r.sent)); r.sent > 0 && !sent.After(e.now) {
		if until := sent.Add(e.cfg.Lease); until.After(h.until) {
			h.until = until
			x.meter.SetLease(until)
		}
	}
	h.hungry, h.hungryTo = r.flags&flagHungry != 0, e.now.Add(2*wantFor)
	if r.seq > h.seq {
		share, _ := x.meter.Read()
		h.seq, h.lately = r.seq, max(0, h.lately-max(0, r.share-share))
		x.meter.SetShare(r.share)
	}
	if r.flags&flagAsk != 0 {
		h.toldAt = time.Time{}
	}
	if r.flags&flagFull != 0 {
		x.meter.SetFull(e.now.Add(wantFor))
	} else {
		x.meter.SetFull(time.Time{})
	}
	if from != e.cfg.Node {
		x.uses = uses{site: r.used, others: map[string]int{"": r.waiting}}
	}
	x.due(e.now)
}

func flagIf(yes bool, f byte) byte {
	if yes {
		return f
	}
	return 0
}
