package sbc

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/mint"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

var errUnreachable = errors.New("the node cannot be reached over the interconnect")

// peers is a snapshot of the other nodes.
type peers struct {
	list   []Peer
	nodes  []geo.PeerNode // those that take calls
	byName map[string]Peer
	byID   map[uint32]Peer
}

// SetPeers takes what the interconnect knows of the other nodes now. A node
// that went down loses its open INVITEs (DEC-15), also when it is back before
// this snapshot was taken: what was on the way is lost all the same.
func (s *Server) SetPeers(list []Peer) {
	next := &peers{list: list, byName: make(map[string]Peer, len(list)), byID: make(map[uint32]Peer, len(list))}
	for _, p := range list {
		next.byName[p.Name] = p
		next.byID[mint.NodeID(p.Name)] = p
		if !p.Witness && p.Site != s.cfg.Site {
			next.nodes = append(next.nodes, geo.PeerNode{
				Name: p.Name, Site: p.Site, RTT: p.RTT, Fresh: p.Up, Draining: p.Draining, Load: p.Load,
			})
		}
	}
	s.phase.Store(s.phaseOf(list))
	old := s.peers.Swap(next)
	s.siblingsChanged()
	for name, was := range old.byName {
		if now := next.byName[name]; was.Up && (!now.Up || now.Boot != was.Boot || !now.Since.Equal(was.Since)) {
			for _, sh := range s.shards {
				sh.push(event{kind: evNodeLost, node: name})
			}
		}
	}
}

// Frame takes a frame that another node sent over the interconnect. payload is
// the server's to keep.
func (s *Server) Frame(from string, kind byte, payload []byte) {
	var err error
	switch kind {
	case FrameSIP:
		err = s.frameSIP(from, payload)
	case FrameForward:
		err = s.frameForward(from, payload)
	case FrameEmit:
		err = s.frameEmit(from, payload)
	case FrameUnsent:
		err = s.frameUnsent(payload)
	case FrameOpen:
		err = readOpens(payload, func(o b2bua.Open) { s.shared(from, o) })
	}
	if err != nil {
		s.log.Warn("frame of another node dropped",
			slog.String("peer", from), slog.Int("kind", int(kind)), slog.Any("error", err))
	}
}

func (s *Server) frameSIP(from string, payload []byte) error {
	m, fault := sip.Parse(payload)
	if fault != nil {
		return fault
	}
	p := b2bua.Packet{Packet: transport.Packet{Message: m, Transport: trunkgroup.Interconnect}, Peer: from}
	s.shardOf(m).accept(p)
	return nil
}

// frameForward takes a request, or the response to one of ours, that belongs here. It keeps its original source
// and listener, so that the source checks are the same as at the other node
// (DEC-09), and its answers go back through that node.
func (s *Server) frameForward(from string, payload []byte) error {
	e, raw, err := readEnvelope(payload)
	if err != nil {
		return err
	}
	m, fault := sip.Parse(raw)
	if fault != nil {
		return fault
	}
	p := b2bua.Packet{
		Packet: transport.Packet{
			Message: m, Source: e.remote, Local: e.local, Transport: e.transport, Listener: e.listener, Flow: e.flow,
		},
		Relay: from,
	}
	s.shardOf(m).accept(p)
	return nil
}

func (s *Server) frameEmit(from string, payload []byte) error {
	e, raw, err := readEnvelope(payload)
	if err != nil {
		return err
	}
	s.emit(from, e, raw)
	return nil
}

func (s *Server) shared(from string, o b2bua.Open) {
	e := event{kind: evShared, node: from, open: o}
	if o.CallHash == 0 {
		for _, sh := range s.shards {
			sh.push(e)
		}
		return
	}
	s.shards[o.CallHash%uint64(len(s.shards))].push(e)
}

// pings are the probes that wait for their outcome.
type pings struct {
	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan b2bua.PingResult
}

func (p *pings) done(token uint64, r b2bua.PingResult) {
	p.mu.Lock()
	ch := p.waiting[token]
	delete(p.waiting, token)
	p.mu.Unlock()
	if ch != nil {
		ch <- r
	}
}

// Ping sends one OPTIONS to a member at one of its addresses and waits for its
// final response, or until ctx ends: the prober's patience is its own and
// shorter than timer F. A zero code without error means that nobody answered.
func (s *Server) Ping(ctx context.Context, m *trunkgroup.Member, addr netip.AddrPort) (code int, rtt, retryAfter time.Duration, err error) {
	ch := make(chan b2bua.PingResult, 1)
	s.pings.mu.Lock()
	s.pings.next++
	token := s.pings.next
	s.pings.waiting[token] = ch
	s.pings.mu.Unlock()
	order := b2bua.PingOrder{Token: token, Candidate: trunkgroup.Candidate{Member: m, Addr: addr, Dialable: true}}
	if d, ok := ctx.Deadline(); ok {
		order.Until = d
	}
	s.shards[token%uint64(len(s.shards))].push(event{kind: evPing, ping: order})
	select {
	case r := <-ch:
		return r.Code, r.RTT, r.RetryAfter, r.Err
	case <-ctx.Done():
		s.pings.mu.Lock()
		delete(s.pings.waiting, token)
		s.pings.mu.Unlock()
		return 0, 0, 0, nil
	}
}

// Calls lists up to limit calls of this node. The shards answer between two
// messages; ctx bounds the wait.
func (s *Server) Calls(ctx context.Context, limit int) ([]b2bua.CallInfo, error) {
	answers := make(chan []b2bua.CallInfo, len(s.shards))
	for _, sh := range s.shards {
		sh.push(event{kind: evAsk, ask: func(core *b2bua.Shard) { answers <- core.Snapshot(limit) }})
	}
	var list []b2bua.CallInfo
	for range s.shards {
		select {
		case part := <-answers:
			list = append(list, part...)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return list[:min(limit, len(list))], nil
}
