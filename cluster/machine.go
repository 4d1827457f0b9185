package cluster

import (
	"fmt"
	"io"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/fsm"
)

// machine is the shim between raft and the pure state machine. Raft calls it from
// one goroutine; readers come from everywhere.
type machine struct {
	cluster string
	offer   func(fsm.Entry) // a document became current
	halted  func(error)     // the state takes no more commands

	mu    sync.Mutex
	state *fsm.State
}

func newMachine(cluster string, offer func(fsm.Entry), halted func(error)) *machine {
	return &machine{cluster: cluster, offer: offer, halted: halted, state: fsm.New(cluster)}
}

// Apply implements raft.FSM; the response is an fsm.Result.
func (m *machine) Apply(log *raft.Log) any {
	m.mu.Lock()
	result := m.state.Apply(log.Data)
	current, ok := m.state.Current()
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
	current, ok := state.Current()
	m.mu.Unlock()
	if ok {
		m.offer(current)
	}
	return nil
}

// current returns the state machine's document; false before the first.
func (m *machine) current() (fsm.Entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Current()
}

func (m *machine) history() []fsm.Entry {
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
