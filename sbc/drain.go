package sbc

import (
	"slices"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/drain"
)

// draining is what the server does with new calls while the node drains.
type draining struct {
	mu     sync.Mutex // an order must not overtake a later one
	phase  drain.Phase
	refuse bool
	told   b2bua.DrainOrder
}

// Drain makes a phase the one in force (DEC-19). drain.Ending is HangUp's: what it
// refuses cannot be taken back. refuse is that of drain.Status.
func (s *Server) Drain(p drain.Phase, refuse bool) {
	s.draining.mu.Lock()
	defer s.draining.mu.Unlock()
	s.draining.phase, s.draining.refuse = p, refuse
	s.tellDrain()
}

// tellDrain gives the shards their order when it has changed. The lock is held.
func (s *Server) tellDrain() {
	d := &s.draining
	order := b2bua.DrainOrder{Announce: d.phase != drain.Serving, Pass: d.phase == drain.Passing, Refuse: d.refuse}
	if order.Pass {
		order.Siblings = s.siblings()
	}
	if order.Announce == d.told.Announce && order.Pass == d.told.Pass && order.Refuse == d.told.Refuse && slices.Equal(order.Siblings, d.told.Siblings) {
		return
	}
	d.told = order
	for _, sh := range s.shards {
		sh.push(event{kind: evAsk, ask: func(core *b2bua.Shard) { core.Drain(time.Now(), order) }})
	}
}

// siblings are the nodes of this site that a new call can be passed to.
func (s *Server) siblings() []string {
	var list []string
	for _, p := range s.peers.Load().list {
		if p.Up && p.Site == s.cfg.Site && p.TakesPassed && !p.Witness && !p.Draining {
			list = append(list, p.Name)
		}
	}
	slices.Sort(list)
	return list
}

// siblingsChanged is called after each snapshot of the other nodes.
func (s *Server) siblingsChanged() {
	s.draining.mu.Lock()
	defer s.draining.mu.Unlock()
	if s.draining.phase == drain.Passing {
		s.tellDrain()
	}
}

// DrainFacts are what the node's drain goes by.
func (s *Server) DrainFacts() drain.Facts {
	st := s.Stats()
	f := drain.Facts{Calls: st.Calls, Passed: st.Passed, Streams: st.PassedStreams}
	last := int64(0)
	for _, sh := range s.shards {
		last = max(last, sh.last.Load())
	}
	if last != 0 {
		f.LastInvite = time.Unix(0, last)
	}
	return f
}

// noteLast tells when the shard's last call began, in Unix nanoseconds.
func (sh *shard) noteLast() {
	at := sh.core.LastInvite()
	if at.IsZero() {
		return
	}
	if ns := at.UnixNano(); ns != sh.last.Load() {
		sh.last.Store(ns)
	}
}
