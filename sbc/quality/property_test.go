package quality

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The sum of a window is what a list of all calls says, to the slot, and no counter
// is negative or more than there was.
func TestD10_RingIsASlidingSumProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRing(time.Minute)
		now := start
		type event struct {
			slot int64
			n    uint64
		}
		var all []event
		for range rapid.IntRange(1, 100).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 9000).Draw(t, "ms")) * time.Millisecond)
			n := rapid.Uint64Range(1, 50).Draw(t, "n")
			r.add(now, attempts, n)
			all = append(all, event{r.at(now), n})
			from := now.Add(-time.Duration(rapid.IntRange(0, 120).Draw(t, "from")) * time.Second)
			var want uint64
			for _, e := range all {
				if r.at(now)-e.slot < slots && !time.Unix(0, e.slot*int64(r.slot)).Before(from) {
					want += e.n
				}
			}
			if got := r.sum(now, from).Attempts; got != want {
				t.Fatalf("%d attempts, want %d", got, want)
			}
		}
		// The clock is set back, and goes on.
		back := now.Add(-time.Duration(rapid.IntRange(0, 100_000).Draw(t, "back")) * time.Second)
		r.add(back, attempts, 1)
		var total uint64 = 1
		for _, e := range all {
			total += e.n
		}
		if got := r.sum(back, time.Time{}).Attempts; got < 1 || got > total {
			t.Fatalf("%d attempts of %d", got, total)
		}
	})
}

// What is told is read as it was, whatever was counted.
func TestD10_ToldIsHeardProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &seat{demand: trunkgroup.Quality{Window: time.Minute, Cooldown: time.Minute, MinSamples: 1}, ring: newRing(time.Minute)}
		now := start
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond)
			s.ring.add(now, rapid.IntRange(0, counters-1).Draw(t, "counter"), rapid.Uint64Range(1, maxCount).Draw(t, "n"))
		}
		if rapid.Bool().Draw(t, "barred") {
			s.bar.Store(&trunkgroup.Bar{Since: now.Add(-time.Second), Until: now.Add(time.Minute), Reason: "why"})
		}
		got, err := decode(s.append(nil, now), now)
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		s.ring.each(now, func(_ int, p part) {
			if i >= len(got.parts) || got.parts[i].tally != p.tally || got.parts[i].began.Sub(p.began).Abs() > time.Millisecond {
				t.Fatalf("part %d: %+v of %+v", i, p, got.parts)
			}
			i++
		})
		if b := s.bar.Load(); i != len(got.parts) || (b == nil) != (got.bar == nil) || b != nil && *b != *got.bar {
			t.Fatalf("%+v", got)
		}
	})
}

func FuzzHeard(f *testing.F) {
	s := &seat{demand: trunkgroup.Quality{Window: time.Minute}, ring: newRing(time.Minute)}
	s.ring.add(start, attempts, 7)
	f.Add(s.append(nil, start))
	s.bar.Store(&trunkgroup.Bar{Since: start, Until: start.Add(time.Minute), Reason: "why"})
	f.Add(s.append(nil, start))
	f.Add([]byte{version})
	f.Fuzz(func(t *testing.T, b []byte) {
		w, m := watch(t)
		if w.Heard("p", m.Key, b, start) != nil {
			return
		}
		w.Judge(start)
		if b, ok := w.Bar(start, m); ok && (b.Since.After(start) || b.Until.After(start.Add(5*time.Minute))) {
			t.Errorf("%+v", b)
		}
		w.Reports(start)
	})
}

func TestCountingAllocatesNothing(t *testing.T) {
	w, m := watch(t)
	if n := testing.AllocsPerRun(100, func() {
		w.Attempt(start, m, Answered, true)
		w.Ended(start, m, time.Second)
		w.Bar(start, m)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAttempt(b *testing.B) {
	w, m := watch(b)
	b.ReportAllocs()
	for b.Loop() {
		w.Attempt(start, m, Answered, true)
	}
}

func BenchmarkJudge(b *testing.B) {
	d := document(floor)
	g := &d.TrunkGroups[0]
	for i := range 1000 {
		g.Members = append(g.Members, trunkgroup.MemberSpec{ID: fmt.Sprint("m", i), Site: "dallas", Address: fmt.Sprintf("198.18.%d.%d", i/250, i%250+1)})
	}
	w, tab := NewWatch(), table(b, d)
	w.Use(tab)
	for _, m := range tab.Group("carrier").Members {
		attempt(w, start, m, 20, 10)
	}
	b.ReportAllocs()
	for b.Loop() {
		w.Judge(start)
	}
}

// Shards count while tables, news and judgements come: nothing is lost, nothing is negative.
func TestD10_CountsFromManyGoroutines(t *testing.T) {
	w, m := watch(t)
	same := table(t, document(floor))
	const shards, calls = 4, 2000
	var all sync.WaitGroup
	for range shards {
		all.Go(func() {
			for range calls {
				w.Attempt(start, m, Answered, true)
				w.Ended(start, m, time.Minute)
				w.Bar(start, m)
			}
		})
	}
	for range 100 {
		w.Judge(start)
		w.Spread(start, func(string, []byte) error { return nil })
		if err := w.Heard("p", "carrier/b", nil, start); err != nil {
			t.Error(err)
		}
		w.Use(same)
		w.Reports(start)
	}
	all.Wait()
	want := trunkgroup.CallTally{Attempts: shards * calls, Answered: shards * calls, Delivered: shards * calls, Ended: shards * calls, Seconds: 60 * shards * calls}
	if got := w.Reports(start)[0].Tally; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
