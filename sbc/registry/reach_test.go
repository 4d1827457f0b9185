package registry

import (
	"testing"

	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// DEC-15: whose calls a binding takes, and why this node cannot send to it.
func TestDEC15_Reach(t *testing.T) {
	all := []Node{
		{Name: "dal-2", Site: "dallas", Boot: 5, Up: true},
		{Name: "ash-1", Site: "ashburn", Boot: 9, Up: true},
		{Name: "ash-2", Site: "ashburn", Boot: 4, Up: true},
		{Name: "wit", Site: "ashburn", Up: true, Witness: true},
	}
	without := func(names ...string) []Node {
		var list []Node
		for _, n := range all {
			for _, name := range names {
				if n.Name == name {
					n.Up = false
				}
			}
			list = append(list, n)
		}
		return list
	}
	type b = trunkgroup.Binding
	for _, c := range []struct {
		name        string
		binding     b
		peers       []Node
		site, cause string
	}{
		{"own, direct", b{Node: "dal-1", Site: "dallas", Boot: 1, Reach: trunkgroup.ReachAny}, all, "dallas", ""},
		{"own, NAT", b{Node: "dal-1", Site: "dallas", Boot: 1, Reach: trunkgroup.ReachSocket}, all, "dallas", ""},
		{"own, NAT, from before a restart", b{Node: "dal-1", Site: "dallas", Boot: 0, Reach: trunkgroup.ReachSocket}, all, "dallas", ""},
		{"own, connection", b{Node: "dal-1", Site: "dallas", Boot: 1, Reach: trunkgroup.ReachFlow, Flow: 8}, all, "dallas", ""},
		{"own, connection of before a restart", b{Node: "dal-1", Site: "dallas", Boot: 0, Reach: trunkgroup.ReachFlow, Flow: 8}, all, "dallas", "flow_gone"},
		{"own, connection ended", b{Node: "dal-1", Site: "dallas", Boot: 1, Reach: trunkgroup.ReachFlow}, all, "dallas", "flow_gone"},
		{"sibling's, connection", b{Node: "dal-2", Site: "dallas", Boot: 5, Reach: trunkgroup.ReachFlow, Flow: 8}, all, "dallas", ""},
		{"sibling's, restarted since", b{Node: "dal-2", Site: "dallas", Boot: 4, Reach: trunkgroup.ReachFlow, Flow: 8}, all, "dallas", "flow_gone"},
		{"sibling's, down", b{Node: "dal-2", Site: "dallas", Boot: 5, Reach: trunkgroup.ReachFlow, Flow: 8}, without("dal-2"), "dallas", "node_down"},
		{"sibling's, NAT, down", b{Node: "dal-2", Site: "dallas", Boot: 5, Reach: trunkgroup.ReachSocket}, without("dal-2"), "dallas", "node_down"},
		{"sibling's, direct, down", b{Node: "dal-2", Site: "dallas", Boot: 5, Reach: trunkgroup.ReachAny}, without("dal-2"), "dallas", ""},
		{"of a node that nobody knows", b{Node: "dal-9", Site: "dallas", Boot: 5, Reach: trunkgroup.ReachSocket}, all, "dallas", "node_down"},
		{"other site's, direct", b{Node: "ash-1", Site: "ashburn", Boot: 9, Reach: trunkgroup.ReachAny}, all, "ashburn", ""},
		{"other site's, its node down", b{Node: "ash-1", Site: "ashburn", Boot: 9, Reach: trunkgroup.ReachSocket}, without("ash-1"), "ashburn", "node_down"},
		{"other site's, direct, its node down", b{Node: "ash-1", Site: "ashburn", Boot: 9, Reach: trunkgroup.ReachAny}, without("ash-1"), "ashburn", ""},
		{"lost site's, direct: a witness takes no calls", b{Node: "ash-1", Site: "ashburn", Boot: 9, Reach: trunkgroup.ReachAny}, without("ash-1", "ash-2"), "dallas", ""},
		{"lost site's, NAT", b{Node: "ash-1", Site: "ashburn", Boot: 9, Reach: trunkgroup.ReachSocket}, without("ash-1", "ash-2"), "dallas", "node_down"},
		{"lost site's, connection", b{Node: "ash-1", Site: "ashburn", Boot: 9, Reach: trunkgroup.ReachFlow, Flow: 3}, without("ash-1", "ash-2"), "dallas", "node_down"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(registrar.Node{Name: "dal-1", Site: "dallas", Boot: 1})
			r.SetPeers(c.peers)
			if site, cause := r.Reach(&c.binding); site != c.site || cause != c.cause {
				t.Errorf("%s %q, want %s %q", site, cause, c.site, c.cause)
			}
		})
	}
}
