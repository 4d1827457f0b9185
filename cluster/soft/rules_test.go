package soft

import (
	"fmt"
	"testing"
	"time"
)

// A copy that was away for longer than tombstones last gets the whole origin anew, and
// what its owner removed meanwhile goes.
func TestDEC15_AwayForLongerThanTombstones(t *testing.T) {
	w := newWorld(t, 1, "a", "b")
	w.rules = short()
	w.limits = Config{Chunk: 300, Window: 900}
	w.boots = map[string]uint64{}
	w.start("a")
	w.start("b")
	a, b := w.stores["a"], w.stores["b"]
	for i := range 100 {
		put(t, a, w.now, KindCall, fmt.Sprint("call-", i), "up", 0)
	}
	w.run(time.Second)
	if n := b.Stats().Entries[KindCall]; n != 100 {
		t.Fatalf("b has %d calls", n)
	}
	w.split("a", "b", true)
	for i := range 50 {
		a.Delete(w.now, KindCall, fmt.Sprint("call-", 2*i))
	}
	put(t, a, w.now, KindCall, "late", "up", 0)
	w.run(10 * time.Second) // tombstones last three
	if n := a.Stats().Tombstones; n != 0 {
		t.Fatalf("a still has %d tombstones", n)
	}
	w.split("a", "b", false)
	w.run(time.Second)
	if n := b.Stats().Entries[KindCall]; n != 51 {
		t.Errorf("b has %d calls, want 51", n)
	}
	w.agree(KindCall)
}

// DEC-15: a refresh that lands on another node replaces the entry of the first, and a
// removal at a third one removes both; a stale copy resurrects nothing.
func TestDEC15_OneBindingOverAllNodes(t *testing.T) {
	w := newWorld(t, 1, "a", "b", "c")
	a, b, c := w.stores["a"], w.stores["b"], w.stores["c"]
	put(t, a, w.now, KindBinding, "aor", "at a", time.Hour)
	w.run(time.Second)
	put(t, b, w.now, KindBinding, "aor", "at b", time.Hour)
	w.run(time.Second)
	if got := w.agree(KindBinding); got != "binding aor b/1 v2 \"at b\"\n" {
		t.Errorf("after a refresh elsewhere: %s", got)
	}
	w.split("a", "c", true)
	w.split("a", "b", true) // a is alone with what b said
	c.Delete(w.now, KindBinding, "aor")
	w.run(time.Minute)
	if e, ok := a.Get(KindBinding, "aor"); !ok || string(e.Value) != "at b" {
		t.Errorf("a, cut off, has %+v", e)
	}
	w.split("a", "c", false)
	w.split("a", "b", false)
	w.run(10 * time.Second)
	if got := w.agree(KindBinding); got != "" {
		t.Errorf("a stale copy brought back: %s", got)
	}
	// Two nodes at once: the higher name wins, at all.
	put(t, a, w.now, KindBinding, "aor", "at a", time.Hour)
	put(t, c, w.now, KindBinding, "aor", "at c", time.Hour)
	w.run(time.Second)
	if got := w.agree(KindBinding); got != "binding aor c/1 v4 \"at c\"\n" {
		t.Errorf("of two at once: %s", got)
	}
	_ = b
}

// A process is told apart from the next one of its node, and knows of whom it has what.
func TestOriginsAndDrop(t *testing.T) {
	w := newWorld(t, 1, "a", "b")
	b := w.stores["b"]
	put(t, w.stores["a"], w.now, KindCall, "x", "1", 0)
	put(t, w.stores["a"], w.now, KindCall, "y", "2", 0)
	w.run(time.Second)
	w.now = w.now.Add(500 * time.Millisecond)
	w.kill("a")
	died := w.now
	w.run(3 * time.Second)
	w.start("a")
	w.run(time.Second)
	var dead Origin
	for _, o := range b.Origins() {
		if o.Node == "a" && o.Boot == 1 {
			dead = o
		}
	}
	if dead.Live || dead.Entries != 2 || !dead.Lost.Equal(died) || !dead.Heard.Equal(died) {
		t.Errorf("b says of a's first process: %+v", dead)
	}
	// The new process of a learns of the old one from b, with the age of its death.
	for _, o := range w.stores["a"].Origins() {
		if o.Node == "a" && o.Boot == 1 && (o.Entries != 2 || o.Lost.Sub(died).Abs() > 10*time.Millisecond) {
			t.Errorf("a says of its first process: %+v, it died at %v", o, died)
		}
	}
	b.Drop(w.now, KindCall, "x", "a", 1)
	w.run(20 * time.Second)
	if has(b, KindCall, "x") || !has(b, KindCall, "y") || !has(w.stores["a"], KindCall, "x") {
		t.Error("what was dropped stays dropped here, and only here")
	}
}

