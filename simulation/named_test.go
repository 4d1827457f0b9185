package simulation

import "testing"

// Seeds that showed a bug when it was there. Each bug has a test of its own where
// it was, too: a change of what the cluster sends makes another run of a seed.
func TestNamedSeeds(t *testing.T) {
	lab := NewLab()
	for _, c := range []struct {
		seed uint64
		bug  string
	}{
		{1511, "DEC-07: a copy of a hand-off, late on a slow link, was taken after the other node had answered it"},
		{12516, "DEC-10: a site that asked again while a right was on its way got a second one, which was nobody's meanwhile"},
		{26482, "DEC-10: the same, and the asking site was told in vain that there is nothing left"},
		{42722, "DEC-07: the node that had a hand-off was lost just after the other one had said 482"},
		{201962, "DEC-02: an ICMP message about one datagram ended an attempt; its far end got the next one and rang on"},
	} {
		r := lab.Run(c.seed, Options{})
		if len(r.Faults) > 0 {
			t.Errorf("seed %d (%s):\n%s", c.seed, c.bug, r.Report(0))
		}
	}
}
