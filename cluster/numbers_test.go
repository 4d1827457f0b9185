package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// compileNumbered makes a table with the groups that the document names, one in a line; a line
// "group pattern" gives it a number.
func compileNumbered(document []byte, v trunkgroup.Version) (*trunkgroup.Table, error) {
	d := &trunkgroup.Document{Cluster: v.Cluster, Sites: []trunkgroup.SiteSpec{{Name: "dallas"}, {Name: "ashburn"}}}
	for i, line := range strings.Fields(string(document)) {
		name, number, _ := strings.Cut(line, "=")
		g := trunkgroup.GroupSpec{
			Name: name, Role: trunkgroup.OriginationCustomer, Customer: name,
			Members: []trunkgroup.MemberSpec{{ID: "one", Site: "dallas", Address: fmt.Sprintf("198.51.100.%d:5060", i+1)}},
		}
		if number != "" {
			g.Numbers = []string{number}
		}
		d.TrunkGroups = append(d.TrunkGroups, g)
		d.Customers = append(d.Customers, trunkgroup.CustomerSpec{Name: name})
	}
	return trunkgroup.Compile(d, v)
}

// numberRows reads changes: "pattern group", with - for no group.
func numberRows(lines ...string) (list []trunkgroup.NumberChange) {
	for _, line := range lines {
		text, group, _ := strings.Cut(line, " ")
		p, err := trunkgroup.ParsePattern(text)
		if err != nil {
			panic(err)
		}
		list = append(list, trunkgroup.NumberChange{Pattern: p, Group: strings.TrimPrefix(group, "-")})
	}
	return list
}

// numbered is a lab whose documents are read by compileNumbered.
func (l *lab) numbered(name, dir string) Config {
	cfg := l.config(name, dir)
	cfg.Compile = compileNumbered
	return cfg
}

// change makes a change of numbers on m and fails the test when it is not taken.
func (l *lab) change(m *member, lines ...string) trunkgroup.Version {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	v, _, err := m.ChangeNumbers(ctx, NumbersEdit{Rows: numberRows(lines...), Author: "test", Reason: "because"})
	if err != nil {
		l.t.Fatalf("change numbers on %s: %v", m.cfg.Node, err)
	}
	return v
}

// owner is the group that calls to a number go to on a node; empty for none.
func owner(m *member, number string) string {
	t := m.Table()
	if t == nil {
		return ""
	}
	if g := t.MatchNumber([]byte(number)); g != nil {
		return g.Name
	}
	return ""
}

// owns waits until a number is a group's on all nodes.
func (l *lab) owns(number, group string, nodes ...*member) {
	l.t.Helper()
	for _, m := range nodes {
		eventually(l.t, fmt.Sprintf("%s belongs to %q on %s", number, group, m.cfg.Node), func() bool { return owner(m, number) == group })
	}
}

// A change of the number table made on any node is what all route by, without a revision of the
// document; and after a restart without anybody else it still is (DEC-14).
func TestDEC14_NumbersOutliveQuorum(t *testing.T) {
	l := newLab(t, "dal-1", "ash-1", "dal-2")
	dirs := map[string]string{}
	var nodes []*member
	for _, name := range l.names {
		dirs[name] = t.TempDir()
		nodes = append(nodes, l.start(l.numbered(name, dirs[name])))
	}
	v := l.propose(nodes[0], "acme globex")
	l.agree(v, nodes...)
	l.change(nodes[1], "+12145550100 acme", "+1469* globex")
	l.owns("+12145550100", "acme", nodes...)
	l.owns("+14695551234", "globex", nodes...)
	last := l.change(nodes[2], "+12145550100 globex", "+1469* -")
	l.owns("+12145550100", "globex", nodes...)
	l.owns("+14695551234", "", nodes...)
	for _, m := range nodes {
		if got := m.Table().Version(); got != v {
			t.Errorf("%s: numbers made the document %v", m.cfg.Node, got)
		}
		if h := m.NumbersHistory(); len(h) != 2 || h[1].Author != "test" || h[1].Version != last {
			t.Errorf("%s: history %+v", m.cfg.Node, h)
		}
	}
	for _, m := range nodes {
		l.stop(m)
	}
	alone := l.start(l.numbered("dal-2", dirs["dal-2"]))
	if s := alone.Numbers(); s.Version != last || s.Source != SourceDisk || owner(alone, "+12145550100") != "globex" || owner(alone, "+14695551234") != "" {
		t.Errorf("alone: %+v", s)
	}
}

