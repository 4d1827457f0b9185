package cluster

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/cluster/hello"
)

// serveTimeout bounds how long the leader works on one proposal.
const serveTimeout = 10 * time.Second

// maxProposals bounds how many proposals of other nodes are served at once.
const maxProposals = 8

// serveProposal takes a proposal stream of another node.
func (n *Node) serveProposal(conn net.Conn, from hello.Remote) {
	select {
	case n.proposals <- struct{}{}:
	default:
		// The proposer tries again.
		_ = conn.Close()
		return
	}
	if !n.track(conn) {
		<-n.proposals
		return
	}
	go func() {
		defer func() { <-n.proposals }()
		defer n.untrack(conn)
		if err := n.answerProposal(conn); err != nil {
			n.log.Debug("proposal was not served", "peer", from.Node, "error", err)
		}
	}()
}

func (n *Node) answerProposal(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(serveTimeout)); err != nil {
		return err
	}
	command, err := readBlock(conn, maxCommand)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(n.ctx, serveTimeout)
	defer cancel()
	a := n.apply(ctx, command)
	return writeBlock(conn, a.append(nil))
}

// acceptable is what the leader says of a command beyond its bounds.
func (n *Node) acceptable(c fsm.Command) error {
	switch c := c.(type) {
	case *fsm.Set:
		t, err := n.validate(c.Document, c.Generation)
		if err == nil && c.Generation == 0 {
			err = n.joinable(t) // what a restore leaves behind is told by an alarm
		}
		return err
	case *fsm.Stage:
		return errors.Join(n.allSpeak(canaryProtocol), n.validateCanary(c))
	case *fsm.Recall:
		return n.allSpeak(canaryProtocol)
	case *fsm.Numbers:
		return n.acceptNumbers(c)
	case *fsm.Decks:
		return n.acceptDecks()
	}
	return nil
}

// apply is the leader's part: it checks the command again, since this build may
// know better than the proposer's, and commits it.
func (n *Node) apply(ctx context.Context, command []byte) answer {
	if o, ok := parseRemoval(command); ok {
		return n.expel(o)
	}
	c, err := fsm.Decode(command)
	if err == nil {
		err = c.Check()
	}
	if err == nil {
		err = n.acceptable(c)
	}
	if err != nil {
		return answer{verdict: verdictRefused, message: err.Error()}
	}
	n.turn.wait(ctx, c)
	timeout := serveTimeout
	if at, ok := ctx.Deadline(); ok {
		timeout = max(min(timeout, time.Until(at)), time.Millisecond)
	}
	response, err := n.raft.apply(command, timeout)
	if err != nil {
		// Whatever it is (lost leadership, transfer, shutdown), the same command may
		// be proposed again without harm.
		n.log.Debug("a change was not committed", "error", err)
		return answer{verdict: verdictRetry, message: err.Error()}
	}
	result, ok := response.(fsm.Result)
	if !ok {
		return answer{verdict: verdictRefused, message: "cluster: unexpected response of the state machine"}
	}
	n.turn.note(c, result.Err)
	var conflict *fsm.ConflictError
	var edition *fsm.EditionError
	var decks *fsm.DecksEditionError
	switch {
	case errors.As(result.Err, &conflict):
		return answer{verdict: verdictConflict, version: conflict.Have}
	case errors.As(result.Err, &edition):
		return answer{verdict: verdictConflict, version: edition.Have}
	case errors.As(result.Err, &decks):
		return answer{verdict: verdictConflict, version: decks.Have}
	case result.Err != nil:
		return answer{verdict: verdictRefused, version: result.Version, message: result.Err.Error()}
	}
	return answer{verdict: verdictDone, version: result.Version}
}
