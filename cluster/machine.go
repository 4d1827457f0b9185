package cluster

import (
	"fmt"
	"io"
	"sync"

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
	halted  func(error) // the state takes no more commands

	mu    sync.Mutex
	state *fsm.State
}

// offer is a document for this node's site, with whether it is a canary there.
type offer struct {
	fsm.Entry
	canary bool
}

func newMachine(cluster, site string, offer func(offer), halted func(error)) *machine {
	return &machine{cluster: cluster, site: site, offer: offer, halted: halted, state: fsm.New(cluster)}
}

// effective returns what the site of this node is to run. The caller holds mu.
func (m *machine) effective() (offer, bool) {
	e, canary, ok := m.state.Effective(m.site)
	return offer{e, canary}, ok
}

// Apply implements raft.FSM; the response is an fsm.Result.
func (m *machine) Apply(log *raft.Log) any {
	m.mu.Lock()
	result := m.state.Apply(log.Data)
	current, ok := m.effective()
	stop := m.state.Halted()
	m.mu.Unlock()
	if stop != nil {
		m.halted(stop)
	}
	if result.Changed && ok {
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
	return snapshot{m.state.Clone()}, nil
}

// maxSnapshot bounds what Restore reads: the history and the current document.
const maxSnapshot = fsm.MaxHistoryBytes + fsm.MaxDocument + 1<<20

// Restore implements raft.FSM.
func (m *machine) Restore(r io.ReadCloser) error {
	b, err := io.ReadAll(io.LimitReader(r, maxSnapshot))
	if err != nil {
		return fmt.Errorf("cluster: read snapshot: %w", err)
	}
	if err := r.Close(); err != nil {
		return fmt.Errorf("cluster: read snapshot: %w", err)
	}
	state, err := fsm.Restore(m.cluster, b)
	if err != nil {
		m.halted(err)
		return err
	}
	m.mu.Lock()
	m.state = state
	current, ok := m.effective()
	m.mu.Unlock()
	if ok {
		m.offer(current)
	}
	return nil
}

// reset forgets everything: the log begins anew.
func (m *machine) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = fsm.New(m.cluster)
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

// encoded returns the whole state as a snapshot holds it.
func (m *machine) encoded() ([]byte, error) {
	m.mu.Lock()
	state := m.state.Clone()
	m.mu.Unlock()
	return state.Snapshot()
}

func (m *machine) history() []fsm.Revision {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.History()
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
	b, err := s.state.Snapshot()
	if err == nil {
		_, err = sink.Write(b)
	}
	if err != nil {
		// Cancel's own error would hide the one that counts.
		_ = sink.Cancel()
		return fmt.Errorf("cluster: write snapshot: %w", err)
	}
	return sink.Close()
}

// Release implements raft.FSMSnapshot.
func (s snapshot) Release() {}
