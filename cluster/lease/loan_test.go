package lease

import (
	"testing"
	"time"
)

// A site that asks again because the answer is on its way gets what it asked for
// once, and as soon as the answer can be there: the lender's other nodes have to
// know first, and then it is told at once. What was lent twice was nobody's while it
// travelled, and a call of the lender was refused with the limit half used.
func TestDEC10_ALoanIsMadeOnceAndAtOnce(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(t, seed, fourNodes, ports(map[string]int{"ash": 0, "dal": 4}, time.Hour))
		w.wan = 60 * time.Millisecond // and up to as much again, with siteRepeat in between
		w.pass(5 * time.Second)
		ok, after := w.takes(w.node("ash1"), portsKey, time.Minute)
		if !ok || after > 4*w.wan+siteRepeat {
			t.Errorf("seed %d: the call was taken %v, after %v", seed, ok, after)
		}
		w.pass(time.Second)
		for _, n := range w.nodes {
			if lent := n.e.entries[portsKey].rows[pair{"dal", "ash"}]; lent > 1 {
				t.Errorf("seed %d: %s knows of %d rights that were lent for one call", seed, n.name, lent)
			}
		}
		if ok, after := w.takes(w.node("dal1"), portsKey, time.Minute); !ok || after > 20*time.Millisecond {
			t.Errorf("seed %d: the lender's call was taken %v, after %v", seed, ok, after)
		}
	}
}
