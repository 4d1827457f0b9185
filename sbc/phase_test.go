package sbc

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// TestDEC10_RoundRobinOfTheClusterIsEven: three nodes with 1000 calls each, over
// any number of members.
func TestDEC10_RoundRobinOfTheClusterIsEven(t *testing.T) {
	nodes := []Peer{{Name: "dal-1", Site: "dallas", Up: true}, {Name: "dal-2", Site: "dallas", Up: true}, {Name: "dal-3", Site: "dallas", Up: true}}
	for members := 2; members <= 12; members++ {
		got := make([]int, members)
		for _, n := range nodes {
			s := &Server{cfg: Config{Node: n.Name, Site: "dallas"}}
			r := &routing{turns: []*atomic.Uint64{new(atomic.Uint64)}}
			for range 1000 {
				got[r.turn(&trunkgroup.Group{}, s.phaseOf(nodes))%uint64(members)]++
			}
		}
		low, high := got[0], got[0]
		for _, n := range got {
			low, high = min(low, n), max(high, n)
		}
		if float64(high-low) > 0.01*3000/float64(members) {
			t.Errorf("%d members: %d to %d calls each", members, low, high)
		}
	}
}

func TestPhaseSkipsThoseWhoDoNotCount(t *testing.T) {
	s := &Server{cfg: Config{Node: "dal-3", Site: "dallas"}}
	list := []Peer{
		{Name: "dal-1", Site: "dallas"},
		{Name: "dal-2", Site: "dallas", Up: true},
		{Name: "ash-1", Site: "ashburn", Up: true},
		{Name: "dal-0", Site: "dallas", Up: true, Witness: true},
		{Name: "dal-9", Site: "dallas", Up: true},
	}
	if got := s.phaseOf(list); got != turnsApart {
		t.Errorf("phase %s, want one turn apart", fmt.Sprint(got))
	}
}
