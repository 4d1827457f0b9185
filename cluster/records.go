package cluster

import (
	"slices"

	"github.com/tandem-sbc/tandem/cluster/gossip"
	"github.com/tandem-sbc/tandem/cluster/interconnect"
)

// kindRecords is the kind of frames that carry records; 240..255 are the cluster's.
const kindRecords byte = 240

// States that a node tells of itself.
const (
	StateStarting = "starting"
	StateReady    = "ready"
	StateDraining = "draining"
)

// Publish tells all nodes what this one says under key: at most 255 octets of key
// and 512 of payload; an empty payload withdraws it. The record goes at once over
// the warm streams, and by gossip as well when a member has none. It must be
// published again before it is an hour old.
func (n *Node) Publish(key string, payload []byte) error {
	batch, err := n.gossip.Publish(key, payload)
	if err != nil {
		return err
	}
	reached := make(map[string]bool)
	for _, p := range n.ic.Peers() {
		reached[p.Name] = p.Up && n.ic.Send(p.Name, kindRecords, batch)
	}
	for _, m := range n.gossip.Members() {
		if m.Name != n.cfg.Node && !reached[m.Name] {
			n.gossip.Spread(key, batch)
			break
		}
	}
	return nil
}

// catchUp sends all records of this node to a peer that came up: it may have missed
// some, and gossip's own exchange takes up to half a minute.
func (n *Node) catchUp(p interconnect.Peer) {
	if !p.Up {
		return
	}
	for _, batch := range n.gossip.Own(maxBatch) {
		if !n.ic.Send(p.Name, kindRecords, batch) {
			return
		}
	}
}

// maxBatch bounds one frame of records in octets.
const maxBatch = 32 << 10

// Records returns the latest record of every key and observer, this node's own
// included; those that the cluster keeps for itself are left out.
func (n *Node) Records() []gossip.Record {
	return slices.DeleteFunc(n.gossip.Records(), func(r gossip.Record) bool { return r.Key == keysRecord })
}

// SetState tells the other nodes in which state this one is: StateReady,
// StateDraining, or a word of the caller's own.
func (n *Node) SetState(state string) {
	n.mu.Lock()
	n.meta.State = state
	n.mu.Unlock()
	n.poke()
}

// SetLoad tells the other nodes how much of its capacity this one uses, in
// thousandths. Small changes are not told.
func (n *Node) SetLoad(load uint16) {
	n.mu.Lock()
	n.meta.Load = load
	n.mu.Unlock()
}

// loadStep is the change of load that is worth a message to all nodes.
const loadStep = 25

// flushMeta tells the metadata when it changed; it runs once per second at most,
// unless the state changes.
func (n *Node) flushMeta() {
	n.mu.Lock()
	want, told := n.meta, n.told
	n.mu.Unlock()
	running, _, _, _ := n.publisher.state()
	want.LastTerm, want.LastIndex = n.raft.lastEntry()
	want.Resting = n.raft.resting()
	want.Blank = n.lives.standing.Load().Blank
	want.FellBack = n.publisher.fallback() != nil
	want.Generation, want.Revision = running.Version.Generation, running.Version.Revision
	if d := int(want.Load) - int(told.Load); d > -loadStep && d < loadStep {
		want.Load = told.Load
	}
	if want == told {
		return
	}
	if err := n.gossip.SetMeta(want); err != nil {
		// It stays different from what was told and is tried again in a second.
		n.log.Debug("node state was not told", "error", err)
		return
	}
	n.mu.Lock()
	n.told = want
	n.mu.Unlock()
}

// meetMembers gives the interconnect the peers of the node file and of gossip.
func (n *Node) meetMembers(members []gossip.Member) {
	known := make(map[string]interconnect.Endpoint)
	for _, p := range n.cfg.Peers {
		if p.Interconnect != "" && !n.removed.absent(p.Name, 0) {
			known[p.Name] = interconnect.Endpoint{Name: p.Name, Site: p.Site, Address: p.Interconnect}
		}
	}
	for _, m := range members {
		if m.Meta.Interconnect != "" && !n.removed.absent(m.Name, m.Meta.Boot) {
			known[m.Name] = interconnect.Endpoint{Name: m.Name, Site: m.Meta.Site, Address: m.Meta.Interconnect}
		}
	}
	list := make([]interconnect.Endpoint, 0, len(known))
	for _, e := range known {
		list = append(list, e)
	}
	n.ic.SetPeers(list)
}
