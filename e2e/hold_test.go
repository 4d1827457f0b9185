//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/signal"
	"testing"

	"github.com/tandem-sbc/tandem/lab"
)

// TestHold leaves the shared cluster up for a person to look at, until ^C:
//
//	E2E_HOLD=1 go test -tags e2e -v -timeout 0 -run TestHold ./e2e
func TestHold(t *testing.T) {
	if os.Getenv("E2E_HOLD") == "" {
		t.Skip("set E2E_HOLD=1 to hold the laboratory up")
	}
	w := theWorld(t)
	l := theLab(t)
	for _, n := range w.Nodes {
		t.Logf("%-10s %v %v  enter: ip netns exec %s-%s bash", n.Name, n.IPv4, n.IPv6, l.Prefix, n.Place)
	}
	t.Logf("call %s from %v: ip netns exec %s-%s sipp …", acmeNumber, lab.Host4(lab.CarrierDallas, pstnHost), l.Prefix, lab.CarrierDallas)
	t.Logf("logs and records are in %s", run.dir)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	<-ctx.Done()
}
