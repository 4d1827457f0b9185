package tally

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func attempt(carrier string) *Attempt {
	return &Attempt{Carrier: carrier, Group: "gw", Site: "dallas", Called: "+12145550100"}
}

func TestS049_RatiosOfACarrier(t *testing.T) {
	b := New(Config{})
	for i := range 10 {
		a := attempt("cheap")
		a.Answered, a.Delivered = i < 4, i < 7
		a.Rang, a.Wait = i < 5, 3*time.Second
		b.Attempt(start, a)
		if a.Answered {
			b.Ended(start.Add(time.Minute), a, 90*time.Second)
		}
	}
	for _, k := range []Key{{Carrier, "cheap"}, {Group, "gw"}, {Site, "dallas"}, {Destination, "+1214"}} {
		s := b.Sum(start.Add(time.Minute), k, FiveMinutes)
		asr, _ := s.ASR()
		ner, _ := s.NER()
		acd, _ := s.ACD()
		pdd, _ := s.PDD()
		if got := fmt.Sprint(asr, ner, acd, pdd); got != "0.4 0.7 90 3" {
			t.Errorf("%v: ASR NER ACD PDD %s", k, got)
		}
	}
	empty := b.Sum(start, Key{Carrier, "unheard"}, Day)
	if _, ok := empty.ASR(); ok {
		t.Error("a carrier that nobody tried has a ratio")
	}
}

func TestWindowsSlide(t *testing.T) {
	b := New(Config{})
	b.Attempt(start, attempt("a"))
	k := Key{Carrier, "a"}
	for _, c := range []struct {
		after time.Duration
		want  [windows]uint64
	}{
		{0, [windows]uint64{1, 1, 1}},
		{4 * time.Minute, [windows]uint64{1, 1, 1}},
		{6 * time.Minute, [windows]uint64{0, 1, 1}},
		{61 * time.Minute, [windows]uint64{0, 0, 1}},
		{25 * time.Hour, [windows]uint64{0, 0, 0}},
		{-time.Hour, [windows]uint64{0, 0, 0}}, // the clock was set back
	} {
		for w, want := range c.want {
			if got := b.Sum(start.Add(c.after), k, Window(w)); got.Attempts != want {
				t.Errorf("after %v, %v: %d attempts, want %d", c.after, Window(w), got.Attempts, want)
			}
		}
	}
}

// Whatever is counted when, a window has nothing older than itself and everything younger
// than itself less a slot.
func TestWindowsHoldWhatTheySay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := New(Config{})
		var at []time.Time
		now := start
		for range rapid.IntRange(0, 60).Draw(t, "attempts") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(40*time.Minute)).Draw(t, "pause")))
			b.Attempt(now, attempt("a"))
			at = append(at, now)
		}
		now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "later")))
		for _, w := range Windows() {
			var least, most uint64
			for _, a := range at {
				age := now.Sub(a)
				if age < w.Length()-spans[w].slot {
					least++
				}
				if age < w.Length() {
					most++
				}
			}
			if got := b.Sum(now, Key{Carrier, "a"}, w).Attempts; got < least || got > most {
				t.Fatalf("%v has %d attempts, want %d to %d", w, got, least, most)
			}
		}
	})
}

