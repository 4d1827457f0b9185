package b2bua

import (
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

// interim is when a call that is up has its next record of kind interim. The last one says
// how long a call was up at least, whatever becomes of the cluster. Only the origin of a
// call writes them, as it writes the record (DEC-24).
type interim struct {
	next time.Time // zero: never
	n    int       // records so far
}

// watchInterim begins to count from the answer.
func (c *Call) watchInterim() {
	cfg := &c.s.cfg
	if cfg.Interim > 0 && cfg.Interims != nil && !c.token.yes {
		c.interim.next = c.times.answer.Add(cfg.Interim)
	}
}

// writeInterim writes a record when its time has come. Its end is now, so that what is
// billed from it is what the call had by then; its version grows, so that the last one of
// a call is the one that counts.
func (c *Call) writeInterim(now time.Time) {
	i := &c.interim
	if i.next.IsZero() || now.Before(i.next) || c.phase == ending {
		return
	}
	every := c.s.cfg.Interim
	for !now.Before(i.next) { // one record, also after a time in which nothing ran
		i.next = i.next.Add(every)
	}
	i.n++
	r := *c.rec
	r.Kind, r.Final, r.Version, r.End = cdr.KindInterim, false, i.n, now
	c.s.cfg.Interims(&r)
}
