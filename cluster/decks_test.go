package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// deckOctets are what the deck of a name and number holds: so what is somewhere is known from
// these alone. They do not compress, and are of several pieces when n is even.
func deckOctets(name string, n uint64) []byte {
	size := 1000
	if n%2 == 0 {
		size = 3*fsm.MaxDeckPiece + 17
	}
	r := rand.New(rand.NewPCG(n, uint64(len(name))))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return append(b, name...)
}

func (l *lab) deck(m *member, name string, n uint64, adjust ...func(*DeckImport)) trunkgroup.Version {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	i := DeckImport{Name: name, Data: deckOctets(name, n), Rows: int(n), Currency: "USD", Author: "test", Reason: "because"}
	for _, f := range adjust {
		f(&i)
	}
	v, _, err := m.ImportDeck(ctx, i)
	if err != nil {
		l.t.Fatalf("import a deck on %s: %v", m.cfg.Node, err)
	}
	return v
}

// decksOf says which decks a node runs: name and number of each.
func decksOf(d Decks) string {
	var b strings.Builder
	for _, x := range d.List {
		text := "damaged"
		if bytes.Equal(x.Data, deckOctets(x.Name, x.Rows)) {
			text = fmt.Sprint(x.Rows)
		}
		fmt.Fprintf(&b, " %s=%s", x.Name, text)
	}
	return b.String()
}

func (l *lab) runDecks(want string, nodes ...*member) {
	l.t.Helper()
	for _, m := range nodes {
		eventually(l.t, fmt.Sprintf("%s runs the decks%s", m.cfg.Node, want), func() bool { return decksOf(m.Decks()) == want })
	}
}

// deckWatch keeps what watchers of decks were told.
type deckWatch struct {
	mu      sync.Mutex
	last    Decks
	records []fsm.DecksRecord
}

func (w *deckWatch) hear(d Decks, r []fsm.DecksRecord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.records = d, append(w.records, r...)
}

// A deck that was imported on any node is what all run, without a revision of the document; and
// after a restart without anybody else it still is (DEC-14).
func TestDEC14_DecksOutliveQuorum(t *testing.T) {
	l := newLab(t, "dal-1", "ash-1", "dal-2")
	dirs := map[string]string{}
	var nodes []*member
	watch := &deckWatch{}
	for i, name := range l.names {
		dirs[name] = t.TempDir()
		nodes = append(nodes, l.startWith(l.config(name, dirs[name]), func(n *Node) {
			if i == 0 {
				n.OnDecks(watch.hear)
			}
		}))
	}
	v := l.propose(nodes[0], "document")
	l.agree(v, nodes...)
	l.deck(nodes[1], "cost", 1)
	l.deck(nodes[2], "sell", 2)
	l.runDecks(" cost=1 sell=2", nodes...)
	last := l.deck(nodes[0], "cost", 4)
	l.runDecks(" cost=4 sell=2", nodes...)
	if same := l.deck(nodes[1], "cost", 4); same != last {
		t.Errorf("the same deck again made %v of %v", same, last)
	}
	ctx := context.Background()
	seen := uint64(1)
	_, _, err := nodes[1].ImportDeck(ctx, DeckImport{Name: "cost", Data: []byte("late"), Expect: &seen})
	if conflict, ok := errors.AsType[*fsm.DecksEditionError](err); !ok || conflict.Have.Revision != last.Revision || conflict.Expected != 1 {
		t.Errorf("a deck of an author who saw another edition: %v", err)
	}
	if _, err = nodes[1].RemoveDeck(ctx, DeckRemoval{Name: "gone"}); err == nil || !strings.Contains(err.Error(), "no such rate deck") {
		t.Errorf("a deck that is not there was removed: %v", err)
	}
	if _, err = nodes[1].RemoveDeck(ctx, DeckRemoval{Name: "sell", Author: "ann", Reason: "sold out"}); err != nil {
		t.Fatal(err)
	}
	l.runDecks(" cost=4", nodes...)
	eventually(t, "uploads are over", func() bool { return len(nodes[0].Decks().Uploads) == 0 })
	if h := nodes[0].DecksHistory(); len(h) != 4 || !h[3].Removed || h[3].Author != "ann" || h[2].Rows != 4 {
		t.Errorf("%+v", h)
	}
	eventually(t, "who changed what is told", func() bool {
		watch.mu.Lock()
		defer watch.mu.Unlock()
		return len(watch.records) == 4 && decksOf(watch.last) == " cost=4"
	})
	if got := nodes[0].Table().Version(); got != v {
		t.Errorf("decks made the document %v", got)
	}
	for _, m := range nodes {
		l.stop(m)
	}
	again := &deckWatch{}
	alone := l.startWith(l.config("dal-1", dirs["dal-1"]), func(n *Node) { n.OnDecks(again.hear) })
	if d := alone.Decks(); decksOf(d) != " cost=4" || d.Source != SourceDisk || decksOf(again.last) != " cost=4" {
		t.Errorf("alone it runs%s, and was told%s", decksOf(d), decksOf(again.last))
	}
}

