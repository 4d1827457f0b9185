package sbc

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"sync"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// This file is about requests that another node sends by our sockets, since we
// alone have the connection or the pinhole to a far end (DEC-15). Its responses
// go to that node by the From tag; a request that did not get out is told here.

// FrameUnsent tells a node that requests which it sent through this one did not
// get through. A node of an earlier version ignores it.
const FrameUnsent byte = 48

// unsent says why a request did not get through.
type unsent uint8

const (
	unsentFlow  unsent = iota + 1 // its connection has ended
	unsentNever                   // no byte of it left, for another reason
	unsentLost                    // it may have left
)

// errRemote is the failure of a request at the node that sent it for us.
var errRemote = errors.New("the node that reaches the far end could not send")

// unsentOf sorts a transport's error.
func unsentOf(err error) unsent {
	switch {
	case errors.Is(err, transport.ErrFlowGone):
		return unsentFlow
	case b2bua.NeverSent(err):
		return unsentNever
	}
	return unsentLost
}

func (u unsent) err() error {
	switch u {
	case unsentFlow:
		return transport.ErrFlowGone
	case unsentNever:
		return transport.ErrNotSent
	}
	return errRemote
}

// unsentLen is the length of one request in a FrameUnsent: its branch, and why.
const unsentLen = 8 + 1

func appendUnsent(dst []byte, token uint64, u unsent) []byte {
	return append(binary.BigEndian.AppendUint64(dst, token), byte(u))
}

func readUnsent(b []byte, fn func(token uint64, u unsent)) error {
	for ; len(b) >= unsentLen; b = b[unsentLen:] {
		fn(binary.BigEndian.Uint64(b), unsent(b[8]))
	}
	if len(b) != 0 {
		return errFrame
	}
	return nil
}

// frameUnsent takes the news of requests that did not get through.
func (s *Server) frameUnsent(payload []byte) error {
	return readUnsent(payload, func(token uint64, u unsent) { s.failed(token, u.err()) })
}

// keepRelayed is how many requests of other nodes are remembered, so that the
// failure of one finds back.
const keepRelayed = 1 << 12

// relayed remembers which node sent a request through us, the latest ones only:
// a failure shows within seconds.
type relayed struct {
	mu    sync.Mutex
	nodes map[uint64]string
	ring  [keepRelayed]uint64
	next  int
}

// note remembers a request by its branch.
func (r *relayed) note(token uint64, node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.nodes == nil {
		r.nodes = make(map[uint64]string)
	}
	if _, known := r.nodes[token]; !known {
		delete(r.nodes, r.ring[r.next])
		r.ring[r.next] = token
		r.next = (r.next + 1) % keepRelayed
	}
	r.nodes[token] = node
}

// of returns the node that sent a request through us.
func (r *relayed) of(token uint64) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	node, ok := r.nodes[token]
	return node, ok
}

// emit puts a message of another node out by one of our sockets.
func (s *Server) emit(from string, e envelope, raw []byte) {
	t := transport.Target{Transport: e.transport, Addr: e.remote, Listener: e.listener, Flow: e.flow}
	if e.local.IsValid() {
		t.Listener = s.listenerAt(e.transport, e.local)
	}
	ref := requestToken(raw)
	if ref != 0 {
		s.relayed.note(ref, from)
	}
	s.emitMu.Lock()
	defer s.emitMu.Unlock()
	s.emits.Send(t, raw, ref)
	s.emits.Flush()
}

// requestToken is the branch of a request of ours that gets an answer, 0 for all else.
func requestToken(raw []byte) uint64 {
	if method, code := sip.Kind(raw); code != 0 || method == sip.ACK {
		return 0
	}
	b, ok := b2bua.ParseBranch(transport.BranchOf(raw))
	if !ok {
		return 0
	}
	return b.Token
}

// listenerAt returns the listener that receives what is sent to an address; -1,
// the first that fits, when that is not bound any more.
func (s *Server) listenerAt(t trunkgroup.Transport, local netip.AddrPort) int {
	for i, l := range s.cfg.Listeners {
		if l.Transport == t && b2bua.BoundAt(s.set.Addr(i), local) {
			return i
		}
	}
	return -1
}

// failed tells the shard, or the node, that sent a request that it did not get
// through.
func (s *Server) failed(ref uint64, err error) {
	if node, ok := s.relayed.of(ref); ok {
		s.inter.Send(node, FrameUnsent, appendUnsent(nil, ref, unsentOf(err)))
		return
	}
	s.shards[int(ref>>56)%len(s.shards)].push(event{kind: evFailed, ref: ref, err: err})
}
