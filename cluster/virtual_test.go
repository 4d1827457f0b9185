package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/internal/vnet"
)

// hostNetwork is one host of a virtual network.
type hostNetwork struct{ host *vnet.Host }

func (h hostNetwork) Listen(address string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	return h.host.Listen(at.Port())
}

func (h hostNetwork) ListenPacket(address string) (net.PacketConn, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	return h.host.ListenPacket(at.Port())
}

func (h hostNetwork) Dial(ctx context.Context, address string) (net.Conn, error) {
	return h.host.Dial(ctx, address)
}

// virtual is a cluster of two sites and a witness in a third place, in virtual
// time: 35 ms between Dallas and Ashburn, 50 ms to the witness.
type virtual struct {
	*lab
	net *vnet.Network
}

func newVirtual(t *testing.T) *virtual {
	l := &lab{t: t, keys: testKeys(t), ports: map[string][2]string{}, network: "10.0.0"}
	for _, n := range []string{"dal-1", "dal-2", "ash-1", "ash-2", "wit-1"} {
		l.add(n)
	}
	v := &virtual{lab: l, net: vnet.New(1)}
	v.net.SetDelay("dal", "dal", 100*time.Microsecond)
	v.net.SetDelay("ash", "ash", 100*time.Microsecond)
	v.net.SetDelay("dal", "ash", 17500*time.Microsecond)
	v.net.SetDelay("dal", "wit", 25*time.Millisecond)
	v.net.SetDelay("ash", "wit", 25*time.Millisecond)
	return v
}

func (v *virtual) config(name, dir string) Config {
	cfg := v.lab.config(name, dir)
	cfg.Network = hostNetwork{v.net.Host(netip.MustParseAddrPort(v.ports[name][0]).Addr().String(), name[:3])}
	cfg.RaftTimeout = DefaultRaftTimeout
	if name == "wit-1" {
		cfg.Witness, cfg.Compile = true, nil
	}
	return cfg
}

func (v *virtual) run() map[string]*member {
	nodes := map[string]*member{}
	for _, n := range v.names {
		nodes[n] = v.start(v.config(n, v.t.TempDir()))
	}
	return nodes
}

// isolate cuts Ashburn off from everybody, or heals it.
func (v *virtual) isolate(cut bool) {
	for _, other := range []string{"dal", "wit"} {
		if cut {
			v.net.Split("ash", other)
		} else {
			v.net.Join("ash", other)
		}
	}
}

func (v *virtual) end(nodes ...*member) {
	for _, m := range nodes {
		v.stop(m)
	}
	// The libraries' last timers run out.
	time.Sleep(2 * time.Minute)
}

// A site is cut off for three minutes, far beyond what memberlist remembers:
// both sides serve on, the majority writes, the heal brings all together.
func TestLongPartitionOfASite(t *testing.T) {
	long(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := v.run()
		time.Sleep(10 * time.Second)
		first := v.propose(nodes["ash-2"], "first")
		time.Sleep(time.Second)
		for name, m := range nodes {
			if e, _ := m.Current(); e.Version != first {
				t.Errorf("%s has %v, want %v", name, e.Version, first)
			}
		}

		v.isolate(true)
		time.Sleep(2 * time.Second)
		for name, m := range nodes {
			for _, p := range m.Peers() {
				if cut := (name[:3] == "ash") != (p.Name[:3] == "ash"); p.Up == cut {
					t.Errorf("2 s into the cut %s sees %s up: %v", name, p.Name, p.Up)
				}
			}
		}
		time.Sleep(3*time.Minute + 5*time.Second)
		second := v.propose(nodes["dal-1"], "second")
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if _, err := nodes["ash-1"].Propose(ctx, Change{Document: []byte("x"), Author: "test"}); !errors.Is(err, ErrNoLeader) {
			t.Errorf("a change on the cut side: %v", err)
		}
		cancel()
		if got := nodes["ash-1"].Table().Version(); got != first {
			t.Errorf("the cut site serves %v, want %v", got, first)
		}
		if s := nodes["ash-1"].Status(); s.StaleFor < 3*time.Minute || s.Raft.Quorum {
			t.Errorf("the cut site says stale for %v, quorum %v", s.StaleFor, s.Raft.Quorum)
		}
		nodes["ash-1"].Publish("acme/pbx-1", []byte("said during the cut"))

		v.isolate(false)
		time.Sleep(20 * time.Second)
		for name, m := range nodes {
			if e, _ := m.Current(); e.Version != second {
				t.Errorf("%s has %v 20 s after the heal, want %v", name, e.Version, second)
			}
			if len(m.Members()) != 5 {
				t.Errorf("%s has %d members 20 s after the heal", name, len(m.Members()))
			}
			if s := m.Status(); !s.Raft.Quorum || len(s.Alarms) != 0 {
				t.Errorf("%s after the heal: quorum %v, alarms %v", name, s.Raft.Quorum, s.Alarms)
			}
			if r := m.Records(); len(r) != 1 || string(r[0].Payload) != "said during the cut" {
				t.Errorf("%s did not catch up on records: %v", name, r)
			}
		}
		last := v.propose(nodes["ash-1"], "last")
		time.Sleep(time.Second)
		for name, m := range nodes {
			if e, _ := m.Current(); e.Version != last {
				t.Errorf("%s has %v, want %v", name, e.Version, last)
			}
		}
		v.end(nodes["dal-1"], nodes["dal-2"], nodes["ash-1"], nodes["ash-2"], nodes["wit-1"])
	})
}

