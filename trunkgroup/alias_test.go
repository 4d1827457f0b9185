package trunkgroup

import (
	"strings"
	"testing"
)

// C1: names are the way to say a method; Kamailio's numbers and those of the reference,
// which differ, are read and written back as names.
func TestC01_Aliases(t *testing.T) {
	for text, want := range map[string]Method{
		"kamailio:0": HashCallID, "kamailio:1": HashFrom, "kamailio:2": HashTo, "kamailio:3": HashRequestUser, "kamailio:4": RoundRobin,
		"kamailio:5": HashAuthUser, "kamailio:6": Random, "kamailio:7": Hash, "kamailio:8": Failover, "kamailio:9": Weighted,
		"kamailio:10": CallLoad, "kamailio:11": RelativeWeight, "kamailio:12": Parallel, "kamailio:13": Latency, "kamailio:14": RoundRobin,
		"kamailio:64": RoundRobin, "reference:0": HashCallID, "reference:1": HashFrom, "reference:2": HashTo, "reference:4": RoundRobin,
		"reference:7": HashAuthUser, "reference:8": Random, "reference:10": Weighted,
		"serial": Failover, "priority": Failover, "priority-weight": Weighted,
	} {
		var m Method
		if err := m.UnmarshalText([]byte(text)); err != nil || m != want {
			t.Errorf("%s: %s, %v; want %s", text, m, err, want)
		}
		if back, _ := m.MarshalText(); string(back) != want.String() {
			t.Errorf("%s is written back as %s", text, back)
		}
	}
	for text, want := range map[string]string{
		"kamailio:15": "there are 0 (hash-call-id)", "kamailio:-1": "kamailio has no method", "kamailio:x": "is not a number",
		"reference:3": "reference has no method 3", "opensips:4": "unknown method", "kamailio": "unknown method", "4": "unknown method",
	} {
		if err := new(Method).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if m, ok := MethodOf("kamailio", 11); !ok || m != RelativeWeight {
		t.Error("11 is relative-weight")
	}
	if _, ok := MethodOf("kamailio", 33); ok {
		t.Error("there is no 33")
	}
}

// K-20: 14 takes turns when all priorities are alike and is serial otherwise: tiers.
func TestK20_Algorithm14(t *testing.T) {
	m, _ := MethodOf("kamailio", 14)
	d := poolDocument(m, 1, 1, 1)
	if got := firsts(compile(t, d).Group("pool"), NewView(compile(t, d)), 30); got["m0"] != 10 || got["m1"] != 10 || got["m2"] != 10 {
		t.Errorf("alike: %v", got)
	}
	for i := range d.TrunkGroups[0].Members {
		d.TrunkGroups[0].Members[i].Priority = 3 - i
	}
	table := compile(t, d)
	for _, got := range orders(table.Group("pool"), NewView(table), 5) {
		if got != "m2 m1 m0" {
			t.Errorf("serial: %s", got)
		}
	}
}
