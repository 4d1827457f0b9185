package b2bua

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The limits of both groups count: of carriers both for the attempt, of a customer's the outer one for the
// call already.
func TestLimitsOfGroupsInGroups(t *testing.T) {
	for role, want := range map[trunkgroup.Role]string{
		trunkgroup.PSTNProvider: "inner outer inner/a", trunkgroup.OriginationCustomer: "inner inner/a",
	} {
		inner, outer := &trunkgroup.Group{Name: "inner", Role: role}, &trunkgroup.Group{Name: "outer", Role: role}
		var names []string
		for _, u := range memberUses(&trunkgroup.Candidate{Member: &trunkgroup.Member{Key: "inner/a", Group: inner}, Outer: outer}) {
			if n := len(names); n == 0 || names[n-1] != u.Key.Name {
				names = append(names, fmt.Sprint(u.Key.Name))
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", role, got, want)
		}
	}
}
