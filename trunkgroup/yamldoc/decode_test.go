package yamldoc_test

import (
	"reflect"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

// Text without quotes is taken as it stands: a plus is not lost, a zero
// neither, and "off" is a word.
func TestPlainScalars(t *testing.T) {
	doc, err := yamldoc.Decode("plain.yaml", []byte(`
cluster: 7
sites: [{name: dallas}]
trunk_groups:
  - name: 0800
    role: origination-customer
    numbers: [+12145550100, +1469555*, +12145550101..+12145550109]
    monitoring: {profile: off}
    timers: {max_pdd: off}
    numbering: {country_code: 44, trunk_prefix: 0, international_prefix: 00, preserve: [999, 0800*]}
    members: [{id: 1, site: dallas, address: 192.0.2.1:5060, priority: 0, disabled: false}]
`))
	if err != nil {
		t.Fatal(err)
	}
	g := doc.TrunkGroups[0]
	if doc.Cluster != "7" || g.Name != "0800" || g.Timers.MaxPDD != trunkgroup.Off || g.Monitoring.Profile != "off" {
		t.Errorf("%+v", g)
	}
	if want := []string{"+12145550100", "+1469555*", "+12145550101..+12145550109"}; !reflect.DeepEqual(g.Numbers, want) {
		t.Errorf("numbers %q", g.Numbers)
	}
	if n := g.Numbering; n.CountryCode != "44" || n.TrunkPrefix != "0" || n.InternationalPrefix != "00" || n.Preserve[1] != "0800*" {
		t.Errorf("numbering %+v", n)
	}
}

// JSON is YAML: what the admin API speaks can be checked too.
func TestJSONText(t *testing.T) {
	doc, err := yamldoc.Decode("doc.json", []byte(`{"cluster": "c", "sites": [{"name": "dallas"}],
	"trunk_groups": [{"name": "a", "role": "pstn-provider", "sources": [{"ip": "192.0.2.1", "port": 1}]}]}`))
	if err != nil || doc.TrunkGroups[0].Sources[0].Port != 1 {
		t.Errorf("%+v, %v", doc, err)
	}
}

// Faults are printed as an editor reads them, in the order of lines.
func TestFaultText(t *testing.T) {
	_, err := yamldoc.Decode("c.yaml", []byte("cluster: c\nsites: [{nam: dallas}]\ntrunk_groups: 3\n"))
	want := `c.yaml:2: sites[0].nam: is no key here; did you mean "name"?
c.yaml:2: sites[0].name: is missing; give it a name of letters, digits, and - . _
c.yaml:3: trunk_groups: is "3", not a list`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
