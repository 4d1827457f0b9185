package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// DefaultRecoverAfter is how long quorum must have been lost before a recovery.
const DefaultRecoverAfter = 30 * time.Second

// Recovery is an operator's order to go on without the voters that are gone.
type Recovery struct {
	// Confirm must be the cluster's id: a human typed it.
	Confirm string
	Author  string
	Reason  string
	// DryRun checks all and changes nothing.
	DryRun bool
}

// RecoveryReport says what a recovery found and did.
type RecoveryReport struct {
	Reached []Reach  // the other nodes of the consensus
	Gone    []string // voters that are given up
	Adopted []string // nodes that rejoin by themselves
	Epoch   Epoch    // the new one; Number 0 after a dry run
	// Version is that of the document in force: the newest that this node knew, under a
	// raised generation. Of a dry run: the one that would be raised.
	Version trunkgroup.Version
}

// ErrNotLost is wrapped when a recovery is refused, with what speaks against it.
var ErrNotLost = errors.New("cluster: no recovery")

// Recover makes this node the only voter of the configuration log and goes on from
// what it knows, when a majority of the voters is lost for good (DEC-14). It refuses
// while a voter that would be given up shows a sign of life by interconnect, gossip or
// a fresh connect, while another reachable node runs a newer document, and before
// quorum was lost for Config.RecoverAfter. It raises the epoch, by which nodes of the
// old one are refused and stop writing once they are met, and the generation of the
// document, so that it wins everywhere. The reachable nodes rejoin by themselves; the
// others have an alarm and need Rejoin. Errors: ErrConfirm, ErrNotLost and those of
// Propose.
func (n *Node) Recover(ctx context.Context, r Recovery) (RecoveryReport, error) {
	if r.Confirm != n.cfg.Cluster {
		return RecoveryReport{}, fmt.Errorf("%w: it is %q", ErrConfirm, n.cfg.Cluster)
	}
	if _, ok := n.running(); !ok {
		return RecoveryReport{}, fmt.Errorf("%w: this node is not started", ErrNotLost)
	}
	report, err := n.mayRecover(ctx)
	if err != nil || r.DryRun {
		return report, err
	}
	kept, err := n.takeOver(&report, r)
	if err != nil {
		return report, err
	}
	for _, p := range n.ic.Peers() {
		n.tellEpoch(p)
	}
	if report.Version, err = n.raise(ctx, kept, r); err == nil {
		err = n.raiseNumbers(ctx, r.Author, "recovery from lost quorum: "+r.Reason)
	}
	if err == nil {
		err = n.recoverDecks(ctx, r.Author, "recovery from lost quorum: "+r.Reason)
	}
	return report, err
}

// mayRecover says what speaks against a recovery.
func (n *Node) mayRecover(ctx context.Context) (RecoveryReport, error) {
	var report RecoveryReport
	age := n.quorumAge()
	over := n.lives.standing.Load().Over
	switch {
	case over.Number > 0:
		return report, fmt.Errorf("%w: the cluster was recovered elsewhere: %s. Run 'tandem cluster rejoin' here", ErrNotLost, over)
	case n.hasQuorum():
		return report, fmt.Errorf("%w: there is a leader", ErrNotLost)
	case age < n.cfg.RecoverAfter:
		return report, fmt.Errorf("%w: quorum is lost for %v only; it must be %v", ErrNotLost, age.Round(time.Second), n.cfg.RecoverAfter)
	}
	if _, ok := n.Current(); !ok {
		return report, fmt.Errorf("%w: this node knows no document", ErrNotLost)
	}
	report.Version = n.settled().Version
	servers := n.constituency()
	report.Reached = n.reach(ctx, servers)
	var err error
	self := Reach{Name: n.cfg.Node, Blank: n.lives.fault.Load() != nil || n.lives.standing.Load().Blank}
	for _, s := range servers {
		self.Voter = self.Voter || string(s.ID) == self.Name && s.Suffrage == raft.Voter
	}
	if report.Gone, report.Adopted, err = dead(self, report.Reached); err != nil {
		return report, fmt.Errorf("%w: %w", ErrNotLost, err)
	}
	return report, n.behind()
}

// behind refuses a recovery here while a node that is reachable knows more: it runs a
// newer document, or its log ends later, perhaps by a change that was committed with
// the help of voters who are gone.
func (n *Node) behind() error {
	newest := n.newest()
	term, index := n.raft.lastEntry()
	for _, m := range n.gossip.Members() {
		theirs := trunkgroup.Version{Cluster: n.cfg.Cluster, Generation: m.Meta.Generation, Revision: m.Meta.Revision}
		later := cmp.Or(cmp.Compare(m.Meta.LastTerm, term), cmp.Compare(m.Meta.LastIndex, index)) > 0
		switch p, ok := n.ic.Peer(m.Name); {
		case !ok || !p.Up:
		case theirs.Newer(newest):
			return fmt.Errorf("%w: %s runs %s, which is newer than %s here: recover there", ErrNotLost, m.Name, theirs, newest)
		case later:
			return fmt.Errorf("%w: the log of %s ends later than the one here: recover there", ErrNotLost, m.Name)
		}
	}
	return nil
}

