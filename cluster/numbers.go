package cluster

import (
	"context"
	"crypto/rand"
	"maps"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// numbersProtocol is the protocol of which all members must be before a change of the number
// table is put into the log: an older build would halt at it.
const numbersProtocol = 3

// NumbersEdit is a change of some numbers: what fits into one command.
type NumbersEdit struct {
	Rows   []trunkgroup.NumberChange
	Author string
	Reason string
	// Expect, when set, is the edition that the author saw; the change is refused with
	// *fsm.EditionError when another one is current.
	Expect *uint64
	// Key makes the change idempotent, as that of Change.
	Key string
}

// Numbers is the number table as this node runs it.
type Numbers struct {
	Table   *trunkgroup.NumberTable // nil: empty
	Version trunkgroup.Version      // Revision is the edition; 0 before the first change
	Source  string                  // SourceDisk, SourceRaft or SourceNone
	At      time.Time               // since when it runs
	// Orphans are patterns that own nothing, since their group is not in the document.
	Orphans map[string]int
	Lower   uint64 // editions that were refused for a lower pair; a replay counts
	Imports []fsm.NumbersImport
}

// Numbers returns the number table that this node runs.
func (n *Node) Numbers() Numbers {
	p := n.publisher
	p.mu.Lock()
	s := Numbers{
		Table: p.numbers.table, Version: p.numbers.version, Source: p.numbers.source, At: p.numbers.at,
		Orphans: maps.Clone(p.numbers.orphans), Lower: p.numbers.lower,
	}
	p.mu.Unlock()
	if s.Version.Revision == 0 {
		s.Version, s.Source = trunkgroup.Version{Cluster: n.cfg.Cluster, Generation: 1}, SourceNone
	}
	s.Imports = n.machine.numberImports()
	return s
}

// NumbersHistory returns the changes of the number table that the cluster remembers, oldest
// first; empty after a restart until there is a leader.
func (n *Node) NumbersHistory() []fsm.NumbersRecord { return n.machine.numberHistory() }

// OnNumbers registers a function that is told of every change of the number table that comes
// into force here, with who made it and why, on the goroutine of OnTable. What came into force
// while the node was away, and reached it as a whole, is not told.
func (n *Node) OnNumbers(f func(fsm.NumbersRecord)) {
	n.publisher.onNumbers = append(n.publisher.onNumbers, f)
}

// ChangeNumbers adds, moves and removes numbers, all or none. It works on every node, waits
// until the leader has committed it, and then until this node runs it or the context ends. It
// returns the version of the table (Revision is the edition); changed is false when all was so
// already. Errors: trunkgroup.Faults, *fsm.EditionError, *RefusedError, ErrNoLeader.
func (n *Node) ChangeNumbers(ctx context.Context, e NumbersEdit) (v trunkgroup.Version, changed bool, err error) {
	before := n.newestNumbers()
	c := &fsm.Numbers{
		Step: fsm.NumbersChange, Cluster: n.cfg.Cluster, Expect: e.Expect, Author: e.Author, Reason: e.Reason,
		Key: e.Key, At: time.Now(), Rows: e.Rows,
	}
	if c.Key == "" {
		c.Key = rand.Text()
	}
	if v, err = n.commitNumbers(ctx, c); err == nil {
		n.awaitNumbers(ctx, v)
	}
	return v, v.Newer(before), err
}

// CheckNumbers says what the document in force says of changes: a group that is not there, a
// pattern that the document gives to another group. The error is trunkgroup.Faults.
func (n *Node) CheckNumbers(rows []trunkgroup.NumberChange) error {
	t := n.Table()
	if t == nil {
		return nil // a witness reads no documents, and the leader checks
	}
	set := make([]trunkgroup.NumberChange, 0, len(rows))
	for _, r := range rows {
		if r.Group != "" {
			set = append(set, r)
		}
	}
	wanted, err := (*trunkgroup.NumberTable)(nil).With(set)
	if err != nil {
		return &RefusedError{Message: err.Error()}
	}
	if faults := t.NumberConflicts(wanted); len(faults) > 0 {
		return faults
	}
	return nil
}

// commitNumbers checks a step and has it applied.
func (n *Node) commitNumbers(ctx context.Context, c *fsm.Numbers) (trunkgroup.Version, error) {
	if err := c.Check(); err != nil {
		return trunkgroup.Version{}, &RefusedError{Message: err.Error()}
	}
	if err := n.CheckNumbers(c.Rows); err != nil {
		return trunkgroup.Version{}, err
	}
	return n.commit(ctx, c.Append(nil), false)
}

// acceptNumbers is what the leader says of a change of numbers. Once there was one, a build that
// does not know it has no part in the log any more.
func (n *Node) acceptNumbers(c *fsm.Numbers) error {
	if _, v := n.machine.numberTable(); v.Revision == 0 && len(n.machine.numberImports()) == 0 {
		if err := n.allSpeak(numbersProtocol); err != nil {
			return err
		}
	}
	return n.CheckNumbers(c.Rows)
}

// newestNumbers is the highest version of the number table that this node knows of.
func (n *Node) newestNumbers() trunkgroup.Version {
	_, v := n.machine.numberTable()
	if _, running := n.publisher.numbersNow(); running.Newer(v) {
		return running
	}
	return v
}

// awaitNumbers waits until this node runs the version or a newer one.
func (n *Node) awaitNumbers(ctx context.Context, v trunkgroup.Version) {
	for {
		_, _, _, changed := n.publisher.state()
		if _, running := n.publisher.numbersNow(); !v.Newer(running) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-n.ctx.Done():
			return
		}
	}
}

// joinable refuses a document that leaves rows of the number table without their group, or
// takes numbers that it gives to another one.
func (n *Node) joinable(t *trunkgroup.Table) error {
	table, v := n.publisher.numbersNow()
	if known, of := n.machine.numberTable(); of.Newer(v) {
		table = known
	}
	if t == nil || table.Len() == 0 {
		return nil
	}
	if faults := t.NumberConflicts(table); len(faults) > 0 {
		return faults
	}
	return nil
}

// watchNumbers raises an alarm when the replay is over and the cluster's number table is still
// older than the one that runs, and ends imports whose node is gone. One goroutine calls it.
func (n *Node) watchNumbers() {
	now := time.Now()
	table, running := n.publisher.numbersNow()
	if !n.caughtUp() || n.quorumAge() > 0 {
		n.numbersLower.reset()
		return
	}
	known, v := n.machine.numberTable()
	n.numbersLower.look(now, &n.alarms, AlarmNumbersLower, "numbers", running, v, running == v && known == table)
	if n.raft.State() != raft.Leader {
		return
	}
	for _, i := range n.machine.numberImports() {
		if now.Sub(i.Last) > fsm.ImportPatience {
			n.wg.Go(func() { n.abandonImport(i.Name, n.cfg.Node, "no sign of life") })
		}
	}
}

// abandonImport drops an import; that it failed leaves the import to its end by age.
func (n *Node) abandonImport(name, author, reason string) {
	ctx, cancel := context.WithTimeout(n.ctx, rpcTimeout)
	defer cancel()
	c := &fsm.Numbers{Step: fsm.NumbersAbandon, Cluster: n.cfg.Cluster, Import: name, Author: author, Reason: reason, At: time.Now()}
	if _, err := n.commitNumbers(ctx, c); err != nil {
		n.log.Warn("an import of numbers was not abandoned; it ends by itself", "import", name, "error", err)
	}
}
