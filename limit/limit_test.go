package limit

import (
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var (
	epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ports = Key{Calls, Group, "acme"}
	pace  = Key{Rate, Group, "acme"}
)

func meter(share int) *Meter {
	m := NewMeter(epoch)
	m.SetShare(share)
	m.SetLease(time.Time{})
	return m
}

func set(meters map[Key]*Meter) *Set {
	s := NewSet()
	s.Replace(meters)
	return s
}

func TestMeterTakesUpToItsShare(t *testing.T) {
	m := meter(2)
	for i, want := range []bool{true, true, false} {
		if got := m.Take(epoch); got != want {
			t.Errorf("use %d: %v", i+1, got)
		}
	}
	if used := m.SetShare(1); used != 2 {
		t.Errorf("%d in use when the share fell", used)
	}
	m.Give()
	if m.Take(epoch) {
		t.Error("taken above the share")
	}
	m.Give()
	if !m.Take(epoch) || !m.Give() {
		t.Error("nothing taken below the share")
	}
	if m.Give() {
		t.Error("the count went below zero")
	}
}

func TestDEC10_NothingIsTakenAfterTheLease(t *testing.T) {
	m := meter(1)
	m.SetLease(epoch.Add(time.Second))
	if !m.Take(epoch.Add(time.Second - 1)) {
		t.Error("refused within the lease")
	}
	m.Give()
	if m.Take(epoch.Add(time.Second)) {
		t.Error("taken after the lease")
	}
}

func TestNewMeterHasNothing(t *testing.T) {
	if m := NewMeter(epoch); m.Take(epoch.Add(time.Hour)) {
		t.Error("taken without a share")
	}
}

// TestMeterUnderLoad: the share falls and rises while many take and give.
func TestMeterUnderLoad(t *testing.T) {
	m := meter(50)
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for range 20000 {
				if m.Take(epoch) && !m.Give() {
					t.Error("given back more than was taken")
				}
			}
		})
	}
	for i := range 2000 {
		share := i % 7
		used := m.SetShare(share)
		if _, now := m.Read(); now > max(share, used) {
			t.Errorf("%d in use, share %d, %d in use when it was set", now, share, used)
		}
	}
	work.Wait()
	if _, used := m.Read(); used != 0 {
		t.Errorf("%d in use at the end", used)
	}
}

func TestSetTakesAllOrNone(t *testing.T) {
	a, b := meter(1), meter(0)
	s := set(map[Key]*Meter{ports: a, pace: b})
	uses := []Use{{Key: ports}, {Key: pace}, {Key: Key{Calls, Member, "x"}}}
	if v := s.Admit(epoch, uses); v != Waiting {
		t.Errorf("verdict %v", v)
	}
	if _, used := a.Read(); used != 0 || uses[0].Taken() || !uses[1].Short() || uses[0].Short() {
		t.Errorf("%d in use after a refusal, %+v", used, uses)
	}
	b.SetShare(1)
	if v := s.Admit(epoch, uses); v != Granted || !uses[0].Taken() || uses[2].Taken() {
		t.Errorf("verdict %v, %+v", v, uses)
	}
	s.Replace(nil) // the table changed: each gives back to where it took
	s.Release(uses)
	s.Release(uses)
	if _, used := a.Read(); used != 0 || s.Underruns() != 0 {
		t.Errorf("%d in use, %d underruns", used, s.Underruns())
	}
}

func TestFullRefusesCallsAtOnceAndLetsSomeRateWait(t *testing.T) {
	a, b := meter(0), meter(4)
	for range 4 {
		b.Take(epoch)
	}
	a.SetFull(epoch.Add(time.Second))
	b.SetFull(epoch.Add(time.Second))
	s := set(map[Key]*Meter{ports: a, pace: b})
	if v := s.Admit(epoch, []Use{{Key: ports}}); v != Refused {
		t.Errorf("a call was %v", v)
	}
	q := NewQueue(s, 10)
	for i, want := range []Verdict{Waiting, Waiting, Refused} {
		uses := []Use{{Key: pace}}
		v := s.Admit(epoch, uses)
		if v != want {
			t.Errorf("call %d was %v, want %v", i, v, want)
		}
		if v == Waiting {
			q.Add(Waiter{Ref: uint64(i), Uses: uses, Deadline: epoch.Add(500 * time.Millisecond)})
		}
	}
	b.Give()
	if done := q.Step(epoch); len(done) != 1 || done[0].Ref != 0 || !done[0].OK {
		t.Errorf("after one use ended: %+v", done)
	}
	if v := s.Admit(epoch.Add(time.Second), []Use{{Key: ports}}); v != Waiting {
		t.Errorf("a call was %v after it may have changed", v)
	}
}

