package cluster

import (
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/cluster/gossip"
	"github.com/tandem-sbc/tandem/cluster/interconnect"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Server is a member of the consensus.
type Server struct {
	Name      string
	Address   string
	Voter     bool
	Leader    bool
	Reachable bool // by the interconnect, or this node itself
}

// RaftStatus is the state of the consensus as this node sees it.
type RaftStatus struct {
	State   string // Follower, Candidate, Leader, Shutdown
	Leader  string // name; empty when none is known
	Term    uint64
	Last    uint64 // index of the last entry in the log
	Commit  uint64
	Applied uint64
	Quorum  bool
	Servers []Server

	Epoch Epoch // of this node's log
	// Over is the later epoch for which this node is out of the consensus until it
	// rejoins; Number 0 when it is not.
	Over    Epoch
	Refused uint64 // RPCs of other epochs that were refused
	// Fault says why the log on disk is not used, and since when; empty when it is.
	Fault      string
	FaultSince time.Time
}

// Status is what the CLI and the metrics show of a node.
type Status struct {
	Cluster string
	Node    string
	Site    string
	Boot    uint64
	Witness bool
	State   string
	Raft    RaftStatus

	Running     trunkgroup.Version // version of the running table
	Source      string             // SourceDisk, SourceRaft or SourceNone
	PublishedAt time.Time
	Sum         uint64 // made from the text of the running document; 0 for none
	// Document is the version that the state machine has for this node's site; revision
	// 0 before the first, and after a restart until there is a leader.
	Document trunkgroup.Version
	// StaleFor is how long there has been no quorum: changes may exist that this node
	// does not know. 0 while there is one.
	StaleFor time.Duration

	RefusedLower   uint64 // documents refused for a lower pair; a replay counts
	RefusedForeign uint64 // documents refused for another cluster
	FailedCompile  uint64
	FailedSave     uint64

	Alarms       []Alarm
	Members      []gossip.Member
	Peers        []interconnect.Peer
	Gossip       gossip.Stats
	Interconnect interconnect.Stats
}

// Status returns the state of the node. It may be called at any time after New.
func (n *Node) Status() Status {
	s := Status{
		Cluster: n.cfg.Cluster, Node: n.cfg.Node, Site: n.cfg.Site, Boot: n.boot, Witness: n.cfg.Witness,
		StaleFor: n.quorumAge(), Alarms: n.alarms.list(), Members: n.gossip.Members(), Peers: n.ic.Peers(),
		Gossip: n.gossip.Stats(), Interconnect: n.ic.Stats(),
		Document: trunkgroup.Version{Cluster: n.cfg.Cluster, Generation: 1},
	}
	if e, ok := n.machine.mine(); ok {
		s.Document = e.Version
	}
	n.mu.Lock()
	s.State = n.meta.State
	n.mu.Unlock()
	p := n.publisher
	p.mu.Lock()
	s.Running, s.Source, s.PublishedAt, s.Sum = p.running.Version, p.source, p.at, p.sum
	s.RefusedLower, s.RefusedForeign, s.FailedCompile, s.FailedSave = p.lower, p.foreign, p.failed, p.unsaved
	p.mu.Unlock()
	if _, ok := n.running(); ok {
		s.Raft = n.raftStatus()
	}
	return s
}

func (n *Node) raftStatus() RaftStatus {
	_, leader := n.raft.LeaderWithID()
	standing := n.lives.standing.Load()
	s := RaftStatus{
		State: n.raft.State().String(), Leader: string(leader), Term: n.raft.term(),
		Quorum: n.hasQuorum(), Epoch: standing.Mine, Over: standing.Over, Refused: n.fence.count(),
	}
	s.Last, s.Commit, s.Applied = n.raft.progress()
	if f := n.lives.fault.Load(); f != nil {
		s.Fault, s.FaultSince = f.err.Error(), f.since
	}
	servers, _ := n.servers()
	for _, v := range servers {
		p, known := n.ic.Peer(string(v.ID))
		s.Servers = append(s.Servers, Server{
			Name: string(v.ID), Address: string(v.Address), Voter: v.Suffrage == raft.Voter, Leader: v.ID == leader,
			Reachable: known && p.Up || string(v.ID) == n.cfg.Node,
		})
	}
	return s
}

// Ready reports whether the node may take calls as far as the cluster is concerned,
// and if not, why. A node without quorum is ready as long as it has a table.
func (n *Node) Ready() (bool, string) {
	if err := n.machine.stopped(); err != nil {
		return false, err.Error()
	}
	for _, a := range n.alarms.list() {
		if a.Name == AlarmCompile || a.Name == AlarmBoot || a.Name == AlarmHalted {
			return false, a.Name + ": " + a.Detail
		}
	}
	if e, _, _, _ := n.publisher.state(); e.Version.Revision == 0 {
		return false, "no cluster document yet"
	}
	return true, ""
}

// OnApplied registers the function that is told how long each document of the cluster took
// from when this node had it until it was in force. It is for before Start.
func (n *Node) OnApplied(f func(time.Duration)) { n.publisher.applied = f }

// Table returns the running table; nil before the first and on a witness.
func (n *Node) Table() *trunkgroup.Table {
	_, t, _, _ := n.publisher.state()
	return t
}

// Current returns the newest document that this node knows for its site; false when
// none. After a restart without quorum that is the last known good one; while a
// canary is tried in the site, it is the canary's (see Canary and History).
func (n *Node) Current() (fsm.Entry, bool) {
	running, _, _, _ := n.publisher.state()
	e, ok := n.machine.mine()
	if !ok || running.Version.Newer(e.Version) {
		return running, running.Version.Revision > 0
	}
	return e, true
}

// settled returns the document that the cluster runs, as far as this node knows: the
// current one, or what was before it when that is a canary.
func (n *Node) settled() fsm.Entry {
	e, _ := n.Current()
	if c, ok := n.machine.canary(); ok && c.Version == e.Version {
		e, _ = n.machine.current()
	} else if before, ok := n.publisher.before(e.Version); ok {
		e = before // after a restart without a leader only the disk knows of the canary
	}
	return e
}

// History returns the revisions that the cluster remembers, oldest first, with what
// became of those that were canaries; empty after a restart until there is a leader.
func (n *Node) History() []fsm.Revision { return n.machine.history() }

// Boot returns the boot number of this process (DEC-13).
func (n *Node) Boot() uint64 { return n.boot }

// Peers returns the other nodes by name, with who lives (DEC-21). The slice is
// shared: do not change it.
func (n *Node) Peers() []interconnect.Peer { return n.ic.Peers() }

// Members returns the members that gossip holds to live, with their states.
func (n *Node) Members() []gossip.Member { return n.gossip.Members() }

// Send queues a frame for another node; see interconnect.Interconnect.Send.
func (n *Node) Send(node string, kind byte, payload []byte) bool {
	return n.ic.Send(node, kind, payload)
}
