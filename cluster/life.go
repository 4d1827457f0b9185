package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/interconnect"
)

// kindEpoch is the kind of frames that tell an epoch; see notice.
const kindEpoch byte = 241

// DefaultStoreRetry is the time between two tries to use a log on disk that failed.
const DefaultStoreRetry = 10 * time.Second

// lives keeps raft alive or at rest: it rests while its disk fails, and on a node
// whose epoch is over, until that rejoins. Calls and the table do not notice.
type lives struct {
	mu    sync.Mutex // one change of raft's life at a time
	store *store     // nil while it cannot be used
	retry time.Time  // when the store is tried again
	over  bool       // the node stops: no further life

	standing atomic.Pointer[standing]
	later    atomic.Pointer[notice]     // a later epoch that was met
	fault    atomic.Pointer[storeFault] // why the store is not used; nil when it is
}

// storeFault says why the log on disk is not used.
type storeFault struct {
	err     error
	since   time.Time
	damaged bool // it must be discarded; otherwise it is tried again
}

// openLog opens the log of this node. A damaged one is no reason not to take calls:
// the node starts from its last known good document and stays out of the consensus.
func (n *Node) openLog() error {
	s, err := loadStanding(n.cfg.DataDir)
	if err != nil {
		return err
	}
	n.lives.standing.Store(&s)
	n.fence = &fence{met: n.metEpoch}
	n.lives.store, err = openStore(n.cfg.DataDir, n.vault, n.storeFailed)
	if errors.Is(err, ErrStore) {
		n.lives.fault.Store(&storeFault{err: err, since: time.Now(), damaged: true})
		return nil
	}
	return err
}

// closeLog ends the use of the log.
func (n *Node) closeLog() error {
	n.lives.mu.Lock()
	defer n.lives.mu.Unlock()
	return n.closeStore()
}

// endLives ends raft for good.
func (n *Node) endLives() error {
	n.lives.mu.Lock()
	defer n.lives.mu.Unlock()
	n.lives.over = true
	return n.raft.close()
}

// closeStore closes the store; the caller holds lives.mu.
func (n *Node) closeStore() error {
	s := n.lives.store
	n.lives.store = nil
	if s == nil {
		return nil
	}
	return s.Close()
}

// beginLife starts raft unless something keeps it from the consensus, which is then
// an alarm. The caller holds lives.mu.
func (n *Node) beginLife() {
	s := n.lives.standing.Load()
	if s.Over.Number > 0 {
		n.fence.close(errResting)
		n.alarms.raise(AlarmSuperseded, fmt.Sprintf(
			"the cluster was recovered without this node: %s; what this node's log holds beyond that is lost to the cluster. Run 'tandem cluster rejoin' here", s.Over))
		return
	}
	n.alarms.clear(AlarmSuperseded)
	if f := n.lives.fault.Load(); f != nil {
		n.alarmStore(f)
		return
	}
	founding := n.cfg.founding()
	if s.Mine.Number > 0 || s.Blank {
		founding = nil
	}
	n.fence.open(s.Mine, s.Blank)
	if err := n.raft.begin(n.lives.store, founding); err != nil {
		// What can be written again later is tried again.
		n.storeFailed(err)
		n.rest()
	}
}

// alarmStore says what an operator does about a log that cannot be used.
func (n *Node) alarmStore(f *storeFault) {
	what := "free the disk: it is tried again every " + n.cfg.StoreRetry.String()
	if f.damaged {
		what = "run 'tandem cluster rejoin' here: it discards the log and fetches it from the others"
	}
	n.alarms.raise(AlarmStore, fmt.Sprintf("out of the consensus since %s: %v; calls go on; %s", f.since.UTC().Format(time.RFC3339), f.err, what))
}

// lostLog notes that peers knew this node, whose data directory is new. Of two voters
// one may lose its log and vote: the other one, which must vote too, has everything.
func (n *Node) lostLog() error {
	s := *n.lives.standing.Load()
	s.Blank = len(n.cfg.Voters) != pair
	n.lives.standing.Store(&s)
	return saveStanding(n.cfg.DataDir, s)
}

// pair is the size of a consensus in which every change needs all voters.
const pair = 2

// watchBlank ends the state of a node that lost its log once the others have taken its
// vote away: what it promised before counts for nothing from then on.
func (n *Node) watchBlank() {
	s := *n.lives.standing.Load()
	switch {
	case !s.Blank:
		return
	case n.quorumAge() >= n.cfg.RecoverAfter:
		n.alarms.raise(AlarmBlank, "this node lost its log and does not vote until there is a leader. If the others cannot elect one without it, "+
			"run 'tandem cluster recover' on the node with the newest revision")
		return
	case !n.caughtUp() || n.quorumAge() > 0:
		return
	}
	n.alarms.clear(AlarmBlank)
	servers, _ := n.servers()
	for _, server := range servers {
		if string(server.ID) != n.cfg.Node || server.Suffrage == raft.Voter {
			continue
		}
		s.Blank = false
		if err := saveStanding(n.cfg.DataDir, s); err != nil {
			n.log.Error("the state of the log cannot be saved", "error", err)
			return
		}
		n.lives.standing.Store(&s)
		n.fence.open(s.Mine, false)
	}
}

