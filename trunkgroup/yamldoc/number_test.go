package yamldoc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

// A number beyond all bounds is one fault, which says so, and not two that say otherwise.
func TestNumberBeyondAllBounds(t *testing.T) {
	for _, number := range []string{"4294967296", "-4294967296", "99999999999999999999"} {
		_, err := yamldoc.Decode("x", []byte("cluster: c\nsites: [{name: a}]\ncustomers: [{name: acme, limits: {calls: "+number+"}}]\n"+
			"trunk_groups:\n  - {name: g, role: pstn-provider, members: [{id: m, site: a, address: \"192.0.2.1:5060\"}]}\n"))
		var faults trunkgroup.Faults
		if !errors.As(err, &faults) || len(faults) != 1 || !strings.Contains(err.Error(), "beyond all bounds") {
			t.Errorf("%s: %v", number, err)
		}
	}
}
