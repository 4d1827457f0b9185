package fraud

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

var epoch = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func table(t testing.TB, spec trunkgroup.FraudSpec) (*trunkgroup.Table, *trunkgroup.Fraud) {
	t.Helper()
	table, err := trunkgroup.Compile(&trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		Customers: []trunkgroup.CustomerSpec{{Name: "acme", Fraud: &spec}},
		TrunkGroups: []trunkgroup.GroupSpec{{
			Name: "acme-out", Role: trunkgroup.TerminationCustomer, Customer: "acme",
			Sources: []trunkgroup.SourceSpec{{IP: "192.0.2.1"}},
		}},
	}, trunkgroup.Version{})
	if err != nil {
		t.Fatal(err)
	}
	return table, table.Group("acme-out").Fraud
}

func watch(t testing.TB, spec trunkgroup.FraudSpec) (*Watch, *trunkgroup.Fraud) {
	t.Helper()
	table, f := table(t, spec)
	w := NewWatch()
	w.SetTable(table)
	return w, f
}

var number = []byte("+12145550100")

func TestCallsPerHourSlide(t *testing.T) {
	w, f := watch(t, trunkgroup.FraudSpec{Calls: trunkgroup.FraudWindowsSpec{Hour: 3}})
	for i := range 3 {
		if v := w.Screen(epoch.Add(time.Duration(i)*20*time.Minute), f, number, false); v.Action != 0 || v.Use == nil {
			t.Fatalf("call %d: %+v", i+1, v)
		}
	}
	now := epoch.Add(50 * time.Minute)
	v := w.Screen(now, f, number, false)
	if v.Action != trunkgroup.FraudBlock || v.Bound != "calls.hour" || v.Rule != "all" || v.Use != nil {
		t.Fatalf("%+v", v)
	}
	if v := w.Screen(now, f, number, false); v.Action != trunkgroup.FraudBlock {
		t.Fatalf("again: %+v", v)
	}
	later := epoch.Add(61 * time.Minute)
	if v := w.Screen(later, f, number, false); v.Action != 0 {
		t.Fatalf("after the hour: %+v", v)
	}
	tab, _ := table(t, trunkgroup.FraudSpec{Calls: trunkgroup.FraudWindowsSpec{Hour: 3}})
	if trips := w.Usage(later, tab)[0].Trips; len(trips) != 1 || trips[0].Calls != 2 || !trips[0].Since.Equal(now) {
		t.Errorf("%+v", trips)
	}
}

func TestMinutesCountWhileACallIsUp(t *testing.T) {
	w, f := watch(t, trunkgroup.FraudSpec{Minutes: trunkgroup.FraudWindowsSpec{Day: 10}})
	use := w.Screen(epoch, f, number, false).Use
	use.Answered(epoch)
	use.Answered(epoch.Add(time.Minute)) // once
	if v := w.Screen(epoch.Add(9*time.Minute), f, number, false); v.Action != 0 {
		t.Fatalf("%+v", v)
	}
	if v := w.Screen(epoch.Add(10*time.Minute), f, number, false); v.Bound != "minutes.day" {
		t.Fatalf("%+v", v)
	}
	use.Ended(epoch.Add(5 * time.Minute))
	use.Ended(epoch.Add(50 * time.Minute))
	if v := w.Screen(epoch.Add(10*time.Minute), f, number, false); v.Action != 0 {
		t.Fatalf("five minutes are not ten: %+v", v)
	}
}

