package soft

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func put(t tester, s *Store, now time.Time, kind Kind, key, value string, ttl time.Duration) {
	t.Helper()
	if err := s.Put(now, kind, key, []byte(value), ttl); err != nil {
		t.Fatal(err)
	}
}

func has(s *Store, kind Kind, key string) bool {
	_, ok := s.Get(kind, key)
	return ok
}

func TestDEC15_EntriesSpreadAndGo(t *testing.T) {
	w := newWorld(t, 1, "a", "b", "c")
	a := w.stores["a"]
	for i := range 20 {
		put(t, a, w.now, KindCall, fmt.Sprint("call-", i), "up", 0)
		put(t, a, w.now, KindBinding, fmt.Sprint("aor-", i), "contact", time.Minute)
	}
	w.run(time.Second)
	w.agree(KindCall, KindBinding)
	if n := w.stores["c"].Stats().Entries[KindCall]; n != 20 {
		t.Fatalf("c has %d calls", n)
	}
	a.Delete(w.now, KindCall, "call-3")
	w.run(time.Second)
	w.agree(KindCall, KindBinding)
	if has(w.stores["b"], KindCall, "call-3") {
		t.Error("a removed call is still there")
	}
	w.run(time.Minute)
	if n := w.stores["b"].Stats().Entries[KindBinding]; n != 0 {
		t.Errorf("%d bindings are left after they expired", n)
	}
}

// DEC-15: on death calls are dropped (after their use), bindings are kept, whoever dies.
func TestDEC15_DeathOfAnOwner(t *testing.T) {
	w := newWorld(t, 1, "a", "b", "c")
	a := w.stores["a"]
	put(t, a, w.now, KindCall, "call", "up", 0)
	put(t, a, w.now, KindCounter, "group", "7", 0)
	put(t, a, w.now, KindBinding, "aor", "contact", 2*time.Hour)
	w.run(time.Second)
	w.kill("a")
	b := w.stores["b"]
	if !has(b, KindCall, "call") || has(b, KindCounter, "group") || !has(b, KindBinding, "aor") {
		t.Fatalf("after the death: %s", picture(b, KindCall, KindCounter, KindBinding))
	}
	w.run(time.Hour)
	if has(b, KindCall, "call") || !has(b, KindBinding, "aor") {
		t.Errorf("an hour later: %s", picture(b, KindCall, KindBinding))
	}
	// The node returns with a new boot and learns its own binding from its peers.
	w.start("a")
	w.run(time.Second)
	w.agree(KindBinding)
	if !has(w.stores["a"], KindBinding, "aor") {
		t.Error("a returning node did not get its own kept entry")
	}
	put(t, w.stores["a"], w.now, KindBinding, "aor", "elsewhere", time.Hour)
	w.run(time.Second)
	if e, _ := w.stores["c"].Get(KindBinding, "aor"); string(e.Value) != "elsewhere" || e.Version != 2 || e.Boot != 2 {
		t.Errorf("c has %+v", e)
	}
	w.agree(KindBinding)
}

func TestPutRefuses(t *testing.T) {
	s := New(Config{Node: "a", Boot: 1, MaxEntries: 2}, epoch)
	for _, c := range []struct {
		kind  Kind
		key   string
		value int
		ttl   time.Duration
		want  error
	}{
		{Kind(maxKind), "x", 1, 0, ErrKind},
		{KindCall, "", 1, 0, ErrSize},
		{KindCall, "x", MaxValue + 1, 0, ErrSize},
		{KindBinding, "x", 1, 0, ErrTTL},
		{KindCall, "x", 1, 0, nil},
		{KindLCR, "y", 1, time.Minute, nil},
		{KindCall, "z", 1, 0, nil}, // the cached answer goes
		{KindCall, "w", 1, 0, ErrFull},
		{KindCall, "z", 1, 0, nil},
	} {
		if err := s.Put(epoch, c.kind, c.key, make([]byte, c.value), c.ttl); !errors.Is(err, c.want) {
			t.Errorf("%v %q: %v, want %v", c.kind, c.key, err, c.want)
		}
		s.verify(t)
	}
	if st := s.Stats(); st.Evicted != 1 || st.Full != 1 || st.Entries[KindLCR] != 0 {
		t.Errorf("%+v", st)
	}
}
