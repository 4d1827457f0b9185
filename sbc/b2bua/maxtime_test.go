package b2bua

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// shortCalls is the document of all tests with calls of an hour.
func shortCalls(d time.Duration) *trunkgroup.Document {
	doc := document()
	doc.TrunkGroups[0].Limits.MaxDuration = trunkgroup.Duration(d)
	return doc
}

// TestP35_LongestCall: at the end of Max Call Duration both legs get a BYE, and
// what the call used is free.
func TestP35_LongestCall(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", shortCalls(time.Hour))
	_, ok := w.answeredCall()
	_ = ok
	w.sent = nil
	w.advance(time.Hour - time.Second)
	w.none(pbx1Addr, "BYE")
	w.advance(time.Second)
	b := w.take(pbx1Addr, "BYE")
	a := w.take(carrierAddr, "BYE")
	w.from(pbx1Addr, reply(b, 200, "callee", ""))
	w.counted(1)
	w.from(carrierAddr, reply(a, 200, "caller", ""))
	w.counted(0)
	if r := w.records[0]; r.HangupCause != causeMaxTime || r.End.Sub(r.Answer) != time.Hour {
		t.Errorf("cause %q after %v", r.HangupCause, r.End.Sub(r.Answer))
	}
	w.quiet()
}

// TestP35_LongestCallOverAHandoff: the origin ends it, and both far ends hear.
func TestP35_LongestCallOverAHandoff(t *testing.T) {
	p, _, _ := answeredOver(t)
	p.dal.sent, p.ash.sent = nil, nil
	for range 4 * 3600 / 10 {
		p.dal.advance(10 * time.Second)
		p.ash.advance(10 * time.Second)
		p.exchange()
	}
	p.dal.take(carrierAddr, "BYE")
	p.ash.take(ashPBX, "BYE")
	if r := p.dal.records[0]; r.HangupCause != causeMaxTime {
		t.Errorf("cause %q", r.HangupCause)
	}
}

// TestDEC10_HandedOverCallCountsOnce: customer and group at the origin, the member
// at the peer.
func TestDEC10_HandedOverCallCountsOnce(t *testing.T) {
	p, _, ok := answeredOver(t)
	used := func(w *world, scope string, name string) (n int) {
		for k, m := range w.limits.All() {
			if k.Scope.String() == scope && k.Name == name && k.Kind.String() == "calls" {
				_, n = m.Read()
			}
		}
		return n
	}
	for _, c := range []struct {
		w           *world
		scope, name string
		want        int
	}{
		{p.dal, "group", "acme-in", 1},
		{p.dal, "group", "carrier-a", 1},
		{p.dal, "member", "acme-in/ash-1", 0},
		{p.ash, "group", "acme-in", 0},
		{p.ash, "group", "carrier-a", 0},
		{p.ash, "member", "acme-in/ash-1", 1},
	} {
		if got := used(c.w, c.scope, c.name); got != c.want {
			t.Errorf("%s: %s %s: %d in use, want %d", c.w.s.cfg.Node, c.scope, c.name, got, c.want)
		}
	}
	p.dal.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	p.exchange()
	p.ash.from(ashPBX, reply(p.ash.take(ashPBX, "BYE"), 200, "x", ""))
	p.exchange()
	for range 8 {
		p.dal.advance(10 * time.Second)
		p.ash.advance(10 * time.Second)
		p.exchange()
	}
	p.dal.counted(0)
	p.ash.counted(0)
}
