package transaction

import (
	"strings"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"
)

// The machines live inside every call.
func TestSizes(t *testing.T) {
	for name, size := range map[string]uintptr{
		"Client": unsafe.Sizeof(Client{}), "Answer": unsafe.Sizeof(Answer{}),
	} {
		if size > 72 {
			t.Errorf("%s has %d bytes, want at most 72", name, size)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	timers := DefaultTimers()
	var c Client
	var a Answer
	got := testing.AllocsPerRun(100, func() {
		c.Start(epoch(), &timers, true, false)
		c.Expire(c.Deadline())
		c.Receive(at(time.Second), 180)
		c.Receive(at(time.Second), 200)
		a.Start(at(time.Second), &timers)
		a.Expire(a.Deadline())
		a.Ack()
		c.Expire(c.Deadline())
	})
	if got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}

// A clock that is looked at late sends once, not once for every instant that it missed, and an end that
// is due goes before a repeat that is due.
func TestLateExpire(t *testing.T) {
	c := newClient(true, false)
	wantDo(t, "10 s late", c.Expire(at(10*time.Second)), Send)
	want(t, alarms(t, c, time.Hour), "11s send", "13s send", "17s send", "25s send", "32s timeout|done")

	c = newClient(true, false)
	wantDo(t, "an hour late", c.Expire(at(time.Hour)), Timeout|Done)
}

// A step of the wall clock moves no timer: the deadline keeps the monotonic reading of the caller's times.
func TestTimersFollowTheCallersClock(t *testing.T) {
	timers := DefaultTimers()
	var c Client
	start := time.Now() // with a monotonic reading
	c.Start(start, &timers, true, true)
	if d := c.Deadline(); d.Sub(start) != 32*time.Second || !strings.Contains(d.String(), " m=") {
		t.Errorf("timer B at %v: not 32 s later, or without a monotonic reading", d)
	}
	wantDo(t, "early", c.Expire(start.Add(32*time.Second-1)), 0)
	wantDo(t, "timer B", c.Expire(start.Add(32*time.Second)), Timeout|Done)
}

func TestZeroValuesDoNothing(t *testing.T) {
	var c Client
	for what, do := range map[string]Do{
		"client receive": c.Receive(epoch(), 200), "client expire": c.Expire(epoch()), "client failed": c.Failed(epoch()),
	} {
		wantDo(t, what, do, 0)
	}
	wantState(t, c.State(), Idle)
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		Do(0).String(): "nothing", (Send | Pass | Ack | Timeout | Done).String(): "send|pass|ack|timeout|done",
		Idle.String(): "idle", Terminated.String(): "terminated", State(99).String(): "unknown",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if !(Send | Done).Has(Done) || Send.Has(Send|Done) {
		t.Error("Has is wrong")
	}
}

// TestMachinesEnd lets anything happen to a machine in any order: it never acts after Done, a terminated
// machine has no deadline, and a client that is left alone ends, unless it proceeds.
func TestMachinesEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		timers := DefaultTimers()
		invite, reliable := rapid.Bool().Draw(t, "invite"), rapid.Bool().Draw(t, "reliable")
		now := epoch()
		var c Client
		c.Start(now, &timers, invite, reliable)
		code := rapid.SampledFrom([]int{100, 180, 200, 302, 486, 603})
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "ms")) * time.Millisecond)
			ended := c.State() == Terminated
			var dc Do
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				dc = c.Receive(now, code.Draw(t, "received"))
			case 1:
				dc = c.Expire(now)
			case 2:
				dc = c.Failed(now)
			case 3:
				c.StopRepeating()
			}
			if ended && dc != 0 {
				t.Fatalf("%v after the end", dc)
			}
			if dc.Has(Done) != (!ended && c.State() == Terminated) {
				t.Fatalf("client %v %v", c.State(), dc)
			}
			if c.State() == Terminated && !c.Deadline().IsZero() {
				t.Fatal("a deadline after the end")
			}
		}
		for range 100 {
			if d := c.Deadline(); !d.IsZero() {
				c.Expire(d)
			}
		}
		if st := c.State(); st != Terminated && (st != Proceeding || !invite) {
			t.Fatalf("the client stays in %v", st)
		}
	})
}

func BenchmarkInvite(b *testing.B) {
	timers := DefaultTimers()
	var c Client
	now := epoch()
	b.ReportAllocs()
	for b.Loop() {
		c.Start(now, &timers, true, false)
		c.Deadline()
		c.Receive(now, 100)
		c.Receive(now, 180)
		c.Receive(now, 200)
		c.Deadline()
		c.Expire(now.Add(32 * time.Second))
	}
}
