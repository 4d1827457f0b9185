package cluster

import (
	"github.com/hashicorp/raft"
)

// A snapshot holds the whole number table, so it is taken by how much there is to replay and not
// by the number of entries: thousands of single numbers are little, a few documents are much.
const (
	snapshotOctets = 64 << 20
	// importOctets is the same while an import is open, which would be in the snapshot too.
	importOctets = 8 * snapshotOctets
	// numberTrailingLogs are the entries that are kept behind a snapshot with a number table or rate decks: a
	// node that was away shortly need not get all of it.
	numberTrailingLogs = 256
)

// taken is what the machine took since its last snapshot.
type taken struct {
	octets    int
	documents int // commands that were no change of numbers or rate decks
}

func (t *taken) note(octets int, numbers bool) {
	t.octets += octets
	if !numbers {
		t.documents++
	}
}

// due reports whether a snapshot should be taken.
func (m *machine) due() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state.Halted() != nil {
		return false
	}
	if len(m.state.NumbersImports()) > 0 {
		return m.taken.octets >= importOctets
	}
	return m.taken.octets >= snapshotOctets || m.taken.documents >= snapshotThreshold
}

// condense takes a snapshot when one is due. It does not wait for it.
func (n *Node) condense() {
	if !n.condensing.CompareAndSwap(false, true) {
		return
	}
	if !n.machine.due() {
		n.condensing.Store(false)
		return
	}
	n.wg.Go(func() {
		defer n.condensing.Store(false)
		err := n.raft.do(func(r *raft.Raft) raft.Future {
			_, numbers := n.machine.numberTable()
			if _, decks := n.machine.deckList(); numbers.Revision > 0 || decks.Revision > 0 {
				conf := r.ReloadableConfig()
				conf.TrailingLogs = numberTrailingLogs
				if err := r.ReloadConfig(conf); err != nil {
					n.log.Warn("the log keeps few entries behind a snapshot", "error", err)
				}
			}
			return r.Snapshot()
		})
		if err != nil {
			n.log.Warn("no snapshot was taken", "error", err)
		}
	})
}
