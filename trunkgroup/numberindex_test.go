package trunkgroup

import (
	"errors"
	"iter"
	"testing"

	"pgregory.net/rapid"
)

type owned struct {
	text  string
	owner int
}

func patternsOf(t interface{ Fatal(...any) }, list []owned) iter.Seq2[Pattern, int] {
	return func(yield func(Pattern, int) bool) {
		for _, o := range list {
			p, err := ParsePattern(o.text)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(p, o.owner) {
				return
			}
		}
	}
}

// ARCHITECTURE section 4: "called number -> group (exact, longest prefix,
// range)"; the pattern that covers fewer numbers wins.
func TestMatchNumber(t *testing.T) {
	x, err := BuildNumbers(patternsOf(t, []owned{
		{"+12145550123", 1},
		{"+12145550100..+12145550199", 2},
		{"+1214555*", 3},
		{"+1*", 4},
		{"+13000000000..+13999999999", 5},
		{"+1310*", 6},
		{"+14695550100", 7},
		{"+14695550100", 7}, // the same owner twice is no conflict
		{"+12145550101*", 8},
	}))
	if err != nil {
		t.Fatal(err)
	}
	for called, want := range map[string]int{
		"+12145550123":   1, // exact before range and prefix
		"+12145550124":   2, // a range of 100 before a prefix of 10000
		"+12145550200":   3, // the longest prefix
		"+12155550200":   4,
		"+13105550100":   6, // a prefix of 10^7 before a range of 10^9
		"+13205550100":   5,
		"+14695550100":   7,
		"+12145550101":   8, // a prefix that is the whole number
		"+121455501012":  8,
		"+1214555012":    3,
		"+121455501234":  3, // longer than the exact number
		"+442079460000":  -1,
		"12145550123":    -1, // not E.164
		"+":              -1,
		"":               -1,
		"alice":          -1,
		"+1214555012x":   -1,
		"+1234567890123": 4,
	} {
		owner, by, ok := x.Lookup([]byte(called))
		if !ok {
			owner = -1
		}
		if owner != want {
			t.Errorf("%s belongs to %d by %s, want %d", called, owner, by, want)
		}
	}
	if x.Len() != 9 {
		t.Errorf("%d patterns", x.Len())
	}
}

func TestBuildNumbersConflicts(t *testing.T) {
	for _, list := range [][]owned{
		{{"+1214", 1}, {"+1214", 2}},
		{{"+1214*", 1}, {"+1214*", 2}},
		{{"+10..+19", 1}, {"+15..+25", 2}},
		{{"+10..+19", 1}, {"+15..+16", 1}},
	} {
		_, err := BuildNumbers(patternsOf(t, list))
		var conflict *NumberConflict
		if !errors.As(err, &conflict) || conflict.Error() == "" {
			t.Errorf("%v: %v", list, err)
		}
	}
}

// The index says what a search through all patterns would say.
func TestMatchNumberProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[0-3]{1,6}`)
		var list []owned
		seen := make(map[string]bool)
		for i := range rapid.IntRange(0, 40).Draw(t, "patterns") {
			text := "+" + digits.Draw(t, "number")
			if rapid.Bool().Draw(t, "prefix") {
				text += "*"
			}
			if !seen[text] {
				seen[text] = true
				list = append(list, owned{text, i})
			}
		}
		x, err := BuildNumbers(patternsOf(t, list))
		if err != nil {
			t.Fatal(err)
		}
		called := "+" + digits.Draw(t, "called")
		want := -1
		best := -1
		for p, owner := range patternsOf(t, list) {
			rank := p.low.length() * 2
			if p.Kind == Exact {
				rank = 1000
			}
			if p.Matches([]byte(called)) && rank > best {
				want, best = owner, rank
			}
		}
		got, by, ok := x.Lookup([]byte(called))
		if !ok {
			got = -1
		}
		if got != want {
			t.Fatalf("%s belongs to %d by %s, want %d in %v", called, got, by, want, list)
		}
	})
}

func TestNumberIndexAllocates(t *testing.T) {
	table := compile(t, testDocument())
	for _, called := range []string{"+12145550150", "+14695551234", "+442079460000"} {
		number := []byte(called)
		if n := testing.AllocsPerRun(100, func() { table.MatchNumber(number) }); n != 0 {
			t.Errorf("%s: %v allocations", called, n)
		}
	}
	if g := table.MatchNumber([]byte("+14695551234")); g == nil || g.Name != "acme-in" {
		t.Errorf("+14695551234 belongs to %v", g)
	}
}

// manyNumbers yields n exact numbers in scattered blocks, as customers own
// them, with some prefixes and ranges between.
func manyNumbers(n int) iter.Seq2[Pattern, int] {
	return func(yield func(Pattern, int) bool) {
		for i := range n {
			v := numberOf(i)
			if !yield(Pattern{Exact, v, v}, i%5000) {
				return
			}
		}
		for i := range 1000 {
			low := number(11)<<valueBits | number(19000000000+i*1000)
			prefix := number(7)<<valueBits | number(1800000+i)
			if !yield(Pattern{Range, low, low + 99}, i) || !yield(Pattern{Prefix, prefix, prefix}, i) {
				return
			}
		}
	}
}

// numberOf spreads i over the blocks of 100 of area codes 200 to 799.
func numberOf(i int) number {
	block := uint64(i/100) * hashMultiplier % 60000000
	return number(11)<<valueBits | number(12000000000+block*100+uint64(i%100))
}

func TestNumberIndexManyNumbers(t *testing.T) {
	const n = 200000
	x, err := BuildNumbers(manyNumbers(n))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < n; i += 37 {
		if owner, _, ok := x.Lookup([]byte(numberOf(i).String())); !ok || owner != i%5000 {
			t.Fatalf("%s belongs to %d, %t", numberOf(i), owner, ok)
		}
	}
	if owner, by, ok := x.Lookup([]byte("+19000001050")); !ok || owner != 1 {
		t.Errorf("range: %d by %s, %t", owner, by, ok)
	}
}
