package b2bua

import (
	"runtime"
	"slices"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The rules of a try-order: a candidate of a group that stands in another follows
// its own group's rules within the other's bounds; tiers are told apart by priority,
// last resort and preference, a far end's addresses by their member.
func TestHuntRules(t *testing.T) {
	outer := &trunkgroup.Group{Name: "outer", MaxAttempts: 3, AdvanceOn: trunkgroup.Causes(503)}
	inner := &trunkgroup.Group{Name: "inner", MaxAttempts: 1, NeverAdvance: trunkgroup.Causes(404)}
	all := &trunkgroup.Group{Name: "all", Method: trunkgroup.Parallel}
	member := func(g *trunkgroup.Group, priority int, last bool) *trunkgroup.Member {
		return &trunkgroup.Member{Group: g, Priority: priority, LastResort: last}
	}
	named := member(all, 1, false)
	registered := member(all, 2, false)
	order := []trunkgroup.Candidate{
		{Member: member(outer, 0, false), Cause: "down"},
		{Member: member(outer, 0, false), Dialable: true},
		{Member: member(inner, 0, false), Outer: outer, Dialable: true},
		{Member: member(all, 1, false), Dialable: true},
		{Member: named, Dialable: true},
		{Member: named, Dialable: true},
		{Member: registered, Binding: &trunkgroup.Binding{Q: 1000}, Dialable: true},
		{Member: registered, Binding: &trunkgroup.Binding{Q: 1000}, Dialable: true},
		{Member: registered, Binding: &trunkgroup.Binding{Q: 500}, Dialable: true},
		{Member: member(all, 2, true), Dialable: true},
	}
	r := rulesOf(order, []*trunkgroup.Group{outer, all})
	type line struct {
		group, within, tier int
		dialable, alternate bool
	}
	var got []line
	for _, t := range r.targets {
		got = append(got, line{t.Group, t.Within, t.Tier, t.Dialable, t.Alternate})
	}
	want := []line{
		{0, 0, 0, false, false},
		{0, 0, 0, true, false},
		{2, 0, 0, true, false},
		{1, 1, 1, true, false},
		{1, 1, 1, true, false},
		{1, 1, 1, true, true},
		{1, 1, 2, true, false},
		{1, 1, 2, true, false},
		{1, 1, 3, true, false},
		{1, 1, 4, true, false},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if r.targets[0].Cause != "down" || len(r.rules) != 3 || r.rules[2].MaxAttempts != 1 || r.rules[2].NeverAdvance != inner.NeverAdvance ||
		r.rules[0].AdvanceOn != outer.AdvanceOn || !r.rules[1].Parallel {
		t.Errorf("rules %+v", r.rules)
	}
}

// A group in a group on the wire: the inner group has one attempt, the outer one
// goes on behind it.
func TestHuntOfAGroupInAGroup(t *testing.T) {
	d := vendors(func(a, b *trunkgroup.GroupSpec) {
		b.Distribution.Method = trunkgroup.Failover
		b.Members = append([]trunkgroup.MemberSpec{{ID: "inner", Group: "vendor-a"}}, b.Members...)
		a.MaxAttempts, a.AdvanceOn = 1, []int{486}
	})
	d.RoutePlans[0].Routes[0].Providers = []string{"vendor-b"}
	w := newWorldOf(t, "dal-1", "dallas", d)
	w.from(customerAddr, vendorCall())
	w.refuse(vendorA1, 486) // leads on by the inner group's word
	w.none(vendorA2, "INVITE")
	w.refuse(vendorB1, 486) // is the last word by the outer group's
	w.take(customerAddr, "SIP/2.0 486")
	w.quiet()
	if got := attemptsOf(w.records[0]); got != "a1 486, b1 486" {
		t.Error(got)
	}
}

// BenchmarkHuntRules is what a call with a try-order of four costs to set up.
func BenchmarkHuntRules(b *testing.B) {
	g := &trunkgroup.Group{Name: "g"}
	order := make([]trunkgroup.Candidate, 4)
	for i := range order {
		order[i] = trunkgroup.Candidate{Member: &trunkgroup.Member{Group: g}, Dialable: true}
	}
	groups := []*trunkgroup.Group{g}
	var targets []hunt.Target
	b.ReportAllocs()
	for b.Loop() {
		targets = rulesOf(order, groups).targets
	}
	runtime.KeepAlive(targets)
}
