package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// manyNumbers makes a table of n exact numbers of a group.
func manyNumbers(t testing.TB, prefix, group string, n int) *trunkgroup.NumberTable {
	t.Helper()
	rows := make([]trunkgroup.NumberChange, 0, n)
	for i := range n {
		rows = append(rows, numberRows(fmt.Sprintf("%s%07d %s", prefix, i, group))...)
	}
	table, err := (*trunkgroup.NumberTable)(nil).With(rows)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// An import is seen whole or not at all on every node, changes in the meantime are kept where it does
// not name them, and it is repeated without effect.
func TestImportIsSeenWhole(t *testing.T) {
	l := newLab(t, "dal-1", "ash-1", "dal-2")
	var nodes []*member
	for _, name := range l.names {
		nodes = append(nodes, l.start(l.numbered(name, t.TempDir())))
	}
	l.agree(l.propose(nodes[0], "acme globex"), nodes...)
	l.change(nodes[0], "+12140000000 globex", "+4930 globex")
	n := 60000
	if testing.Short() {
		n = 40000
	}
	last := fmt.Sprintf("+1214%07d", n-1)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for _, m := range nodes {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				table := m.Table()
				first, end := table.MatchNumber([]byte("+12140000001")), table.MatchNumber([]byte(last))
				if (first == nil) != (end == nil) {
					t.Error("a part of the import is seen")
					return
				}
			}
		})
	}
	changes := make(chan int, 1)
	wg.Go(func() {
		i := 0
		defer func() { changes <- i }() // also after an error: somebody waits for it
		for {
			select {
			case <-stop:
				return
			default:
			}
			// One that the import names, and one that it does not.
			if _, _, err := nodes[2].ChangeNumbers(ctx, NumbersEdit{Rows: numberRows("+12140000007 globex", fmt.Sprintf("+49%d globex", 100+i))}); err != nil {
				t.Error(err)
				return
			}
			i++
		}
	})
	spec := NumbersImport{Rows: manyNumbers(t, "+1214", "acme", n), Author: "ann", Reason: "bulk", Key: "k"}
	started := time.Now()
	r, err := nodes[1].ImportNumbers(ctx, spec)
	took := time.Since(started)
	close(stop)
	wg.Wait()
	made := <-changes
	if must(t, err); r.Set != n || r.Removed != 0 || r.Pieces < 2 || !r.Changed {
		t.Errorf("%+v", r)
	}
	t.Logf("%d numbers in %d pieces in %v, %d changes meanwhile", n, r.Pieces, took, made)
	l.owns(last, "acme", nodes...)
	l.owns("+12140000000", "acme", nodes...)
	l.owns("+4930", "globex", nodes...)
	for i := range made {
		l.owns(fmt.Sprintf("+49%d", 100+i), "globex", nodes...)
	}
	var record fsm.NumbersRecord
	for _, h := range nodes[0].NumbersHistory() {
		if h.Import != "" {
			record = h
		}
	}
	if record.Author != "ann" || record.Reason != "bulk" || record.Set < uint64(n) {
		t.Errorf("the history says %+v", record)
	}
	l.change(nodes[0], "+12140000007 acme")
	before := nodes[0].Numbers().Version
	r, err = nodes[0].ImportNumbers(ctx, spec)
	if must(t, err); r.Changed || r.Same != n || nodes[0].Numbers().Version != before {
		t.Errorf("again: %+v", r)
	}
	sums := map[uint64]bool{}
	for _, m := range nodes {
		eventually(t, "all at one edition", func() bool { return m.Numbers().Version == before })
		sums[m.Numbers().Table.Checksum()] = true
	}
	if len(sums) != 1 {
		t.Errorf("the tables differ: %v", sums)
	}
}

