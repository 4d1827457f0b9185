package app

import (
	"slices"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Explain names the limits that a call counts against, as b2bua's originUses and memberUses do.
func TestExplainCountsAsCallsDo(t *testing.T) {
	for _, c := range []struct {
		name, direction string
		line            trunkgroup.OrderLine
		want            []string
	}{
		{"a carrier", trunkgroup.Outbound, trunkgroup.OrderLine{Group: "gw", Member: "a"}, []string{"group gw", "member gw/a"}},
		{"a carrier in a group", trunkgroup.Outbound, trunkgroup.OrderLine{Group: "gw", Within: "all", Member: "a"}, []string{"group all", "group gw", "member gw/a"}},
		{"a PBX", trunkgroup.Inbound, trunkgroup.OrderLine{Group: "acme", Member: "a"}, []string{"member acme/a"}},
		{"a PBX in a group", trunkgroup.Inbound, trunkgroup.OrderLine{Group: "east", Within: "acme", Member: "a"}, []string{"group acme", "group east", "member east/a"}},
	} {
		x := &exploring{}
		x.Explanation = trunkgroup.Explanation{
			Direction: c.direction, Ingress: "from", Policy: &trunkgroup.PolicyLine{Group: "to", Customer: "acme"}, Order: []trunkgroup.OrderLine{c.line},
		}
		got := slices.DeleteFunc(x.counts(), func(s string) bool { return s == "group " })
		slices.Sort(got)
		want := append([]string{"customer acme", "group from", "group to"}, c.want...)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}
