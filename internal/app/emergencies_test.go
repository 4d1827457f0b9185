package app

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// TestDEC17_EmergencyRateAlarmsAndBlocksNothing: ten in a second are within the
// rate, what comes on top is counted apart and named until a quiet minute later.
func TestDEC17_EmergencyRateAlarmsAndBlocksNothing(t *testing.T) {
	within, above := 0, 0
	e := emergencies{count: func(_ string, over bool) {
		if over {
			above++
		} else {
			within++
		}
	}}
	g := &trunkgroup.Group{Name: "acme-out", Limits: trunkgroup.Limits{EmergencyCPS: 10}}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 10 {
		e.taken(now, g)
	}
	if within != 10 || above != 0 || e.excess(now) != "" {
		t.Fatalf("%d within, %d above, %q", within, above, e.excess(now))
	}
	for range 5 {
		e.taken(now, g)
	}
	if within != 10 || above != 5 || !strings.Contains(e.excess(now), "acme-out") {
		t.Fatalf("%d within, %d above, %q", within, above, e.excess(now))
	}
	now = now.Add(emergencyQuiet)
	if got := e.excess(now); got != "" {
		t.Errorf("after a minute: %q", got)
	}
	for range 600 { // ten per second for a minute
		e.taken(now, g)
		now = now.Add(100 * time.Millisecond)
	}
	if above != 5 {
		t.Errorf("%d above at the rate itself", above)
	}
	e.taken(now, nil) // of a group that the table has no more
}
