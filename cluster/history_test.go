package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/internal/linear"
	"github.com/tandem-sbc/tandem/internal/vnet"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

var historySeeds = flag.Int("history.seeds", 1, "how many histories TestConfigHistoryIsLinearizable records")

// storm is a cluster in virtual time of which every node is a zone of its own, so that
// any node can be cut off from any other.
type storm struct {
	*virtual
	random *rand.Rand

	mu    sync.Mutex
	nodes map[string]*member
}

func newStorm(t *testing.T, seed uint64) *storm {
	s := &storm{virtual: newVirtual(t), random: rand.New(rand.NewPCG(seed, 1)), nodes: map[string]*member{}}
	s.net = vnet.New(seed)
	for _, a := range s.names {
		for _, b := range s.names {
			d := 100 * time.Microsecond
			if a[:3] != b[:3] {
				d = 17 * time.Millisecond
			}
			s.net.SetDelay(a, b, d)
		}
	}
	for _, name := range s.names {
		s.nodes[name] = s.start(s.config(name, t.TempDir()))
	}
	return s
}

func (s *storm) config(name, dir string) Config {
	cfg := s.virtual.config(name, dir)
	cfg.Network = hostNetwork{s.net.Host(netip.MustParseAddrPort(s.ports[name][0]).Addr().String(), name)}
	cfg.VoterSettle = 5 * time.Second
	return cfg
}

func (s *storm) node(name string) *member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodes[name]
}

// apart cuts the named nodes off from all others; together undoes every cut.
func (s *storm) apart(names ...string) {
	for _, a := range s.names {
		for _, b := range s.names {
			if slices.Contains(names, a) != slices.Contains(names, b) {
				s.net.Split(a, b)
			}
		}
	}
}

func (s *storm) together() {
	for _, a := range s.names {
		for _, b := range s.names {
			s.net.Heal(a, b)
		}
	}
}

// kill ends a node as kill -9 does: nothing that it says at its end is heard. It
// comes back with its disk, or with an empty one.
func (s *storm) kill(name string, down time.Duration, lost bool) {
	m := s.node(name)
	s.apart(name)
	s.stop(m)
	time.Sleep(down)
	s.together()
	dir := m.cfg.DataDir
	if lost {
		dir = s.t.TempDir()
	}
	m = s.start(s.config(name, dir))
	s.mu.Lock()
	s.nodes[name] = m
	s.mu.Unlock()
}

func (s *storm) leader() string {
	for _, name := range s.names {
		if l := s.node(name).Status().Raft.Leader; l != "" {
			return l
		}
	}
	return s.names[0]
}

// harm does one thing to the cluster and undoes it; the cluster then has time to be
// whole again, so that a disk is lost at most on one voter at a time.
func (s *storm) harm() string {
	name := s.names[s.random.IntN(len(s.names))]
	switch s.random.IntN(7) {
	case 0:
		s.apart(name, s.names[s.random.IntN(len(s.names))])
		time.Sleep(8 * time.Second)
		s.together()
		return "partition with " + name
	case 1:
		name = s.leader()
		s.apart(name)
		time.Sleep(6 * time.Second)
		s.together()
		return "leader " + name + " cut off"
	case 2:
		name = s.leader()
		for _, b := range s.names {
			s.net.Cut(name, b)
		}
		time.Sleep(6 * time.Second)
		s.together()
		return "leader " + name + " cut one way"
	case 3:
		name = s.leader()
		s.kill(name, 4*time.Second, false)
		return "leader " + name + " killed"
	case 4:
		s.kill(name, 4*time.Second, false)
		return name + " killed"
	case 5:
		name = s.leader()
		s.kill(name, 4*time.Second, true)
		time.Sleep(40 * time.Second)
		return "leader " + name + " killed, disk lost"
	}
	s.apart("ash-1", "ash-2")
	time.Sleep(10 * time.Second)
	s.together()
	return "Ashburn cut off"
}

// client changes the document again and again on changing nodes, until the end.
func (s *storm) client(id int, seed uint64, h *linear.History, end time.Time) {
	random := rand.New(rand.NewPCG(seed, uint64(id)))
	var seen uint64
	for i := 0; time.Now().Before(end); i++ {
		c := linear.Change{Document: fmt.Sprintf("client %d, change %d", id, i)}
		switch random.IntN(4) {
		case 0:
			c.Expect = new(uint64)
			*c.Expect = linear.Impossible // a read
		case 1, 2:
			expect := seen
			c.Expect = &expect
		}
		asked := time.Now()
		o := s.ask(c, strconv.Itoa(id)+"."+strconv.Itoa(i), random)
		h.Add(id, c, asked, o, time.Now())
		if !o.Unknown {
			seen = o.Revision
		}
		time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
	}
}