// Nodes that have told each other everything have one sum, that of all; what a node that is
// gone had counted is in none.
func TestNodesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"dal-1", "dal-2", "ash-1"}
		nodes := map[string]*Board{}
		for _, n := range names {
			nodes[n] = New(Config{})
		}
		want := map[string]uint64{}
		now := start
		tell := func() {
			for _, from := range names {
				nodes[from].Spread(now, func(key string, value []byte) error {
					for _, to := range names {
						if to != from {
							if err := nodes[to].Heard(from, key, value); err != nil {
								t.Fatal(err)
							}
						}
					}
					return nil
				})
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			n := rapid.SampledFrom(names).Draw(t, "node")
			nodes[n].Attempt(now, attempt(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "carrier")))
			want[n]++
			if rapid.Bool().Draw(t, "tell") {
				tell()
			}
		}
		tell()
		sum := func(n string) (total uint64) { return nodes[n].Sum(now, Key{Site, "dallas"}, Hour).Attempts }
		for _, n := range names {
			if got := sum(n); got != want["dal-1"]+want["dal-2"]+want["ash-1"] {
				t.Fatalf("%s has %d, want %v", n, got, want)
			}
		}
		for _, key := range []string{"carrier a", "carrier b", "trunk_group gw", "site dallas", "destination +1214"} {
			if err := nodes["dal-1"].Heard("ash-1", key, nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := sum("dal-1"); got != want["dal-1"]+want["dal-2"] {
			t.Fatalf("without ash-1 there are %d, want %v", got, want)
		}
	})
}

// What was told runs empty by itself, is told as such once, and then forgotten.
func TestSpreadEnds(t *testing.T) {
	b := New(Config{})
	b.Attempt(start, attempt("a"))
	var told []string
	tell := func(key string, value []byte) error {
		told = append(told, fmt.Sprint(key, " ", len(value) > 0))
		return nil
	}
	refused := b.Spread(start, func(string, []byte) error { return errors.New("full") })
	b.Spread(start, tell)
	if refused != 4 || len(told) != 4 {
		t.Fatalf("%d untold, told %v", refused, told)
	}
	b.Spread(start.Add(time.Second), tell)
	if len(told) != 4 {
		t.Errorf("told again what has not changed: %v", told[4:])
	}
	b.Spread(start.Add(26*time.Hour), tell)
	b.Spread(start.Add(26*time.Hour), tell)
	if want := "carrier a false"; !slices.Contains(told, want) || len(b.seats) != 0 {
		t.Errorf("told %v, left %d seats", told, len(b.seats))
	}
}

// Carriers' ids come from outside: many of them, and long ones, are counted together.
func TestBoardIsBounded(t *testing.T) {
	b := New(Config{Keys: 10})
	for i := range 100 {
		b.Attempt(start, attempt(fmt.Sprint("c", i)))
	}
	long := make([]byte, 10_000)
	b.Attempt(start, attempt(string(long)))
	if n := b.Sum(start, Key{Carrier, "other"}, Hour).Attempts; n != 91 {
		t.Errorf("%d attempts of others", n)
	}
	if len(b.seats) > 11+3 {
		t.Errorf("%d seats", len(b.seats))
	}
}

func TestDestinations(t *testing.T) {
	for called, want := range map[string]string{
		"+12145550100": "+1214", "+442079460000": "+44", "+4930123456": "+49", "+35312345678": "+353", "+79161234567": "+7",
		"911": "short", "+12": "short", "": "short", "sip:a@b": "short",
	} {
		if got := DestinationOf(called); got != want {
			t.Errorf("%q: %s, want %s", called, got, want)
		}
	}
}

func FuzzHeard(f *testing.F) {
	b := New(Config{})
	b.Attempt(start, attempt("a"))
	b.Spread(start, func(key string, value []byte) error {
		f.Add(key, value)
		return nil
	})
	f.Add("carrier ", []byte{1})
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		b := New(Config{Keys: 4})
		if b.Heard("x", key, value) != nil || len(value) == 0 {
			return
		}
		for _, r := range b.Rows(start, Hour) {
			if asr, ok := r.ASR(); ok && asr != asr {
				t.Fatal("no number")
			}
		}
	})
}

func BenchmarkAttempt(b *testing.B) {
	board := New(Config{})
	rng := rand.New(rand.NewPCG(1, 2))
	names := make([]*Attempt, 64)
	for i := range names {
		names[i] = attempt(fmt.Sprint("carrier-", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		board.Attempt(start, names[rng.IntN(len(names))])
	}
}
