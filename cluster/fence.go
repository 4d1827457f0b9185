package cluster

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/hashicorp/raft"
)

// fence keeps a node's raft apart from that of nodes in another epoch, and from
// everybody while its disk cannot keep what raft promised. The epoch travels in the
// address field of every RPC, behind a line feed; epoch 0 sends the plain address, as
// builds do that know no epochs.
type fence struct {
	met func(Epoch) // a later epoch; must not block

	mu      sync.Mutex
	mine    Epoch
	blank   bool  // no votes, in neither direction
	shut    error // why nothing may pass
	refused uint64
}

// errEpoch refuses an RPC of another epoch.
var errEpoch = errors.New("cluster: another epoch of the configuration log")

// errResting refuses an RPC while raft does not run.
var errResting = errors.New("cluster: this node is out of the consensus")

// errBlank refuses votes of a node that lost its log.
var errBlank = errors.New("cluster: this node lost its log and does not vote")

// open lets the RPCs of an epoch pass; on a blank node all but votes.
func (f *fence) open(e Epoch, blank bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mine, f.blank, f.shut = e, blank, nil
}

// votes returns why no vote passes; nil when it does.
func (f *fence) votes() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut == nil && f.blank {
		return errBlank
	}
	return f.shut
}

// close lets nothing pass, in neither direction.
func (f *fence) close(why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shut = why
}

// passes returns why nothing passes; nil when it does.
func (f *fence) passes() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shut
}

// judge says whether an RPC that came may reach raft.
func (f *fence) judge(command any) error {
	var tag string
	if c, ok := command.(raft.WithRPCHeader); ok {
		_, tag, _ = strings.Cut(string(c.GetRPCHeader().Addr), "\n")
	}
	theirs, ok := parseTag(tag)
	f.mu.Lock()
	mine, shut := f.mine, f.shut
	if !ok || theirs.compare(mine) != 0 {
		f.refused++
	}
	f.mu.Unlock()
	switch {
	case !ok:
		return errEpoch
	case theirs.compare(mine) > 0:
		f.met(theirs)
		return fmt.Errorf("%w: this node is in epoch %d, the caller in %d", errEpoch, mine.Number, theirs.Number)
	case theirs.compare(mine) < 0:
		return fmt.Errorf("%w: the cluster was recovered: epoch %d; the caller is in %d and must rejoin", errEpoch, mine.Number, theirs.Number)
	}
	switch command.(type) {
	case *raft.RequestVoteRequest, *raft.RequestPreVoteRequest, *raft.TimeoutNowRequest:
		return f.votes()
	}
	return shut
}

// count returns how many RPCs of other epochs were refused.
func (f *fence) count() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused
}

func (f *fence) epoch() Epoch {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mine
}

// fencedTransport is raft's transport behind the fence. One life of raft has one; the
// network transport below outlives them.
type fencedTransport struct {
	*raft.NetworkTransport
	fence *fence
	rpcs  chan raft.RPC
	over  chan struct{} // closed when this life of raft ended
}

// Close hides that of the network transport, which raft would call at the end of
// each life.
func (t *fencedTransport) Close() error { return nil }

// Consumer implements raft.Transport.
func (t *fencedTransport) Consumer() <-chan raft.RPC { return t.rpcs }

// EncodePeer implements raft.Transport: the address with the epoch behind it.
func (t *fencedTransport) EncodePeer(id raft.ServerID, address raft.ServerAddress) []byte {
	b := t.NetworkTransport.EncodePeer(id, address)
	if e := t.fence.epoch(); e.Number > 0 {
		b = append(append(b, '\n'), e.tag()...)
	}
	return b
}

// DecodePeer implements raft.Transport.
func (t *fencedTransport) DecodePeer(b []byte) raft.ServerAddress {
	address, _, _ := strings.Cut(string(b), "\n")
	return raft.ServerAddress(address)
}

// SetHeartbeatHandler implements raft.Transport; the handler answers before it returns.
func (t *fencedTransport) SetHeartbeatHandler(handle func(raft.RPC)) {
	t.NetworkTransport.SetHeartbeatHandler(func(rpc raft.RPC) {
		if err := t.fence.judge(rpc.Command); err != nil {
			refuse(rpc, err)
			return
		}
		t.relay(rpc, handle)
	})
}

// relay has raft work on an RPC and passes its answer on, unless the fence was closed
// meanwhile: then raft may have promised what its disk does not hold.
func (t *fencedTransport) relay(rpc raft.RPC, work func(raft.RPC)) {
	answer := make(chan raft.RPCResponse, 1)
	work(raft.RPC{Command: rpc.Command, Reader: rpc.Reader, RespChan: answer})
	select {
	case r := <-answer:
		if err := t.fence.passes(); err != nil {
			r = raft.RPCResponse{Error: err}
		}
		rpc.RespChan <- r
	case <-t.over:
		refuse(rpc, errResting)
	}
}

// deliver gives an RPC to raft's main loop.
func (t *fencedTransport) deliver(rpc raft.RPC) {
	t.relay(rpc, func(inner raft.RPC) {
		select {
		case t.rpcs <- inner:
		case <-t.over:
		}
	})
}

// refuse answers an RPC with an error and takes what belongs to it off its stream.
func refuse(rpc raft.RPC, err error) {
	if rpc.Reader != nil {
		// A broken stream ends by itself.
		_, _ = io.Copy(io.Discard, rpc.Reader)
	}
	rpc.Respond(nil, err)
}

// AppendEntries implements raft.Transport.
func (t *fencedTransport) AppendEntries(id raft.ServerID, to raft.ServerAddress, q *raft.AppendEntriesRequest, a *raft.AppendEntriesResponse) error {
	if err := t.fence.passes(); err != nil {
		return err
	}
	return t.NetworkTransport.AppendEntries(id, to, q, a)
}

// RequestVote implements raft.Transport.
func (t *fencedTransport) RequestVote(id raft.ServerID, to raft.ServerAddress, q *raft.RequestVoteRequest, a *raft.RequestVoteResponse) error {
	if err := t.fence.votes(); err != nil {
		return err
	}
	return t.NetworkTransport.RequestVote(id, to, q, a)
}

// RequestPreVote implements raft.WithPreVote.
func (t *fencedTransport) RequestPreVote(id raft.ServerID, to raft.ServerAddress, q *raft.RequestPreVoteRequest, a *raft.RequestPreVoteResponse) error {
	if err := t.fence.votes(); err != nil {
		return err
	}
	return t.NetworkTransport.RequestPreVote(id, to, q, a)
}