func TestDestinationsByRisk(t *testing.T) {
	w, f := watch(t, trunkgroup.FraudSpec{
		Action: trunkgroup.FraudAlarm,
		Destinations: []trunkgroup.FraudDestinationSpec{
			{Name: "premium", Prefixes: []string{"+1900*"}, Action: trunkgroup.FraudBlock},
			{Name: "satellite", Prefixes: []string{"+8821*"}, Calls: trunkgroup.FraudWindowsSpec{Day: 1}, Action: trunkgroup.FraudChallenge},
		},
	})
	if v := w.Screen(epoch, f, []byte("+19005550100"), true); v.Action != trunkgroup.FraudBlock || v.Bound != "closed" || v.Rule != "premium" {
		t.Fatalf("%+v", v)
	}
	satellite := []byte("+882112345")
	if v := w.Screen(epoch, f, satellite, false); v.Action != 0 {
		t.Fatalf("%+v", v)
	}
	if v := w.Screen(epoch, f, satellite, false); v.Action != trunkgroup.FraudChallenge || v.Use != nil {
		t.Fatalf("%+v", v)
	}
	if v := w.Screen(epoch, f, satellite, true); v.Action != 0 || v.Use == nil {
		t.Fatalf("with a digest: %+v", v)
	}
}

func TestShortCallsAndNight(t *testing.T) {
	w, f := watch(t, trunkgroup.FraudSpec{
		Action:     trunkgroup.FraudAlarm,
		ShortCalls: trunkgroup.FraudShortCallsSpec{Calls: 4, Within: trunkgroup.Duration(time.Minute)},
		Night:      trunkgroup.FraudNightSpec{From: "19:00", To: "07:00", Percent: 50},
	})
	talk := func(now time.Time, d time.Duration) Verdict {
		v := w.Screen(now, f, number, false)
		v.Use.Answered(now)
		v.Use.Ended(now.Add(d))
		return v
	}
	for range 4 {
		if v := talk(epoch, time.Second); v.Action != 0 {
			t.Fatalf("%+v", v)
		}
	}
	talk(epoch, time.Minute) // a long one does not count
	if v := talk(epoch.Add(5*time.Second), time.Minute); v.Action != trunkgroup.FraudAlarm || v.Bound != "short_calls" || v.Use == nil {
		t.Fatalf("an alarm lets the call go on: %+v", v)
	}
	night := epoch.Add(8 * time.Hour)
	for range 2 {
		if v := talk(night, time.Second); v.Action != 0 {
			t.Fatalf("%+v", v)
		}
	}
	if v := talk(night.Add(2*time.Second), time.Second); v.Bound != "short_calls" {
		t.Fatalf("at night half is enough: %+v", v)
	}
}

// TestCountsOfOtherNodes: a bound holds over what all have told.
func TestCountsOfOtherNodes(t *testing.T) {
	spec := trunkgroup.FraudSpec{Calls: trunkgroup.FraudWindowsSpec{Hour: 5}, Minutes: trunkgroup.FraudWindowsSpec{Hour: 100}}
	a, f := watch(t, spec)
	b, _ := watch(t, spec)
	told := map[string][]byte{}
	for range 3 {
		use := a.Screen(epoch, f, number, false).Use
		use.Answered(epoch)
	}
	now := epoch.Add(10 * time.Minute)
	a.Spread(now, false, func(customer string, counts []byte) { told[customer] = counts })
	if bad := b.Collect(now, func(fn func(string, []byte)) {
		for c, v := range told {
			fn(c, v)
		}
	}); bad != 0 || len(told) != 1 {
		t.Fatalf("%d bad of %d", bad, len(told))
	}
	for i := range 2 {
		if v := b.Screen(now, f, number, false); v.Action != 0 {
			t.Fatalf("call %d: %+v", i, v)
		}
	}
	if v := b.Screen(now, f, number, false); v.Bound != "calls.hour" {
		t.Fatalf("%+v", v)
	}
	tab, _ := table(t, spec)
	u := b.Usage(now, tab)
	if len(u) != 1 || u[0].HourCalls != 5 || u[0].HourMinutes != 30 || len(u[0].Trips) != 1 {
		t.Errorf("%+v", u)
	}
	if v := b.Screen(now.Add(51*time.Minute), f, number, false); v.Action == 0 {
		t.Error("what the others told stands until it is told anew")
	}
	b.Collect(now.Add(51*time.Minute), func(func(string, []byte)) {})
	if v := b.Screen(now.Add(51*time.Minute), f, number, false); v.Action != 0 {
		t.Errorf("%+v", v)
	}
}

