package fsm

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// rows reads changes: "pattern group", with - for no group.
func rows(lines ...string) (list []trunkgroup.NumberChange) {
	for _, line := range lines {
		text, group, _ := strings.Cut(line, " ")
		p, err := trunkgroup.ParsePattern(text)
		if err != nil {
			panic(err)
		}
		list = append(list, trunkgroup.NumberChange{Pattern: p, Group: strings.TrimPrefix(group, "-")})
	}
	return list
}

func numbersChange(rows []trunkgroup.NumberChange, adjust ...func(*Numbers)) []byte {
	c := &Numbers{Step: NumbersChange, Cluster: "test", Author: "ann", Reason: "port-in", At: at, Rows: rows}
	for _, f := range adjust {
		f(c)
	}
	return c.Append(nil)
}

func step(s NumbersStep, name string, adjust ...func(*Numbers)) []byte {
	c := &Numbers{Step: s, Cluster: "test", Import: name, Author: "bob", Reason: "bulk", At: at}
	for _, f := range adjust {
		f(c)
	}
	return c.Append(nil)
}

func expect64(edition uint64) func(*Numbers) { return func(c *Numbers) { c.Expect = &edition } }

func raised(g uint64) func(*Numbers) { return func(c *Numbers) { c.Generation = g } }

func keyOf(k string) func(*Numbers) { return func(c *Numbers) { c.Key = k } }

func piece(n uint64, lines ...string) func(*Numbers) {
	return func(c *Numbers) { c.Piece, c.Rows = n, rows(lines...) }
}

// has says what the state's table holds.
func has(s *State) string {
	t, v := s.Numbers()
	var b strings.Builder
	fmt.Fprintf(&b, "%d.%d", v.Generation, v.Revision)
	for p, g := range t.All() {
		fmt.Fprintf(&b, " %s=%s", p, g)
	}
	return b.String()
}

// apply takes a command that must be taken, and says what the table is then.
func apply(t *testing.T, s *State, command []byte, want string) Result {
	t.Helper()
	r := s.Apply(command)
	if r.Err != nil || s.Halted() != nil {
		t.Fatalf("%v, %v", r.Err, s.Halted())
	}
	if got := has(s); got != want {
		t.Fatalf("the table is\n%s, want\n%s", got, want)
	}
	return r
}

// The edition rises with what changes something, by compare and set, once for each key, and the
// generation with a restore (DEC-14).
func TestDEC14_EditionsOfNumbers(t *testing.T) {
	s := New("test")
	apply(t, s, numbersChange(rows("+12145550100 acme", "+1469* globex"), expect64(0), keyOf("k")), "1.1 +12145550100=acme +1469*=globex")
	if r := apply(t, s, numbersChange(rows("+1 x"), keyOf("k")), "1.1 +12145550100=acme +1469*=globex"); r.Changed || r.Version != version(1, 1) {
		t.Errorf("the same key again: %+v", r)
	}
	if r := apply(t, s, numbersChange(rows("+12145550100 acme", "+49* -")), "1.1 +12145550100=acme +1469*=globex"); r.Changed {
		t.Errorf("what is there already: %+v", r)
	}
	r := s.Apply(numbersChange(rows("+1 x"), expect64(0)))
	if e, ok := errors.AsType[*EditionError](r.Err); !ok || e.Have != version(1, 1) || e.Expected != 0 {
		t.Errorf("made from another edition: %+v", r)
	}
	apply(t, s, numbersChange(rows("+12145550100 globex", "+1469* -")), "1.2 +12145550100=globex")
	apply(t, s, numbersChange(nil, raised(3)), "3.3 +12145550100=globex")
	if r := s.Apply(numbersChange(rows("+1 x"), raised(2))); !errors.Is(r.Err, ErrGeneration) {
		t.Errorf("a lower generation: %+v", r)
	}
	if r := s.Apply(numbersChange(rows("+1 x"), func(c *Numbers) { c.Cluster = "other" })); !errors.Is(r.Err, ErrCluster) {
		t.Errorf("another cluster: %+v", r)
	}
	if s.Version() != version(1, 0) {
		t.Errorf("numbers changed the document's version to %v", s.Version())
	}
	h := s.NumbersHistory()
	if v := h[1]; len(h) != 3 || v.Author != "ann" || v.Reason != "port-in" || v.Set != 1 || v.Removed != 1 || v.Len != 1 || !v.At.Equal(at) {
		t.Errorf("the history is %+v", h)
	}
}