// constituency is the configuration of the log, or that of the node file when the log
// is damaged.
func (n *Node) constituency() []raft.Server {
	if servers, ok := n.servers(); ok && len(servers) > 0 {
		return servers
	}
	return n.cfg.founding()
}

// takeOver makes this node the only voter, in a new epoch, and returns the document
// that it knew.
func (n *Node) takeOver(report *RecoveryReport, r Recovery) (fsm.Entry, error) {
	n.lives.mu.Lock()
	defer n.lives.mu.Unlock()
	if n.lives.over {
		return fsm.Entry{}, errStopping
	}
	kept := n.settled()
	s := standing{Mine: Epoch{
		Number: n.lives.standing.Load().Mine.Number + 1, ID: rand.Text(),
		By: n.cfg.Node, Author: r.Author, Reason: r.Reason, At: time.Now().UTC(),
	}, Adopt: report.Adopted}
	if err := n.raft.rest(); err != nil {
		n.log.Warn("raft did not end in order", "error", err)
	}
	n.fence.close(errResting)
	// The epoch first: should the rest fail, this node is apart from the old voters, and
	// the recovery can be repeated.
	if err := saveStanding(n.cfg.DataDir, s); err != nil {
		n.beginLife()
		return kept, err
	}
	n.lives.standing.Store(&s)
	report.Epoch = s.Mine
	if err := n.inherit(); err != nil {
		n.storeFailed(err)
		n.rest()
		return kept, err
	}
	n.machine.reset()
	n.fence.open(s.Mine, false)
	self := []raft.Server{{Suffrage: raft.Voter, ID: raft.ServerID(n.cfg.Node), Address: n.transportAddress()}}
	if err := n.raft.begin(n.lives.store, self); err != nil {
		n.storeFailed(err)
		n.rest()
		return kept, err
	}
	n.log.Warn("the configuration log was recovered", "epoch", s.Mine.String(), "gone", report.Gone, "adopted", report.Adopted)
	return kept, nil
}

// inherit turns this node's log into one of which it is the only voter. A damaged
// log is put aside: then the last known good document is all that is inherited.
func (n *Node) inherit() error {
	if f := n.lives.fault.Load(); f != nil {
		if err := errors.Join(n.closeStore(), discard(n.cfg.DataDir)); err != nil {
			return err
		}
		var err error
		if n.lives.store, err = openStore(n.cfg.DataDir, n.vault, n.storeFailed); err != nil {
			return err
		}
		n.lives.fault.Store(nil)
		n.alarms.clear(AlarmStore)
		return nil
	}
	conf, snapshots, err := n.raft.tools(n.lives.store)
	if err != nil {
		return err
	}
	old, err := raft.HasExistingState(n.lives.store, n.lives.store, snapshots)
	if err != nil || !old {
		return err
	}
	replay := newMachine(n.cfg.Cluster, n.cfg.Site, func(offer) {}, func(numbersOffer) {}, func(error) {})
	self := raft.Configuration{Servers: []raft.Server{{
		Suffrage: raft.Voter, ID: raft.ServerID(n.cfg.Node), Address: n.transportAddress(),
	}}}
	if err := raft.RecoverCluster(conf, replay, n.lives.store, n.lives.store, snapshots, n.raft.transport, self); err != nil {
		return fmt.Errorf("cluster: recover: %w", err)
	}
	return nil
}

func (n *Node) transportAddress() raft.ServerAddress { return n.raft.transport.LocalAddr() }

// raise puts the newest document that is known into force again, above every version
// that may run elsewhere.
func (n *Node) raise(ctx context.Context, kept fsm.Entry, r Recovery) (trunkgroup.Version, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, DefaultProposeTimeout)
		defer cancel()
	}
	for !n.caughtUp() || n.raft.settle(DefaultRaftTimeout) != nil {
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return kept.Version, n.noLeader(ctx.Err())
		case <-n.ctx.Done():
			return kept.Version, errStopping
		}
	}
	// The log may hold changes that were committed and never reached this node's table,
	// and it knows for sure what is a canary.
	c, tried := n.machine.canary()
	if e, ok := n.machine.current(); ok && (e.Version.Newer(kept.Version) || tried && c.Version == kept.Version) {
		kept = e
	}
	return n.Propose(ctx, Change{
		Document: kept.Document, Author: r.Author, Reason: "recovery from lost quorum: " + r.Reason, RaiseGeneration: true,
	})
}
