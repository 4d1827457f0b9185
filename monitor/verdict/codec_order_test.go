package verdict

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The words that came later are read by a build that does not know them as the nearest that it does: its reader stops before the last octet.
func TestC04_KnobsOfOlderBuilds(t *testing.T) {
	for _, x := range []struct{ said, older trunkgroup.AdminState }{
		{trunkgroup.AdminUp, trunkgroup.AdminUp},
		{trunkgroup.AdminDraining, trunkgroup.AdminDraining},
		{trunkgroup.AdminDisabled, trunkgroup.AdminDisabled},
		{trunkgroup.AdminInactive, trunkgroup.AdminDraining},
		{trunkgroup.AdminTrying, trunkgroup.AdminUp},
	} {
		k := Knob{Member: "acme/pbx-1", State: x.said, Version: 3, Node: "dal-1", Set: start, Expires: start.Add(time.Hour)}
		b := k.Append(nil, start)
		if got, err := DecodeKnob(b, start); err != nil || got.State != x.said {
			t.Errorf("%s is read as %s, %v", x.said, got.State, err)
		}
		if got, err := DecodeKnob(b[:len(b)-1], start); err != nil || got.State != x.older {
			t.Errorf("an older build passes %s on as %s, %v", x.said, got.State, err)
		}
		b[len(b)-1] = 99 // of a later build
		if got, err := DecodeKnob(b, start); err != nil || got.State != x.older {
			t.Errorf("%s with more to it is read as %s, %v", x.said, got.State, err)
		}
		nearest, order := Saved(x.said)
		if got, _ := trunkgroup.ParseAdminState(nearest); got != x.older {
			t.Errorf("an older build reads %s of %s in a file", nearest, x.said)
		}
		if got, ok := trunkgroup.ParseAdminState(order); ok && got != x.said || !ok && x.said != x.older {
			t.Errorf("%s is in a file as %q and %q", x.said, nearest, order)
		}
	}
}
