package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Change is a new cluster document.
type Change struct {
	Document []byte
	Author   string
	Reason   string
	// ExpectRevision, when set, is the revision that the author saw; the change is
	// refused with *fsm.ConflictError when another one is current.
	ExpectRevision *uint64
	// Key makes the change idempotent: a second one with the same key is answered as
	// the first. Empty: Propose makes one for its own repetitions.
	Key string
	// RaiseGeneration makes the document win over every table that runs anywhere: for
	// restore and recovery (DEC-14).
	RaiseGeneration bool
}

// ErrNoLeader is returned by Propose when no leader answered in time: there is no
// quorum of voters, or this node is cut off. The change may or may not be applied
// later if the leader was lost after it was sent; repeating it with the same Key is
// safe.
var ErrNoLeader = errors.New("cluster: no leader")

// RefusedError is the refusal of a change by this node or the leader.
type RefusedError struct{ Message string }

// Error implements error.
func (e *RefusedError) Error() string { return e.Message }

// DefaultProposeTimeout is used when the context of Propose has no deadline.
const DefaultProposeTimeout = 15 * time.Second

// retryPause is the time between two attempts to reach the leader.
const retryPause = 100 * time.Millisecond

// Propose makes the document the cluster's. It works on every node, waits until the
// leader has committed it, and then until this node runs it or the context ends.
// Errors: what Compile says of the document, *fsm.ConflictError, *RefusedError,
// ErrNoLeader.
func (n *Node) Propose(ctx context.Context, c Change) (trunkgroup.Version, error) {
	command, err := n.command(c)
	if err != nil {
		return trunkgroup.Version{}, err
	}
	return n.commit(ctx, command, true)
}

// commit has a command applied and, when wait is set, waits until this node runs
// what came of it.
func (n *Node) commit(ctx context.Context, command []byte, wait bool) (trunkgroup.Version, error) {
	if _, ok := n.running(); !ok {
		return trunkgroup.Version{}, fmt.Errorf("%w: this node is not started", ErrNoLeader)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, DefaultProposeTimeout)
		defer cancel()
	}
	version, err := n.submit(ctx, command)
	if err == nil && wait {
		n.awaitVersion(ctx, version)
	}
	return version, err
}

// Check says what Propose would say of a change before it asks the leader, and the
// version that the change would get now. Errors: what Compile says of the document,
// *fsm.ConflictError, *RefusedError.
func (n *Node) Check(c Change) (trunkgroup.Version, error) {
	v := n.newest()
	if c.ExpectRevision != nil && *c.ExpectRevision != v.Revision {
		return v, &fsm.ConflictError{Expected: *c.ExpectRevision, Have: v}
	}
	_, err := n.command(c)
	v.Revision++
	return v, err
}

// command validates a change and encodes it.
func (n *Node) command(c Change) ([]byte, error) {
	set := n.set(c)
	if err := set.Check(); err != nil {
		return nil, &RefusedError{Message: err.Error()}
	}
	t, err := n.validate(set.Document, set.Generation)
	if err == nil && set.Generation == 0 {
		err = n.joinable(t)
	}
	return set.Append(nil), err
}

// set is the command of a change.
func (n *Node) set(c Change) *fsm.Set {
	set := &fsm.Set{
		Cluster: n.cfg.Cluster, Expect: c.ExpectRevision, Author: c.Author, Reason: c.Reason,
		Key: c.Key, At: time.Now(), Document: c.Document,
	}
	if set.Key == "" {
		set.Key = rand.Text()
	}
	if c.RaiseGeneration {
		set.Generation = n.newest().Generation + 1
	}
	return set
}

// validate compiles a document as it would be the next revision; generation 0 is the
// current one. Errors: trunkgroup.Faults and *RefusedError.
func (n *Node) validate(document []byte, generation uint64) (*trunkgroup.Table, error) {
	next := n.newest()
	next.Generation = max(next.Generation, generation)
	next.Revision++
	t, err := n.cfg.table(document, next)
	if _, faults := errors.AsType[trunkgroup.Faults](err); err != nil && !faults {
		err = &RefusedError{Message: err.Error()}
	}
	return t, err
}

// newest returns the highest version that this node knows of.
func (n *Node) newest() trunkgroup.Version {
	running, _, _, _ := n.publisher.state()
	v := trunkgroup.Version{Cluster: n.cfg.Cluster, Generation: 1}
	if known := n.machine.version(); known.Revision > 0 {
		v = known
	}
	if running.Version.Newer(v) {
		v = running.Version
	}
	return v
}