// A group gets what the file says and nothing else, in one piece or in many; a dry run changes
// nothing.
func TestImportReplacesAGroup(t *testing.T) {
	l := newLab(t, "dal-1")
	m := l.start(l.numbered("dal-1", t.TempDir()))
	l.propose(m, "acme globex")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l.change(m, "+1 acme", "+2 acme", "+3 globex", "+4 globex")
	small, err := (*trunkgroup.NumberTable)(nil).With(numberRows("+2 acme", "+3 acme"))
	must(t, err)
	spec := NumbersImport{Rows: small, Remove: []trunkgroup.Pattern{numberRows("+4 -")[0].Pattern}, Replace: "acme", DryRun: true}
	want := NumbersReport{Set: 1, Removed: 2, Same: 1, Pieces: 1, Changed: true}
	for _, dry := range []bool{true, false} {
		spec.DryRun = dry
		r, err := m.ImportNumbers(ctx, spec)
		must(t, err)
		r.Version = trunkgroup.Version{}
		if r != want {
			t.Errorf("dry run %v: %+v", dry, r)
		}
		if dry && owner(m, "+1") != "acme" {
			t.Error("a dry run changed something")
		}
	}
	if m.Numbers().Table.Checksum() != small.Checksum() {
		t.Error("not what the file says")
	}
	big := manyNumbers(t, "+1214", "acme", 30000)
	r, err := m.ImportNumbers(ctx, NumbersImport{Rows: big, Replace: "acme"})
	if must(t, err); r.Removed != 2 || r.Set != 30000 || m.Numbers().Table.Checksum() != big.Checksum() {
		t.Errorf("in many pieces: %+v", r)
	}
	bad, err := (*trunkgroup.NumberTable)(nil).With(numberRows("+5 nobody"))
	must(t, err)
	_, err = m.ImportNumbers(ctx, NumbersImport{Rows: bad})
	if _, ok := errors.AsType[trunkgroup.Faults](err); !ok {
		t.Errorf("an unknown group: %v", err)
	}
}

// An import whose node dies changes nothing and is forgotten.
func TestImportOfADeadNode(t *testing.T) {
	l := newLab(t, "dal-1")
	dir := t.TempDir()
	m := l.start(l.numbered("dal-1", dir))
	l.propose(m, "acme")
	s := &sender{n: m.Node, i: &NumbersImport{Author: "ann"}, name: "one"}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := s.step(ctx, fsm.NumbersOpen, nil)
	must(t, err)
	must(t, s.piece(ctx, numberRows("+1 acme")))
	l.stop(m)
	m = l.start(l.numbered("dal-1", dir))
	l.change(m, "+2 acme")
	if list := m.Numbers().Imports; len(list) != 1 || list[0].Author != "ann" || owner(m, "+1") != "" {
		t.Errorf("after a restart: %+v", list)
	}
	m.abandonImport("one", "test", "over")
	if list := m.Numbers().Imports; len(list) != 0 {
		t.Errorf("abandoned: %+v", list)
	}
}

