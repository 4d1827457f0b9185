package cluster

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// machine is the shim between raft and the pure state machine. Raft calls it from
// one goroutine; readers come from everywhere.
type machine struct {
	cluster string
	site    string
	offer   func(offer) // a document became the one of this node's site
	numbers func(numbersOffer)
	decks   func(decksOffer) // nil: nobody wants them
	halted  func(error)      // the state takes no more commands

	mu     sync.Mutex
	state  *fsm.State
	taken  taken
	recent recentNumbers
}

// offer is a document for this node's site, with whether it is a canary there.
type offer struct {
	fsm.Entry
	canary bool
	since  time.Time // when this node had it
}

func newMachine(cluster, site string, offer func(offer), numbers func(numbersOffer), halted func(error)) *machine {
	return &machine{cluster: cluster, site: site, offer: offer, numbers: numbers, halted: halted, state: fsm.New(cluster)}
}

// effective returns what the site of this node is to run. The caller holds mu.
func (m *machine) effective() (offer, bool) {
	e, canary, ok := m.state.Effective(m.site)
	return offer{Entry: e, canary: canary}, ok
}

// Apply implements raft.FSM; the response is an fsm.Result.
func (m *machine) Apply(log *raft.Log) any {
	m.mu.Lock()
	result := m.state.Apply(log.Data)
	m.taken.note(len(log.Data), fsm.IsNumbers(log.Data) || fsm.IsDecks(log.Data))
	current, ok := m.effective()
	var edition numbersOffer
	if d := result.Numbers; d != nil {
		edition = numbersOffer{version: result.Version, before: d.Before, rows: d.Rows, record: &d.Record}
		edition.table, _ = m.state.Numbers()
		m.recent.add(edition)
	}
	var decks decksOffer
	if d := result.Decks; d != nil {
		decks.record = &d.Record
		decks.list, decks.version = m.state.Decks()
	}
	stop := m.state.Halted()
	m.mu.Unlock()
	if stop != nil {
		m.halted(stop)
	}
	switch {
	case result.Numbers != nil:
		m.numbers(edition)
	case result.Decks != nil:
		m.offerDecks(decks)
	case result.Changed && ok:
		m.offer(current)
	}
	return result
}

// Snapshot implements raft.FSM. A halted machine takes none, so that a later build
// finds the command that stopped this one.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.state.Halted(); err != nil {
		return nil, err
	}
	m.taken = taken{}
	return snapshot{m.state.Clone()}, nil
}

// Restore implements raft.FSM.
func (m *machine) Restore(r io.ReadCloser) error {
	state, err := fsm.ReadSnapshot(m.cluster, io.LimitReader(r, fsm.MaxSnapshot))
	shut := r.Close()
	if errors.Is(err, fsm.ErrMalformed) || errors.Is(err, fsm.ErrUnknownSnapshot) || errors.Is(err, fsm.ErrCluster) {
		m.halted(err)
	}
	if err = errors.Join(err, shut); err != nil {
		return fmt.Errorf("cluster: read snapshot: %w", err)
	}
	m.mu.Lock()
	m.state, m.recent = state, recentNumbers{}
	current, ok := m.effective()
	m.mu.Unlock()
	if ok {
		m.offer(current)
	}
	m.numbers(wholeOffer(state.Numbers()))
	list, version := state.Decks()
	m.offerDecks(decksOffer{list: list, version: version})
	return nil
}

func (m *machine) offerDecks(o decksOffer) {
	if m.decks != nil {
		m.decks(o)
	}
}

// reset forgets everything: the log begins anew.
func (m *machine) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state, m.recent = fsm.New(m.cluster), recentNumbers{}
}

// current returns the cluster's document, which is no canary; false before the
// first.
func (m *machine) current() (fsm.Entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Current()
}

// mine returns the document of this node's site; false before the first.
func (m *machine) mine() (fsm.Entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.effective()
	return e.Entry, ok
}

// canary returns the revision that one site tries; false when there is none.
func (m *machine) canary() (fsm.Revision, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Canary()
}

// version returns the highest version, a canary's included.
func (m *machine) version() trunkgroup.Version {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Version()
}

// clone returns the whole state.
func (m *machine) clone() *fsm.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Clone()
}

func (m *machine) history() []fsm.Revision {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.History()
}

// numberTable returns the number table and its version.
func (m *machine) numberTable() (*trunkgroup.NumberTable, trunkgroup.Version) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Numbers()
}

func (m *machine) numberHistory() []fsm.NumbersRecord {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.NumbersHistory()
}

// numberImports returns the imports that are open.
func (m *machine) numberImports() []fsm.NumbersImport {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.NumbersImports()
}

// deckList returns the rate decks and their version.
func (m *machine) deckList() ([]fsm.Deck, trunkgroup.Version) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Decks()
}

func (m *machine) deckHistory() []fsm.DecksRecord {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.DecksHistory()
}

// deckUploads returns the uploads of rate decks that are open.
func (m *machine) deckUploads() []fsm.DeckUpload {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.DeckUploads()
}

func (m *machine) stopped() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Halted()
}

// snapshot writes a copy of the state that later commands do not change.
type snapshot struct{ state *fsm.State }

// Persist implements raft.FSMSnapshot.
func (s snapshot) Persist(sink raft.SnapshotSink) error {
	if err := s.state.WriteSnapshot(sink); err != nil {
		// Cancel's own error would hide the one that counts.
		_ = sink.Cancel()
		return fmt.Errorf("cluster: write snapshot: %w", err)
	}
	return sink.Close()
}

// Release implements raft.FSMSnapshot.
func (s snapshot) Release() {}
