package demo

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sim"
)

// Only two kinds of lost calls are excused, each by what was killed and when.
func TestEndedExcusesOnlyWhatNobodyCouldSave(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	call := func(node, to string, started, pdd time.Duration, result sim.Result) *sim.CallRecord {
		return &sim.CallRecord{Node: node, To: to, Started: at.Add(started), PDD: pdd, Result: result}
	}
	for name, c := range map[string]struct {
		call *sim.CallRecord
		want string
	}{
		"answered":                         {call("dal-1", "+12145550100", 0, time.Second, sim.Completed), ""},
		"up on the killed node":            {call("dal-1", "+12145550100", -time.Minute, time.Second, sim.Broken), "node"},
		"later on the killed node":         {call("dal-1", "+12145550100", 2*time.Second, time.Second, sim.Broken), "lost"},
		"on another node":                  {call("dal-2", "+12145550100", 0, time.Second, sim.Broken), "lost"},
		"rang at the dead far end":         {call("dal-2", "+12145550107", -30*time.Millisecond, 20*time.Millisecond, sim.Rejected), "rang"},
		"reached the dead far end, silent": {call("dal-2", "+12145550107", -30*time.Millisecond, 0, sim.Rejected), "lost"},
		"rang there at another time":       {call("dal-2", "+12145550107", -time.Minute, 20*time.Millisecond, sim.Rejected), "lost"},
	} {
		s := &stage{
			killed: map[string]time.Time{"dal-1": at},
			cut:    []sim.Leg{{URI: "sip:+12145550107@127.77.11.1:5060", Invited: at.Add(-20 * time.Millisecond)}},
		}
		s.ended(c.call)
		got := ""
		for kind, list := range map[string][]sim.CallRecord{"node": s.excuse, "rang": s.rang, "lost": s.lost} {
			if len(list) > 0 {
				got += kind
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
