package trunkgroup

import (
	"strings"
	"testing"
)

// What a document that was made in code can hold and YAML text cannot. All
// other faults are in configs/bad, which yamldoc reads.
func TestValidateValuesOutsideTheirTypes(t *testing.T) {
	d := testDocument()
	d.TrunkGroups[0].Members[0].Transport = Interconnect
	d.TrunkGroups[0].Timers.BTimer = -5
	d.TrunkGroups[1].Credentials[0].Username = "a\x00b"
	d.TrunkGroups[0].Members[1].Limits.StaticShare = map[string]int{"dallas": 1}
	d.TrunkGroups[2].Name = strings.Repeat("x", 64)
	d.RoutePlans[0].Routes[0].Providers[0] = strings.Repeat("x", 64)
	d.RoutePlans[0].Routes[2].Providers = []string{"carrier-b"}
	want := []string{
		`trunk_groups[0].timers.b_timer: is negative`,
		`trunk_groups[0].members[0].transport: "interconnect" cannot be configured; use one of: tcp, tls, udp`,
		`trunk_groups[0].members[1].limits.static_share: means nothing for a member`,
		`trunk_groups[2].name: "xxxxxxxxxxxxxxxxxxxx"... is too long`,
		`trunk_groups[1].credentials[0].username: "a\x00b" is not a digest user name`,
	}
	got := d.Validate().Error()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("no %s in\n%s", w, got)
		}
	}
	if n := len(d.Validate()); n != len(want) {
		t.Errorf("%d faults:\n%s", n, got)
	}
}

func TestFaultString(t *testing.T) {
	for want, f := range map[string]Fault{
		"c.yaml:3: a.b: bad; mend it": {File: "c.yaml", Line: 3, Path: "a.b", Problem: "bad", Remedy: "mend it"},
		"c.yaml: bad":                 {File: "c.yaml", Problem: "bad"},
		"line 3: a: bad":              {Line: 3, Path: "a", Problem: "bad"},
	} {
		if got := f.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if err := (Faults{}).Err(); err != nil {
		t.Errorf("no faults are the error %v", err)
	}
	if got := (Faults{{Problem: "a"}, {Problem: "b"}}).Error(); got != "a\nb" {
		t.Errorf("%q", got)
	}
}