// An import is seen whole or not at all, by its pieces once and in order; changes in the meantime
// are not lost.
func TestImportIsOneStep(t *testing.T) {
	s := New("test")
	apply(t, s, numbersChange(rows("+1 old")), "1.1 +1=old")
	apply(t, s, step(NumbersOpen, "i"), "1.1 +1=old")
	apply(t, s, step(NumbersOpen, "i"), "1.1 +1=old")
	apply(t, s, step(NumbersRows, "i", piece(0, "+1 new", "+2 new")), "1.1 +1=old")
	apply(t, s, step(NumbersRows, "i", piece(0, "+1 new", "+2 new")), "1.1 +1=old")
	if r := s.Apply(step(NumbersRows, "i", piece(2, "+4 new"))); !errors.Is(r.Err, errPiece) {
		t.Errorf("a piece too early: %+v", r)
	}
	apply(t, s, numbersChange(rows("+3 other", "+2 other")), "1.2 +1=old +2=other +3=other")
	if r := s.Apply(step(NumbersCommit, "i", expect64(1), keyOf("k"))); r.Err == nil {
		t.Error("the import does not know of a change and came into force")
	}
	if l := s.NumbersImports(); len(l) != 1 || l[0].Pieces != 1 || l[0].Set != 2 || l[0].Author != "bob" {
		t.Errorf("imports: %+v", l)
	}
	r := apply(t, s, step(NumbersCommit, "i", expect64(2), keyOf("k"), piece(0, "+2 new")), "1.3 +1=new +2=new +3=other")
	if again := s.Apply(step(NumbersCommit, "i", expect64(2), keyOf("k"))); again.Version != r.Version || again.Err != nil || again.Changed {
		t.Errorf("committed again: %+v", again)
	}
	if r := s.Apply(step(NumbersRows, "i", piece(2, "+4 new"))); !errors.Is(r.Err, ErrNoImport) {
		t.Errorf("a piece after the end: %+v", r)
	}
}

// Imports are few, end each other, and end by themselves.
func TestImportsEnd(t *testing.T) {
	s := New("test")
	for _, name := range []string{"a", "b"} {
		apply(t, s, step(NumbersOpen, name), "1.0")
		apply(t, s, step(NumbersRows, name, piece(0, "+1 "+name)), "1.0")
	}
	r := s.Apply(step(NumbersOpen, "c"))
	if busy, ok := errors.AsType[*BusyError](r.Err); !ok || len(busy.Imports) != MaxImports || !strings.Contains(r.Err.Error(), `"bob"`) {
		t.Errorf("a third one: %v", r.Err)
	}
	apply(t, s, step(NumbersAbandon, "a"), "1.0")
	apply(t, s, step(NumbersAbandon, "a"), "1.0")
	apply(t, s, step(NumbersOpen, "c"), "1.0")
	apply(t, s, step(NumbersCommit, "b"), "1.1 +1=b")
	if r := s.Apply(step(NumbersCommit, "c")); !errors.Is(r.Err, ErrNoImport) {
		t.Errorf("another one came first: %v", r.Err)
	}
	apply(t, s, step(NumbersOpen, "d"), "1.1 +1=b")
	apply(t, s, step(NumbersOpen, "e", func(c *Numbers) { c.At = at.Add(ImportPatience + time.Second) }), "1.1 +1=b")
	if r := s.Apply(step(NumbersRows, "d", piece(0, "+1 d"))); !errors.Is(r.Err, ErrNoImport) {
		t.Errorf("silent for too long: %v", r.Err)
	}
}

// A change that an import cannot follow ends it with a reason, and only it.
func TestImportThatCannotFollow(t *testing.T) {
	s := New("test")
	apply(t, s, step(NumbersOpen, "i"), "1.0")
	r := s.Apply(step(NumbersRows, "i", piece(0, "+100..+199 a")))
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if r := s.Apply(step(NumbersRows, "i", piece(1, "+150..+249 b"))); r.Err == nil {
		t.Skip("ranges that overlap are taken")
	}
	apply(t, s, numbersChange(rows("+150..+249 b")), "1.1 +150..+249=b")
	if r := s.Apply(step(NumbersCommit, "i")); r.Err == nil || !strings.Contains(r.Err.Error(), "+1") {
		t.Errorf("the import came into force: %+v", r)
	}
	b, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Restore("test", b); err != nil || !equal(s, again) {
		t.Errorf("its end is not in the snapshot: %v", err)
	}
}

func TestNumbersAreChecked(t *testing.T) {
	one := uint64(1)
	many := make([]trunkgroup.NumberChange, 0, 40000)
	for i := range cap(many) {
		many = append(many, rows(fmt.Sprintf("+1%09d a", i))...)
	}
	for name, c := range map[string]*Numbers{
		"no step":                {Cluster: "test"},
		"a later step":           {Cluster: "test", Step: NumbersAbandon + 1, Import: "i"},
		"no cluster":             {Step: NumbersChange},
		"a change in an import":  {Cluster: "test", Step: NumbersChange, Import: "i"},
		"a piece of nothing":     {Cluster: "test", Step: NumbersRows, Import: "i"},
		"rows of no import":      {Cluster: "test", Step: NumbersRows, Rows: rows("+1 a")},
		"an open with rows":      {Cluster: "test", Step: NumbersOpen, Import: "i", Rows: rows("+1 a")},
		"an open with a key":     {Cluster: "test", Step: NumbersOpen, Import: "i", Key: "k"},
		"a piece with an expect": {Cluster: "test", Step: NumbersRows, Import: "i", Rows: rows("+1 a"), Expect: &one},
		"a counted commit":       {Cluster: "test", Step: NumbersCommit, Import: "i", Piece: 1},
		"too much":               {Cluster: "test", Step: NumbersChange, Rows: many},
		"a long group":           {Cluster: "test", Step: NumbersChange, Rows: rows("+1 " + strings.Repeat("x", MaxName+1))},
		"a long reason":          {Cluster: "test", Step: NumbersChange, Reason: strings.Repeat("x", MaxReason+1)},
	} {
		if c.Check() == nil {
			t.Errorf("%s is taken", name)
		}
	}
	for _, good := range []*Numbers{
		{Cluster: "test", Step: NumbersChange, Rows: rows("+1 a"), Expect: &one, Key: "k", Generation: 2},
		{Cluster: "test", Step: NumbersCommit, Import: "i", Expect: &one, Key: "k", Generation: 2},
	} {
		if err := good.Check(); err != nil {
			t.Error(err)
		}
	}
}