// A node whose files are damaged says so, goes on with what it has, and gets the rest back.
func TestDecksThatCannotBeRead(t *testing.T) {
	l := newLab(t, "dal-1")
	dir := t.TempDir()
	m := l.start(l.config("dal-1", dir))
	l.propose(m, "document")
	l.deck(m, "cost", 2)
	l.deck(m, "sell", 1)
	l.stop(m)
	d := newDeckDisk(dir, vaultOf(t, dir))
	list, _, err := d.load()
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %d decks", err, len(list))
	}
	path := filepath.Join(d.dir, fmt.Sprintf("%s%x", deckFile, list[0].Sum))
	b, err := os.ReadFile(path)
	must(t, err)
	if bytes.Contains(b, list[0].Data[:64]) {
		t.Error("rows stand in clear on disk")
	}
	b[len(b)/2] ^= 1
	must(t, os.WriteFile(path, b, 0o600))
	list, v, err := d.load()
	if !errors.Is(err, errDecks) || len(list) != 1 || v.Revision != 2 {
		t.Fatalf("%v, %d decks of %v", err, len(list), v)
	}
	m = l.start(l.config("dal-1", dir))
	l.runDecks(" cost=2 sell=1", m)
	eventually(t, "the alarm is over", func() bool {
		return !slices.ContainsFunc(m.Status().Alarms, func(a Alarm) bool { return a.Name == AlarmDecksSave })
	})
	if list, _, err = d.load(); err != nil || len(list) != 2 {
		t.Errorf("%v, %d decks", err, len(list))
	}
}

// A node that comes later gets the decks with a snapshot, and a backup has them.
func TestDecksInSnapshotAndBackup(t *testing.T) {
	l := newLab(t, "dal-1", "ash-1", "dal-2")
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	a, b, late := l.start(l.config("dal-1", dirs[0])), l.start(l.config("ash-1", dirs[1])), l.start(l.config("dal-2", dirs[2]))
	l.agree(l.propose(a, "document"), a, b, late)
	l.deck(a, "sell", 1)
	l.runDecks(" sell=1", a, b, late)
	if _, err := a.RemoveDeck(context.Background(), DeckRemoval{Name: "sell"}); err != nil {
		t.Fatal(err)
	}
	l.stop(late)
	for _, n := range []uint64{4, 6, 8, 10, 2} { // more than the log keeps behind a snapshot
		l.deck(a, "cost", n)
	}
	for _, m := range []*member{a, b} {
		l.runDecks(" cost=2", m)
		must(t, m.raft.do(snapshotNow))
	}
	late = l.start(l.config("dal-2", dirs[2]))
	l.runDecks(" cost=2", late)
	file, info, err := a.Backup()
	must(t, err)
	if info.Decks != 1 {
		t.Errorf("%+v", info)
	}
	l.deck(b, "cost", 3)
	l.deck(b, "sell", 1)
	l.runDecks(" cost=3 sell=1", late)
	kept, err := late.OpenBackup(file)
	must(t, err)
	before := late.Decks().Version
	if _, err := late.Restore(context.Background(), kept, Restoration{Author: "ann", Reason: "wrong rates"}); err != nil {
		t.Fatal(err)
	}
	l.runDecks(" cost=2", a, b, late)
	if v := late.Decks().Version; v.Generation != before.Generation+1 {
		t.Errorf("restored as %v over %v", v, before)
	}
}
