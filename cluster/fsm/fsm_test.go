package fsm

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

var at = time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC)

func set(document string, adjust ...func(*Set)) []byte {
	c := &Set{Cluster: "test", Author: "ann", Reason: "because", At: at, Document: []byte(document)}
	for _, f := range adjust {
		f(c)
	}
	return c.Append(nil)
}

func expect(revision uint64) func(*Set) { return func(c *Set) { c.Expect = &revision } }
func key(k string) func(*Set)           { return func(c *Set) { c.Key = k } }
func generation(g uint64) func(*Set)    { return func(c *Set) { c.Generation = g } }
func version(g, r uint64) trunkgroup.Version {
	return trunkgroup.Version{Cluster: "test", Generation: g, Revision: r}
}

func TestApply(t *testing.T) {
	s := New("test")
	if v := s.Version(); v != version(1, 0) {
		t.Errorf("before the first change: %v", v)
	}
	for _, c := range []struct {
		name    string
		command []byte
		version trunkgroup.Version
		changed bool
		err     error
	}{
		{"first", set("a"), version(1, 1), true, nil},
		{"the same document again", set("a"), version(1, 1), false, nil},
		{"expected revision", set("b", expect(1), key("k1")), version(1, 2), true, nil},
		{"another revision expected", set("c", expect(1)), version(1, 2), false, &ConflictError{Expected: 1, Have: version(1, 2)}},
		{"the same key again", set("b", expect(1), key("k1")), version(1, 2), false, nil},
		{"the same key with another document", set("x", key("k1")), version(1, 2), false, nil},
		{"another cluster", set("c", func(c *Set) { c.Cluster = "other" }), version(1, 2), false, ErrCluster},
		{"a higher generation", set("b", generation(3)), version(3, 3), true, nil},
		{"a lower generation", set("d", generation(2)), version(3, 3), false, ErrGeneration},
		{"the current generation", set("d", generation(3)), version(3, 4), true, nil},
	} {
		got := s.Apply(c.command)
		var want, conflict *ConflictError
		wrong := !errors.Is(got.Err, c.err)
		if errors.As(c.err, &want) {
			wrong = !errors.As(got.Err, &conflict) || *conflict != *want
		}
		if got.Version != c.version || got.Changed != c.changed || wrong {
			t.Errorf("%s: %+v, want %v, changed %v, error %v", c.name, got, c.version, c.changed, c.err)
		}
	}
	e, ok := s.Current()
	if !ok || string(e.Document) != "d" || e.Author != "ann" || e.Reason != "because" || !e.At.Equal(at) {
		t.Errorf("the current revision is %+v", e)
	}
	if h := s.History(); len(h) != 4 || string(h[1].Document) != "b" {
		t.Errorf("the history is %+v", h)
	}
}

// "unknown command = refuse to apply and stop being ready".
func TestUnknownCommandHalts(t *testing.T) {
	s := New("test")
	s.Apply(set("a"))
	later := set("b")
	later[0] = CommandVersion + 1
	if got := s.Apply(later); !errors.Is(got.Err, ErrHalted) || !errors.Is(got.Err, ErrUnknownCommand) || got.Changed {
		t.Errorf("a command of a later build: %+v", got)
	}
	if got := s.Apply(set("c")); !errors.Is(got.Err, ErrHalted) || got.Version != version(1, 1) {
		t.Errorf("a command behind it: %+v", got)
	}
	if _, err := s.Snapshot(); !errors.Is(err, ErrHalted) {
		t.Errorf("a halted state gave a snapshot: %v", err)
	}
	if s.Halted() == nil {
		t.Error("the state does not say that it is halted")
	}
	for _, b := range [][]byte{nil, {0, kindSet}, {CommandVersion, 9}, set("x")[:20], append(set("x"), 0)} {
		s := New("test")
		if got := s.Apply(b); !errors.Is(got.Err, ErrHalted) {
			t.Errorf("% x: %+v", b, got)
		}
	}
}