func TestTableSwapKeepsCounts(t *testing.T) {
	w, f := watch(t, trunkgroup.FraudSpec{Calls: trunkgroup.FraudWindowsSpec{Hour: 1}})
	use := w.Screen(epoch, f, number, false).Use
	next, f := table(t, trunkgroup.FraudSpec{
		Calls:        trunkgroup.FraudWindowsSpec{Hour: 1},
		Destinations: []trunkgroup.FraudDestinationSpec{{Name: "premium", Prefixes: []string{"+1900*"}}},
	})
	w.SetTable(next)
	use.Answered(epoch)
	use.Ended(epoch)
	if v := w.Screen(epoch, f, number, false); v.Bound != "calls.hour" {
		t.Fatalf("%+v", v)
	}
	var none *Watch
	if v := none.Screen(epoch, f, number, false); v.Action != 0 || v.Use != nil {
		t.Fatalf("%+v", v)
	}
	if v := w.Screen(epoch, nil, number, false); v.Action != 0 {
		t.Fatalf("%+v", v)
	}
}

// TestRingIsASlidingSum compares the ring with a list of all events.
func TestRingIsASlidingSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRing(time.Hour, 5*time.Minute)
		now := epoch
		events := map[int64]uint64{}
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 1500).Draw(t, "seconds")) * time.Second)
			n := rapid.Uint32Range(1, 100).Draw(t, "n")
			r.add(now, n)
			events[now.UnixNano()/int64(r.slot)] += uint64(n)
			var want uint64
			at := now.UnixNano() / int64(r.slot)
			for slot, n := range events {
				if at-slot < 12 {
					want += n
				}
			}
			if got := r.sum(now); got != want {
				t.Fatalf("%d, want %d", got, want)
			}
			told := octets.Read(r.appendTo(nil, now))
			if got := newRing(time.Hour, 5*time.Minute).readSum(&told, now); got != want || !told.End() {
				t.Fatalf("read %d, to the end: %v", got, told.End())
			}

		}
	})
}

func FuzzCounts(f *testing.F) {
	w, rules := watch(f, trunkgroup.FraudSpec{Calls: trunkgroup.FraudWindowsSpec{Hour: 5}})
	w.Screen(epoch, rules, number, false)
	w.Spread(epoch, true, func(_ string, counts []byte) { f.Add(counts) })
	f.Fuzz(func(t *testing.T, b []byte) {
		w.Collect(epoch, func(fn func(string, []byte)) { fn("acme", b) })
	})
}

