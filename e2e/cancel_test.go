//go:build e2e

package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// TestCallersAbandonAtRandomMoments gives up 1,000 calls by CANCEL while answers
// race with it: no B leg is left ringing or up, no call is answered twice.
func TestCallersAbandonAtRandomMoments(t *testing.T) {
	w := theWorld(t)
	crossing := sim.Answers(10*time.Millisecond, 60*time.Millisecond)
	crossing.Cancel = sim.CancelGoOn // a phone that is picked up as the CANCEL arrives
	var pbxs []*sim.FarEnd
	for host, behaviours := range map[int][2]sim.Behaviour{
		beta1: {sim.Answers(20*time.Millisecond, 80*time.Millisecond), crossing},
		beta2: {sim.LateAnswer(30 * time.Millisecond), sim.Answers(0, 140*time.Millisecond)},
	} {
		pbxs = append(pbxs,
			simPBX(t, lab.PBXDallas, host, behaviours[0]),
			simPBX(t, lab.PBXAshburn, host, behaviours[1]))
	}
	load := newLoad(t, w, sim.LoadConfig{
		CallerConfig: sim.CallerConfig{Seed: seed(t)},
		To:           []string{betaNumber}, Rate: 60, Calls: 1000, Hold: 50 * time.Millisecond,
		Cancel: 1, Within: 200 * time.Millisecond,
	})
	r, err := load.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	report(t, r)
	t.Logf("results %v", r.Counts.Results)
	if r.Counts.Failed != 0 || r.Left != 0 || r.Counts.Answers2 != 0 || r.FaultsN != 0 {
		t.Errorf("%d failed, %d unfinished, %d answered twice, %d breaches of protocol: %+v %+v",
			r.Counts.Failed, r.Left, r.Counts.Answers2, r.FaultsN, r.Failures, r.Faults)
	}
	for _, p := range pbxs {
		counted(t, p, "no leg left", func(a sim.Account) bool { return a.Ringing == 0 && a.Up == 0 })
		faultless(t, p)
	}
	w.idle(t)
}
