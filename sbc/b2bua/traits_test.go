package b2bua

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// hashed lets the customer's group hash, and gives ashburn more members.
func hashed(spec trunkgroup.DistributionSpec) *trunkgroup.Document {
	doc := document()
	g := &doc.TrunkGroups[0]
	g.Distribution = spec
	for i := range 6 {
		g.Members = append(g.Members, trunkgroup.MemberSpec{ID: fmt.Sprintf("more-%d", i), Site: "ashburn", Address: fmt.Sprintf("198.51.100.%d:5060", 80+i)})
	}
	return doc
}

func onlyCall(t *testing.T, w *world) *Call {
	t.Helper()
	for c := range w.s.calls {
		return c
	}
	t.Fatal("there is no call")
	return nil
}

// Traits are what the caller sent; they cost no allocation.
func TestK04_K05_TraitsOfACall(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", hashed(trunkgroup.DistributionSpec{Method: trunkgroup.HashFrom}))
	w.from(carrierAddr, invite{callID: "one@carrier", lines: "X-Room:  7 \r\n", body: offer}.String())
	c := onlyCall(t, w)
	x := c.traits()
	msg := c.msg
	for what, pair := range map[string][2]string{
		"call-id": {string(x.CallID), "one@carrier"}, "called": {string(x.Called), c.called},
		"source": {x.Source.String(), c.source.Addr().String()}, "user": {string(x.AuthUser), ""},
		"header": {string(x.Headers.HeaderValue("x-room")), "7"}, "no header": {string(x.Headers.HeaderValue("X-None")), ""},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %q, want %q", what, pair[0], pair[1])
		}
	}
	if len(x.From) == 0 || len(x.To) == 0 || len(x.RequestUser) == 0 || len(x.Caller) == 0 || x.Caller[0] != '+' {
		t.Errorf("from %q, to %q, request %q, caller %q of\n%s", x.From, x.To, x.RequestUser, x.Caller, msg.Raw())
	}
	if n := testing.AllocsPerRun(100, func() { c.traits().Headers.HeaderValue("X-Room") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// DEC-07: a call that is handed over goes to the member that the origin would have chosen
// by the same key, though the hand-off has a Call-ID, a source and a caller of its own.
func TestDEC07_K03_HandedOverCallsHashAsAtTheirOrigin(t *testing.T) {
	for _, spec := range []trunkgroup.DistributionSpec{
		{Method: trunkgroup.HashCallID},
		{Method: trunkgroup.HashSourceIP},
		{Method: trunkgroup.HashFrom},
		{Method: trunkgroup.HashCaller},
		{Method: trunkgroup.Hash, Key: "header:X-Room"},
		{Method: trunkgroup.HashMod, Key: "call-id"},
	} {
		for i := range 4 {
			p := newTwoSites(t)
			p.dal = newWorldOf(t, "dal-1", "dallas", hashed(spec))
			p.ash = newWorldOf(t, "ash-1", "ashburn", hashed(spec))
			p.dal.peers = newTwoSites(t).dal.peers
			setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
			p.dal.from(carrierAddr, invite{callID: fmt.Sprintf("key-%d@carrier", i), lines: fmt.Sprintf("X-Room: %d\r\n", i), body: offer}.String())
			c := onlyCall(t, p.dal)
			want := trunkgroup.Plan(nil, p.ash.table.Group("acme-in"), "ashburn", p.ash.view, trunkgroup.Draw{Traits: c.traits()})[0]
			p.exchange()
			if p.ash.find(want.Addr.String(), "INVITE") == nil {
				t.Errorf("%s, call %d: not %s; sent:\n%s", spec.Method, i, want.Member.ID, p.ash.trace())
			}
		}
	}
}

// A key that is too long for a hand-off stays at home.
func TestHandedKeysAreBounded(t *testing.T) {
	if bounded(make([]byte, maxKey)) == "" || bounded(make([]byte, maxKey+1)) != "" {
		t.Error("the bound is maxKey")
	}
}

// An anonymous caller has no number that would bring all such calls to one member.
func TestAnonymousCallersHaveNoKey(t *testing.T) {
	for _, from := range []string{"<sip:anonymous@anonymous.invalid>;tag=1", "\"Anonymous\" <sip:Anonymous@192.0.2.10>;tag=1"} {
		w := newWorldOf(t, "dal-1", "dallas", hashed(trunkgroup.DistributionSpec{Method: trunkgroup.HashCaller}))
		text := invite{body: offer}.String()
		begin := strings.Index(text, "From: ")
		end := begin + strings.Index(text[begin:], "\r\n")
		w.from(carrierAddr, text[:begin]+"From: "+from+text[end:])
		if got := onlyCall(t, w).traits().Caller; len(got) != 0 {
			t.Errorf("%s: %q", from, got)
		}
	}
}

// BenchmarkTraits is what the traits of a call cost where a distribution goes by them.
func BenchmarkTraits(b *testing.B) {
	w := newWorldOf(b, "dal-1", "dallas", hashed(trunkgroup.DistributionSpec{Method: trunkgroup.HashFrom}))
	w.from(carrierAddr, invite{body: offer}.String())
	for c := range w.s.calls {
		b.ReportAllocs()
		for b.Loop() {
			c.traits()
		}
	}
}
