package cluster

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/cluster/hello"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

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
		switch {
		case err != nil:
			last = err
		case a.message == raft.ErrLeadershipLost.Error():
			// It is in the log of a leader that was lost.
			last = fmt.Errorf("%s: the change may still come into force, look before you make another one", a.message)
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
	seats := n.takeCensus(now)
	for _, s := range servers {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		if seats[string(s.ID)].blank {
			continue
		}
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
		return a.version, conflictOf(command, a.version)
	}
	return a.version, &RefusedError{Message: a.message}
}

// conflictOf says that the author of a command saw another revision or edition than the
// current one.
func conflictOf(command []byte, have trunkgroup.Version) error {
	saw := func(expect *uint64) uint64 {
		if expect == nil {
			return 0
		}
		return *expect
	}
	e := &fsm.ConflictError{Have: have}
	switch c, _ := fsm.Decode(command); c := c.(type) {
	case *fsm.Set:
		e.Expected = saw(c.Expect)
	case *fsm.Stage:
		e.Expected = saw(c.Expect)
	case *fsm.Numbers:
		return &fsm.EditionError{Expected: saw(c.Expect), Have: have}
	case *fsm.Decks:
		return &fsm.DecksEditionError{Expected: saw(c.Expect), Have: have}
	}
	return e
}

// noLeader says why a write is not possible, in an operator's words.
func (n *Node) noLeader(last error) error {
	s := n.Status()
	if s.Raft.State == raft.Shutdown.String() {
		return fmt.Errorf("%w: this node is out of the consensus, see its alarms; make the change on another node; calls go on with revision %d.%d",
			ErrNoLeader, s.Running.Generation, s.Running.Revision)
	}
	var up, away, blank []string
	seats := n.takeCensus(time.Now())
	for _, v := range s.Raft.Servers {
		switch {
		case !v.Voter:
		case seats[v.Name].blank:
			blank = append(blank, v.Name)
		case v.Reachable:
			up = append(up, v.Name)
		default:
			away = append(away, v.Name)
		}
	}
	all := len(up) + len(away) + len(blank)
	lost := ""
	if len(blank) > 0 {
		lost = ", without a log and a vote: [" + strings.Join(blank, " ") + "]"
	}
	err := fmt.Errorf("%w: a change needs %d of %d voters; reachable: [%s], not reachable: [%s]%s; calls go on with revision %d.%d",
		ErrNoLeader, all/2+1, all, strings.Join(up, " "), strings.Join(away, " "), lost, s.Running.Generation, s.Running.Revision)
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
