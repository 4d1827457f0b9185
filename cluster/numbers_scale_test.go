package cluster

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// soakEnv asks for the sizes that take minutes.
const soakEnv = "TANDEM_SOAK"

// denseNumbers makes a table of n exact numbers, in batches as an import reads them.
func denseNumbers(t testing.TB, group string, n int) (table *trunkgroup.NumberTable) {
	t.Helper()
	batch := make([]trunkgroup.NumberChange, 0, 1<<16)
	for i := range n {
		p, err := trunkgroup.ParsePattern(fmt.Sprintf("+1%010d", i*7))
		must(t.(*testing.T), err)
		if batch = append(batch, trunkgroup.NumberChange{Pattern: p, Group: group}); len(batch) == cap(batch) || i == n-1 {
			table, err = table.With(batch)
			must(t.(*testing.T), err)
			batch = batch[:0]
		}
	}
	return table
}

// heap is what lives on the heap, in MB.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc >> 20
}

// "All nodes agree in under a second": 200,000 numbers are imported, then one is changed; a node that
// starts alone has it. With TANDEM_SOAK one node takes 10,000,000.
func TestNumbersAtScale(t *testing.T) {
	names, n := []string{"dal-1", "ash-1", "dal-2"}, 200_000
	switch {
	case os.Getenv(soakEnv) != "":
		names, n = names[:1], 10_000_000
	case testing.Short():
		n = 20_000
	}
	l := newLab(t, names...)
	dirs := map[string]string{}
	var nodes []*member
	for _, name := range names {
		dirs[name] = t.TempDir()
		nodes = append(nodes, l.start(l.numbered(name, dirs[name])))
	}
	l.agree(l.propose(nodes[0], "acme globex"), nodes...)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	table := denseNumbers(t, "acme", n)
	before, start := heap(), time.Now()
	last := nodes[len(nodes)-1]
	r, err := last.ImportNumbers(ctx, NumbersImport{Rows: table, Author: "ann", Reason: "scale"})
	must(t, err)
	took := time.Since(start)
	number := fmt.Sprintf("+1%010d", 7*(n/2))
	l.owns(number, "acme", nodes...)
	t.Logf("import of %d numbers in %d pieces: %v, on all nodes after %v; heap %d MB before, %d MB after, of %d nodes",
		n, r.Pieces, took, time.Since(start), before, heap(), len(nodes))
	worst := time.Duration(0)
	for i := range 10 {
		group := []string{"globex", "acme"}[i%2]
		start = time.Now()
		l.change(last, number+" "+group)
		for _, m := range nodes {
			for owner(m, number) != group && time.Since(start) < patience {
				runtime.Gosched()
			}
		}
		worst = max(worst, time.Since(start))
	}
	t.Logf("one number on all nodes: %v at worst of 10", worst)
	if worst > patience {
		t.Error("not all nodes agree")
	}
	l.change(last, number+" globex")
	l.owns(number, "globex", nodes...)
	start = time.Now()
	must(t, last.raft.do(func(r *raft.Raft) raft.Future { return r.Snapshot() }))
	t.Logf("snapshot: %v", time.Since(start))
	want := last.Numbers()
	sum := want.Table.Checksum()
	want.Table = nil
	for _, m := range nodes {
		l.stop(m)
	}
	start = time.Now()
	alone := l.start(l.numbered(last.cfg.Node, dirs[last.cfg.Node]))
	got := alone.Numbers()
	t.Logf("start alone: %v", time.Since(start))
	if got.Version != want.Version || got.Table.Checksum() != sum || owner(alone, number) != "globex" {
		t.Errorf("alone it has %v, not %v", got.Version, want.Version)
	}
}