// Whatever is in the table and whatever others change meanwhile: with its corrections an import ends
// as if it had come last.
func TestImportComesLast(t *testing.T) {
	draw := func(t *rapid.T, what string) (rows []trunkgroup.NumberChange) {
		for range rapid.IntRange(0, 6).Draw(t, what) {
			rows = append(rows, numberRows(fmt.Sprintf("+%d %s", rapid.IntRange(1, 9).Draw(t, "number"), rapid.SampledFrom([]string{"a", "b", "-"}).Draw(t, "group")))...)
		}
		return rows
	}
	with := func(t *rapid.T, table *trunkgroup.NumberTable, rows []trunkgroup.NumberChange) *trunkgroup.NumberTable {
		next, err := table.With(rows)
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	apply := func(t *rapid.T, w *wish, table *trunkgroup.NumberTable) (next *trunkgroup.NumberTable) {
		next = table
		for rows := range pieces(w.changes(table)) {
			next = with(t, next, rows)
		}
		return next
	}
	rapid.Check(t, func(t *rapid.T) {
		base := with(t, nil, draw(t, "base"))
		file, meant := draw(t, "file"), map[trunkgroup.Pattern]string{}
		for _, c := range file {
			meant[c.Pattern] = c.Group
		}
		w := &wish{remove: map[trunkgroup.Pattern]bool{}, replace: rapid.SampledFrom([]string{"", "a"}).Draw(t, "replace"), exactly: rapid.Bool().Draw(t, "exactly")}
		var rows []trunkgroup.NumberChange
		for p, group := range meant {
			if group == "" {
				w.remove[p] = true
			} else {
				rows = append(rows, trunkgroup.NumberChange{Pattern: p, Group: group})
			}
		}
		w.rows = with(t, nil, rows)
		branch, trunk := apply(t, w, base), base
		var patterns []trunkgroup.Pattern
		others := draw(t, "others")
		for _, c := range others {
			trunk = with(t, trunk, []trunkgroup.NumberChange{c})
			branch = with(t, branch, []trunkgroup.NumberChange{c})
			patterns = append(patterns, c.Pattern)
		}
		branch = with(t, branch, w.correct(trunk, patterns))
		if want := apply(t, w, trunk); branch.Checksum() != want.Checksum() || branch.Len() != want.Len() {
			t.Fatalf("base %v, file %v, others %v: not as if it had come last", base, file, others)
		}
	})
}

// When too many changes wait, their rows are dropped: then the whole table goes to disk, not an edition
// without what it changed.
func TestNumberDiskWithoutRows(t *testing.T) {
	dir := t.TempDir()
	v := vaultOf(t, dir)
	for _, before := range []uint64{0, 1} {
		d := newNumberDisk(filepath.Join(dir, fmt.Sprint(before)), "test", v)
		table, err := (*trunkgroup.NumberTable)(nil).With(numberRows("+1 a"))
		must(t, err)
		at := trunkgroup.Version{Cluster: "test", Generation: 1, Revision: before}
		if before > 0 {
			must(t, d.keep([]numbersOffer{{
				table: table, version: at, before: trunkgroup.Version{Cluster: "test", Generation: 1}, rows: numberRows("+1 a"), record: &fsm.NumbersRecord{},
			}}, table, at))
		}
		more, err := table.With(numberRows("+2 a"))
		must(t, err)
		next := at
		next.Revision++
		must(t, d.keep([]numbersOffer{{table: more, version: next, before: at, record: &fsm.NumbersRecord{}}}, more, next))
		d.close()
		got, of, err := newNumberDisk(filepath.Join(dir, fmt.Sprint(before)), "test", v).load()
		if must(t, err); of != next || got.Checksum() != more.Checksum() {
			t.Errorf("after edition %d: on disk is %v with %d numbers, want %d", before, of, got.Len(), more.Len())
		}
	}
}

// What is written is what is read, whatever a crash leaves of the journal, and it is compacted in the
// background without losing a change.
func TestNumberDisk(t *testing.T) {
	dir := t.TempDir()
	v := vaultOf(t, dir)
	d := newNumberDisk(dir, "test", v)
	table, at := (*trunkgroup.NumberTable)(nil), trunkgroup.Version{Cluster: "test", Generation: 1}
	change := func(lines ...string) {
		t.Helper()
		o := numbersOffer{before: at, rows: numberRows(lines...), record: &fsm.NumbersRecord{}}
		var err error
		o.table, err = table.With(o.rows)
		must(t, err)
		o.version = at
		o.version.Revision++
		must(t, d.keep([]numbersOffer{o}, o.table, o.version))
		table, at = o.table, o.version
	}
	check := func() {
		t.Helper()
		fresh := newNumberDisk(dir, "test", v)
		got, of, err := fresh.load()
		if must(t, err); of != at || got.Checksum() != table.Checksum() {
			t.Fatalf("on disk is %v with %d, want %v with %d", of, got.Len(), at, table.Len())
		}
	}
	for i := range 20 {
		change(fmt.Sprintf("+1%d a", i), fmt.Sprintf("+2%d b", i))
	}
	check()
	for range 3 {
		d.journalOctets = compactOctets
		change("+3 a")
		change("+3 -")
		d.background.Wait() // what is being written is nobody else's
		check()
	}
	files, err := d.list()
	if must(t, err); len(files.bases) != 2 || len(files.journals) > 4 {
		t.Errorf("files: %+v", files)
	}
	for i := range maxJournals + 2 { // as many starts
		d.close()
		d = newNumberDisk(dir, "test", v)
		_, _, err := d.load()
		must(t, err)
		change(fmt.Sprintf("+4%d a", i))
	}
	d.close()
	check()
	if left, err := filepath.Glob(filepath.Join(dir, numbersDir, journalPrefix+"*")); err != nil || len(left) > 2*maxJournals+2 { // since the older of two bases
		t.Errorf("%d journals, %v", len(left), err)
	}
}
