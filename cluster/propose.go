package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/cluster/hello"
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
	_, err := n.validate(set.Document, set.Generation)
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

// submit brings the command to the leader, whoever that is, until one answers. It
// gives up at once when there can be no leader, and soon when there is none although
// there could be.
func (n *Node) submit(ctx context.Context, command []byte) (trunkgroup.Version, error) {
	var last error
	patience := time.Now().Add(max(electionPatience, 10*n.cfg.RaftTimeout))
	for {
		a, err := n.attempt(ctx, command)
		if err == nil && a.verdict != verdictRetry {
			return n.conclude(a, command)
		}
		if err != nil {
			last = err
		}
		if now := time.Now(); n.hopeless(now) || !now.Before(patience) {
			return trunkgroup.Version{}, n.noLeader(last)
		}
		pause := time.NewTimer(retryPause)
		select {
		case <-ctx.Done():
			pause.Stop()
			return trunkgroup.Version{}, n.noLeader(last)
		case <-n.ctx.Done():
			pause.Stop()
			return trunkgroup.Version{}, fmt.Errorf("%w: this node is stopping", ErrNoLeader)
		case <-pause.C:
		}
	}
}

// electionPatience is how long a change waits for a leader that could be elected.
const electionPatience = 10 * time.Second

// hopeless reports that no leader can be elected as far as this node sees: too few
// voters are reachable, or this node has no part in the consensus. A node that has
// just started has not met the others yet.
func (n *Node) hopeless(now time.Time) bool {
	if now.Sub(n.started) < max(electionPatience, 10*n.cfg.RaftTimeout) {
		return false
	}
	servers, ok := n.servers()
	if !ok {
		return true
	}
	voters, reachable := 0, 0
	for _, s := range servers {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		if p, known := n.ic.Peer(string(s.ID)); known && p.Up || string(s.ID) == n.cfg.Node {
			reachable++
		}
	}
	return reachable < voters/2+1
}

// dialTimeout bounds a connect to the leader.
const dialTimeout = 2 * time.Second

// attempt asks the present leader once; without one the answer is to try again.
func (n *Node) attempt(ctx context.Context, command []byte) (answer, error) {
	address, id := n.raft.LeaderWithID()
	if id == "" {
		return answer{verdict: verdictRetry}, nil
	}
	if id == raft.ServerID(n.cfg.Node) {
		return n.apply(ctx, command), nil
	}
	leader := string(id)
	if p, known := n.ic.Peer(leader); known && !p.Up {
		return answer{}, fmt.Errorf("cluster: the leader %s is not reachable", leader)
	}
	dialing, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, _, err := n.ic.Dial(dialing, string(address), hello.Propose, leader)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = conn.Close() }()
	asking, done := context.WithCancel(ctx)
	defer done()
	go n.attend(asking, conn, leader)
	if err := conn.SetDeadline(time.Now().Add(serveTimeout + rpcTimeout)); err != nil {
		return answer{}, fmt.Errorf("cluster: ask the leader %s: %w", id, err)
	}
	if err := writeBlock(conn, command); err != nil {
		return answer{}, fmt.Errorf("cluster: ask the leader %s: %w", id, err)
	}
	b, err := readBlock(conn, maxMessage+64)
	if err != nil {
		return answer{}, fmt.Errorf("cluster: ask the leader %s: %w", id, err)
	}
	return parseAnswer(b)
}

// attend closes a stream to the leader when the context ends or the leader is lost,
// so that a change does not wait for somebody who is gone.
func (n *Node) attend(ctx context.Context, conn net.Conn, leader string) {
	tick := time.NewTicker(retryPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			_ = conn.Close()
			return
		case <-tick.C:
			if p, known := n.ic.Peer(leader); known && !p.Up {
				_ = conn.Close()
				return
			}
		}
	}
}

// conclude turns an answer into Propose's result.
func (n *Node) conclude(a answer, command []byte) (trunkgroup.Version, error) {
	a.version.Cluster = n.cfg.Cluster
	switch a.verdict {
	case verdictDone:
		return a.version, nil
	case verdictConflict:
		e := &fsm.ConflictError{Have: a.version}
		if expect := expected(command); expect != nil {
			e.Expected = *expect
		}
		return a.version, e
	}
	return a.version, &RefusedError{Message: a.message}
}

// expected is the revision that the author of a command saw; nil when it names none.
func expected(command []byte) *uint64 {
	switch c, _ := fsm.Decode(command); c := c.(type) {
	case *fsm.Set:
		return c.Expect
	case *fsm.Stage:
		return c.Expect
	}
	return nil
}

// noLeader says why a write is not possible, in an operator's words.
func (n *Node) noLeader(last error) error {
	s := n.Status()
	if s.Raft.State == raft.Shutdown.String() {
		return fmt.Errorf("%w: this node is out of the consensus, see its alarms; make the change on another node; calls go on with revision %d",
			ErrNoLeader, s.Running.Revision)
	}
	var up, away []string
	for _, v := range s.Raft.Servers {
		switch {
		case !v.Voter:
		case v.Reachable:
			up = append(up, v.Name)
		default:
			away = append(away, v.Name)
		}
	}
	err := fmt.Errorf("%w: a change needs %d of %d voters; reachable: [%s], not reachable: [%s]; calls go on with revision %d",
		ErrNoLeader, (len(up)+len(away))/2+1, len(up)+len(away), strings.Join(up, " "), strings.Join(away, " "), s.Running.Revision)
	if last != nil {
		err = fmt.Errorf("%w (last attempt: %w)", err, last)
	}
	return err
}

// awaitVersion waits until this node runs the version or a newer one.
func (n *Node) awaitVersion(ctx context.Context, v trunkgroup.Version) {
	for {
		running, _, _, changed := n.publisher.state()
		if !v.Newer(running.Version) {
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