// What cannot be is refused before it is in the log, with the reason: an unknown group, what the
// document claims, another edition, a document that leaves rows without their group.
func TestNumbersAreRefused(t *testing.T) {
	l := newLab(t, "dal-1")
	m := l.start(l.numbered("dal-1", t.TempDir()))
	l.propose(m, "acme=+12145550000 globex")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, bad := range []string{"+1 nobody", "+12145550000 globex"} {
		_, _, err := m.ChangeNumbers(ctx, NumbersEdit{Rows: numberRows("+2 acme", bad)})
		if _, ok := errors.AsType[trunkgroup.Faults](err); !ok {
			t.Errorf("%s: %v", bad, err)
		}
	}
	l.change(m, "+1 acme")
	stale := uint64(0)
	_, _, err := m.ChangeNumbers(ctx, NumbersEdit{Rows: numberRows("+1 globex"), Expect: &stale})
	if e, ok := errors.AsType[*fsm.EditionError](err); !ok || e.Have.Revision != 1 || e.Expected != 0 {
		t.Errorf("another edition: %v", err)
	}
	if _, changed, err := m.ChangeNumbers(ctx, NumbersEdit{Rows: numberRows("+1 acme")}); changed || err != nil {
		t.Errorf("what is so already: %v, %v", changed, err)
	}
	for _, bad := range []string{"globex", "acme globex=+1*", "acme globex=+1"} {
		_, err := m.Propose(ctx, Change{Document: []byte(bad)})
		_, faults := errors.AsType[trunkgroup.Faults](err)
		if want := bad != "acme globex=+1*"; faults != want {
			t.Errorf("the document %q: %v", bad, err)
		}
	}
	if owner(m, "+1") != "acme" || m.Numbers().Version.Revision != 1 {
		t.Errorf("the table is %+v", m.Numbers())
	}
}

// A document that came into force at the same moment as rows of a group that it has not: they own
// nothing, an alarm says so, and it goes when the group is back.
func TestOrphanedNumbers(t *testing.T) {
	l := newLab(t, "dal-1")
	m := l.start(l.numbered("dal-1", t.TempDir()))
	l.propose(m, "acme globex")
	l.change(m, "+1 acme", "+2 acme", "+3 globex")
	apply := func(document string) {
		set := m.set(Change{Document: []byte(document), Author: "test"})
		v, err := m.commit(context.Background(), set.Append(nil), true)
		if err == nil {
			t.Fatalf("the leader takes %q: %v", document, v)
		}
		if _, err := m.raft.apply(set.Append(nil), time.Second); err != nil {
			t.Fatal(err)
		}
	}
	apply("globex")
	eventually(t, "the alarm", func() bool {
		for _, a := range m.alarms2() {
			if a.Name == AlarmNumbersOrphaned && strings.Contains(a.Detail, `2 of "acme"`) {
				return owner(m, "+1") == "" && owner(m, "+3") == "globex" && m.Numbers().Orphans["acme"] == 2
			}
		}
		return false
	})
	l.propose(m, "acme globex")
	l.owns("+1", "acme", m)
	eventually(t, "the alarm is gone", func() bool { return len(m.alarms2()) == 0 })
}

func (m *member) alarms2() []Alarm { return m.Status().Alarms }

// A node that was away gets the table by a snapshot that is sealed in pieces, and what came after.
func TestNumbersBySnapshot(t *testing.T) {
	l := newLab(t, "dal-1", "ash-1", "dal-2")
	dir := t.TempDir()
	one, two, seen := l.start(l.numbered("dal-1", t.TempDir())), l.start(l.numbered("ash-1", t.TempDir())), l.start(l.numbered("dal-2", dir))
	l.propose(one, "acme globex")
	l.change(one, "+1 acme") // all have been seen to know of numbers
	l.owns("+1", "acme", seen)
	l.stop(seen)
	for part := range 3 {
		var lines []string
		for i := range 12000 {
			lines = append(lines, fmt.Sprintf("+1214%d%06d acme", part, i))
		}
		l.change(one, lines...)
	}
	for i := range trailingLogs + 2 {
		l.change(one, fmt.Sprintf("+1469%d globex", i))
	}
	for _, m := range []*member{one, two} {
		must(t, m.raft.do(func(r *raft.Raft) raft.Future { return r.Snapshot() }))
	}
	l.change(two, "+4912345 globex")
	late := l.start(l.numbered("dal-2", dir))
	l.owns("+4912345", "globex", one, late)
	l.owns("+12142011999", "acme", late)
	if a, b := one.Numbers(), late.Numbers(); a.Version != b.Version || a.Table.Checksum() != b.Table.Checksum() || b.Table.Len() != 36000+trailingLogs+4 {
		t.Errorf("%v with %d numbers, %v with %d", a.Version, a.Table.Len(), b.Version, b.Table.Len())
	}
	must(t, late.raft.do(func(r *raft.Raft) raft.Future { return r.Snapshot() }))
	l.stop(late)
	if found := search(t, dir, "+12142011999"); len(found) > 0 {
		t.Errorf("in clear: %v", found)
	}
	again := l.start(l.numbered("dal-2", dir))
	if again.Numbers().Version != late.Numbers().Version || owner(again, "+12142011999") != "acme" {
		t.Errorf("after a restart: %v", again.Numbers().Version)
	}
	if bases, err := filepath.Glob(filepath.Join(dir, numbersDir, basePrefix+"*")); err != nil || len(bases) == 0 {
		t.Errorf("no base on disk: %v, %v", bases, err)
	}
}

