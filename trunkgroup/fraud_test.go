package trunkgroup

import (
	"strings"
	"testing"
	"time"
)

func fraudDocument() *Document {
	return &Document{
		Cluster: "test",
		Sites:   []SiteSpec{{Name: "dallas"}},
		Customers: []CustomerSpec{{Name: "acme", Fraud: &FraudSpec{
			Calls:   FraudWindowsSpec{Hour: 100},
			Minutes: FraudWindowsSpec{Day: 500},
			Destinations: []FraudDestinationSpec{
				{Name: "premium", Prefixes: []string{"+882*", "+1900"}, Action: FraudBlock},
				{Name: "satellite", Prefixes: []string{"+8821*"}, Calls: FraudWindowsSpec{Hour: 2}, Action: FraudAlarm},
			},
			ShortCalls: FraudShortCallsSpec{Calls: 10},
			Night:      FraudNightSpec{From: "19:00", To: "07:00", Zone: "America/Chicago", Percent: 10},
		}}},
		TrunkGroups: []GroupSpec{{
			Name: "acme-out", Role: TerminationCustomer, Customer: "acme",
			Sources: []SourceSpec{{IP: "192.0.2.1"}},
		}},
		DoNotOriginate: []string{"+18005550100", "+1877555*"},
	}
}

func TestFraudCompilesRulesByLongestPrefix(t *testing.T) {
	table, err := Compile(fraudDocument(), Version{})
	if err != nil {
		t.Fatal(err)
	}
	f := table.Group("acme-out").Fraud
	for number, want := range map[string]string{
		"+88212345": "satellite", "+88299": "premium", "+19005550100": "premium", "+12145550100": "all",
	} {
		if got := f.Rules[f.RuleOf([]byte(number))].Name; got != want {
			t.Errorf("%s is under %s, want %s", number, got, want)
		}
	}
	if r := f.Rules[1]; !r.Closed || f.Rules[2].Closed || f.Rules[0].Closed {
		t.Errorf("closed: %+v", f.Rules)
	}
	for text, want := range map[string]int{
		"2026-07-01T23:59:00-05:00": 10, "2026-07-01T06:59:00-05:00": 10, "2026-07-01T07:00:00-05:00": 100,
		"2026-01-01T19:00:00-06:00": 10, "2026-01-01T18:59:00-06:00": 100,
	} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Percent(at); got != want {
			t.Errorf("at %s %d percent, want %d", text, got, want)
		}
	}
	for number, want := range map[string]bool{"+18005550100": false, "+18775551234": false, "+18005550101": true, "anonymous": true} {
		if got := table.MayOriginate([]byte(number)); got != want {
			t.Errorf("%s may originate: %v", number, got)
		}
	}
}

func TestFraudFaults(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*FraudSpec)
		want   string
	}{
		"negative":  {func(s *FraudSpec) { s.Calls.Hour = -1 }, "fraud.calls.hour"},
		"night":     {func(s *FraudSpec) { s.Night.From = "25:00" }, "fraud.night.from"},
		"same":      {func(s *FraudSpec) { s.Night.To = s.Night.From }, "fraud.night.to"},
		"zone":      {func(s *FraudSpec) { s.Night.Zone = "Mars/Olympus" }, "fraud.night.zone"},
		"percent":   {func(s *FraudSpec) { s.Night.Percent = 101 }, "fraud.night.percent"},
		"contact":   {func(s *FraudSpec) { s.Contact = "https://a\r\nX: y" }, "fraud.contact"},
		"all":       {func(s *FraudSpec) { s.Destinations[0].Name = "all" }, "fraud.destinations[0].name"},
		"twice":     {func(s *FraudSpec) { s.Destinations[1].Name = "premium" }, "fraud.destinations[1].name"},
		"prefix":    {func(s *FraudSpec) { s.Destinations[0].Prefixes[0] = "abc" }, "fraud.destinations[0].prefixes[0]"},
		"two":       {func(s *FraudSpec) { s.Destinations[1].Prefixes[0] = "+882" }, "fraud.destinations[1].prefixes[0]"},
		"within":    {func(s *FraudSpec) { s.ShortCalls.Within = 1 }, "fraud.short_calls.within"},
		"no prefix": {func(s *FraudSpec) { s.Destinations[0].Prefixes = nil }, "fraud.destinations[0].prefixes"},
	} {
		d := fraudDocument()
		c.change(d.Customers[0].Fraud)
		if faults := d.Validate(); len(faults) != 1 || !strings.HasSuffix(faults[0].Path, c.want) {
			t.Errorf("%s: %v", name, faults)
		}
	}
	d := fraudDocument()
	d.DoNotOriginate = append(d.DoNotOriginate, "800")
	if faults := d.Validate(); len(faults) != 1 || faults[0].Path != "do_not_originate[2]" {
		t.Errorf("%v", faults)
	}
}
