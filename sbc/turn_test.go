package sbc

import (
	mathrand "math/rand/v2"
	"sync"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func turnTable(t testing.TB, groups ...string) *trunkgroup.Table {
	t.Helper()
	d := &trunkgroup.Document{Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}}}
	for _, name := range groups {
		d.TrunkGroups = append(d.TrunkGroups, trunkgroup.GroupSpec{
			Name: name, Role: trunkgroup.OriginationCustomer, Members: []trunkgroup.MemberSpec{{ID: "a", Site: "dallas", Address: "192.0.2.1"}},
		})
	}
	table, err := trunkgroup.Compile(d, trunkgroup.Version{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func turnShard(s *Server) *shard {
	return &shard{server: s, rng: mathrand.NewChaCha8([32]byte{1})}
}

// D2, K-18: a change of the table, or of what is known of members, neither resets nor
// bunches turns, also of a call that still has a group of the table before.
func TestD02_K18_TurnsGoOnOverATableSwap(t *testing.T) {
	s := &Server{cfg: Config{Node: "dal-1", Site: "dallas"}}
	one, two := turnTable(t, "a", "b", "c"), turnTable(t, "c", "x", "a")
	sh := turnShard(s)
	s.Publish(one, trunkgroup.NewView(one))
	want := uint64(0)
	next := func(g *trunkgroup.Group) {
		t.Helper()
		if got := sh.Turn(g); got != want {
			t.Errorf("%s has turn %d, want %d", g.Name, got, want)
		}
		want++
	}
	next(one.Group("c"))
	next(one.Group("c"))
	s.Publish(one, trunkgroup.NewView(one)) // another view
	next(one.Group("c"))
	s.Publish(two, trunkgroup.NewView(two))
	next(two.Group("c"))
	next(one.Group("c")) // of a call that began before
	next(two.Group("c"))
	sh.Turn(one.Group("b")) // is gone: nobody counts
	want = 0
	next(two.Group("a"))
}

// K-11: as many shards as there are cores draw turns of one group, each turn once.
func TestK11_TurnsAreDrawnOnce(t *testing.T) {
	s := &Server{cfg: Config{Node: "dal-1", Site: "dallas"}}
	table := turnTable(t, "a")
	s.Publish(table, trunkgroup.NewView(table))
	const shards, calls = 4, 2500
	var seen [shards * calls]bool
	var mu sync.Mutex
	var all sync.WaitGroup
	for range shards {
		all.Go(func() {
			sh := turnShard(s)
			mine := make([]uint64, calls)
			for i := range mine {
				mine[i] = sh.Turn(table.Group("a"))
			}
			mu.Lock()
			defer mu.Unlock()
			for _, turn := range mine {
				seen[turn] = true
			}
		})
	}
	all.Wait()
	for turn, drawn := range seen {
		if !drawn {
			t.Fatalf("turn %d was drawn by nobody", turn)
		}
	}
}

// BenchmarkTurn is what a turn costs when all cores draw turns of one group.
func BenchmarkTurn(b *testing.B) {
	s := &Server{cfg: Config{Node: "dal-1", Site: "dallas"}}
	table := turnTable(b, "a")
	s.Publish(table, trunkgroup.NewView(table))
	g := table.Group("a")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		sh := turnShard(s)
		for pb.Next() {
			sh.Turn(g)
		}
	})
}