// A site dies with both nodes and comes back with empty disks: the nodes find
// everything, snapshot included, and do not reuse their boot numbers.
func TestSiteComesBackWithEmptyDisks(t *testing.T) {
	long(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := v.run()
		time.Sleep(10 * time.Second)
		for i := range trailingLogs + 4 {
			v.propose(nodes["dal-1"], fmt.Sprint("document ", i))
		}
		for _, m := range nodes {
			if err := m.raft.do(func(r *raft.Raft) raft.Future { return r.Snapshot() }); err != nil {
				t.Fatal(err)
			}
		}
		boot := nodes["ash-1"].Boot()
		v.stop(nodes["ash-1"])
		v.stop(nodes["ash-2"])
		time.Sleep(time.Minute)
		last := v.propose(nodes["dal-2"], "while Ashburn is away")
		for _, n := range []string{"ash-1", "ash-2"} {
			nodes[n] = v.start(v.config(n, t.TempDir()))
		}
		time.Sleep(30 * time.Second)
		for _, n := range []string{"ash-1", "ash-2"} {
			if table := nodes[n].Table(); table == nil || table.Version() != last {
				t.Errorf("%s has no table of %v", n, last)
			}
			if ok, why := nodes[n].Ready(); !ok {
				t.Errorf("%s is not ready: %s", n, why)
			}
		}
		if got := nodes["ash-1"].Boot(); got != boot+1 {
			t.Errorf("boot %d after boot %d and a lost disk", got, boot)
		}
		v.end(nodes["dal-1"], nodes["dal-2"], nodes["ash-1"], nodes["ash-2"], nodes["wit-1"])
	})
}

// The cluster is set up again from nothing while one node still has its last known
// good table: the node keeps it, says so, and follows when the generation is raised.
func TestDEC14_ClusterThatLostItsMemory(t *testing.T) {
	long(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := v.run()
		time.Sleep(10 * time.Second)
		for i := range 3 {
			v.propose(nodes["dal-1"], fmt.Sprint("document ", i))
		}
		kept := v.propose(nodes["dal-1"], "the good one")
		time.Sleep(time.Second)
		dir := nodes["dal-1"].cfg.DataDir
		v.stop(nodes["dal-1"])
		for _, n := range v.names[1:] {
			v.stop(nodes[n])
		}
		time.Sleep(2 * time.Minute)
		for _, n := range v.names {
			cfg := v.config(n, t.TempDir())
			if n == "dal-1" {
				e, _, err := loadLKG(dir, vaultOf(t, dir))
				if err != nil {
					t.Fatal(err)
				}
				if err := saveLKG(cfg.DataDir, vaultOf(t, cfg.DataDir), &e); err != nil {
					t.Fatal(err)
				}
			}
			nodes[n] = v.start(cfg)
		}
		time.Sleep(10 * time.Second)
		lower := v.propose(nodes["dal-2"], "made from nothing")
		if lower.Revision != 1 {
			t.Fatalf("the new cluster's first revision is %v", lower)
		}
		time.Sleep(5 * time.Second)
		d1 := nodes["dal-1"]
		if got := d1.Table().Version(); got != kept {
			t.Errorf("dal-1 runs %v, want its own %v", got, kept)
		}
		if a := d1.Status().Alarms; len(a) != 1 || a[0].Name != AlarmLower {
			t.Errorf("alarms %v, want %s", a, AlarmLower)
		}
		raised, err := d1.Propose(context.Background(), Change{Document: []byte("restored"), Author: "test", RaiseGeneration: true})
		if err != nil || raised.Generation != 2 {
			t.Fatalf("a restore made %v, %v", raised, err)
		}
		time.Sleep(5 * time.Second)
		for _, n := range v.names[:4] {
			if got := nodes[n].Table().Version(); got != raised {
				t.Errorf("%s runs %v, want %v", n, got, raised)
			}
		}
		if a := d1.Status().Alarms; len(a) != 0 {
			t.Errorf("the alarm stays: %v", a)
		}
		v.end(nodes["dal-1"], nodes["dal-2"], nodes["ash-1"], nodes["ash-2"], nodes["wit-1"])
	})
}

// endAll stops all nodes.
func (v *virtual) endAll(nodes map[string]*member) {
	var all []*member
	for _, n := range v.names {
		all = append(all, nodes[n])
	}
	v.end(all...)
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}
