package trunkgroup

import (
	"strings"
	"testing"
	"time"
)

// What a distribution may not say, with what to do instead.
func TestDistributionFaults(t *testing.T) {
	for _, c := range []struct {
		spec DistributionSpec
		want string // in the faults; empty: there is none
	}{
		{DistributionSpec{Method: Hash, Key: "caller"}, ""},
		{DistributionSpec{Method: HashMod, Key: "header:X-Room-Id"}, ""},
		{DistributionSpec{Method: Hash, Key: "from", UserOnly: true}, ""},
		{DistributionSpec{Method: HashTo, UserOnly: true, SlowStart: Duration(time.Minute)}, ""},
		{DistributionSpec{Method: Hash}, "distribution.key: is missing: method hash needs it; name what of a call is hashed: call-id, from"},
		{DistributionSpec{Method: HashMod, Key: "call_id"}, `unknown key "call_id"; did you mean "call-id"`},
		{DistributionSpec{Method: Hash, Key: "header:"}, "is not the name of a header"},
		{DistributionSpec{Method: Hash, Key: "header:via"}, "Via is different in each call"},
		{DistributionSpec{Method: HashFrom, Key: "from"}, "means nothing with method: hash-from, which has its own"},
		{DistributionSpec{Method: RoundRobin, Key: "from"}, "key: means nothing without method: hash or hash-mod"},
		{DistributionSpec{Key: "from"}, "key: means nothing without method: hash or hash-mod"},
		{DistributionSpec{Method: Hash, Key: "caller", UserOnly: true}, "user_only: means nothing without a method that hashes From or To"},
		{DistributionSpec{Method: RoundRobin, UserOnly: true}, "user_only: means nothing"},
		{DistributionSpec{SlowStart: Off}, `slow_start: "off" is not possible here`},
		{DistributionSpec{SlowStart: Duration(2 * time.Hour)}, "slow_start: 2h0m0s is too long; use at most 1h"},
		{DistributionSpec{Method: HashMod, Key: "from", SlowStart: Duration(time.Minute)}, "slow_start: means nothing with method: hash-mod"},
		{DistributionSpec{Method: Parallel, SlowStart: Duration(time.Minute)}, "slow_start: means nothing with method: parallel"},
		{DistributionSpec{Method: Parallel, SessionAffinityHeader: "X-Room"}, "session_affinity_header: means nothing with method: parallel"},
		{DistributionSpec{Method: RoundRobin, SessionAffinityHeader: "X-Room"}, ""}, // C11: follows the header first, and that is no fault
		{DistributionSpec{Method: CallLoad, Sessions: SessionsOwn}, "sessions: means nothing without method: least-sessions"},
	} {
		d := poolDocument(LoadBalance, 1, 1)
		d.TrunkGroups[0].Role = OriginationCustomer
		d.TrunkGroups[0].Distribution = c.spec
		text := ""
		if err := d.Validate().Err(); err != nil {
			text = err.Error()
		}
		if c.want == "" && text != "" || !strings.Contains(text, c.want) {
			t.Errorf("%+v:\n got %s\nwant %s", c.spec, text, c.want)
		}
	}
}

// C11: with a header the first pick goes by calls, whatever the method; without it by the
// method. Both together are a document like any other.
func TestC11_AffinityWithRoundRobin(t *testing.T) {
	d := poolDocument(RoundRobin, 1, 1, 1)
	d.TrunkGroups[0].Distribution.SessionAffinityHeader = "X-Room-Id"
	if list := d.Advice(epoch); len(list) != 1 || !strings.Contains(list[0].String(), "only calls without X-Room-Id go by round-robin") {
		t.Errorf("advice: %v", list)
	}
	table := compile(t, d)
	g, v := table.Group("pool"), NewView(table)
	v.Sessions = counts{"pool/m0": 5, "pool/m1": 3, "pool/m2": 4}
	for turn := range uint64(3) {
		if got := order(Plan(nil, g, "dallas", v, Draw{Turn: turn, Affinity: 9})); got != "m1 m2 m0" {
			t.Errorf("with the header: %s", got)
		}
	}
	if got := orders(g, v, 2); got[0] != "m0 m1 m2" || got[1] != "m1 m2 m0" {
		t.Errorf("without: %v", got)
	}
}
