package soft

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// DEC-15: a binding that was refreshed often on one side of a cut does not win
// over one that was made on the other side later, nor comes it back when it was
// removed there; whichever node's name is the higher.
func TestDEC15_NewestWinsAfterACut(t *testing.T) {
	for _, c := range []struct {
		name, old, late string
		remove          bool
	}{
		{"moved up", "a", "b", false},
		{"moved down", "b", "a", false},
		{"removed up", "a", "b", true},
		{"removed down", "b", "a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 1, "a", "b", "c", "d")
			put(t, w.stores[c.old], w.now, KindBinding, "aor", "first", time.Hour)
			w.run(time.Second)
			for _, pair := range [][2]string{{"a", "b"}, {"a", "d"}, {"c", "b"}, {"c", "d"}} {
				w.split(pair[0], pair[1], true)
			}
			for range 20 {
				put(t, w.stores[c.old], w.now, KindBinding, "aor", "old", time.Hour)
				w.run(3 * time.Second)
			}
			want := "binding aor " + c.late + "/1 v22 \"new\"\n"
			if c.remove {
				w.stores[c.late].Delete(w.now, KindBinding, "aor")
				want = ""
			} else {
				put(t, w.stores[c.late], w.now, KindBinding, "aor", "new", time.Hour)
			}
			w.run(3 * time.Second)
			for _, pair := range [][2]string{{"a", "b"}, {"a", "d"}, {"c", "b"}, {"c", "d"}} {
				w.split(pair[0], pair[1], false)
			}
			w.run(10 * time.Second)
			if got := w.agree(KindBinding); got != want {
				t.Errorf("all have %q, want %q", got, want)
			}
		})
	}
}

// A node that has just started takes a REGISTER before it has heard what there
// is: that one wins over what its former process, or another node, had.
func TestDEC15_NewestWinsAfterARestart(t *testing.T) {
	w := newWorld(t, 1, "a", "b")
	for range 5 {
		put(t, w.stores["a"], w.now, KindBinding, "aor", "former process", time.Hour)
		w.run(2 * time.Second)
	}
	w.kill("a")
	w.run(2 * time.Second)
	a := w.start("a")
	put(t, a, w.now, KindBinding, "aor", "new process", time.Hour)
	w.run(10 * time.Second)
	if got, want := w.agree(KindBinding), "binding aor a/2 v6 \"new process\"\n"; got != want {
		t.Errorf("all have %q, want %q", got, want)
	}
}

// Whatever is cut off and when, all nodes show in the end what was written last,
// as long as no two wrote within the margin and who wrote lives.
func TestDEC15_NewestWins(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(r, rapid.Uint64().Draw(r, "seed"))
		w.limits = Config{Chunk: 200, Window: 600, Sync: 2 * time.Second, Retry: time.Second}
		w.loss = rapid.IntRange(0, 30).Draw(r, "loss")
		w.delay = time.Duration(rapid.IntRange(0, 300).Draw(r, "delay")) * time.Millisecond
		names := []string{"a", "b", "c", "d"}
		for _, n := range names {
			w.start(n)
		}
		last := map[string]string{}
		for i := range rapid.IntRange(1, 40).Draw(r, "steps") {
			name, other := rapid.SampledFrom(names).Draw(r, "node"), rapid.SampledFrom(names).Draw(r, "other")
			key := fmt.Sprint("k", rapid.IntRange(0, 2).Draw(r, "key"))
			switch action := rapid.IntRange(0, 5).Draw(r, "action"); {
			case action < 3:
				last[key] = fmt.Sprint(i)
				put(r, w.stores[name], w.now, KindBinding, key, last[key], time.Hour)
			case action == 3:
				if _, ok := w.stores[name].Get(KindBinding, key); ok { // else it has nothing to remove
					w.stores[name].Delete(w.now, KindBinding, key)
					delete(last, key)
				}
			case name != other:
				w.split(name, other, !w.cut[pair(name, other)])
			}
			// What comes over others is late by each of the ways.
			w.run(newestMargin + 4*w.delay + time.Duration(rapid.IntRange(20, 3000).Draw(r, "pause"))*time.Millisecond)
		}
		w.loss = 0
		for pair, cut := range w.cut {
			if cut {
				w.split(pair[0], pair[1], false)
			}
		}
		w.run(30 * time.Second)
		w.agree(KindBinding)
		for i := range 3 {
			key := fmt.Sprint("k", i)
			e, ok := w.stores["a"].Get(KindBinding, key)
			if want, left := last[key]; ok != left || string(e.Value) != want {
				r.Fatalf("%s is %q %v, last written was %q %v\n%s", key, e.Value, ok, want, left, w.vectors())
			}
		}
	})
}

// What found no room at a node is there once there is some.
func TestRefusedEntriesComeLater(t *testing.T) {
	w := newWorld(t, 1, "a")
	w.limits.MaxEntries = 100
	b := w.start("b")
	w.limits.MaxEntries = 0
	w.start("c")
	for i := range 100 {
		put(t, b, w.now, KindCall, fmt.Sprint("call", i), "x", 0)
	}
	for i := range 20 {
		put(t, w.stores["a"], w.now, KindBinding, fmt.Sprint("aor", i), "at a", time.Hour)
	}
	w.run(time.Minute)
	if st := b.Stats(); st.Refused != 20 || st.Resyncs != 0 {
		t.Fatalf("%+v", st)
	}
	for i := range 60 {
		b.Delete(w.now, KindCall, fmt.Sprint("call", i))
	}
	w.run(3 * time.Minute) // their tombstones go, and then all is asked for
	if st := b.Stats(); st.Entries[KindBinding] != 20 || st.Resyncs != 1 {
		t.Errorf("%+v", st)
	}
	w.agree(KindBinding)
}