func TestBounds(t *testing.T) {
	s := New("test")
	big := string(bytes.Repeat([]byte("x"), MaxHistoryBytes/5))
	for i := range 10 {
		s.Apply(set(fmt.Sprint(i, big)))
	}
	if n := len(s.History()); n != 4 {
		t.Errorf("%d revisions are kept of documents of a fifth of the bound each, want 4", n)
	}
	s = New("test")
	for i := range 3 * MaxKeys {
		s.Apply(set(fmt.Sprint(i), key(fmt.Sprint("k", i))))
	}
	if h := s.History(); len(h) != MaxHistory || h[len(h)-1].Version.Revision != 3*MaxKeys {
		t.Errorf("%d revisions are kept, the last is %v", len(h), h[len(h)-1].Version)
	}
	if len(s.keys) != MaxKeys {
		t.Errorf("%d keys are kept, want %d", len(s.keys), MaxKeys)
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]*Set{
		"no cluster":      {Document: []byte("x")},
		"no document":     {Cluster: "test"},
		"a huge document": {Cluster: "test", Document: make([]byte, MaxDocument+1)},
		"a long reason":   {Cluster: "test", Document: []byte("x"), Reason: string(make([]byte, MaxReason+1))},
		"a long author":   {Cluster: "test", Document: []byte("x"), Author: string(make([]byte, MaxName+1))},
		"a long key":      {Cluster: "test", Document: []byte("x"), Key: string(make([]byte, MaxName+1))},
		"a long cluster":  {Cluster: string(make([]byte, MaxName+1)), Document: []byte("x")},
	} {
		if c.Check() == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if err := (&Set{Cluster: "test", Document: []byte("x")}).Check(); err != nil {
		t.Errorf("a plain change: %v", err)
	}
}

func drawSet(t *rapid.T) *Set {
	c := &Set{
		Cluster:    rapid.SampledFrom([]string{"test", "test", "test", "other"}).Draw(t, "cluster"),
		Generation: rapid.SampledFrom([]uint64{0, 0, 0, 1, 2, 3}).Draw(t, "generation"),
		Author:     rapid.StringN(0, 8, 16).Draw(t, "author"),
		Reason:     rapid.StringN(0, 8, 16).Draw(t, "reason"),
		Key:        rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "key"),
		At:         time.UnixMilli(rapid.Int64Range(1, 1<<42).Draw(t, "at")).UTC(),
		Document:   []byte(rapid.StringN(1, 8, 16).Draw(t, "document")),
	}
	if rapid.Bool().Draw(t, "expects") {
		r := rapid.Uint64Range(0, 6).Draw(t, "expect")
		c.Expect = &r
	}
	return c
}

func equal(a, b *State) bool {
	x, errX := a.Snapshot()
	y, errY := b.Snapshot()
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// Apply is deterministic; a snapshot restored at any point leads to the same state;
// the pair (generation, revision) only rises; a command survives its encoding.
func TestStateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, two := New("test"), New("test")
		for range rapid.IntRange(1, 30).Draw(t, "commands") {
			c := drawSet(t)
			wire := c.Append(nil)
			again, err := Decode(wire)
			if err != nil || !bytes.Equal(again.Append(nil), wire) {
				t.Fatalf("%+v became %+v, %v", c, again, err)
			}
			before := one.Version()
			x, y := one.Apply(wire), two.Apply(wire)
			if x.Version != y.Version || x.Changed != y.Changed || (x.Err == nil) != (y.Err == nil) {
				t.Fatalf("one command, two results: %+v and %+v", x, y)
			}
			if now := one.Version(); now != before && !now.Newer(before) || x.Changed != (now != before) {
				t.Fatalf("%v followed %v", now, before)
			}
			if rapid.Bool().Draw(t, "restore") {
				b, err := two.Snapshot()
				if err != nil {
					t.Fatal(err)
				}
				if two, err = Restore("test", b); err != nil {
					t.Fatal(err)
				}
			}
			if !equal(one, two) {
				t.Fatal("a restored state went another way")
			}
		}
		clone := one.Clone()
		b, _ := clone.Snapshot()
		one.Apply(set("changed", generation(9)))
		if after, _ := clone.Snapshot(); !bytes.Equal(b, after) {
			t.Fatal("a command changed a clone")
		}
	})
}

