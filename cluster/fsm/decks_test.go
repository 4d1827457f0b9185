package fsm

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func kindOf(data string, rows uint64) DeckKind {
	return DeckKind{Currency: "USD", Rows: rows, Size: uint64(len(data)), Sum: sha256.Sum256([]byte(data))}
}

func deckStep(s DecksStep, upload string, adjust ...func(*Decks)) []byte {
	c := &Decks{Step: s, Cluster: "test", Upload: upload, Author: "bob", Reason: "new rates", At: at}
	for _, f := range adjust {
		f(c)
	}
	return c.Append(nil)
}

func removal(deck string, adjust ...func(*Decks)) []byte {
	return deckStep(DecksRemove, "", append(adjust, func(c *Decks) { c.Deck = deck })...)
}

// upload1 makes data a deck, in pieces of four octets, and returns the last result.
func upload1(s *State, deck, data, name string, adjust ...func(*Decks)) Result {
	if r := s.Apply(deckStep(DecksOpen, name, func(c *Decks) { c.Deck, c.Kind = deck, kindOf(data, 3) })); r.Err != nil {
		return r
	}
	for i := 0; i*4 < len(data); i++ {
		if r := s.Apply(deckStep(DecksPiece, name, func(c *Decks) { c.Piece, c.Data = uint64(i), []byte(data[i*4:min(i*4+4, len(data))]) })); r.Err != nil {
			return r
		}
	}
	return s.Apply(deckStep(DecksCommit, name, adjust...))
}

// hasDecks says what decks the state holds.
func hasDecks(s *State) string {
	list, v := s.Decks()
	var b strings.Builder
	fmt.Fprintf(&b, "%d.%d", v.Generation, v.Revision)
	for _, d := range list {
		fmt.Fprintf(&b, " %s@%d=%s", d.Name, d.Edition, d.Data)
	}
	return b.String()
}

func wantDecks(t *testing.T, s *State, r Result, want string) {
	t.Helper()
	if r.Err != nil || s.Halted() != nil {
		t.Fatalf("%v, %v", r.Err, s.Halted())
	}
	if got := hasDecks(s); got != want {
		t.Fatalf("the decks are\n%s, want\n%s", got, want)
	}
}

// The edition rises with what changes something, by compare and set, once for each key, and
// the generation by itself (DEC-14).
func TestDEC14_EditionsOfDecks(t *testing.T) {
	s := New("test")
	expect := func(n uint64) func(*Decks) { return func(c *Decks) { c.Expect = &n } }
	key := func(c *Decks) { c.Key = "k" }
	wantDecks(t, s, upload1(s, "sell", "first rows", "1", expect(0), key), "1.1 sell@1=first rows")
	wantDecks(t, s, upload1(s, "cost", "rows", "2"), "1.2 cost@2=rows sell@1=first rows")
	r := upload1(s, "cost", "other rows", "3", expect(1))
	var conflict *DecksEditionError
	if !errors.As(r.Err, &conflict) || conflict.Have.Revision != 2 {
		t.Fatal(r.Err)
	}
	if r := s.Apply(deckStep(DecksCommit, "gone", key)); r.Changed || r.Err != nil || r.Version.Revision != 1 {
		t.Fatalf("a change with a key that was applied came to %+v", r)
	}
	s.Apply(deckStep(DecksAbandon, "3"))
	if r := upload1(s, "cost", "rows", "4"); r.Changed {
		t.Fatalf("the same rows made edition %v", r.Version)
	}
	wantDecks(t, s, s.Apply(removal("sell", expect(2))), "1.3 cost@2=rows")
	if r := s.Apply(removal("sell")); !errors.Is(r.Err, ErrNoDeck) {
		t.Fatal(r.Err)
	}
	wantDecks(t, s, s.Apply(deckStep(DecksRaise, "", func(c *Decks) { c.Generation = 5 })), "5.4 cost@2=rows")
	if r := s.Apply(deckStep(DecksRaise, "", func(c *Decks) { c.Generation = 5 })); !errors.Is(r.Err, ErrGeneration) {
		t.Fatal(r.Err)
	}
	if h := s.DecksHistory(); len(h) != 4 || h[0].Deck != "sell" || h[0].Rows != 3 || !h[2].Removed || h[3].Deck != "" {
		t.Errorf("%+v", h)
	}
}

