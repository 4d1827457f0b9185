package drain

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var (
	start  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	usual  = Config{Announce: 2 * time.Minute, Quiet: 10 * time.Second, Timeout: 10 * time.Minute}
	signal = Order{By: "signal", Reason: "SIGTERM", Final: true}
)

func at(d time.Duration) time.Time { return start.Add(d) }

// run observes facts every second until the phase or the end.
func run(m *Machine, from, to time.Duration, facts func(now time.Time) Facts) {
	for d := from; d <= to; d += time.Second {
		m.Observe(at(d), facts(at(d)))
	}
}

func phase(t *testing.T, m *Machine, want Phase) {
	t.Helper()
	if got := m.Status().Phase; got != want {
		t.Fatalf("phase %v, want %v", got, want)
	}
}

func TestDEC19_AnIdleNodeEndsAtOnce(t *testing.T) {
	for name, last := range map[string]time.Time{"never called": {}, "long ago": at(-10 * time.Second)} {
		m := New(usual)
		m.Observe(start, Facts{LastInvite: last})
		m.Begin(start, signal)
		if got := m.Status().Phase; got != Ending {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestDEC19_PhaseOneEndsWhenNoInviteCame(t *testing.T) {
	m := New(usual)
	facts := Facts{Calls: 1, LastInvite: at(-2 * time.Second)}
	m.Observe(start, facts)
	m.Begin(start, signal)
	phase(t, m, Announcing)
	run(m, 0, 7*time.Second, func(time.Time) Facts { return facts })
	phase(t, m, Announcing)
	if got := m.Deadline(); !got.Equal(at(8 * time.Second)) {
		t.Errorf("deadline %v", got.Sub(start))
	}
	m.Observe(at(8*time.Second), facts)
	phase(t, m, Passing)
	if st := m.Status(); !st.Since.Equal(at(8*time.Second)) || !st.Begun.Equal(start) || !st.Until.Equal(at(10*time.Minute)) || st.Why == "" {
		t.Errorf("%+v", st)
	}
	m.Observe(at(9*time.Second), Facts{LastInvite: facts.LastInvite})
	phase(t, m, Ending)
}

func TestDEC19_PhaseOneIsBoundedUnderLoad(t *testing.T) {
	m := New(usual)
	loaded := func(now time.Time) Facts { return Facts{Calls: 5, LastInvite: now} }
	m.Observe(start, loaded(start))
	m.Begin(start, signal)
	run(m, 0, 119*time.Second, loaded)
	phase(t, m, Announcing)
	m.Observe(at(2*time.Minute), loaded(at(2*time.Minute)))
	phase(t, m, Passing)
	run(m, 2*time.Minute, 10*time.Minute-time.Second, loaded)
	phase(t, m, Passing)
	m.Observe(at(10*time.Minute), loaded(at(10*time.Minute)))
	phase(t, m, Ending)
}

func TestDEC19_PassedInvitesAreWaitedForAWhile(t *testing.T) {
	m := New(usual)
	begin := Facts{Calls: 1, LastInvite: at(-11 * time.Second)}
	m.Observe(start, begin)
	m.Begin(start, signal)
	phase(t, m, Passing)
	passing := func(time.Time) Facts { return Facts{Passed: 2} }
	run(m, time.Second, 10*time.Second, passing)
	phase(t, m, Passing)
	if got := m.Deadline(); !got.Equal(at(11 * time.Second)) {
		t.Errorf("deadline %v", got.Sub(start))
	}
	m.Observe(at(11*time.Second), Facts{Passed: 2})
	phase(t, m, Ending)
}

// What came over TCP or TLS is answered through this process alone: in the end no more of it is passed, and
// the end comes when all of it is answered, or at the timeout.
func TestDEC19_StreamsAreRefusedInTheEnd(t *testing.T) {
	refuses := func(m *Machine, want bool) {
		t.Helper()
		if got := m.Status().Refuse; got != want {
			t.Fatalf("refuses: %v", got)
		}
	}
	begin := func() *Machine {
		m := New(usual)
		m.Observe(start, Facts{Calls: 1, LastInvite: at(-11 * time.Second)})
		m.Begin(start, signal)
		run(m, time.Second, 10*time.Second, func(time.Time) Facts { return Facts{Passed: 2, Streams: 1} })
		phase(t, m, Passing)
		refuses(m, false)
		m.Observe(at(11*time.Second), Facts{Passed: 2, Streams: 1})
		phase(t, m, Passing)
		refuses(m, true)
		if got := m.Deadline(); !got.Equal(m.Status().Until) {
			t.Errorf("deadline %v", got.Sub(start))
		}
		return m
	}
	t.Run("answered", func(t *testing.T) {
		m := begin()
		m.Observe(at(30*time.Second), Facts{Passed: 1}) // over UDP: its sibling has it
		phase(t, m, Ending)
		refuses(m, false)
	})
	t.Run("never answered", func(t *testing.T) {
		m := begin()
		m.Observe(m.Status().Until, Facts{Passed: 1, Streams: 1})
		phase(t, m, Ending)
	})
	t.Run("a call of its own", func(t *testing.T) {
		m := begin()
		m.Observe(at(20*time.Second), Facts{Calls: 1, Passed: 1, Streams: 1})
		refuses(m, false)
	})
	t.Run("undone", func(t *testing.T) {
		m := New(usual)
		m.Observe(start, Facts{})
		m.Begin(start, Order{By: "operator", Reason: "work", Stay: true})
		run(m, time.Second, time.Minute, func(time.Time) Facts { return Facts{Passed: 2, Streams: 2} })
		refuses(m, false) // a node that stays goes on passing
		if err := m.Undo(at(2 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		refuses(m, false)
	})
}

func TestDEC19_UndoAndFinalOrders(t *testing.T) {
	busy := Facts{Calls: 1, LastInvite: start}
	t.Run("undone", func(t *testing.T) {
		m := New(usual)
		m.Observe(start, busy)
		if err := m.Undo(start); !errors.Is(err, ErrServing) {
			t.Errorf("undo of nothing: %v", err)
		}
		m.Begin(start, Order{By: "ann"})
		if err := m.Undo(at(time.Second)); err != nil {
			t.Fatal(err)
		}
		phase(t, m, Serving)
		m.Observe(at(time.Hour), Facts{})
		phase(t, m, Serving)
		if !m.Deadline().IsZero() || m.Status() != (Status{}) {
			t.Errorf("%+v", m.Status())
		}
	})
	t.Run("a signal makes it final and does not begin anew", func(t *testing.T) {
		m := New(usual)
		m.Observe(start, busy)
		m.Begin(start, Order{By: "ann"})
		m.Begin(at(time.Minute), signal)
		if err := m.Undo(at(time.Minute)); !errors.Is(err, ErrFinal) {
			t.Errorf("undo: %v", err)
		}
		if st := m.Status(); !st.Begun.Equal(start) || !st.Until.Equal(at(10*time.Minute)) || st.Order != signal {
			t.Errorf("%+v", st)
		}
	})
	t.Run("a drain that stays ends by a signal only", func(t *testing.T) {
		m := New(usual)
		m.Begin(start, Order{By: "ann", Stay: true})
		m.Observe(at(24*time.Hour), Facts{})
		phase(t, m, Passing)
		if !m.Deadline().IsZero() {
			t.Errorf("deadline %v", m.Deadline())
		}
		m.Observe(at(24*time.Hour), Facts{Calls: 1})
		m.Begin(at(24*time.Hour), signal)
		phase(t, m, Passing)
		if got := m.Status().Until; !got.Equal(at(24*time.Hour + 10*time.Minute)) {
			t.Errorf("until %v", got)
		}
		m.Observe(at(24*time.Hour+time.Second), Facts{})
		phase(t, m, Ending)
	})
	t.Run("hurry", func(t *testing.T) {
		m := New(usual)
		m.Observe(start, busy)
		m.Begin(start, signal)
		m.Hurry(at(time.Second), signal)
		phase(t, m, Ending)
		m = New(usual)
		m.Observe(start, busy)
		m.Hurry(start, signal)
		phase(t, m, Ending)
		if err := m.Undo(start); !errors.Is(err, ErrFinal) {
			t.Errorf("undo: %v", err)
		}
	})
}

// Whatever happens: phases only rise until an undo, a drain that does not stay
// ends by its time, and Observe at the deadline never leaves the same deadline.
func TestDEC19_PhasesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			Announce: time.Duration(rapid.IntRange(0, 200).Draw(t, "announce")) * time.Second,
			Quiet:    time.Duration(rapid.IntRange(0, 30).Draw(t, "quiet")) * time.Second,
			Timeout:  time.Duration(rapid.IntRange(0, 600).Draw(t, "timeout")) * time.Second,
		}
		m, now, last := New(cfg), start, Serving
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "ms")) * time.Millisecond)
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				m.Begin(now, Order{Stay: rapid.Bool().Draw(t, "stay"), Final: rapid.Bool().Draw(t, "final")})
			case 1:
				if m.Undo(now) == nil {
					last = Serving
				}
			case 2:
				if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
					m.Hurry(now, signal)
				}
			default:
				m.Observe(now, Facts{
					Calls: rapid.IntRange(0, 2).Draw(t, "calls"), Passed: rapid.IntRange(0, 2).Draw(t, "passed"), Streams: rapid.IntRange(0, 1).Draw(t, "streams"),
					LastInvite: now.Add(-time.Duration(rapid.IntRange(0, 40).Draw(t, "ago")) * time.Second),
				})
				if d := m.Deadline(); !d.IsZero() && !d.After(now) {
					t.Fatalf("due at %v and not done at %v: %+v", d, now, m.Status())
				}
			}
			st := m.Status()
			if st.Phase < last {
				t.Fatalf("from %v back to %v", last, st.Phase)
			}
			if st.Phase > Serving && st.Phase < Ending && !st.Order.Stay && now.After(st.Until) {
				m.Observe(now, m.facts)
				if m.Status().Phase != Ending {
					t.Fatalf("%v at %v, had to end at %v", st.Phase, now, st.Until)
				}
			}
			last = m.Status().Phase
		}
	})
}
