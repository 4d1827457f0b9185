package transaction

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// expireAll runs a table from deadline to deadline and lists what it sends.
func expireAll(t *testing.T, l *Linger[string], until time.Duration) (log []string) {
	t.Helper()
	for range 10_000 {
		d := l.Deadline()
		if d.IsZero() || d.After(at(until)) {
			return log
		}
		l.Expire(d.Add(-time.Nanosecond), func(b []byte, dest string) { t.Errorf("%s to %s before its time", b, dest) })
		l.Expire(d, func(b []byte, dest string) {
			log = append(log, fmt.Sprintf("%v %s to %s", d.Sub(epoch()), b, dest))
		})
	}
	t.Fatal("the table does not come to rest")
	return nil
}

func wantHit(t *testing.T, l *Linger[string], key uint64, now time.Duration, b, dest string, ok bool) {
	t.Helper()
	gotB, gotDest, gotOK := l.Hit(key, at(now))
	if string(gotB) != b || gotDest != dest || gotOK != ok {
		t.Errorf("hit %d at %v: %q to %q, %v, want %q to %q, %v", key, now, gotB, gotDest, gotOK, b, dest, ok)
	}
}

// RFC 3261 17.2.1: a failure to INVITE is repeated by timer G until the ACK, for 64*T1 without one.
func TestTimerG_Lingers(t *testing.T) {
	timers := DefaultTimers()
	var l Linger[string]
	l.AddFinal(1, []byte("486"), "a", true, false, &timers, epoch())
	wantHit(t, &l, 1, time.Second, "486", "a", true)
	want(
		t, expireAll(t, &l, time.Hour),
		"500ms 486 to a", "1.5s 486 to a", "3.5s 486 to a", "7.5s 486 to a", "11.5s 486 to a",
		"15.5s 486 to a", "19.5s 486 to a", "23.5s 486 to a", "27.5s 486 to a", "31.5s 486 to a",
	)
	wantHit(t, &l, 1, 33*time.Second, "", "", false)
	if l.Len() != 0 || !l.Deadline().IsZero() {
		t.Errorf("%d entries remain", l.Len())
	}
}

// The ACK ends the repetition; copies of INVITE and ACK are absorbed.
func TestTimerI_Lingers(t *testing.T) {
	timers := DefaultTimers()
	var l Linger[string]
	l.AddFinal(1, []byte("486"), "a", true, false, &timers, epoch())
	want(t, expireAll(t, &l, time.Second), "500ms 486 to a")
	if first, again, other := l.Ack(1), l.Ack(1), l.Ack(2); !first || !again || other {
		t.Error("Ack knows the wrong keys")
	}
	wantHit(t, &l, 1, 5*time.Second, "", "a", true)
	want(t, expireAll(t, &l, 31999*time.Millisecond))
	wantHit(t, &l, 1, 31999*time.Millisecond, "", "a", true)
	want(t, expireAll(t, &l, 32*time.Second))
	wantHit(t, &l, 1, 32*time.Second, "", "", false)
}

// Over a reliable transport a failure to INVITE is not repeated, and its ACK ends all.
func TestTimerH_LingersOverReliable(t *testing.T) {
	timers := DefaultTimers()
	var l Linger[string]
	l.AddFinal(1, []byte("486"), "a", true, true, &timers, epoch())
	want(t, expireAll(t, &l, 31*time.Second))
	wantHit(t, &l, 1, 31*time.Second, "486", "a", true)
	if !l.Ack(1) || l.Len() != 0 {
		t.Errorf("%d entries remain after the ACK", l.Len())
	}
}

// Timer J: the final of another request answers copies, is not repeated, and has no ACK; over a reliable
// transport nothing is kept.
func TestTimerJ_Lingers(t *testing.T) {
	timers := DefaultTimers()
	var l Linger[string]
	l.AddFinal(1, []byte("200"), "a", false, false, &timers, epoch())
	l.AddFinal(2, []byte("200"), "a", false, true, &timers, epoch())
	l.Ack(1)
	wantHit(t, &l, 1, 31*time.Second, "200", "a", true)
	wantHit(t, &l, 2, 0, "", "", false)
	want(t, expireAll(t, &l, time.Hour))
}

// RFC 6026: what remains of an answered INVITE absorbs its copies without a word.
func TestTimerL_Lingers(t *testing.T) {
	timers := DefaultTimers()
	var l Linger[string]
	l.AddFinal(1, nil, "a", true, false, &timers, epoch())
	want(t, expireAll(t, &l, 31*time.Second))
	l.Ack(1)
	wantHit(t, &l, 1, 31*time.Second, "", "a", true)
	want(t, expireAll(t, &l, time.Hour))
	wantHit(t, &l, 1, 32*time.Second, "", "", false)
}

func TestLinger_ReplacesAnEntry(t *testing.T) {
	timers := DefaultTimers()
	var l Linger[string]
	l.AddFinal(1, []byte("486"), "a", true, false, &timers, epoch())
	l.AddFinal(1, []byte("200"), "b", false, false, &timers, epoch())
	wantHit(t, &l, 1, 0, "200", "b", true)
	if l.Len() != 1 || l.Dropped() != 0 {
		t.Errorf("%d entries, %d dropped", l.Len(), l.Dropped())
	}
	want(t, expireAll(t, &l, 31*time.Second))
}