// The generation of the numbers rises with a recovery, so that what the recovered node has wins.
func TestDEC14_RecoveryRaisesNumbers(t *testing.T) {
	l := newLab(t, "dal-1", "ash-1", "ash-2")
	dir := t.TempDir()
	cfg := l.numbered("dal-1", dir)
	cfg.RecoverAfter = time.Second
	m := l.start(cfg)
	others := []*member{l.start(l.numbered("ash-1", t.TempDir())), l.start(l.numbered("ash-2", t.TempDir()))}
	l.agree(l.propose(m, "acme"), append(others, m)...)
	l.change(m, "+1 acme")
	l.owns("+1", "acme", append(others, m)...)
	for _, o := range others {
		l.stop(o)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	eventually(t, "recovered", func() bool {
		_, err := m.Recover(ctx, Recovery{Confirm: "test", Author: "ann", Reason: "fire"})
		return err == nil
	})
	if s := m.Numbers(); s.Version.Generation != 2 || s.Version.Revision != 2 || owner(m, "+1") != "acme" {
		t.Errorf("after the recovery: %+v", s)
	}
}

// A file of numbers that cannot be read is told, and the one before it serves with the changes since.
func TestNumbersOnDiskDamaged(t *testing.T) {
	l := newLab(t, "dal-1")
	dir := t.TempDir()
	m := l.start(l.numbered("dal-1", dir))
	l.propose(m, "acme globex")
	l.change(m, "+1 acme")
	l.change(m, "+2 acme")
	table, v := m.publisher.numbersNow()
	l.stop(m)
	d := newNumberDisk(dir, "test", m.vault)
	_, _, err := d.load()
	must(t, err)
	must(t, d.whole(table, v))
	more, err := table.With(numberRows("+3 globex"))
	must(t, err)
	next := v
	next.Revision++
	record := fsm.NumbersRecord{}
	must(t, d.keep([]numbersOffer{{table: more, version: next, before: v, rows: numberRows("+3 globex"), record: &record}}, more, next))
	must(t, d.whole(more, next))
	d.close()
	files, err := d.list()
	must(t, err)
	last := d.base(files.bases[len(files.bases)-1])
	b, err := os.ReadFile(last)
	must(t, err)
	b[len(b)/2] ^= 1
	must(t, os.WriteFile(last, b, 0o600))
	d = newNumberDisk(dir, "test", m.vault)
	got, of, err := d.load()
	if err == nil || of != next || got.Checksum() != more.Checksum() {
		t.Errorf("%v, %v", of, err)
	}
}

// A backup holds the table, and a restore puts it back with a higher generation, whatever the document
// and the table became meanwhile.
func TestDEC14_BackupHoldsNumbers(t *testing.T) {
	l := newLab(t, "dal-1")
	m := l.start(l.numbered("dal-1", t.TempDir()))
	l.propose(m, "acme globex")
	l.change(m, "+1 acme", "+2 globex")
	file, info, err := m.Backup()
	if must(t, err); info.Numbers != 2 || info.Edition != 1 {
		t.Errorf("%+v", info)
	}
	l.change(m, "+1 -", "+2 -", "+3 globex")
	l.propose(m, "globex")
	l.change(m, "+4 globex")
	b, err := m.OpenBackup(file)
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err = m.Restore(ctx, b, Restoration{Author: "ann", Reason: "mistake"})
	must(t, err)
	s := m.Numbers()
	if s.Version.Generation != 2 || s.Table.Len() != 2 || owner(m, "+1") != "acme" || owner(m, "+2") != "globex" || owner(m, "+3") != "" {
		t.Errorf("restored: %v with %d", s.Version, s.Table.Len())
	}
	if h := m.NumbersHistory(); h[len(h)-1].Reason != "mistake" {
		t.Errorf("history: %+v", h)
	}
}