func drawNumbers(t *rapid.T) *Numbers {
	var list []string
	for range rapid.IntRange(1, 4).Draw(t, "rows") {
		list = append(list, fmt.Sprintf("+%d %s", rapid.IntRange(1, 9).Draw(t, "number"), rapid.SampledFrom([]string{"a", "b", "-"}).Draw(t, "group")))
	}
	c := &Numbers{
		Step: NumbersStep(rapid.IntRange(1, 5).Draw(t, "step")), Cluster: "test", Author: "ann",
		At: time.UnixMilli(1e12 + int64(rapid.IntRange(0, 3).Draw(t, "at"))*int64(ImportPatience/time.Millisecond)).UTC(),
	}
	if c.Step != NumbersChange {
		c.Import = rapid.SampledFrom([]string{"i", "j", "k"}).Draw(t, "import")
	}
	switch c.Step {
	case NumbersRows, NumbersCommit:
		c.Rows = rows(list...)
	}
	switch c.Step {
	case NumbersRows:
		c.Piece = uint64(rapid.IntRange(0, 2).Draw(t, "piece"))
		c.Rows = rows(list...)
	case NumbersChange, NumbersCommit:
		c.Key = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "key")
		c.Generation = uint64(rapid.IntRange(0, 3).Draw(t, "generation"))
		if rapid.Bool().Draw(t, "expects") {
			e := uint64(rapid.IntRange(0, 5).Draw(t, "expect"))
			c.Expect = &e
		}
		if c.Step == NumbersChange {
			c.Rows = rows(list...)
		}
	}
	return c
}

// Apply is deterministic, a restored state and a clone go the same way, and (generation, edition)
// only rises.
func TestNumbersProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, two := New("test"), New("test")
		for range rapid.IntRange(1, 40).Draw(t, "commands") {
			c := drawNumbers(t)
			if err := c.Check(); err != nil {
				t.Fatal(err)
			}
			wire := c.Append(nil)
			again, err := Decode(wire)
			if err != nil || !bytes.Equal(again.Append(nil), wire) {
				t.Fatalf("%+v became %+v, %v", c, again, err)
			}
			_, before := one.Numbers()
			clone := one.Clone()
			was := has(clone)
			x, y := one.Apply(wire), two.Apply(wire)
			if x.Version != y.Version || x.Changed != y.Changed || (x.Err == nil) != (y.Err == nil) {
				t.Fatalf("one command, two results: %+v and %+v", x, y)
			}
			_, now := one.Numbers()
			if now != before && !now.Newer(before) || x.Changed != (now != before) || x.Changed && now != x.Version {
				t.Fatalf("%v followed %v: %+v", now, before, x)
			}
			if has(clone) != was {
				t.Fatal("a command changed a clone")
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
	})
}

// A snapshot that is cut, or goes on behind its end, is none; one of a state without numbers is what
// an older build reads.
func TestSnapshotWithNumbers(t *testing.T) {
	s := New("test")
	s.Apply(set("a", key("k")))
	b, _ := s.Snapshot()
	if HasNumbers(b) || b[len(snapshotMagic)] != snapshotPlain {
		t.Error("a state without numbers has them in its snapshot")
	}
	s.Apply(numbersChange(rows("+1 a", "+2 b")))
	s.Apply(step(NumbersOpen, "i"))
	s.Apply(step(NumbersRows, "i", piece(0, "+3 c")))
	b, err := s.Snapshot()
	if err != nil || !HasNumbers(b) {
		t.Fatal(err)
	}
	again, err := Restore("test", b)
	if err != nil || !equal(s, again) || has(again) != has(s) {
		t.Fatal(err)
	}
	for n := range b {
		if _, err := Restore("test", b[:n]); err == nil {
			t.Errorf("a snapshot cut at %d octets was restored", n)
		}
	}
	if _, err := Restore("test", append(bytes.Clone(b), 0)); err == nil {
		t.Error("a snapshot with more behind it was restored")
	}
}
