package cluster

import (
	"errors"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/fsm"
)

// keepInterval is the time between two rounds of housekeeping; changes of leader
// and membership start one at once.
const keepInterval = time.Second

// keep does what must be done again and again: the leader's duties, the watch over
// the document's version, and the node's own metadata.
func (n *Node) keep() {
	ticker := time.NewTicker(keepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-ticker.C:
		case <-n.raft.leaders:
		case <-n.nudge:
		}
		n.keepLife(time.Now())
		n.watchQuorum()
		n.takeCensus(time.Now())
		n.publisher.poke()
		n.watchVersion()
		n.watchNumbers()
		n.watchDecks()
		n.condense()
		n.watchClocks()
		if n.raft.State() == raft.Leader {
			n.lead()
		}
		n.offerInitial()
		n.flushMeta()
	}
}

// lead does the duties of a leader.
func (n *Node) lead() {
	servers, ok := n.servers()
	if !ok {
		return
	}
	if n.cfg.Witness && n.yield(servers) {
		return
	}
	if n.admit(servers) {
		return // the configuration is another one now
	}
	n.tend(servers, time.Now())
}

// yield gives leadership to a voter that is no witness and is reachable.
func (n *Node) yield(servers []raft.Server) bool {
	witness := make(map[string]bool)
	for _, m := range n.gossip.Members() {
		witness[m.Name] = m.Meta.Witness
	}
	for _, s := range servers {
		name := string(s.ID)
		p, known := n.ic.Peer(name)
		if s.Suffrage != raft.Voter || witness[name] || !known || !p.Up {
			continue
		}
		err := n.raft.do(func(r *raft.Raft) raft.Future { return r.LeadershipTransferToServer(s.ID, s.Address) })
		if err == nil {
			n.log.Info("the witness gave leadership away", "to", name)
			return true
		}
		n.log.Debug("leadership was not taken", "by", name, "error", err)
	}
	return false
}

// admit adds members that follow without a vote, and corrects addresses. It reports
// whether it changed anything.
func (n *Node) admit(servers []raft.Server) (changed bool) {
	have := make(map[string]raft.Server, len(servers))
	for _, s := range servers {
		have[string(s.ID)] = s
	}
	for _, m := range n.gossip.Members() {
		address := raft.ServerAddress(m.Meta.Raft)
		if address == "" || m.Meta.Resting {
			continue
		}
		if m.Meta.Protocol < epochProtocol && n.lives.standing.Load().Mine.Number > 0 {
			continue // it would not know that its own log is of another epoch
		}
		s, known := have[m.Name]
		var err error
		switch {
		case !known:
			err = n.raft.do(func(r *raft.Raft) raft.Future { return r.AddNonvoter(raft.ServerID(m.Name), address, 0, rpcTimeout) })
		case s.Address == address:
			continue
		case s.Suffrage == raft.Voter:
			err = n.raft.do(func(r *raft.Raft) raft.Future { return r.AddVoter(s.ID, address, 0, rpcTimeout) })
		default:
			err = n.raft.do(func(r *raft.Raft) raft.Future { return r.AddNonvoter(s.ID, address, 0, rpcTimeout) })
		}
		if err != nil {
			n.log.Warn("a member was not admitted", "peer", m.Name, "error", err)
			return changed
		}
		changed = true
		n.log.Info("member admitted", "peer", m.Name, "address", address, "known", known)
	}
	return changed
}

// offerInitial proposes the document to begin with, as long as the cluster has none.
func (n *Node) offerInitial() {
	if len(n.cfg.Initial) == 0 || n.offering.Load() {
		return
	}
	running, _, _, _ := n.publisher.state()
	if running.Version.Revision > 0 {
		return
	}
	if _, id := n.raft.LeaderWithID(); id == "" || !n.caughtUp() {
		return
	}
	if _, ok := n.machine.current(); ok {
		return
	}
	n.offering.Store(true)
	n.wg.Go(func() {
		defer n.offering.Store(false)
		none := uint64(0)
		v, err := n.Propose(n.ctx, Change{
			Document: n.cfg.Initial, Author: "node " + n.cfg.Node, Reason: "initial document", ExpectRevision: &none,
		})
		var conflict *fsm.ConflictError
		switch {
		case err == nil:
			n.log.Info("initial document is the cluster's", "version", v.String())
		case errors.As(err, &conflict):
			// Another node was first.
		default:
			n.log.Warn("initial document was not taken", "error", err)
		}
	})
}

// servers returns raft's latest configuration.
func (n *Node) servers() ([]raft.Server, bool) {
	servers, err := n.raft.servers()
	if err != nil {
		n.log.Debug("raft configuration is not known", "error", err)
		return nil, false
	}
	return servers, true
}
