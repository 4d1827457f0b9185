package quality

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestD10_AnswerRatioBarsAMember(t *testing.T) {
	w, m := watch(t)
	now := start
	attempt(w, now, m, 9, 1)
	if c := w.Judge(now); len(c) != 0 {
		t.Fatalf("nine calls are too few to tell: %+v", c)
	}
	attempt(w, now, m, 1, 0)
	now = now.Add(time.Second)
	c := w.Judge(now)
	want := "answer ratio 10 % of 10 calls is below 30 %"
	if len(c) != 1 || c[0].Member != "carrier/a" || c[0].Bar != (trunkgroup.Bar{Since: now, Until: now.Add(5 * time.Minute), Reason: want}) {
		t.Fatalf("%+v", c)
	}
	if b, ok := w.Bar(now, m); !ok || b.Reason != want {
		t.Errorf("%+v", b)
	}
	attempt(w, now.Add(time.Minute), m, 50, 0) // calls that were up, or emergency calls
	if c := w.Judge(now.Add(2 * time.Minute)); len(c) != 0 {
		t.Errorf("while it is out: %+v", c)
	}
	end := now.Add(5 * time.Minute)
	attempt(w, end.Add(-10*time.Second), m, 50, 0)
	if _, ok := w.Bar(end, m); ok {
		t.Error("the cooldown does not end")
	}
	if c := w.Judge(end); len(c) != 1 || c[0].Bar != (trunkgroup.Bar{}) {
		t.Errorf("the end is no change: %+v", c)
	}
	if c := w.Judge(end.Add(time.Second)); len(c) != 0 {
		t.Errorf("what was counted before the end counts: %+v", c)
	}
	attempt(w, end.Add(4*time.Second), m, 20, 0)
	if c := w.Judge(end.Add(5 * time.Second)); len(c) != 1 || c[0].Bar.Until != end.Add(5*time.Second+5*time.Minute) {
		t.Errorf("it is not judged anew: %+v", c)
	}
}

func TestD10_ShortCallsBarAMember(t *testing.T) {
	w, m := watch(t)
	attempt(w, start, m, 20, 20)
	for range 9 {
		w.Ended(start, m, 5*time.Second)
	}
	for range 11 {
		w.Ended(start, m, 6*time.Second)
	}
	want := "45 % of 20 answered calls were shorter than 6s, more than 40 %"
	if c := w.Judge(start); len(c) != 1 || c[0].Bar.Reason != want {
		t.Fatalf("%+v", c)
	}
	r := w.Reports(start)
	tally := trunkgroup.CallTally{Attempts: 20, Answered: 20, Delivered: 20, Short: 9, Ended: 20, Seconds: 9*5 + 11*6}
	if len(r) != 2 || r[0].Member != m || r[0].Tally != tally || r[0].Bar.Reason != want || r[1].Bar != (trunkgroup.Bar{}) {
		t.Errorf("%+v", r)
	}
}

// Many calls that are up say nothing yet, and few that end at once are not most.
func TestD10_ABurstOfCallsIsNotShort(t *testing.T) {
	w, m := watch(t)
	attempt(w, start, m, 500, 500)
	for range 50 {
		w.Ended(start.Add(2*time.Second), m, 2*time.Second)
	}
	if c := w.Judge(start.Add(3 * time.Second)); len(c) != 0 {
		t.Errorf("%+v", c)
	}
}

func TestD10_WhatSaysNothingIsNotCounted(t *testing.T) {
	w, m := watch(t)
	for range 100 {
		w.Attempt(start, m, Abandoned, false)
		w.Attempt(start, m, Ours, false)
		w.Attempt(start, table(t, document(floor)).Member("plain/a"), Carrier, true)
	}
	if c := w.Judge(start); len(c) != 0 {
		t.Errorf("%+v", c)
	}
	if r := w.Reports(start); r[0].Tally != (trunkgroup.CallTally{}) {
		t.Errorf("%+v", r)
	}
	var none *Watch
	none.Attempt(start, m, Carrier, true)
	none.Ended(start, m, 0)
	none.Lift(start, m.Key)
	if _, ok := none.Bar(start, m); ok || none.Reports(start) != nil || none.Heard("p", "m", nil, start) != nil {
		t.Error("nobody bars")
	}
}

