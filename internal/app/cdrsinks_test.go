package app

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr/profile"
	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/monitor/cdrlog"
	"github.com/tandem-sbc/tandem/monitor/cdrsink"
)

// The node file takes the profiles that there are.
func TestProfilesOfTheNodeFile(t *testing.T) {
	if !slices.Equal(profile.Names(), config.Profiles) {
		t.Errorf("there are %v, the node file takes %v", profile.Names(), config.Profiles)
	}
}

// Alarms say what is wrong, since when, and what to do; and the same while it stays the same.
func TestRecordAlarms(t *testing.T) {
	now := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)
	if d := spoolTrouble(cdrlog.Stats{}); d != "" {
		t.Error(d)
	}
	st := cdrlog.Stats{Failing: true, Since: now, Reason: "no space left on device", Backlog: 7}
	d := spoolTrouble(st)
	for _, want := range []string{"2026-03-02T06:00:00Z", "no space left on device", "calls go on", "make room"} {
		if !strings.Contains(d, want) {
			t.Errorf("%q is not in %q", want, d)
		}
	}
	if st.Backlog = 8; spoolTrouble(st) != d {
		t.Error("the text changes with the backlog")
	}
	if st.Refused = 1; !strings.Contains(spoolTrouble(st), "LOST") {
		t.Error(spoolTrouble(st))
	}
	well := cdrsink.Status{Name: "well"}
	fails := cdrsink.Status{Name: "billing", Target: "https://billing.example.net", Failing: true, Since: now, Reason: "the server answers 500", Backlog: 1, Oldest: now}
	slow := cdrsink.Status{Name: "slow", Backlog: 5, Oldest: now}
	for after, want := range map[time.Duration][]string{
		0:                nil,
		59 * time.Second: nil,
		time.Minute:      {"billing (https://billing.example.net) takes nothing since 2026-03-02T06:00:00Z: the server answers 500", "tandem cdr sinks"},
		10 * time.Minute: {"billing", "slow () is behind: the oldest record that waits is of 2026-03-02T06:00:00Z"},
	} {
		d := sinkTrouble(now.Add(after), []cdrsink.Status{well, fails, slow})
		if (d == "") != (want == nil) || strings.Contains(d, "well") {
			t.Errorf("after %v: %q", after, d)
		}
		for _, w := range want {
			if !strings.Contains(d, w) {
				t.Errorf("after %v: %q is not in %q", after, w, d)
			}
		}
	}
}