func TestRestoreRefuses(t *testing.T) {
	s := New("test")
	s.Apply(set("a", key("k")))
	b, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Restore("other", b); !errors.Is(err, ErrCluster) {
		t.Errorf("a snapshot of another cluster: %v", err)
	}
	later := bytes.Clone(b)
	later[len(snapshotMagic)] = snapshotDecks + 1
	if _, err := Restore("test", later); !errors.Is(err, ErrUnknownSnapshot) {
		t.Errorf("a snapshot of a later build: %v", err)
	}
	for n := range b {
		if _, err := Restore("test", b[:n]); err == nil {
			t.Errorf("a snapshot cut at %d octets was restored", n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(set("document", expect(7), key("k")))
	f.Add(set("d", generation(2)))
	f.Add(stage("e", "dallas"))
	f.Add((&Decide{Cluster: "test", Promote: true, Revision: 7, Author: "ann", Reason: "good", Key: "k", At: at}).Append(nil))
	f.Add((&Decide{Cluster: "test"}).Append(nil))
	f.Add((&Recall{Revision{Entry: Entry{Version: version(1, 2), Document: []byte("x")}, State: Abandoned, Site: "dallas"}}).Append(nil))
	f.Add(numbersChange(rows("+12145550100 acme", "+1469* -", "+12145550200..+12145550299 globex"), expect64(3)))
	f.Add((&Numbers{Step: NumbersRows, Cluster: "test", Import: "i", Piece: 3, Rows: rows("+1 a", "+2 b", "+3 a")}).Append(nil))
	f.Add(deckStep(DecksOpen, "u", func(c *Decks) { c.Deck, c.Kind = "cost", kindOf("rows", 3) }))
	f.Add(deckStep(DecksPiece, "u", func(c *Decks) { c.Piece, c.Data = 1, []byte("rows") }))
	f.Add(deckStep(DecksCommit, "u", func(c *Decks) { c.Expect, c.Key = new(uint64), "k" }))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Decode(b)
		if err == nil && !bytes.Equal(c.Append(nil), b) {
			t.Fatalf("% x is not the encoding of what was read from it", b)
		}
	})
}

func FuzzRestore(f *testing.F) {
	s := New("test")
	s.Apply(set("a", key("k")))
	s.Apply(set("b", generation(2)))
	b, _ := s.Snapshot()
	f.Add(b)
	s.Apply(stage("c", "dallas"))
	b, _ = s.Snapshot()
	f.Add(b)
	s.Apply(numbersChange(rows("+12145550100 acme")))
	s.Apply((&Numbers{Step: NumbersOpen, Cluster: "test", Import: "i", At: at}).Append(nil))
	b, _ = s.Snapshot()
	f.Add(b)
	s = New("test")
	upload1(s, "cost", "rows", "u")
	s.Apply(deckStep(DecksOpen, "v", func(c *Decks) { c.Deck, c.Kind = "sell", kindOf("other rows", 3) }))
	s.Apply(deckStep(DecksPiece, "v", func(c *Decks) { c.Data = []byte("other") }))
	b, _ = s.Snapshot()
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Restore("test", b)
		if err != nil {
			return
		}
		again, err := s.Snapshot()
		if err == nil && HasNumbers(b) { // how strictly tables are read is not the business of this package
			if s, err = Restore("test", again); err == nil {
				b, err = s.Snapshot()
			}
		}
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("a snapshot does not encode as it was read: %v", err)
		}
	})
}

func FuzzDecodeEntry(f *testing.F) {
	e := Entry{Version: version(1, 2), Author: "ann", Reason: "because", At: at, Document: []byte("document")}
	f.Add(e.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEntry(b)
		if err == nil && !bytes.Equal(e.Append(nil), b) {
			t.Fatalf("% x is not the encoding of what was read from it", b)
		}
	})
}

func BenchmarkApply(b *testing.B) {
	s := New("test")
	commands := [][]byte{set("one"), set("two")}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Apply(commands[i%2])
	}
}
