package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrMember is returned by Rejoin on a node whose log is sound and in its epoch.
var ErrMember = errors.New("cluster: this node is part of the consensus: there is nothing to rejoin")

// ErrConfirm is returned when the cluster id that a human typed is not this one's.
var ErrConfirm = errors.New("cluster: the confirmation is not the id of this cluster")

// errStopping is returned when the node stops meanwhile.
var errStopping = fmt.Errorf("%w: this node is stopping", ErrNoLeader)

// Rejoin discards this node's log, which is damaged or of an epoch that is over, and
// has the others send theirs. What only this log held is put aside in the data
// directory and lost to the cluster. The node comes back without a vote, and gets one
// when one is missing. Rejoin waits until the node has the cluster's document or the
// context ends. confirm must be the cluster's id. Errors: ErrConfirm, ErrMember.
func (n *Node) Rejoin(ctx context.Context, confirm string) error {
	if confirm != n.cfg.Cluster {
		return fmt.Errorf("%w: it is %q", ErrConfirm, n.cfg.Cluster)
	}
	if _, ok := n.running(); !ok {
		return fmt.Errorf("%w: this node is not started", ErrNoLeader)
	}
	n.lives.mu.Lock()
	err := n.rejoin()
	n.lives.mu.Unlock()
	if err != nil {
		return err
	}
	tick := time.NewTicker(retryPause)
	defer tick.Stop()
	for {
		if _, ok := n.machine.current(); ok && n.caughtUp() {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: the old log is discarded, and no other node has sent its own yet; it comes when a leader is reached", ErrNoLeader)
		case <-n.ctx.Done():
			return errStopping
		}
	}
}

// rejoin begins with an empty log in the latest epoch. The caller holds lives.mu.
func (n *Node) rejoin() error {
	if n.lives.over {
		return errStopping
	}
	s := *n.lives.standing.Load()
	fault := n.lives.fault.Load()
	if s.Over.Number == 0 && (fault == nil || !fault.damaged) {
		return ErrMember
	}
	err := errors.Join(n.raft.rest(), n.closeStore())
	if err != nil {
		n.log.Warn("the old log was not closed in order", "error", err)
	}
	if err := discard(n.cfg.DataDir); err != nil {
		return err
	}
	over := s.Over.Number > 0
	if over {
		s = standing{Mine: s.Over}
	}
	// The others have the log: this node founds nothing and does not vote, see lostLog.
	s.Blank = over || len(n.cfg.Voters) != pair
	if err := saveStanding(n.cfg.DataDir, s); err != nil {
		return err
	}
	n.lives.standing.Store(&s)
	if n.lives.store, err = openStore(n.cfg.DataDir, n.vault, n.storeFailed); err != nil {
		n.lives.fault.Store(&storeFault{err: err, since: time.Now()})
		n.rest()
		return err
	}
	n.lives.fault.Store(nil)
	n.alarms.clear(AlarmStore)
	n.machine.reset()
	if over {
		n.publisher.forget()
		n.decks.forget()
	}
	n.beginLife()
	n.log.Warn("the old log was discarded", "epoch", s.Mine.String())
	return nil
}
