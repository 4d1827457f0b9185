package quality

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// planTable is a table with a plan that demands answers of 30 percent of 10 attempts.
func planTable(t *testing.T, demands trunkgroup.CarrierQualitySpec) *trunkgroup.Table {
	t.Helper()
	d := &trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{{
			Name: "gw", Role: trunkgroup.PSTNProvider, Members: []trunkgroup.MemberSpec{{ID: "a", Site: "dallas", Address: "192.0.2.1:5060"}},
		}},
		RoutePlans: []trunkgroup.RoutePlanSpec{{
			Name: "lcr", Decision: &trunkgroup.DecisionSpec{URL: "http://127.0.0.1:8080/route"}, CarrierQuality: &demands,
		}},
	}
	table, err := trunkgroup.Compile(d, trunkgroup.Version{Cluster: "test", Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// D10: a carrier whose answer ratio falls is left out for the cooldown, on every node that
// hears of its calls, whether or not it has called the carrier itself; then it is judged anew.
func TestD10_CarrierOfAPlan(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	demands := trunkgroup.CarrierQualitySpec{MinASR: 30, MinSamples: 10, Cooldown: trunkgroup.Duration(time.Minute)}
	table := planTable(t, demands)
	own, other := NewWatch(), NewWatch()
	own.Use(table)
	other.Use(table)
	for range 10 {
		own.CarrierAttempt(now, "lcr", "cheap", Carrier, true)
		own.CarrierAttempt(now, "lcr", "dear", Answered, true)
		own.CarrierAttempt(now, "lcr", "undialled", Ours, false) // S-049
		own.CarrierAttempt(now, "other-plan", "cheap", Carrier, true)
	}
	own.CarrierEnded(now, "lcr", "dear", 3*time.Minute)
	if changes := own.Judge(now); len(changes) != 1 || changes[0].Member != "@lcr/cheap" {
		t.Fatalf("changes %+v", changes)
	}
	tell := func() {
		own.Spread(now, func(key string, value []byte) error { return other.Heard("own/1", key, value, now) })
	}
	tell()
	other.Judge(now)
	for _, w := range []*Watch{own, other} {
		if b := w.BarredCarriers(now); len(b) != 1 || b["@lcr/cheap"] == "" {
			t.Errorf("barred: %v", b)
		}
	}
	for _, r := range other.Carriers(now) {
		if r.Carrier == "dear" && (r.Tally.Answered != 10 || r.Tally.Seconds != 180) {
			t.Errorf("dear: %+v", r)
		}
	}
	now = now.Add(61 * time.Second)
	own.Judge(now)
	tell()
	other.Judge(now)
	for _, w := range []*Watch{own, other} {
		if b := w.BarredCarriers(now); b != nil {
			t.Errorf("after the cooldown: %v", b)
		}
	}
}

// Another demand is another question: bars and counts of the old one are over.
func TestD10_CarrierDemandChanges(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	w := NewWatch()
	w.Use(planTable(t, trunkgroup.CarrierQualitySpec{MinNER: 80, MinSamples: 10}))
	for i := range 10 {
		o := Callee
		if i > 6 {
			o = Carrier
		}
		w.CarrierAttempt(now, "lcr", "cheap", o, true)
	}
	w.Judge(now)
	if len(w.BarredCarriers(now)) != 1 {
		t.Fatal("70 % reached the callee, 80 % are demanded")
	}
	w.Use(planTable(t, trunkgroup.CarrierQualitySpec{MinNER: 60, MinSamples: 10}))
	w.Judge(now)
	if w.BarredCarriers(now) != nil {
		t.Error("the bar of an earlier demand holds")
	}
	var gone []string
	w.Spread(now, func(key string, value []byte) error {
		if value == nil {
			gone = append(gone, key)
		}
		return nil
	})
	if gone != nil {
		t.Errorf("told as gone what was never told: %v", gone)
	}
}
