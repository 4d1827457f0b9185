package trunkgroup

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func mustPattern(t interface{ Fatal(...any) }, text string) Pattern {
	p, err := ParsePattern(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// numberTable makes a table of pattern, group, pattern, group...
func numberTable(t interface{ Fatal(...any) }, rows ...string) *NumberTable {
	var changes []NumberChange
	for i := 0; i < len(rows); i += 2 {
		changes = append(changes, NumberChange{mustPattern(t, rows[i]), rows[i+1]})
	}
	table, err := (*NumberTable)(nil).With(changes)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestNumberTableIsEmptyWhenNil(t *testing.T) {
	var n *NumberTable
	if n.Len() != 0 || len(n.Groups()) != 0 || n.Checksum() != 0 {
		t.Error("a nil table has rows")
	}
	for p := range n.All() {
		t.Errorf("a nil table has %s", p)
	}
	for p := range n.OfGroup("a") {
		t.Errorf("a nil table has %s", p)
	}
	if _, ok := n.Get(mustPattern(t, "+1")); ok {
		t.Error("a nil table has +1")
	}
	back, err := DecodeNumberTable(n.AppendBinary(nil))
	if err != nil || back.Len() != 0 {
		t.Errorf("an empty table comes back as %v, %v", back, err)
	}
}

func TestNumberTableRefuses(t *testing.T) {
	base := numberTable(t, "+1000..+1999", "a", "+30", "b")
	local, err := ParseLocalPattern("911")
	if err != nil {
		t.Fatal(err)
	}
	good := NumberChange{mustPattern(t, "+31"), "b"}
	for name, bad := range map[string]NumberChange{
		"zero pattern":       {Pattern{}, "a"},
		"local number":       {local, "a"},
		"no name":            {mustPattern(t, "+32"), "no name"},
		"overlap before":     {mustPattern(t, "+0500..+1000"), "a"},
		"overlap behind":     {mustPattern(t, "+1999..+2500"), "c"},
		"overlap around":     {mustPattern(t, "+0500..+2500"), "a"},
		"overlap inside":     {mustPattern(t, "+1100..+1200"), "a"},
		"the same beginning": {mustPattern(t, "+1000..+1001"), "a"},
	} {
		_, err := base.With([]NumberChange{good, bad})
		if fault, ok := errors.AsType[*NumberChangeError](err); !ok || fault.Index != 1 || fault.Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if base.Len() != 2 || base.Groups()["b"] != 1 {
		t.Errorf("a refused change left %v", base.Groups())
	}
}

// A range that is taken out makes room for others in the same step, in
// whatever order the changes stand.
func TestNumberTableReplacesRanges(t *testing.T) {
	base := numberTable(t, "+1000..+1999", "a")
	next, err := base.With([]NumberChange{
		{mustPattern(t, "+1000..+1499"), "b"},
		{mustPattern(t, "+1500..+1999"), "a"},
		{mustPattern(t, "+1000..+1999"), ""},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := next.Groups(); !maps.Equal(got, map[string]int{"a": 1, "b": 1}) {
		t.Errorf("%v", got)
	}
}

// drawPattern draws from a world that is small enough for collisions.
func drawPattern(t *rapid.T) Pattern {
	digits := rapid.StringMatching(`[0-2]{1,4}`)
	a := "+" + digits.Draw(t, "number")
	switch rapid.SampledFrom([]PatternKind{Exact, Exact, Prefix, Range}).Draw(t, "kind") {
	case Prefix:
		return mustPattern(t, a+"*")
	case Range:
		n, _ := pack(a)
		wide := rapid.Uint64Range(0, min(5, pow10[n.length()]-1-n.value())).Draw(t, "wide")
		return mustPattern(t, a+".."+(n+number(wide)).String())
	}
	return mustPattern(t, a)
}

// naive is the table as a map: what each change does is one line.
type naive map[Pattern]string

func (m naive) with(changes []NumberChange) naive {
	next := maps.Clone(m)
	for _, c := range changes {
		if c.Group == "" {
			delete(next, c.Pattern)
		} else {
			next[c.Pattern] = c.Group
		}
	}
	return next
}

// overlap tells whether the range p overlaps with another one.
func (m naive) overlap(p Pattern) bool {
	for q := range m {
		if p.Kind == Range && q.Kind == Range && p != q && p.low <= q.high && q.low <= p.high {
			return true
		}
	}
	return false
}

// lookup searches through all patterns.
func (m naive) lookup(n number) (best Pattern, ok bool) {
	for p := range m {
		if !p.covers(n) {
			continue
		}
		rank := func(p Pattern) uint64 {
			if p.Kind == Exact {
				return 0
			}
			return p.size(n)*2 + uint64(p.Kind&1^1) // a range before a prefix of equal size
		}
		if !ok || rank(p) < rank(best) {
			best, ok = p, true
		}
	}
	return best, ok
}

func checkTable(t *rapid.T, table *NumberTable, want naive) {
	sorted := slices.SortedFunc(maps.Keys(want), comparePatterns)
	var got []Pattern
	groups := make(map[string]int)
	for p, group := range table.All() {
		got = append(got, p)
		groups[group]++
		if g, ok := table.Get(p); !ok || g != group || group != want[p] {
			t.Fatalf("%s belongs to %q, and by Get to %q, want %q", p, group, g, want[p])
		}
	}
	if !slices.Equal(got, sorted) || table.Len() != len(want) {
		t.Fatalf("%d patterns: %v, want %v", table.Len(), got, sorted)
	}
	if !maps.Equal(groups, table.Groups()) {
		t.Fatalf("groups %v, want %v", table.Groups(), groups)
	}
	for group, n := range groups {
		rest := n
		for p := range table.OfGroup(group) {
			if rest--; want[p] != group {
				t.Fatalf("%s is of %q", p, want[p])
			}
		}
		if rest != 0 {
			t.Fatalf("%d of %d patterns of %s", n-rest, n, group)
		}
	}
}

// A table is what a map of its rows says, whatever the changes; tables of equal
// content are equal in sum and octets, however they came to be.
func TestNumberTableEqualsAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table *NumberTable
		model := naive{}
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			var changes []NumberChange
			for range rapid.IntRange(1, 12).Draw(t, "changes") {
				changes = append(changes, NumberChange{drawPattern(t), rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "group")})
			}
			would := model.with(changes)
			next, err := table.With(changes)
			if fault, ok := errors.AsType[*NumberChangeError](err); ok {
				if c := changes[fault.Index]; c.Group == "" || !would.overlap(c.Pattern) {
					t.Fatalf("change %d of %v is refused: %v", fault.Index, changes, err)
				}
				checkTable(t, table, model)
				continue
			}
			for p := range would {
				if would.overlap(p) {
					t.Fatalf("the overlap of %s is not found", p)
				}
			}
			checkTable(t, table, model) // With never changes its receiver
			table, model = next, would
			checkTable(t, table, model)
		}
		checkFresh(t, table, model)
		checkLookup(t, table, model)
	})
}

func checkFresh(t *rapid.T, table *NumberTable, model naive) {
	var rows []NumberChange
	for p, group := range model {
		rows = append(rows, NumberChange{p, group})
	}
	fresh, err := (*NumberTable)(nil).With(rows)
	if err != nil {
		t.Fatal(err)
	}
	octets := table.AppendBinary(nil)
	if fresh.Checksum() != table.Checksum() || !slices.Equal(fresh.AppendBinary(nil), octets) {
		t.Fatalf("equal tables differ in sum or octets")
	}
	back, err := DecodeNumberTable(octets)
	if err != nil {
		t.Fatal(err)
	}
	checkTable(t, back, model)
	checkLookup(t, back, model)
	after := drawPattern(t)
	var got []Pattern
	for p := range table.After(after) {
		got = append(got, p)
	}
	var want []Pattern
	for p := range table.All() {
		if comparePatterns(p, after) > 0 {
			want = append(want, p)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("after %s: %v, want %v", after, got, want)
	}
}

func checkLookup(t *rapid.T, table *NumberTable, model naive) {
	for range 10 {
		called := "+" + rapid.StringMatching(`[0-2]{1,5}`).Draw(t, "called")
		n, _ := pack(called)
		var by Pattern
		var found bool
		if table != nil {
			_, by, found = table.set.lookup(n, nil)
		}
		want, ok := model.lookup(n)
		if found != ok || by != want {
			t.Fatalf("%s belongs to %s (%t), want %s (%t) of %v", called, by, found, want, ok, model)
		}
	}
}

func TestNumberTableGroupsComeAndGo(t *testing.T) {
	var table *NumberTable
	for i := range 1000 {
		next, err := table.With([]NumberChange{{mustPattern(t, "+1214"), fmt.Sprint("g", i)}})
		if err != nil {
			t.Fatal(err)
		}
		table = next
	}
	if n := len(table.groups.names); n > 2 {
		t.Errorf("one row takes the places of %d groups", n)
	}
}

// Octets from outside are a table or an error; a table that comes out goes in
// again as the same octets.
func FuzzDecodeNumberTable(f *testing.F) {
	f.Add((*NumberTable)(nil).AppendBinary(nil))
	f.Add(numberTable(f, "+12145550100", "acme", "+1469555*", "other", "+13..+15", "acme", "+2*", "acme").AppendBinary(nil))
	f.Add([]byte{1, 1, 1, 'a', 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := DecodeNumberTable(b)
		if err != nil {
			return
		}
		octets := table.AppendBinary(nil)
		back, err := DecodeNumberTable(octets)
		if err != nil || back.Checksum() != table.Checksum() || back.Len() != table.Len() {
			t.Fatalf("%d patterns come back as %d, %v", table.Len(), back.Len(), err)
		}
		for p, group := range table.All() {
			if got, ok := back.Get(p); !ok || got != group {
				t.Fatalf("%s of %s is of %q", p, group, got)
			}
		}
		if next, err := table.With([]NumberChange{{mustPattern(t, "+99"), "new"}}); err != nil || next.Len() < table.Len() {
			t.Fatalf("a change of a decoded table: %v", err)
		}
	})
}

// Tables are read while later ones are made of them.
func TestNumberTableWhileItIsRead(t *testing.T) {
	table := numberTable(t, "+1*", "a", "+20..+29", "b")
	rows := []NumberChange{}
	for i := range 3000 {
		rows = append(rows, NumberChange{mustPattern(t, fmt.Sprintf("+3%05d", i)), "c"})
	}
	table, err := table.With(rows)
	if err != nil {
		t.Fatal(err)
	}
	want := table.Checksum()
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 20 {
				n := 0
				for p, group := range table.All() {
					if got, ok := table.Get(p); !ok || got != group {
						t.Errorf("%s is of %q", p, got)
					}
					n++
				}
				if n != table.Len() || table.Checksum() != want {
					t.Errorf("%d of %d patterns", n, table.Len())
				}
			}
		})
	}
	for i, last := 0, table; i < 2000; i++ {
		c := rows[i]
		if c.Group = []string{"", "d", fmt.Sprint("g", i)}[i%3]; i%5 == 0 {
			last = table // from the one that is being read
		}
		if last, err = last.With([]NumberChange{c, {mustPattern(t, fmt.Sprintf("+4%d*", i)), "e"}}); err != nil {
			t.Fatal(err)
		}
	}
	readers.Wait()
}
