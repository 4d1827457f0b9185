package app

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sim"
)

// stormSize is how many PBXs come back at once: 50,000 with TANDEM_SOAK set.
func stormSize() int {
	if os.Getenv("TANDEM_SOAK") != "" {
		return stormMost
	}
	return 1_000
}

const (
	stormMost = 50_000
	perSecond = 10_000 // begin
	perAOR    = 10
	perSource = 100 // PBXs behind one address
)

// TestDEC15_StormOfRegistrations: all PBXs register within seconds at four nodes of two
// sites. Each is registered in the end, at once or when a 503 said, and every node
// knows every binding.
func TestDEC15_StormOfRegistrations(t *testing.T) {
	size := stormSize()
	boxes := newClusterOf(t, "127.88.43", registering(size/perAOR), 4)
	for _, b := range boxes {
		b.start()
		defer b.stop()
	}
	cfg := sim.RegistrantsConfig{Rate: perSecond}
	ready(boxes...)
	for _, b := range boxes {
		cfg.Nodes = append(cfg.Nodes, addrPort(b.ip+":5060"))
	}
	for i := range size {
		user := fmt.Sprintf("pbx-%d", i/perAOR)
		cfg.PBXs = append(cfg.PBXs, sim.Registrant{
			AOR: "sip:" + user + "@sip.example.com", Credentials: sim.Credentials{Username: user, Password: "secret"},
		})
	}
	for i := range size / perSource {
		cfg.Locals = append(cfg.Locals, netip.AddrFrom4([4]byte{127, 89, byte(i >> 8), byte(i)}))
	}
	r, err := sim.NewRegistrants(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for _, what := range []string{"registered", "refreshed"} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		report := r.Run(ctx)
		cancel()
		last := time.Now()
		for _, b := range boxes {
			b.wait("all bindings", func() bool {
				aors, bindings := b.app.regs.index.Len()
				return aors == size/perAOR && bindings == size
			})
		}
		t.Logf("%d %s in %s, known everywhere %s later; %d were asked to come back, after %s at most; %d requests repeated, %d without an answer",
			report.Registered, what, report.Took.Round(time.Millisecond), time.Since(last).Round(time.Millisecond), report.Spread,
			report.RetryAfter, report.Repeats, report.Silent)
		if report.Registered != size || len(report.Refused) != 0 {
			t.Fatalf("%+v", report)
		}
	}
	for _, b := range boxes {
		if st := b.app.server.Stats(); st.Calls != 0 || b.app.server.Registering() != 0 {
			t.Errorf("%+v", st)
		}
	}
}
