package soft

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// short are rules whose times a test can wait for.
func short() map[Kind]Rule {
	return map[Kind]Rule{
		KindCall:     {Linger: 20 * time.Second, Tombstone: 3 * time.Second},
		KindBinding:  {Keep: true, Versioned: true, Newest: true, MaxTTL: time.Minute},
		KindAffinity: {Keep: true, Versioned: true, Evict: true, MaxTTL: 20 * time.Second},
		KindCounter:  {Tombstone: time.Second},
	}
}

var allKinds = []Kind{KindCall, KindBinding, KindAffinity, KindCounter}

// DEC-15: whatever the network loses, repeats and reorders, who dies and who is cut
// off: once it is quiet, all nodes show the same, and what the owners wrote last.
func TestDEC15_NodesConverge(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(r, rapid.Uint64().Draw(r, "seed"))
		w.rules = short()
		w.limits = Config{Chunk: 200, Window: 600, Sync: 2 * time.Second, Retry: time.Second}
		w.loss, w.dup = rapid.IntRange(0, 40).Draw(r, "loss"), rapid.IntRange(0, 30).Draw(r, "dup")
		w.delay = time.Duration(rapid.IntRange(0, 300).Draw(r, "delay")) * time.Millisecond
		names := []string{"a", "b", "c", "d"}
		for _, n := range names {
			w.start(n)
		}
		model := map[string]map[string]string{} // what each owner has: calls and counters
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			w.scene(r, names, model)
			w.run(time.Duration(rapid.IntRange(0, 4000).Draw(r, "pause")) * time.Millisecond)
		}
		w.loss, w.dup = 0, 0
		for _, a := range names {
			if w.stores[a] == nil {
				w.start(a)
				model[a] = nil
			}
			for _, b := range names {
				if a < b && w.cut[pair(a, b)] {
					w.split(a, b, false)
				}
			}
		}
		// The calls of dead processes go when their Linger is over.
		w.run(25 * time.Second)
		// What expires just now expires elsewhere a moment later.
		for range 3 {
			if w.agreed(allKinds...) {
				break
			}
			w.run(700 * time.Millisecond)
		}
		w.agree(allKinds...)
		for owner, entries := range model {
			for key, value := range entries {
				kind := KindCall
				if key[0] == 'n' {
					kind = KindCounter
				}
				found := false
				w.stores["a"].EachOf(kind, owner, w.boots[owner], func(e Entry) bool {
					found = found || e.Key == key && string(e.Value) == value
					return !found
				})
				if !found {
					r.Fatalf("a lacks %s = %s of %s:\n%s", key, value, owner, picture(w.stores["a"], allKinds...))
				}
			}
			n := 0
			for _, k := range []Kind{KindCall, KindCounter} {
				w.stores["b"].EachOf(k, owner, w.boots[owner], func(Entry) bool { n++; return true })
			}
			if n != len(entries) {
				r.Fatalf("b has %d calls and counters of %s, which has %d", n, owner, len(entries))
			}
		}
	})
}

// scene does one thing.
func (w *world) scene(r *rapid.T, names []string, model map[string]map[string]string) {
	name := rapid.SampledFrom(names).Draw(r, "node")
	other := rapid.SampledFrom(names).Draw(r, "other")
	s := w.stores[name]
	if model[name] == nil {
		model[name] = map[string]string{}
	}
	key := func(prefix string) string { return fmt.Sprint(prefix, rapid.IntRange(0, 8).Draw(r, "key")) }
	value := fmt.Sprint(rapid.IntRange(0, 3).Draw(r, "value"))
	action := rapid.IntRange(0, 11).Draw(r, "action")
	switch {
	case action == 11 && s != nil:
		w.kill(name)
		model[name] = nil
	case s == nil:
		w.start(name)
		model[name] = nil
	case action < 3:
		k := key("c")
		put(w.t, s, w.now, KindCall, k, value, 0)
		model[name][k] = value
	case action < 4:
		k := key("n")
		put(w.t, s, w.now, KindCounter, k, value, 0)
		model[name][k] = value
	case action < 6:
		k := key("c")
		s.Delete(w.now, KindCall, k)
		delete(model[name], k)
	case action < 8:
		put(w.t, s, w.now, KindBinding, key("b"), value, time.Duration(rapid.IntRange(1, 60).Draw(r, "ttl"))*time.Second)
	case action < 9:
		s.Delete(w.now, KindBinding, key("b"))
	case action < 10:
		put(w.t, s, w.now, KindAffinity, key("f"), value, 10*time.Second)
	case name != other && w.stores[other] != nil:
		w.split(name, other, !w.cut[pair(name, other)])
	}
}

// 100,000 entries of one node reach the others within seconds of virtual time, through
// a network of 34 ms there and back and windows of half a megabyte.
func TestDEC15_HundredThousandEntries(t *testing.T) {
	w := newWorld(t, 1, "a", "b", "c")
	w.way = 17 * time.Millisecond
	a := w.stores["a"]
	for i := range 100_000 {
		put(t, a, w.now, KindBinding, fmt.Sprint("sip:user-", i, "@example.com"), "sip:user@192.0.2.7:5060;transport=udp", time.Hour)
	}
	begun := w.now
	for w.stores["c"].Stats().Entries[KindBinding] < 100_000 || w.stores["b"].Stats().Entries[KindBinding] < 100_000 {
		w.run(50 * time.Millisecond)
		if w.now.Sub(begun) > 10*time.Second {
			t.Fatalf("after 10 s: %+v", w.stores["c"].Stats())
		}
	}
	t.Logf("converged in %v, %d octets on the wire for two peers", w.now.Sub(begun), w.octets)
	w.agree(KindBinding)

	// A node that returns empty gets all of it from whoever is there, once.
	w.kill("c")
	w.kill("a")
	w.octets = 0
	begun = w.now
	w.start("c")
	for w.stores["c"].Stats().Entries[KindBinding] < 100_000 {
		w.run(50 * time.Millisecond)
		if w.now.Sub(begun) > 10*time.Second {
			t.Fatalf("after 10 s: %+v", w.stores["c"].Stats())
		}
	}
	t.Logf("a returning node has it in %v, %d octets on the wire", w.now.Sub(begun), w.octets)
	if w.octets > 16<<20 {
		t.Errorf("%d octets for one copy", w.octets)
	}
}
