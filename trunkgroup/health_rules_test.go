package trunkgroup

import (
	"testing"
	"time"
)

// K-13, K-14, K-24, C3: 5xx and silence are failures. Below the threshold the member
// is trying and still gets calls; down it gets none; on the way back it is on
// probation and gets none either, until it has been good often enough in a row.
func TestK13_K14_K24_C3_ThresholdsAndStates(t *testing.T) {
	none := 0
	h := NewHealth(compileMonitoring(MonitoringSpec{Profile: "kamailio", Interval: Duration(10 * time.Second), DownAfter: 3, UpAfter: 2, Repeats: &none}), time.Time{})
	now := time.Unix(1000, 0)
	good := ProbeResult{Kind: Reply, Code: 200}
	server := ProbeResult{Kind: Reply, Code: 500}
	silence := ProbeResult{Kind: Timeout}
	for i, step := range []struct {
		result ProbeResult
		want   State
		calls  bool
	}{
		{good, Active, true},
		{server, Trying, true},
		{silence, Trying, true},
		{good, Active, true}, // a good one forgets the failures
		{server, Trying, true},
		{server, Trying, true},
		{silence, Down, false},
		{good, Probation, false},
		{server, Down, false}, // and a bad one the good ones
		{good, Probation, false},
		{good, Active, true},
	} {
		now = now.Add(10 * time.Second)
		h.Probe(now, step.result)
		if got := h.State(); got != step.want || got.Selectable() != step.calls {
			t.Errorf("step %d, %s: %s, gets calls %t; want %s, %t", i, step.result, got, got.Selectable(), step.want, step.calls)
		}
	}
}