// A deck comes whole or not at all.
func TestDecksComeWhole(t *testing.T) {
	s := New("test")
	open := func(name, data string) Result {
		return s.Apply(deckStep(DecksOpen, name, func(c *Decks) { c.Deck, c.Kind = "cost", kindOf(data, 1) }))
	}
	piece := func(name string, n uint64, data string) error {
		return s.Apply(deckStep(DecksPiece, name, func(c *Decks) { c.Piece, c.Data = n, []byte(data) })).Err
	}
	open("u", "rows")
	if err := piece("u", 1, "ws"); !errors.Is(err, errPiece) {
		t.Error(err)
	}
	if err := piece("u", 0, "ro"); err != nil {
		t.Error(err)
	}
	if err := piece("u", 0, "ro"); err != nil || s.DeckUploads()[0].Have != 2 {
		t.Error(err, s.DeckUploads())
	}
	if r := s.Apply(deckStep(DecksCommit, "u")); !errors.Is(r.Err, ErrDeckDamaged) {
		t.Error(r.Err)
	}
	if err := piece("u", 1, "wss"); !errors.Is(err, ErrDeckDamaged) {
		t.Error(err)
	}
	if err := piece("u", 1, "xx"); err != nil {
		t.Error(err)
	}
	if r := s.Apply(deckStep(DecksCommit, "u")); !errors.Is(r.Err, ErrDeckDamaged) || len(s.DeckUploads()) != 1 {
		t.Error(r.Err)
	}
	open("v", "rows")
	var busy *DecksBusyError
	if r := open("w", "rows"); !errors.As(r.Err, &busy) || !strings.Contains(busy.Error(), `"cost" by "bob"`) {
		t.Error(r.Err)
	}
	later := func(c *Decks) { c.At, c.Deck, c.Kind = at.Add(ImportPatience+time.Second), "cost", kindOf("rows", 1) }
	if r := s.Apply(deckStep(DecksOpen, "w", later)); r.Err != nil || len(s.DeckUploads()) != 1 {
		t.Error(r.Err, s.DeckUploads())
	}
	if err := piece("u", 2, "x"); !errors.Is(err, ErrNoUpload) {
		t.Error(err)
	}
	large := func(c *Decks) { c.Deck, c.Kind = "large", DeckKind{Rows: MaxDeckRows, Size: MaxDeck} }
	s.Apply(deckStep(DecksAbandon, "w"))
	wantDecks(t, s, upload1(s, "cost", "rows", "x"), "1.1 cost@1=rows")
	if r := s.Apply(deckStep(DecksOpen, "l", large)); !errors.Is(r.Err, ErrTooManyDecks) {
		t.Error(r.Err)
	}
}

func TestDecksAreChecked(t *testing.T) {
	good := Decks{Step: DecksOpen, Cluster: "test", Upload: "u", Deck: "cost", Kind: kindOf("rows", 1), At: at}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for i, spoil := range []func(*Decks){
		func(c *Decks) { c.Step = 0 },
		func(c *Decks) { c.Step = DecksRaise + 1 },
		func(c *Decks) { c.Cluster = "" },
		func(c *Decks) { c.Upload = "" },
		func(c *Decks) { c.Deck = "" },
		func(c *Decks) { c.Kind = DeckKind{} },
		func(c *Decks) { c.Kind.Size = MaxDeck + 1 },
		func(c *Decks) { c.Kind.Rows = MaxDeckRows + 1 },
		func(c *Decks) { c.Kind.Currency = "EURO" },
		func(c *Decks) { c.Key = "k" },
		func(c *Decks) { c.Expect = new(uint64) },
		func(c *Decks) { c.Generation = 1 },
		func(c *Decks) { c.Piece = 1 },
		func(c *Decks) { c.Data = []byte("x") },
		func(c *Decks) { c.Step, c.Deck = DecksPiece, "" },
		func(c *Decks) { *c = Decks{Step: DecksPiece, Cluster: "test", Upload: "u"} },
		func(c *Decks) { *c = Decks{Step: DecksRaise, Cluster: "test"} },
		func(c *Decks) { *c = Decks{Step: DecksRemove, Cluster: "test"} },
		func(c *Decks) { c.Reason = strings.Repeat("x", MaxReason+1) },
		func(c *Decks) { c.Deck = strings.Repeat("x", MaxName+1) },
	} {
		c := good
		if spoil(&c); c.Check() == nil {
			t.Errorf("case %d was taken: %+v", i, c)
		}
	}
}

