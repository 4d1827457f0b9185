package trunkgroup

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// check looks at the shape of a map: sorted, no part empty or too large, and
// not many small ones.
func (m *numberMap[V]) check(t *testing.T) {
	t.Helper()
	var last number
	size := 0
	for i, b := range m.branches {
		if len(b.leaves) == 0 || len(b.leaves) > branchMax || m.firsts[i] != b.firsts[0] {
			t.Fatalf("branch %d of %d has %d leaves from %d", i, len(m.branches), len(b.leaves), b.firsts[0])
		}
		for j, l := range b.leaves {
			first := b.firsts[j]
			if l.size == 0 || l.size > leafMax || l.keys[0] != 0 {
				t.Fatalf("leaf %d of branch %d has %d keys", j, i, l.size)
			}
			if j > 0 && b.leaves[j-1].joins(b.firsts[j-1], first, l) {
				t.Fatalf("leaves %d and %d of branch %d are small", j-1, j, i)
			}
			for at, key := range l.keys {
				if at >= int(l.size) {
					if key != noKey {
						t.Fatalf("leaf %d of branch %d has a key behind its end", j, i)
					}
					continue
				}
				if n := first + number(key); n <= last {
					t.Fatalf("%d stands after %d", n, last)
				}
				last = first + number(key)
			}
			size += int(l.size)
		}
	}
	if size != m.size {
		t.Fatalf("%d entries, and says %d", size, m.size)
	}
}

// A map of many leaves and branches equals a Go map under random changes, and
// the maps before the change stay as they were.
func TestNumberMapEqualsAModel(t *testing.T) {
	// The keys of a leaf are at most 2^32 apart: with the second stride few fit
	// into one, with the third one alone.
	for _, stride := range []number{1, 1 << 27, 1 << 33} {
		testNumberMap(t, stride)
	}
}

func testNumberMap(t *testing.T, stride number) {
	r := rand.New(rand.NewPCG(1, 2))
	var m numberMap[uint32]
	model := make(map[number]uint32)
	sizes := []int{1, 3, 200, 2000, 60000}
	steps := 80
	if testing.Short() {
		steps = 30
	}
	for step := range steps {
		edits := make(map[number]numberEdit[uint32])
		gone := step%10 >= 6 // six steps of growth, four of loss
		middle, spread := number(1+r.IntN(400000)), 1+r.IntN(200000)
		for range sizes[r.IntN(len(sizes))] {
			n := stride * (middle + number(r.IntN(spread)))
			edits[n] = numberEdit[uint32]{n, r.Uint32(), gone != (r.IntN(10) == 0)}
		}
		before, was := m, len(model)
		m = m.with(slices.SortedFunc(maps.Values(edits), func(a, b numberEdit[uint32]) int { return cmp.Compare(a.key, b.key) }))
		for n, e := range edits {
			if e.gone {
				delete(model, n)
			} else {
				model[n] = e.value
			}
		}
		m.check(t)
		before.check(t)
		if m.size != len(model) || before.size != was {
			t.Fatalf("step %d: %d entries and %d before, want %d and %d", step, m.size, before.size, len(model), was)
		}
	}
	for n, value := range m.from(0) {
		if got, ok := m.get(n); !ok || got != value || model[n] != value {
			t.Fatalf("%d has %d and %d, want %d", n, value, got, model[n])
		}
	}
	for range 10000 {
		n := stride*number(r.IntN(700000)) + number(r.IntN(2))
		for key := range m.from(n) {
			if _, ok := model[n]; key < n || ok && key != n {
				t.Fatalf("from %d comes %d", n, key)
			}
			break
		}
		if key, _, ok := m.floor(n); ok && key > n {
			t.Fatalf("the floor of %d is %d", n, key)
		}
	}
}

// Taking out all but a few numbers gives the memory of the others back.
func TestNumberMapShrinks(t *testing.T) {
	w := numberMapWriter[uint32]{part: leafMax}
	const n = 200000
	for i := range number(n) {
		w.put(i+1, 0)
	}
	m := w.done()
	m.check(t)
	for i := range number(n) {
		if i%1000 != 0 {
			m = m.with([]numberEdit[uint32]{{key: i + 1, gone: true}})
		}
	}
	m.check(t)
	leaves := 0
	for _, b := range m.branches {
		leaves += len(b.leaves)
	}
	if m.size != n/1000 || leaves > 30 {
		t.Errorf("%d entries in %d leaves and %d branches", m.size, leaves, len(m.branches))
	}
}