// Each of three nodes sees too few calls; together they see enough, and agree.
func TestD10_NodesJudgeTheSum(t *testing.T) {
	x := newNodes(t, 3)
	x.delay = 40 * time.Millisecond
	now := start
	for _, w := range x.list {
		attempt(w, now, w.index.Load().table.Member("carrier/a"), 4, 1)
	}
	x.step(now)
	x.step(now.Add(time.Second))
	if got := x.barred(now.Add(time.Second), "carrier/a"); !slices.Equal(got, []bool{true, true, true}) {
		t.Fatalf("%v", got)
	}
	if got := x.barred(now.Add(time.Second), "carrier/b"); !slices.Equal(got, []bool{false, false, false}) {
		t.Errorf("the other one: %v", got)
	}
	// A node that starts takes the bar over, and ends it when the others do.
	now = now.Add(100 * time.Second)
	w := x.join()
	for i, told := range x.told[:3] {
		for member, value := range told {
			if err := w.Heard(fmt.Sprint(i), member, value, start.Add(time.Second)); err != nil {
				t.Fatal(err)
			}
		}
	}
	x.step(now)
	a, _ := w.Bar(now, w.index.Load().table.Member("carrier/a"))
	b, _ := x.list[0].Bar(now, x.list[0].index.Load().table.Member("carrier/a"))
	if d := a.Until.Sub(b.Until).Abs(); a.Reason == "" || a.Reason != b.Reason || d > time.Second+100*time.Millisecond {
		t.Errorf("%+v and %+v", a, b)
	}
	for end := b.Until.Add(2 * time.Second); now.Before(end); now = now.Add(time.Second) {
		x.step(now)
	}
	if got := x.barred(now, "carrier/a"); slices.Contains(got, true) {
		t.Errorf("at the end: %v", got)
	}
	// What is told does not come back later and later.
	from := x.list[0].seats["carrier/a"].from
	for range 120 {
		for _, w := range x.list {
			w.Attempt(now, w.index.Load().table.Member("carrier/a"), Answered, true)
		}
		x.step(now)
		now = now.Add(time.Second)
	}
	for _, w := range x.list {
		if d := w.seats["carrier/a"].from.Sub(from).Abs(); d > 2*time.Second {
			t.Errorf("the beginning of the counts moved by %s", d)
		}
	}
}

// The counts of a node that is gone go with it.
func TestD10_CountsOfALostNodeGo(t *testing.T) {
	x := newNodes(t, 2)
	w, m := x.list[0], x.list[0].index.Load().table.Member("carrier/a")
	attempt(x.list[1], start, m, 9, 0)
	x.exchange(start)
	if err := w.Heard("1", "carrier/a", nil, start); err != nil {
		t.Fatal(err)
	}
	attempt(w, start, m, 5, 0)
	if c := w.Judge(start); len(c) != 0 || w.Reports(start)[0].Tally.Attempts != 5 {
		t.Errorf("%+v", c)
	}
}

// An operator's word ends a bar on all nodes, and the old counts do not make another.
func TestD10_LiftEndsABarEverywhere(t *testing.T) {
	x := newNodes(t, 3)
	m := x.list[0].index.Load().table.Member("carrier/a")
	attempt(x.list[0], start, m, 20, 0)
	now := start
	for range 3 {
		x.step(now)
		now = now.Add(time.Second)
	}
	if got := x.barred(now, "carrier/a"); slices.Contains(got, false) {
		t.Fatalf("%v", got)
	}
	if !x.list[1].Lift(now, "carrier/a") {
		t.Error("nothing was lifted")
	}
	for range 5 {
		x.step(now)
		now = now.Add(time.Second)
	}
	if got := x.barred(now, "carrier/a"); slices.Contains(got, true) {
		t.Errorf("%v", got)
	}
	if x.list[1].Lift(now, "carrier/none") || x.list[1].Lift(now, "carrier/b") {
		t.Error("what has no bar was lifted")
	}
}

// Another demand is another judgement, and the same one keeps what was counted.
func TestD10_ANewTable(t *testing.T) {
	w, m := watch(t)
	attempt(w, start, m, 20, 0)
	w.Judge(start)
	d := document(floor)
	d.TrunkGroups = append([]trunkgroup.GroupSpec{{
		Name: "first", Role: trunkgroup.PSTNProvider, Members: []trunkgroup.MemberSpec{{ID: "x", Site: "dallas", Address: "192.0.2.9"}},
	}}, d.TrunkGroups...)
	same := table(t, d)
	w.Use(same)
	if _, ok := w.Bar(start, same.Member("carrier/a")); !ok {
		t.Error("the bar is gone by a change of something else")
	}
	if _, ok := w.Bar(start, m); !ok {
		t.Error("a call of the table before does not see it")
	}
	lower := floor
	lower.MinAnswerRatio = 0
	w.Use(table(t, document(lower)))
	if _, ok := w.Bar(start, m); ok {
		t.Error("a bar of demands that nobody makes")
	}
	told := map[string][]byte{}
	tell := func(member string, value []byte) error { told[member] = value; return nil }
	attempt(w, start, m, 1, 0)
	w.Spread(start, tell)
	bare := document(floor)
	bare.TrunkGroups[0].Quality = nil
	w.Use(table(t, bare))
	if told["carrier/a"] == nil {
		t.Fatal("nothing was told")
	}
	if w.Spread(start, func(string, []byte) error { return errors.New("full") }) != 1 || w.Spread(start, tell) != 0 || told["carrier/a"] != nil {
		t.Errorf("what was told is not taken back: %v", told)
	}
}

