package app

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/monitor/audit"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/tally"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/deck"
)

const (
	// alarmDecks: a plan's rate decks cannot be gone by, or rows lead nowhere.
	alarmDecks = "rate_decks"
	// scoreEvery is how often decks hear what became of calls to carriers.
	scoreEvery = 30 * time.Second
	// scoreSamples is how many attempts of the last hour say something of a carrier.
	scoreSamples = 50
)

// rateDecks keeps the rate decks that calls are routed by: those of the cluster, read, beside
// the plans of the table.
type rateDecks struct {
	app  *App
	log  *slog.Logger
	book atomic.Pointer[deck.Book] // calls read it

	mu      sync.Mutex
	decks   map[string]readDeck
	spoiled map[string]string // by name: why a deck cannot be read
	table   *trunkgroup.Table
	scores  deck.Scores
	scored  time.Time

	imports, refused atomic.Uint64 // imports that were asked of this node
}

// readDeck is a deck of the cluster with its rows.
type readDeck struct {
	deck.Named
	kind fsm.DeckKind
}

func newRateDecks(a *App) *rateDecks {
	d := &rateDecks{app: a, log: a.log.With("component", "decks")}
	a.node.OnDecks(d.hear)
	return d
}

// routes answers a call whose plan goes by rate decks. What they say of a call that has failed
// is what it was told before, so there is nothing more.
func (d *rateDecks) routes(q *b2bua.RouteQuery) *trunkgroup.RouteSet {
	if q.Failed != 0 {
		return decksSaidAll
	}
	return d.book.Load().Routes(q.Plan.Name, q.Dialed, q.Now)
}

// decksSaidAll never changes.
var decksSaidAll = &trunkgroup.RouteSet{Absent: true, Source: trunkgroup.RoutesDeck, Why: "rate decks have no other routes for a call that failed"}

// hear takes the decks that the cluster has now. Those that did not change are not read again.
func (d *rateDecks) hear(all cluster.Decks, records []fsm.DecksRecord) {
	for _, r := range records {
		d.app.auditDeck(r)
	}
	d.mu.Lock()
	old := d.decks
	d.mu.Unlock()
	next, spoiled := make(map[string]readDeck, len(all.List)), map[string]string{}
	for i := range all.List {
		x := &all.List[i]
		if was, ok := old[x.Name]; ok && was.kind == x.DeckKind {
			was.Edition = x.Edition
			next[x.Name] = was
			continue
		}
		rows, err := deck.Decode(x.Data)
		if err != nil {
			d.log.Error("a rate deck cannot be read", "deck", x.Name, "edition", x.Edition, "error", err)
			spoiled[x.Name] = "it cannot be read: " + err.Error() + "; is this node as new as the one that imported it?"
			continue
		}
		next[x.Name] = readDeck{deck.Named{Name: x.Name, Edition: x.Edition, Deck: rows}, x.DeckKind}
		d.log.Info("rate deck in force", "deck", x.Name, "edition", x.Edition, "rows", rows.Len(), "carriers", len(rows.Carriers()))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.decks, d.spoiled = next, spoiled
	d.rebuild()
}

// use takes the plans of a table, before calls are routed by it.
func (d *rateDecks) use(t *trunkgroup.Table) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.table == nil || d.table.Version() != t.Version() {
		d.table = t
		d.rebuild()
	}
}

// rebuild makes the book that calls read. The caller holds mu.
func (d *rateDecks) rebuild() {
	if d.table == nil {
		return
	}
	book := deck.NewBook(deck.Sources{Plans: d.table.Document().RoutePlans, Decks: d.named(), Scores: d.scores, Before: d.book.Load()})
	d.book.Store(book)
	d.alarm(book)
}

func (d *rateDecks) named() (list []deck.Named) {
	for _, x := range d.decks {
		list = append(list, x.Named)
	}
	return list
}

// with is the book as it would be with another deck of that name; without one, a nil Deck.
func (d *rateDecks) with(x deck.Named) *deck.Book {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := slices.DeleteFunc(d.named(), func(y deck.Named) bool { return y.Name == x.Name })
	if x.Deck != nil {
		list = append(list, x)
	}
	var plans []trunkgroup.RoutePlanSpec
	if d.table != nil {
		plans = d.table.Document().RoutePlans
	}
	return deck.NewBook(deck.Sources{Plans: plans, Decks: list})
}

// alarm says which plans have no decks to go by, and which rows lead nowhere.
func (d *rateDecks) alarm(book *deck.Book) {
	var parts []string
	for _, f := range book.Faults() {
		parts = append(parts, fmt.Sprintf("plan %s: %s, so its calls get 503", f.Plan, f.Why))
	}
	for name, why := range d.spoiled {
		parts = append(parts, "rate deck "+name+": "+why)
	}
	for _, x := range d.decks {
		if len(book.PlansOf(x.Name)) == 0 {
			continue
		}
		for _, g := range strangers(d.table, x.Deck) {
			parts = append(parts, fmt.Sprintf("rate deck %s: the document has no pstn-provider group %s, so its rows are passed over", x.Name, g))
		}
	}
	detail := ""
	if len(parts) > 0 {
		slices.Sort(parts)
		detail = strings.Join(parts, " / ") + ": see tandem deck list; import the deck, or change the plan or the group"
	}
	d.app.alarmIf(alarmDecks, detail)
}

// strangers are the groups of rows that no call can go to.
func strangers(t *trunkgroup.Table, d *deck.Deck) (names []string) {
	for _, name := range d.Groups() {
		if g := t.Group(name); g == nil || g.Role != trunkgroup.PSTNProvider {
			names = append(names, name)
		}
	}
	return names
}

// score tells the decks how calls to carriers did in the last hour, now and then: whole
// percents, so that routes are not made anew for nothing.
func (d *rateDecks) score(now time.Time) {
	if now.Sub(d.scored) < scoreEvery {
		return
	}
	d.scored = now
	scores := deck.Scores{}
	for _, r := range d.app.tallies.rows(tally.Hour) {
		if r.Scope != tally.Carrier || r.Attempts < scoreSamples {
			continue
		}
		if asr, ok := r.ASR(); ok {
			scores[r.Name] = math.Round(100 * asr)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.decks) > 0 {
		d.scores = scores
		d.rebuild()
	}
}

// auditDeck writes down which rate decks are in force, and who changed what.
func (a *App) auditDeck(r fsm.DecksRecord) {
	e := audit.Entry{
		Via: "self", Author: r.Author, Verb: "rate deck in force", Subject: r.Deck, Reason: r.Reason, Outcome: audit.Done,
		Detail: fmt.Sprintf("edition %d.%d, %d rows", r.Version.Generation, r.Version.Revision, r.Rows),
	}
	switch {
	case r.Removed:
		e.Verb, e.Detail = "rate deck removed", fmt.Sprintf("edition %d.%d", r.Version.Generation, r.Version.Revision)
	case r.Deck == "":
		e.Verb, e.Subject, e.Detail = "rate decks in force", fmt.Sprintf("edition %d.%d", r.Version.Generation, r.Version.Revision), "the generation was raised"
	}
	a.audit.Add(e)
}