// drawDecks makes commands of which many belong together.
func drawDecks(t *rapid.T) *Decks {
	c := &Decks{
		Step: DecksStep(rapid.IntRange(1, 6).Draw(t, "step")), Cluster: "test", Author: "ann", Reason: "rates",
		At: at.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "minute")) * time.Minute),
	}
	if c.Step <= DecksAbandon {
		c.Upload = rapid.SampledFrom([]string{"u", "v", "w"}).Draw(t, "upload")
	}
	if c.Step == DecksOpen || c.Step == DecksRemove {
		c.Deck = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "deck")
	}
	switch c.Step {
	case DecksOpen:
		c.Kind = kindOf(rapid.SampledFrom([]string{"xy", "yx", "xyxy"}).Draw(t, "data"), 1)
	case DecksPiece:
		c.Piece, c.Data = uint64(rapid.IntRange(0, 2).Draw(t, "piece")), []byte(rapid.SampledFrom([]string{"xy", "yx", "x"}).Draw(t, "data"))
	case DecksRaise:
		c.Generation = uint64(rapid.IntRange(1, 4).Draw(t, "generation"))
	case DecksCommit, DecksRemove:
		c.Key = rapid.SampledFrom([]string{"", "k1", "k2"}).Draw(t, "key")
		if rapid.IntRange(0, 3).Draw(t, "expects") == 0 {
			n := uint64(rapid.IntRange(0, 3).Draw(t, "expect"))
			c.Expect = &n
		}
	}
	return c
}

// Apply is a function of state and command: a state that was restored from a snapshot at any
// place goes on as the one that took it, versions rise, and copies stay as they were.
func TestDecksProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := New("test"), New("test")
		copied, before := a.Clone(), hasDecks(a)
		for range rapid.IntRange(0, 40).Draw(t, "commands") {
			c := drawDecks(t)
			if err := c.Check(); err != nil {
				t.Fatal(err)
			}
			had, last := a.Decks()
			r, other := a.Apply(c.Append(nil)), b.Apply(c.Append(nil))
			if fmt.Sprint(r.Err) != fmt.Sprint(other.Err) || r.Version != other.Version || r.Changed != other.Changed {
				t.Fatalf("%+v came to %+v and %+v", c, r, other)
			}
			now, v := a.Decks()
			if r.Changed != v.Newer(last) || last.Newer(v) || !r.Changed && len(had) != len(now) || r.Changed != (r.Decks != nil) {
				t.Fatalf("%+v: from %v to %v, changed %t", c, last, v, r.Changed)
			}
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				snapshot, err := b.Snapshot()
				if err != nil {
					t.Fatal(err)
				}
				if b, err = Restore("test", snapshot); err != nil {
					t.Fatal(err)
				}
				if again, err := b.Snapshot(); err != nil || !bytes.Equal(again, snapshot) {
					t.Fatalf("another snapshot: %v", err)
				}
			case 1:
				if got := hasDecks(copied); got != before {
					t.Fatalf("a copy was %s and is %s", before, got)
				}
				copied, before = a.Clone(), hasDecks(a)
			}
		}
	})
}

// A state with numbers and decks comes back from its snapshot; one without decks is written as
// an older build reads it.
func TestSnapshotWithDecks(t *testing.T) {
	s := New("test")
	s.Apply(set("document"))
	s.Apply(numbersChange(rows("+12145550100 acme")))
	b, err := s.Snapshot()
	if err != nil || b[len(snapshotMagic)] != snapshotNumbers {
		t.Fatalf("version %d, %v", b[len(snapshotMagic)], err)
	}
	upload1(s, "cost", "rows", "u")
	if b, err = s.Snapshot(); err != nil || b[len(snapshotMagic)] != snapshotDecks || !HasNumbers(b) {
		t.Fatalf("version %d, %v", b[len(snapshotMagic)], err)
	}
	back, err := Restore("test", b)
	if err != nil || hasDecks(back) != hasDecks(s) || has(back) != has(s) {
		t.Fatalf("%v: %s", err, hasDecks(back))
	}
	for i := range b {
		spoiled := bytes.Clone(b)
		spoiled[i] ^= 1
		if other, err := Restore("test", spoiled); err == nil && hasDecks(other) != hasDecks(s) && i > len(b)-4 {
			t.Fatalf("octet %d was changed and nobody saw it", i)
		}
	}
	if _, err := Restore("test", b[:len(b)-1]); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}