// storeFailed is told by the store, on a goroutine of raft, that a write failed. From
// here on nothing that raft says leaves this node.
func (n *Node) storeFailed(err error) {
	n.fence.close(err)
	n.lives.fault.CompareAndSwap(nil, &storeFault{err: err, since: time.Now()})
	n.poke()
}

// rest ends raft after a failure of the store. The caller holds lives.mu.
func (n *Node) rest() {
	if err := n.raft.rest(); err != nil {
		n.log.Warn("raft did not end in order", "error", err)
	}
	if err := n.closeStore(); err != nil {
		n.log.Warn("the log was not closed in order", "error", err)
	}
	n.lives.retry = time.Now().Add(n.cfg.StoreRetry)
	if f := n.lives.fault.Load(); f != nil {
		n.alarmStore(f)
	}
}

// keepLife does what is due: raft ends when its disk failed or its epoch is over, and
// begins again when the disk takes writes.
func (n *Node) keepLife(now time.Time) {
	if !n.lives.mu.TryLock() {
		return // a recovery or a rejoin is at work
	}
	defer n.lives.mu.Unlock()
	if later := n.lives.later.Swap(nil); later != nil {
		n.supersede(*later)
	}
	f := n.lives.fault.Load()
	switch {
	case f == nil:
		n.watchBlank()
	case f.damaged:
	case !n.raft.resting() || n.lives.store != nil:
		n.rest()
	case !now.Before(n.lives.retry):
		n.revive(now)
	}
}

// revive tries the disk and begins a new life of raft over it, as a restart would.
func (n *Node) revive(now time.Time) {
	n.lives.retry = now.Add(n.cfg.StoreRetry)
	s, err := openStore(n.cfg.DataDir, n.vault, n.storeFailed)
	if err == nil {
		if err = s.try(); err != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if err != nil {
		n.log.Warn("the log on disk still cannot be used", "error", err)
		return
	}
	n.lives.store = s
	n.lives.fault.Store(nil)
	n.alarms.clear(AlarmStore)
	n.beginLife()
}

// metEpoch is told of a later epoch than this node's.
func (n *Node) metEpoch(e Epoch) { n.meetNotice(notice{Epoch: e}) }

// meetNotice notes the latest epoch that was met; keepLife acts on it.
func (n *Node) meetNotice(m notice) {
	for {
		old := n.lives.later.Load()
		if old != nil {
			order := m.Epoch.compare(old.Epoch)
			if order < 0 || order == 0 && m.Epoch.By == "" {
				return
			}
			m.Adopt = m.Adopt || order == 0 && old.Adopt
		}
		if n.lives.later.CompareAndSwap(old, &m) {
			n.poke()
			return
		}
	}
}

// supersede takes this node out of the consensus: the log goes on in a later epoch.
// The caller holds lives.mu.
func (n *Node) supersede(m notice) {
	s := *n.lives.standing.Load()
	if m.Epoch.compare(s.Mine) <= 0 || m.Epoch.compare(s.Over) < 0 || m.Epoch.compare(s.Over) == 0 && m.Epoch.By == "" {
		return
	}
	adopt := m.Adopt && !n.hasQuorum()
	n.fence.close(errResting)
	s.Over = m.Epoch
	if err := saveStanding(n.cfg.DataDir, s); err != nil {
		n.log.Error("the end of this node's epoch cannot be saved", "error", err)
	}
	n.lives.standing.Store(&s)
	if err := n.raft.rest(); err != nil {
		n.log.Warn("raft did not end in order", "error", err)
	}
	n.beginLife() // raises the alarm
	if !adopt {
		return
	}
	if err := n.rejoin(); err != nil {
		n.log.Error("this node did not rejoin by itself", "error", err)
	}
}

// tellEpoch tells a peer that came up which epoch this node is in.
func (n *Node) tellEpoch(p interconnect.Peer) {
	s := n.lives.standing.Load()
	if !p.Up || s.Mine.Number == 0 {
		return
	}
	m := notice{Epoch: s.Mine}
	for _, name := range s.Adopt {
		m.Adopt = m.Adopt || name == p.Name
	}
	b, err := json.Marshal(m)
	if err != nil {
		n.log.Error("the epoch cannot be told", "error", err)
		return
	}
	n.ic.Send(p.Name, kindEpoch, b)
}

// hearEpoch takes a peer's notice.
func (n *Node) hearEpoch(from string, _ byte, payload []byte) {
	m, ok := parseNotice(payload)
	if !ok {
		n.log.Warn("a peer's epoch cannot be read", "peer", from)
		return
	}
	if m.Epoch.compare(n.lives.standing.Load().Mine) > 0 {
		n.meetNotice(m)
	}
}
