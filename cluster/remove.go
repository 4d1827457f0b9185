package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/cluster/interconnect"
	"github.com/tandem-sbc/tandem/internal/octets"
)

// Removal is an order to take a node out of the cluster for good.
type Removal struct {
	Node   string
	Author string
	Reason string
	// Few allows that less than three voters are left.
	Few bool
}

// ErrUnknownNode is returned by Remove for a node that this one has never heard of.
var ErrUnknownNode = errors.New("cluster: no such node")

// kindRemoved is the kind of frames that tell of a node that was removed; see absence.
const kindRemoved byte = 242

// kindRemoval follows the version of a proposal that is no command of the log: it
// changes the membership of the consensus, which raft keeps itself. It is far above
// the kinds of package fsm, so that a leader of a version before this one refuses it.
const kindRemoval byte = 240

// absence says of which life of a node it was removed: a later one is a member again.
type absence struct {
	Node string `json:"node"`
	Boot uint64 `json:"boot"`
	// Again is an old removal, told to a peer that may have missed it.
	Again bool `json:"again,omitempty"`
}

// removed are the nodes that this node does not look for any more although its file
// names them. It is forgotten at a restart: by then the file should not name them.
type removed struct {
	mu    sync.Mutex
	boots map[string]uint64
}

// Remove takes a node that has stopped out of the consensus, and has all nodes that can
// be reached forget it. A node that gives a sign of life by any path is not removed: it
// would be back at once. One that is started again later is a member again. Errors:
// ErrUnknownNode, *RefusedError, ErrNoLeader.
func (n *Node) Remove(ctx context.Context, o Removal) error {
	if _, ok := n.running(); !ok {
		return fmt.Errorf("%w: this node is not started", ErrNoLeader)
	}
	if o.Node == n.cfg.Node {
		return &RefusedError{Message: "a node does not remove itself: stop it, and ask another one"}
	}
	boot, ok := n.heardOf(o.Node)
	if !ok {
		return fmt.Errorf("%w: %s", ErrUnknownNode, o.Node)
	}
	if err := n.awaitDeath(ctx, o.Node); err != nil {
		return err
	}
	if _, err := n.commit(ctx, o.append(nil), false); err != nil {
		return err
	}
	gone := absence{Node: o.Node, Boot: boot}
	n.drop(gone)
	for _, p := range n.ic.Peers() {
		if p.Up {
			n.tellRemoved(p.Name, gone)
		}
	}
	n.log.Warn("node removed", "peer", o.Node, "author", o.Author, "reason", o.Reason)
	return nil
}

// tellRemoved gives a peer the word of a removal.
func (n *Node) tellRemoved(peer string, a absence) {
	payload, err := json.Marshal(a)
	if err != nil {
		n.log.Error("a removal is not told", "peer", peer, "error", err)
		return
	}
	n.ic.Send(peer, kindRemoved, payload)
}

// heardOf returns the last known boot of a node, and whether anything names it.
func (n *Node) heardOf(name string) (boot uint64, ok bool) {
	for _, m := range n.gossip.Members() {
		if m.Name == name {
			boot, ok = m.Meta.Boot, true
		}
	}
	if p, known := n.ic.Peer(name); known {
		boot, ok = max(boot, p.Boot), true
	}
	servers, _ := n.servers()
	for _, s := range servers {
		ok = ok || string(s.ID) == name
	}
	return boot, ok
}

// deathPatience is how long a node that has just stopped may still be held to live.
const deathPatience = 8 * time.Second

// awaitDeath returns nil once the node gives no sign of life, and else which it gives.
func (n *Node) awaitDeath(ctx context.Context, name string) error {
	end := time.Now().Add(deathPatience)
	for {
		var sign Reach
		for _, r := range n.reach(ctx, []raft.Server{n.serverOf(name)}) {
			sign = r
		}
		if !sign.any() {
			return nil
		}
		if !time.Now().Before(end) {
			return &RefusedError{Message: sign.String() + ": stop it first"}
		}
		pause := time.NewTimer(retryPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return &RefusedError{Message: sign.String() + ": stop it first"}
		case <-n.ctx.Done():
			pause.Stop()
			return errStopping
		}
	}
}

// serverOf is the node as a member of the consensus, of which it may be none.
func (n *Node) serverOf(name string) raft.Server {
	servers, _ := n.servers()
	for _, s := range servers {
		if string(s.ID) == name {
			return s
		}
	}
	none := raft.Server{ID: raft.ServerID(name), Suffrage: raft.Nonvoter}
	if p, ok := n.ic.Peer(name); ok {
		none.Address = raft.ServerAddress(p.Address)
	}
	return none
}

// append encodes the order for the leader.
func (o *Removal) append(dst []byte) []byte {
	few := byte(0)
	if o.Few {
		few = 1
	}
	dst = append(dst, fsm.CommandVersion, kindRemoval, few)
	dst = octets.Append(dst, o.Node)
	dst = octets.Append(dst, o.Author)
	return octets.Append(dst, o.Reason)
}

