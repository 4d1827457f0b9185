package b2bua

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

// interims has a world write interim records every so often.
func interims(w *world, every time.Duration) *[]cdr.Record {
	list := &[]cdr.Record{}
	w.s.cfg.Interim = every
	w.s.cfg.Interims = func(r *cdr.Record) { *list = append(*list, *r) }
	return list
}

// A call that is up has a record now and then, whose version grows; the last word is the
// call's own record.
func TestDEC24_InterimRecords(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", shortCalls(time.Hour))
	list := interims(w, 15*time.Minute)
	w.answeredCall()
	w.advance(15*time.Minute - time.Second)
	if len(*list) != 0 {
		t.Fatalf("too early: %+v", *list)
	}
	w.advance(time.Second)
	w.advance(15 * time.Minute)
	for n, r := range *list {
		if r.Kind != cdr.KindInterim || r.Version != n+1 || r.Final || r.Billable() != time.Duration(n+1)*15*time.Minute || r.SIPCode != 200 || r.HangupCause != "" || len(r.Attempts) == 0 {
			t.Errorf("record %d: %+v", n, r)
		}
	}
	if len(*list) != 2 {
		t.Fatalf("%d records in half an hour", len(*list))
	}
	w.advance(31 * time.Minute) // the call ends after an hour
	if len(w.records) == 0 {
		w.from(pbx1Addr, reply(w.take(pbx1Addr, "BYE"), 200, "callee", ""))
		w.from(carrierAddr, reply(w.take(carrierAddr, "BYE"), 200, "caller", ""))
	}
	w.advance(time.Hour)
	if n := len(*list); n > 3 {
		t.Errorf("%d records: the last after the end of the call", n)
	}
	r := w.records[0]
	if r.Kind != cdr.KindCall || r.CallID != (*list)[0].CallID || !r.Final {
		t.Errorf("%+v", r)
	}
	for _, i := range *list {
		if !i.End.Before(r.End.Add(time.Nanosecond)) {
			t.Errorf("an interim record of %v after the end %v", i.End, r.End)
		}
	}
}

// Of a call that was handed over the origin alone writes them.
func TestDEC24_InterimRecordsOfAHandoff(t *testing.T) {
	p, _, _ := answeredOver(t)
	origin, peer := interims(p.dal, time.Minute), interims(p.ash, time.Minute)
	for _, w := range []*world{p.dal, p.ash} {
		for c := range w.s.calls {
			c.watchInterim()
			c.arm()
		}
	}
	for range 30 {
		p.dal.advance(10 * time.Second)
		p.ash.advance(10 * time.Second)
		p.exchange()
	}
	if len(*origin) < 4 || len(*peer) != 0 {
		t.Errorf("%d at the origin, %d at the peer", len(*origin), len(*peer))
	}
}
