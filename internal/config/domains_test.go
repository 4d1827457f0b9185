package config

import (
	"slices"
	"testing"
)

func TestDomains(t *testing.T) {
	var faults Faults
	c := &checker{Faults: &faults}
	got := c.domains("sip.domains", []string{"SIP.Example.net", "192.0.2.1", "2001:DB8::1", "[2001:db8:0::2]", "::ffff:192.0.2.2"})
	want := []string{"sip.example.net", "192.0.2.1", "[2001:db8::1]", "[2001:db8::2]", "192.0.2.2"}
	if !slices.Equal(got, want) || len(faults.List) != 0 {
		t.Errorf("%v, %v", got, &faults)
	}
	for _, bad := range []string{"", "sip:example.net", "example.net:5060", "a@b", "a b", "<x>"} {
		var faults Faults
		c := &checker{Faults: &faults}
		if c.domains("sip.domains", []string{bad}); len(faults.List) == 0 {
			t.Errorf("%q was taken", bad)
		}
	}
}