// parseRemoval reads what append wrote; false for everything else.
func parseRemoval(b []byte) (Removal, bool) {
	r := octets.Read(b)
	version, kind, few := r.Octet(), r.Octet(), r.Octet()
	o := Removal{Few: few == 1, Node: r.Text(fsm.MaxName), Author: r.Text(fsm.MaxName), Reason: r.Text(fsm.MaxReason)}
	return o, r.End() && version == fsm.CommandVersion && kind == kindRemoval && few <= 1 && o.Node != ""
}

// expel is the leader's part of Remove. A voter leaves its vote to a node of its site
// that has none, if there is one.
func (n *Node) expel(o Removal) answer {
	servers, ok := n.servers()
	if !ok {
		return answer{verdict: verdictRetry}
	}
	e := electorate{seats: n.takeCensus(time.Now()), servers: servers, now: time.Now(), cfg: &n.cfg}
	heir, why := e.bequeath(o)
	if why != "" {
		return answer{verdict: verdictRefused, message: why}
	}
	var err error
	if heir.ID != "" {
		err = n.raft.do(func(r *raft.Raft) raft.Future { return r.AddVoter(heir.ID, heir.Address, 0, rpcTimeout) })
	}
	if err == nil {
		err = n.raft.do(func(r *raft.Raft) raft.Future { return r.RemoveServer(raft.ServerID(o.Node), 0, rpcTimeout) })
	}
	if err != nil {
		n.log.Debug("a node was not removed", "peer", o.Node, "error", err)
		return answer{verdict: verdictRetry, message: err.Error()}
	}
	n.log.Warn("the consensus was changed", "step", remove, "peer", o.Node, "author", o.Author, "reason", o.Reason, "heir", string(heir.ID))
	return answer{verdict: verdictDone, version: n.newest()}
}

// bequeath says who gets the vote of a node that is removed, and what speaks against
// the removal.
func (e *electorate) bequeath(o Removal) (heir raft.Server, why string) {
	var lost raft.Server
	voters := 0
	for _, s := range e.servers {
		if s.Suffrage == raft.Voter {
			voters++
		}
		if string(s.ID) == o.Node {
			lost = s
		}
	}
	if seat := e.seats[o.Node]; seat.alive || seat.gossiped {
		return raft.Server{}, o.Node + " lives, as the leader sees it: stop it first"
	}
	if lost.ID == "" || lost.Suffrage != raft.Voter {
		return raft.Server{}, ""
	}
	if s, ok := e.successor(lost); ok {
		return s, ""
	}
	if voters-1 < fewVoters && !o.Few {
		return raft.Server{}, fmt.Sprintf("%d voters would be left, of which no one may fail: start another node first, or say --few", voters-1)
	}
	return raft.Server{}, ""
}

// drop forgets a node, unless it lives again.
func (n *Node) drop(a absence) {
	p, _ := n.ic.Peer(a.Node)
	if p.Up {
		return
	}
	n.removed.mu.Lock()
	if n.removed.boots == nil {
		n.removed.boots = make(map[string]uint64)
	}
	n.removed.boots[a.Node] = max(a.Boot, p.Boot)
	n.removed.mu.Unlock()
	n.meetMembers(n.gossip.Members())
	n.ic.Drop(a.Node)
	if p, ok := n.ic.Peer(a.Node); ok && p.Up {
		// It came up after it was looked at, and backAgain may have been too early.
		n.backAgain(p)
		n.meetMembers(n.gossip.Members())
		return
	}
	n.census.mu.Lock()
	delete(n.census.seats, a.Node)
	n.census.mu.Unlock()
}

// hearRemoved takes a peer's word that a node was removed.
func (n *Node) hearRemoved(from string, _ byte, payload []byte) {
	var a absence
	if err := json.Unmarshal(payload, &a); err != nil || a.Node == "" {
		n.log.Warn("a peer's word of a removal cannot be read", "peer", from)
		return
	}
	if a.Node == n.cfg.Node {
		return // it is wrong about us: gossip tells it
	}
	if p, ok := n.ic.Peer(a.Node); a.Again && ok && p.Boot > a.Boot {
		return // it has lived since
	}
	n.drop(a)
}

// backAgain lets a removed node that lives be a member again, and tells every peer that comes who was removed: it
// may have been cut off meanwhile.
func (n *Node) backAgain(p interconnect.Peer) {
	if !p.Up {
		return
	}
	n.removed.mu.Lock()
	delete(n.removed.boots, p.Name)
	gone := maps.Clone(n.removed.boots)
	n.removed.mu.Unlock()
	for name, boot := range gone {
		n.tellRemoved(p.Name, absence{Node: name, Boot: boot, Again: true})
	}
}

// absent reports a node that was removed and, as far as boot tells, has not come back.
func (r *removed) absent(name string, boot uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, ok := r.boots[name]
	if ok && boot > last {
		delete(r.boots, name)
		return false
	}
	return ok
}

// Removed reports whether a node that the node file names was removed from the cluster.
func (n *Node) Removed(name string) bool { return n.removed.absent(name, 0) }