func TestScreenAllocatesOnlyTheUse(t *testing.T) {
	w, f := watch(t, trunkgroup.FraudSpec{Calls: trunkgroup.FraudWindowsSpec{Hour: 1 << 20}, Minutes: trunkgroup.FraudWindowsSpec{Day: 1 << 20}})
	if n := testing.AllocsPerRun(100, func() { w.Screen(epoch, f, number, false) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkScreen(b *testing.B) {
	w, f := watch(b, trunkgroup.FraudSpec{Calls: trunkgroup.FraudWindowsSpec{Hour: 1e8}, Minutes: trunkgroup.FraudWindowsSpec{Day: 1e8}})
	b.ReportAllocs()
	for b.Loop() {
		w.Screen(epoch, f, number, false)
	}
}

// TestAnAlarmHidesNoBlock: each bound that is passed has its say, and the strictest of
// their actions is the call's.
func TestAnAlarmHidesNoBlock(t *testing.T) {
	type actions = map[bool]trunkgroup.FraudAction // by whether the caller has shown a digest
	const alarm, block, challenge = trunkgroup.FraudAlarm, trunkgroup.FraudBlock, trunkgroup.FraudChallenge
	for _, c := range []struct {
		destination, all trunkgroup.FraudAction
		want             actions
	}{
		{alarm, block, actions{false: block, true: block}},
		{block, alarm, actions{false: block, true: block}},
		{challenge, block, actions{false: block, true: block}},
		{alarm, challenge, actions{false: challenge, true: alarm}},
		{challenge, alarm, actions{false: challenge, true: alarm}},
		{challenge, challenge, actions{false: challenge, true: 0}},
	} {
		tab, f := table(t, trunkgroup.FraudSpec{
			Action: c.all, Calls: trunkgroup.FraudWindowsSpec{Day: 1},
			Destinations: []trunkgroup.FraudDestinationSpec{
				{Name: "far", Prefixes: []string{"+1876*"}, Action: c.destination, Calls: trunkgroup.FraudWindowsSpec{Hour: 1}},
			},
		})
		w := NewWatch()
		w.SetTable(tab)
		far := []byte("+18765550100")
		w.Screen(epoch, f, far, false)
		for proven, want := range c.want {
			v := w.Screen(epoch, f, far, proven)
			if through := want == 0 || want == alarm; v.Action != want || (v.Use != nil) != through {
				t.Errorf("%s there and %s of all, proven %v: %+v, want %s", c.destination, c.all, proven, v, want)
			}
		}
		for _, u := range w.Usage(epoch, tab) {
			if len(u.Trips) != 1 || u.Trips[0].Calls != 2 {
				t.Errorf("%s there and %s of all: trips of %s %+v", c.destination, c.all, u.Rule, u.Trips)
			}
		}
	}
}

// TestANewTableForgetsNothing: what other nodes have told and which bounds were passed
// outlives a change of the configuration, or each one would open the bounds for a second.
func TestANewTableForgetsNothing(t *testing.T) {
	spec := trunkgroup.FraudSpec{
		Calls:        trunkgroup.FraudWindowsSpec{Day: 3},
		ShortCalls:   trunkgroup.FraudShortCallsSpec{Calls: 50},
		Destinations: []trunkgroup.FraudDestinationSpec{{Name: "far", Prefixes: []string{"+1876*"}, Calls: trunkgroup.FraudWindowsSpec{Day: 9}}},
	}
	other, f := watch(t, spec)
	for range 3 {
		use := other.Screen(epoch, f, number, false).Use
		use.Answered(epoch)
		use.Ended(epoch)
	}
	w, f := watch(t, spec)
	w.Collect(epoch, func(fn func(string, []byte)) { other.Spread(epoch, true, fn) })
	w.Screen(epoch, f, number, false)
	spec.Destinations = append([]trunkgroup.FraudDestinationSpec{{Name: "new", Prefixes: []string{"+44*"}, Calls: trunkgroup.FraudWindowsSpec{Day: 1}}}, spec.Destinations...)
	tab, f := table(t, spec)
	w.SetTable(tab)
	if v := w.Screen(epoch.Add(time.Second), f, number, false); v.Action != trunkgroup.FraudBlock {
		t.Errorf("the counts of the other node are forgotten: %+v", v)
	}
	u := w.Usage(epoch.Add(time.Second), tab)
	if trips := u[0].Trips; len(trips) != 1 || trips[0].Calls != 2 || !trips[0].Since.Equal(epoch) || u[0].ShortCalls != 3 {
		t.Errorf("%+v", u[0])
	}
	if v := w.Screen(epoch, f, []byte("+442012345"), false); v.Bound == "calls.day" && v.Rule == "new" {
		t.Errorf("a new rule begins with counts of another one: %+v", v)
	}
}

// Who asks what would become of a call is told what Screen would say, and changes nothing.
func TestAskIsScreenWithoutACount(t *testing.T) {
	w, f := watch(t, trunkgroup.FraudSpec{Calls: trunkgroup.FraudWindowsSpec{Hour: 2}})
	now, called := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), []byte("+12145550100")
	for i, want := range []string{"", "", "calls.hour"} {
		for range 5 {
			if v := w.Ask(now, f, called, false); v.Bound != want || v.Use != nil {
				t.Errorf("before call %d: %+v", i, v)
			}
		}
		if v := w.Screen(now, f, called, false); v.Bound != want {
			t.Errorf("call %d: %+v", i, v)
		}
	}
	w.Ask(now, f, called, false)
	if trips := (*w.accounts.Load())[f.Customer].trips(); len(trips) != 1 || trips[0].Calls != 1 {
		t.Errorf("asking is noted: %+v", trips)
	}
}