func TestQueueKeepsTheOrderAndTheBound(t *testing.T) {
	m := meter(0)
	s := set(map[Key]*Meter{ports: m})
	q := NewQueue(s, 2)
	for i := range 3 {
		if ok := q.Add(Waiter{Ref: uint64(i), Uses: []Use{{Key: ports}}, Deadline: epoch.Add(time.Duration(i+1) * time.Second)}); ok != (i < 2) {
			t.Errorf("waiter %d: %v", i, ok)
		}
	}
	if m.Waiting() != 2 || q.Deadline() != epoch.Add(time.Second) {
		t.Errorf("%d wait until %v", m.Waiting(), q.Deadline())
	}
	m.SetShare(1)
	if v := s.Admit(epoch, []Use{{Key: ports}}); v != Waiting {
		t.Errorf("a call that came later was %v", v)
	}
	if done := q.Step(epoch); len(done) != 1 || done[0].Ref != 0 || !done[0].OK {
		t.Errorf("%+v", done)
	}
	if done := q.Step(epoch.Add(2 * time.Second)); len(done) != 1 || done[0].Ref != 1 || done[0].OK {
		t.Errorf("%+v", done)
	}
	if m.Waiting() != 0 || q.Len() != 0 || !q.Deadline().IsZero() {
		t.Errorf("%d wait, %d in the queue", m.Waiting(), q.Len())
	}
}

// TestDEC10_CountersEndAtZero: whatever is admitted, waits, ends and changes, what
// is counted is what is held, and never below zero.
func TestDEC10_CountersEndAtZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := []Key{ports, pace, {Calls, Member, "a"}, {Calls, Customer, "c"}}
		meters := make(map[Key]*Meter)
		for _, k := range keys {
			meters[k] = meter(rapid.IntRange(0, 3).Draw(t, "share"))
		}
		s := set(meters)
		q := NewQueue(s, 5)
		now := epoch
		var up [][]Use
		held := func() map[*Meter]int {
			n := make(map[*Meter]int)
			for _, uses := range up {
				for _, u := range uses {
					if u.Taken() {
						n[meters[u.Key]]++
					}
				}
			}
			return n
		}
		t.Repeat(map[string]func(*rapid.T){
			"call": func(t *rapid.T) {
				var uses []Use
				for _, k := range keys {
					if rapid.Bool().Draw(t, "uses") {
						uses = append(uses, Use{Key: k})
					}
				}
				switch s.Admit(now, uses) {
				case Granted:
					up = append(up, uses)
				case Waiting:
					q.Add(Waiter{Uses: uses, Deadline: now.Add(time.Second)})
				case Refused:
				}
			},
			"end": func(t *rapid.T) {
				if len(up) > 0 {
					i := rapid.IntRange(0, len(up)-1).Draw(t, "which")
					s.Release(up[i])
					up = append(up[:i], up[i+1:]...)
				}
			},
			"time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 700).Draw(t, "ms")) * time.Millisecond)
				for _, o := range q.Step(now) {
					if o.OK {
						up = append(up, o.Uses)
					}
				}
			},
			"change": func(t *rapid.T) {
				m := meters[rapid.SampledFrom(keys).Draw(t, "key")]
				m.SetShare(rapid.IntRange(0, 3).Draw(t, "share"))
				if rapid.Bool().Draw(t, "full") {
					m.SetFull(now.Add(time.Second))
				}
			},
			"": func(t *rapid.T) {
				n := held()
				waiting := 0
				for _, m := range meters {
					if _, used := m.Read(); used != n[m] {
						t.Fatalf("%d counted, %d held", used, n[m])
					}
					waiting += m.Waiting()
				}
				if waiting > q.Len() || s.Underruns() != 0 {
					t.Fatalf("%d counted as waiting of %d, %d underruns", waiting, q.Len(), s.Underruns())
				}
			},
		})
		for _, o := range q.Step(now.Add(time.Hour)) {
			if o.OK {
				up = append(up, o.Uses)
			}
		}
		for _, uses := range up {
			s.Release(uses)
		}
		for k, m := range meters {
			if _, used := m.Read(); used != 0 || m.Waiting() != 0 {
				t.Fatalf("%v: %d in use and %d waiting at the end", k, used, m.Waiting())
			}
		}
	})
}

func BenchmarkTakeAndGive(b *testing.B) {
	m := meter(1000)
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if m.Take(epoch) {
				m.Give()
			}
		}
	})
}

func BenchmarkAdmit(b *testing.B) {
	s := set(map[Key]*Meter{ports: meter(1000), pace: meter(1000)})
	b.ReportAllocs()
	uses := []Use{{Key: ports}, {Key: pace}}
	for b.Loop() {
		s.Admit(epoch, uses)
		s.Release(uses)
	}
}
