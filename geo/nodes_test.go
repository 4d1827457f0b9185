package geo

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func names(nodes []PeerNode) (names []string) {
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	return names
}

// DEC-04: "gossip may only order peer nodes"; DEC-07: a node whose heartbeat is fresh.
func TestDEC04_NodeOrder(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		rule  string
		peers []PeerNode
		want  []string
	}{
		{"fresh before near", []PeerNode{
			{Name: "a1", Site: "ashburn", RTT: 30 * ms}, {Name: "a2", Site: "ashburn", RTT: 90 * ms, Fresh: true},
		}, []string{"a2", "a1"}},
		{"stale is last and is there", []PeerNode{{Name: "a1", Site: "ashburn"}}, []string{"a1"}},
		{"sites in their order", []PeerNode{
			{Name: "c1", Site: "chicago", RTT: 9 * ms, Fresh: true}, {Name: "a1", Site: "ashburn", RTT: 90 * ms, Fresh: true},
		}, []string{"a1", "c1"}},
		{"a fresh node of the second site before a stale one of the first", []PeerNode{
			{Name: "a1", Site: "ashburn"}, {Name: "c1", Site: "chicago", Fresh: true},
		}, []string{"c1", "a1"}},
		{"draining later", []PeerNode{
			{Name: "a1", Site: "ashburn", Fresh: true, Draining: true}, {Name: "a2", Site: "ashburn", Fresh: true, Load: 9},
		}, []string{"a2", "a1"}},
		{"load, then round trip, then name", []PeerNode{
			{Name: "a4", Site: "ashburn", Fresh: true, Load: 2, RTT: 1 * ms},
			{Name: "a3", Site: "ashburn", Fresh: true, Load: 1, RTT: 8 * ms},
			{Name: "a2", Site: "ashburn", Fresh: true, Load: 1, RTT: 3 * ms},
			{Name: "a1", Site: "ashburn", Fresh: true, Load: 1, RTT: 3 * ms},
		}, []string{"a1", "a2", "a3", "a4"}},
		{"only sites that are configured", []PeerNode{
			{Name: "d2", Site: "dallas", Fresh: true}, {Name: "a1", Site: "ashburn", Fresh: true},
		}, []string{"a1"}},
		{"nobody", nil, nil},
	} {
		if got := names(Nodes(tt.peers, []string{"ashburn", "chicago"})); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.rule, got, tt.want)
		}
	}
}

// A hand-off begins once.
func TestDEC07_StartsOnce(t *testing.T) {
	now := time.Unix(0, 0)
	h := NewHandoff([]PeerNode{{Name: "a1"}, {Name: "a2"}}, time.Second, now)
	if got := h.Start(now); len(got) != 1 || got[0] != (Action{Kind: Try, Node: 0}) {
		t.Errorf("start: %v", got)
	}
	if got := h.Start(now); len(got) != 0 {
		t.Errorf("second start: %v", got)
	}
}

// Every peer of a configured site is there once, however it looks; the order does not depend on theirs.
func TestDEC04_NodesIsAPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var peers []PeerNode
		for i := range rapid.IntRange(0, 8).Draw(t, "n") {
			peers = append(peers, PeerNode{
				Name: string(rune('a' + i)), Site: rapid.SampledFrom([]string{"ashburn", "chicago"}).Draw(t, "site"),
				RTT: time.Duration(rapid.IntRange(0, 3).Draw(t, "rtt")), Fresh: rapid.Bool().Draw(t, "fresh"),
				Draining: rapid.Bool().Draw(t, "draining"), Load: rapid.IntRange(0, 2).Draw(t, "load"),
			})
		}
		shuffled := rapid.Permutation(peers).Draw(t, "shuffled")
		sites := []string{"chicago", "ashburn"}
		got, again := names(Nodes(peers, sites)), names(Nodes(shuffled, sites))
		if !slices.Equal(got, again) {
			t.Fatalf("%v, %v", got, again)
		}
		slices.Sort(got)
		if !slices.Equal(got, names(peers)) {
			t.Fatalf("%v of %v", got, names(peers))
		}
	})
}
