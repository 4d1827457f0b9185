package sbc

import (
	"testing"
	"time"
)

// DEC-21: what was on its way to a node is lost with its stream, also when the
// stream was away for less than a look at it.
func TestDEC21_EveryLossOfAStreamIsTold(t *testing.T) {
	since := time.Now()
	up := Peer{Name: "ash-1", Site: "ashburn", Boot: 3, Up: true, Since: since}
	for name, c := range map[string]struct {
		next Peer
		lost bool
	}{
		"nothing new":     {Peer{Name: "ash-1", Site: "ashburn", Boot: 3, Up: true, Since: since, RTT: time.Second, Load: 7}, false},
		"down":            {Peer{Name: "ash-1", Site: "ashburn", Boot: 3, Since: since.Add(time.Second)}, true},
		"begun anew":      {Peer{Name: "ash-1", Site: "ashburn", Boot: 4, Up: true, Since: since.Add(time.Second)}, true},
		"away in between": {Peer{Name: "ash-1", Site: "ashburn", Boot: 3, Up: true, Since: since.Add(time.Second)}, true},
	} {
		s := &Server{shards: []*shard{{wake: make(chan struct{}, 1)}, {wake: make(chan struct{}, 1)}}}
		s.peers.Store(&peers{})
		s.SetPeers([]Peer{up})
		s.SetPeers([]Peer{c.next})
		for i, sh := range s.shards {
			told := false
			for _, e := range sh.inbox.take(nil, 10) {
				told = told || e.kind == evNodeLost && e.node == "ash-1"
			}
			if told != c.lost {
				t.Errorf("%s: shard %d was told %v, want %v", name, i, told, c.lost)
			}
		}
	}
}