// DEC-24: nodes drop the calls of a dead process one after the other, each when it
// learns that they were closed. None gets them back from one that is slower.
func TestDEC24_DroppedEntriesDoNotComeBack(t *testing.T) {
	w := newWorld(t, 1, "a", "b", "c")
	put(t, w.stores["a"], w.now, KindCall, "x", "1", 0)
	w.run(time.Second)
	w.kill("a")
	w.run(time.Second)
	w.start("a") // learns of its last process from the others
	w.run(time.Second)
	for _, name := range []string{"b", "c", "a"} {
		if !has(w.stores[name], KindCall, "x") {
			t.Fatalf("%s lacks the call", name)
		}
		w.stores[name].Drop(w.now, KindCall, "x", "a", 1)
		w.run(20 * time.Second)
		if has(w.stores[name], KindCall, "x") {
			t.Errorf("%s has got back what it dropped", name)
		}
	}
	w.run(2 * time.Hour)
	for name, s := range w.stores {
		for _, o := range s.Origins() {
			if o.Node == "a" && o.Boot == 1 {
				t.Errorf("%s still knows the dead process: %+v", name, o)
			}
		}
	}
}

// Bounds hold whatever comes, and a cache gives its oldest entries away.
func TestBoundsOfReceivedEntries(t *testing.T) {
	w := newWorld(t, 1)
	w.limits = Config{MaxEntries: 50}
	w.start("b")
	w.limits = Config{}
	w.start("a")
	a, b := w.stores["a"], w.stores["b"]
	for i := range 40 {
		put(t, b, w.now, KindAffinity, fmt.Sprint("caller-", i), "pbx", time.Hour)
	}
	for i := range 100 {
		put(t, a, w.now, KindCall, fmt.Sprint("call-", i), "up", 0)
	}
	w.run(time.Second)
	st := b.Stats()
	if st.Entries[KindCall] != 50 || st.Entries[KindAffinity] != 0 || st.Evicted != 40 || st.Refused != 50 {
		t.Errorf("%+v", st)
	}
	// b's evicted entries are a's copies still; nothing flaps.
	octets := w.octets
	w.run(time.Minute)
	if w.octets-octets > 20_000 {
		t.Errorf("%d octets in a quiet minute", w.octets-octets)
	}
}

func BenchmarkPut(b *testing.B) {
	s := New(Config{Node: "a", Boot: 1}, epoch)
	s.NodeUp(epoch, "b", 1)
	value := make([]byte, 500)
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = fmt.Sprint("call-", i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if err := s.Put(epoch, KindCall, keys[i%len(keys)], value, 0); err != nil {
			b.Fatal(err)
		}
		s.Output()
		i++
	}
}

func BenchmarkReceive(b *testing.B) {
	value := make([]byte, 500)
	a := New(Config{Node: "a", Boot: 1}, epoch)
	a.NodeUp(epoch, "b", 1)
	s := New(Config{Node: "b", Boot: 1}, epoch)
	s.NodeUp(epoch, "a", 1)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		_ = a.Put(epoch, KindCall, fmt.Sprint("call-", i%10_000), value, 0)
		for _, m := range a.Output() {
			if err := s.Receive(epoch, "a", m.Frame); err != nil {
				b.Fatal(err)
			}
		}
		i++
	}
}