// ask repeats one change under one key, on any node, as a client does whose answer was
// lost; after a few tries it gives up and does not know.
func (s *storm) ask(c linear.Change, key string, random *rand.Rand) linear.Outcome {
	for range 40 {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		m := s.node(s.names[random.IntN(len(s.names))])
		v, err := m.Propose(ctx, Change{Document: []byte(c.Document), Author: "client", ExpectRevision: c.Expect, Key: key})
		cancel()
		var conflict *fsm.ConflictError
		switch {
		case err == nil:
			return linear.Outcome{Generation: v.Generation, Revision: v.Revision}
		case errors.As(err, &conflict):
			return linear.Outcome{Conflict: true, Revision: conflict.Have.Revision}
		}
		time.Sleep(500 * time.Millisecond)
	}
	return linear.Outcome{Unknown: true}
}

// An acknowledged change is held by three of five voters. One of the three loses its
// disk and meets the two that never had the change, while the other two are away: if
// it voted, the three could elect a leader without the change.
func TestLostDiskForgetsNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStorm(t, 1)
		time.Sleep(15 * time.Second)
		s.propose(s.nodes["dal-1"], "first")
		others := slices.DeleteFunc(slices.Clone(s.names), func(n string) bool { return n == s.leader() })
		loser, keeper, late := others[0], others[1], others[2:]
		s.apart(late...)
		time.Sleep(5 * time.Second)
		kept := s.propose(s.nodes[loser], "acknowledged")

		for _, name := range s.names {
			s.apart(name)
		}
		s.stop(s.nodes[loser])
		for _, a := range late {
			s.net.Join(a, loser)
		}
		s.net.Join(late[0], late[1])
		s.nodes[loser] = s.start(s.config(loser, t.TempDir()))
		time.Sleep(time.Minute)
		for _, name := range append(late, loser) {
			if l := s.nodes[name].Status().Raft.Leader; l != "" {
				t.Errorf("%s has a leader, %s, by the vote of a node without its log", name, l)
			}
		}
		s.together()
		time.Sleep(time.Minute)
		for name, m := range s.nodes {
			if e, _ := m.Current(); e.Version != kept || string(e.Document) != "acknowledged" {
				t.Errorf("%s has %v, want %v", name, e.Version, kept)
			}
		}
		if n := voters(s.nodes[keeper]); n != "ash-1 ash-2 dal-1 dal-2 wit-1" {
			t.Errorf("the voters are %s", n)
		}
		s.endAll(s.nodes)
	})
}

// A history of changes under partitions, leader kills and lost disks is one that a
// single copy could have given; and what each node routes from only ever rises.
func TestConfigHistoryIsLinearizable(t *testing.T) {
	for seed := range uint64(*historySeeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { history(t, seed) }) })
	}
}

func history(t *testing.T, seed uint64) {
	s := newStorm(t, seed)
	time.Sleep(15 * time.Second)
	h := new(linear.History)
	end := time.Now().Add(150 * time.Second)
	var clients sync.WaitGroup
	for id := range 4 {
		clients.Go(func() { s.client(id, seed, h, end) })
	}
	for time.Now().Before(end) {
		time.Sleep(time.Duration(2+s.random.IntN(8)) * time.Second)
		t.Logf("%v: %s", time.Since(end).Round(time.Second), s.harm())
	}
	clients.Wait()
	time.Sleep(time.Minute)
	made, conflicts, unknown := h.Counts()
	t.Logf("%d changes made, %d conflicts and reads, %d unknown", made, conflicts, unknown)
	if made < 40 {
		t.Errorf("only %d changes were made", made)
	}
	if err := h.Check(linear.Start{Generation: 1}, time.Minute); err != nil {
		t.Error(err)
	}
	last := s.propose(s.nodes["dal-1"], "the last one")
	time.Sleep(2 * time.Second)
	for name, m := range s.nodes {
		if e, _ := m.Current(); e.Version != last || len(m.Status().Alarms) != 0 {
			t.Errorf("%s has %v in the end, want %v; alarms %v", name, e.Version, last, m.Status().Alarms)
		}
		m.mu.Lock()
		var before trunkgroup.Version
		for _, v := range m.tables {
			if !v.Newer(before) {
				t.Errorf("%s went from %v to %v", name, before, v)
			}
			before = v
		}
		m.mu.Unlock()
	}
	s.endAll(s.nodes)
}
