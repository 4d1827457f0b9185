package gossip

import (
	"github.com/hashicorp/memberlist"
)

// delegate answers memberlist. Its methods run on memberlist's goroutines, some of
// them under its locks, so they only copy and enqueue.
type delegate struct{ g *Gossip }

// NodeMeta implements memberlist.Delegate.
func (d delegate) NodeMeta(limit int) []byte {
	b := *d.g.meta.Load()
	if len(b) > limit {
		return nil
	}
	return b
}

// NotifyMsg implements memberlist.Delegate.
func (d delegate) NotifyMsg(b []byte) { d.g.enqueue(b, true) }

// GetBroadcasts implements memberlist.Delegate.
func (d delegate) GetBroadcasts(overhead, limit int) [][]byte {
	return d.g.queue.GetBroadcasts(overhead, limit)
}

// LocalState implements memberlist.Delegate: the full set of records.
func (d delegate) LocalState(bool) []byte { return d.g.encode() }

// MergeRemoteState implements memberlist.Delegate.
func (d delegate) MergeRemoteState(b []byte, _ bool) { d.g.enqueue(b, false) }

// NotifyJoin implements memberlist.EventDelegate.
func (d delegate) NotifyJoin(n *memberlist.Node) { d.g.setMember(n) }

// NotifyUpdate implements memberlist.EventDelegate.
func (d delegate) NotifyUpdate(n *memberlist.Node) { d.g.setMember(n) }

// NotifyLeave implements memberlist.EventDelegate.
func (d delegate) NotifyLeave(n *memberlist.Node) { d.g.dropMember(n.Name) }

// NotifyConflict implements memberlist.ConflictDelegate.
func (d delegate) NotifyConflict(existing, other *memberlist.Node) {
	d.g.cfg.Logger.Error("two nodes have one name", "peer", existing.Name,
		"address", existing.Address(), "other_address", other.Address())
}

// broadcast is a record on its way; a newer one of the same key replaces it.
type broadcast struct {
	name string
	wire []byte
}

// Invalidates implements memberlist.Broadcast.
func (b broadcast) Invalidates(o memberlist.Broadcast) bool {
	other, ok := o.(broadcast)
	return ok && other.name == b.name
}

// Name implements memberlist.NamedBroadcast.
func (b broadcast) Name() string { return b.name }

// Message implements memberlist.Broadcast.
func (b broadcast) Message() []byte { return b.wire }

// Finished implements memberlist.Broadcast.
func (b broadcast) Finished() {}