// A full table lets go of its oldest entry.
func TestLinger_Bounded(t *testing.T) {
	timers := DefaultTimers()
	l := NewLinger[string](3)
	for key := range uint64(5) {
		l.AddFinal(key, []byte("200"), "b", false, false, &timers, at(time.Duration(key)*time.Second))
	}
	for key := range uint64(5) {
		_, _, ok := l.Hit(key, at(5*time.Second))
		if ok != (key >= 2) {
			t.Errorf("entry %d: %v", key, ok)
		}
	}
	if l.Len() != 3 || l.Dropped() != 2 {
		t.Errorf("%d entries, %d dropped", l.Len(), l.Dropped())
	}
}

// A busy hour's memory is given back when the table has emptied.
func TestLinger_GivesMemoryBack(t *testing.T) {
	timers := DefaultTimers()
	var l Linger[string]
	for key := range uint64(keepCap + 1) {
		l.AddFinal(key, []byte("200"), "b", false, false, &timers, epoch())
	}
	l.Expire(at(time.Minute), nil)
	if l.Len() != 0 || cap(l.slots) > keepCap || l.byKey != nil {
		t.Errorf("%d entries, %d slots", l.Len(), cap(l.slots))
	}
	l.AddFinal(7, []byte("200"), "b", false, false, &timers, at(time.Minute))
	wantHit(t, &l, 7, time.Minute, "200", "b", true)
}

// What is sent may add to the table.
func TestLinger_AddWhileSending(t *testing.T) {
	timers := DefaultTimers()
	var l Linger[string]
	l.AddFinal(1, []byte("486"), "a", true, false, &timers, epoch())
	l.Expire(at(500*time.Millisecond), func([]byte, string) {
		for key := range uint64(100) {
			l.AddFinal(key+2, []byte("200"), "b", false, false, &timers, at(500*time.Millisecond))
		}
	})
	if l.Len() != 101 {
		t.Errorf("%d entries", l.Len())
	}
	want(t, expireAll(t, &l, 2*time.Second), "1.5s 486 to a")
}

// TestLingerModel compares the table with a plain map that is searched from end to end.
func TestLingerModel(t *testing.T) {
	type entry struct {
		text  string
		end   time.Duration
		order int
	}
	rapid.Check(t, func(t *rapid.T) {
		timers := DefaultTimers()
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		l := NewLinger[int](limit)
		model := map[uint64]entry{}
		now := time.Duration(0)
		for i := range rapid.IntRange(1, 80).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond
			l.Expire(at(now), func(b []byte, dest int) {
				if e, ok := model[uint64(dest)]; !ok || e.text != string(b) {
					t.Fatalf("sent %q of %d, which is not there", b, dest)
				}
			})
			for key, e := range model {
				if e.end <= now {
					delete(model, key)
				}
			}
			key := uint64(rapid.IntRange(0, 15).Draw(t, "key"))
			text := fmt.Sprint("text ", i)
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				invite := rapid.Bool().Draw(t, "invite")
				_, replaced := model[key]
				if len(model) >= limit && !replaced {
					oldest := uint64(0)
					for k, e := range model {
						if o, ok := model[oldest]; !ok || e.order < o.order {
							oldest = k
						}
					}
					delete(model, oldest)
				}
				l.AddFinal(key, []byte(text), int(key), invite, false, &timers, at(now))
				model[key] = entry{text, now + timers.Life(), i}
			case 2:
				_, known := model[key]
				if got := l.Ack(key); got != known {
					t.Fatalf("Ack(%d) = %v, want %v", key, got, known)
				}
			case 3:
				b, dest, ok := l.Hit(key, at(now))
				e, known := model[key]
				if ok != known || ok && (dest != int(key) || len(b) > 0 && string(b) != e.text) {
					t.Fatalf("Hit(%d) = %q, %d, %v, want %+v, %v", key, b, dest, ok, e, known)
				}
			}
			for i, h := range l.heap {
				if int(l.slots[h.slot].heapAt) != i || l.slots[h.slot].due() != h.due || l.heap[max(0, i-1)/2].due > h.due {
					t.Fatalf("the heap is out of order at %d", i)
				}
			}
			if l.Len() != len(model) {
				t.Fatalf("%d entries, want %d", l.Len(), len(model))
			}
		}
	})
}

func BenchmarkLinger(b *testing.B) {
	timers := DefaultTimers()
	var l Linger[string]
	now, key, text := epoch(), uint64(0), []byte("200")
	b.ReportAllocs()
	for b.Loop() { // a table in its steady state: 32,000 entries at 1,000 per second
		key++
		now = now.Add(time.Millisecond)
		l.AddFinal(key, text, "a", false, false, &timers, now)
		l.Hit(key, now)
		l.Expire(now, nil)
	}
}
