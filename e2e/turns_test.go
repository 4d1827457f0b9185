//go:build e2e

package e2e

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sim"
)

// TestD02_R05_TurnsAreEvenOverFourNodes: 10,000 calls over all four nodes, each of
// which takes turns by itself. Inside a site, what its two nodes sent to each member
// together differs by at most 1 %.
func TestD02_R05_TurnsAreEvenOverFourNodes(t *testing.T) {
	w := theWorld(t)
	pbxs := w.simulate(t, sim.AnswersAtOnce())
	before := make([]int, len(pbxs))
	for i, p := range pbxs {
		before[i] = p.Account().Invites
	}
	load := newLoad(t, w, sim.LoadConfig{
		CallerConfig: sim.CallerConfig{Seed: seed(t), NodeTimeout: 2 * time.Second, SetupTimeout: 12 * time.Second},
		To:           []string{acmeNumber}, Rate: 400, Calls: 10_000, Hold: 50 * time.Millisecond,
	})
	r, err := load.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r = report(t, r); r.Counts.Failed != 0 || r.Left != 0 {
		t.Errorf("%d of %d calls failed, %d did not end", r.Counts.Failed, r.Counts.Started, r.Left)
	}
	sites := len(acmeMembers)
	perSite := len(pbxs) / sites
	total := 0
	for s := range sites {
		least, most, sum := math.MaxInt, 0, 0
		for i := s * perSite; i < (s+1)*perSite; i++ {
			n := pbxs[i].Account().Invites - before[i]
			least, most, sum = min(least, n), max(most, n), sum+n
		}
		total += sum
		apart := 100 * float64(most-least) * float64(perSite) / float64(sum)
		t.Logf("site %d: %d calls, %d to %d per member: %.2f %% apart", s, sum, least, most, apart)
		if apart > 1 {
			t.Errorf("site %d: members differ by %.2f %%", s, apart)
		}
	}
	if total != r.Counts.Started {
		t.Errorf("%d calls, %d INVITEs at the members", r.Counts.Started, total)
	}
}