// Without calls nothing is left: not here, not at the others.
func TestD10_NothingStays(t *testing.T) {
	w, m := watch(t)
	attempt(w, start, m, 20, 0)
	last := map[string][]byte{}
	now := start
	for range 500 {
		w.Judge(now)
		w.Spread(now, func(member string, value []byte) error { last[member] = value; return nil })
		now = now.Add(time.Second)
	}
	if v, told := last["carrier/a"]; !told || v != nil {
		t.Errorf("%v %v", told, v)
	}
	for i := range 3 * maxEarly {
		if err := w.Heard("p", fmt.Sprintf("g/%d", i), w.seats["carrier/a"].appendAll(now), now); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.early) > maxEarly {
		t.Errorf("%d members that no table has", len(w.early))
	}
}

// appendAll tells something in any case.
func (s *seat) appendAll(now time.Time) []byte {
	s.from = now
	return s.append(nil, now)
}

// What others told of a member counts once a table has it.
func TestD10_HeardBeforeTheTable(t *testing.T) {
	x := newNodes(t, 1)
	m := x.list[0].index.Load().table.Member("carrier/a")
	attempt(x.list[0], start, m, 20, 0)
	x.step(start)
	late := NewWatch()
	x.list, x.told = append(x.list, late), append(x.told, map[string][]byte{})
	x.list[0].seats["carrier/a"].touch()
	x.exchange(start)
	late.Use(table(t, document(floor)))
	late.Judge(start)
	if _, ok := late.Bar(start, late.index.Load().table.Member("carrier/a")); !ok {
		t.Error("no bar")
	}
}

// A bar of others holds for no longer than one of this node's would.
func TestD10_ABarOfOthersIsBounded(t *testing.T) {
	w, m := watch(t)
	s := w.seats["carrier/a"]
	other := &seat{demand: s.demand, ring: newRing(time.Minute)}
	other.bar.Store(&trunkgroup.Bar{Since: start, Until: start.Add(40 * time.Hour), Reason: strings.Repeat("x", 2*maxReason)})
	if err := w.Heard("p", "carrier/a", other.append(nil, start), start); err != nil {
		t.Fatal(err)
	}
	w.Judge(start)
	if b, ok := w.Bar(start, m); !ok || b.Until.After(start.Add(5*time.Minute)) || len(b.Reason) != maxReason {
		t.Errorf("%+v", b)
	}
}

func TestD10_Outcomes(t *testing.T) {
	for _, c := range []struct {
		dialed, final bool
		code          int
		cause         string
		want          Outcome
		counts        bool
	}{
		{false, false, 503, "down", Ours, false},
		{true, false, 0, hunt.CauseCancelled, Abandoned, false},
		{true, true, 200, "", Answered, true},
		{true, true, 486, "", Callee, true},
		{true, true, 603, "", Callee, true},
		{true, false, 408, hunt.CauseRingTimeout, Callee, true},
		{true, true, 404, "", Number, true},
		{true, true, 488, "", Ours, true},
		{true, true, 407, "", Ours, true},
		{true, false, 408, hunt.CausePDD, Ours, false},
		{true, false, 408, hunt.CauseReserve, Ours, false},
		{true, false, 408, hunt.CauseSetup, Ours, false},
		{false, false, 503, hunt.CauseSetupBudget, Ours, false},
		{true, false, 408, hunt.CauseNoResponse, Carrier, true},
		{true, false, 408, hunt.CauseNoProgress, Carrier, true},
		{true, false, 503, hunt.CauseTransport, Carrier, true},
		{true, true, 503, "", Carrier, true},
		{true, true, 403, "", Carrier, true},
		{true, true, 302, "", Carrier, true},
	} {
		o := OutcomeOf(c.dialed, c.final, c.code, c.cause)
		if o != c.want || Counts(o, c.final) != c.counts {
			t.Errorf("%+v: %d, counts %v", c, o, Counts(o, c.final))
		}
	}
}
