package cluster

import (
	"bytes"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// caughtUp reports whether this node has applied all that it knows to be committed,
// under a leader.
func (n *Node) caughtUp() bool {
	_, id := n.raft.LeaderWithID()
	_, commit, applied := n.raft.progress()
	return id != "" && commit > 0 && applied >= commit
}

// replayLag is how long a lower document must have stood: raft counts an entry as
// applied when it gives it to the state machine, which may be a moment behind.
const replayLag = 2 * time.Second

// watchVersion raises an alarm when the replay is over and the cluster's document is
// still older than the running table: the cluster lost its memory (DEC-14). One
// goroutine calls it.
func (n *Node) watchVersion() {
	running, _, _, _ := n.publisher.state()
	if running.Version.Revision == 0 || !n.caughtUp() || n.quorumAge() > 0 {
		n.lowerSince = time.Time{}
		return
	}
	e, ok := n.machine.mine()
	if !ok {
		e.Version.Cluster, e.Version.Generation = n.cfg.Cluster, 1
	}
	same := bytes.Equal(e.Document, running.Document)
	d := decide(n.cfg.Cluster, running.Version, e.Version)
	if d != refuseLower && (d != alreadyRuns || same) {
		n.lowerSince = time.Time{}
	} else if n.lowerSince.IsZero() {
		n.lowerSince = time.Now()
	}
	switch {
	case !n.lowerSince.IsZero() && time.Since(n.lowerSince) < replayLag:
	case d == refuseLower:
		n.alarms.raise(AlarmLower, "the cluster has "+e.Version.String()+", this node runs "+running.Version.String())
	case d == alreadyRuns && !same:
		n.alarms.raise(AlarmLower, otherHistory(e.Version))
	case d == publishIt, d == alreadyRuns:
		n.alarms.clear(AlarmLower)
	}
}

// otherHistory says that two documents carry one version: the cluster was set up
// again without raising the generation.
func otherHistory(v trunkgroup.Version) string {
	return v.String() + ": this node runs another document of the same version"
}

// maxClockOffset is how far two clocks may be apart (DEC-25).
const maxClockOffset = 2 * time.Second

// watchClocks raises an alarm when a peer's clock is off. What the round trip leaves
// open counts for the clock.
func (n *Node) watchClocks() {
	for _, p := range n.ic.Peers() {
		if p.Up && p.ClockOffset.Abs()-p.RTT/2 > maxClockOffset {
			n.alarms.raise(AlarmClock, fmt.Sprintf("the clock of %s differs by %v", p.Name, p.ClockOffset.Round(time.Second)))
			return
		}
	}
	n.alarms.clear(AlarmClock)
}

// watchQuorum keeps the moment since which there is no quorum.
func (n *Node) watchQuorum() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hasQuorum() {
		n.lostQuorum = time.Time{}
	} else if n.lostQuorum.IsZero() {
		n.lostQuorum = time.Now()
	}
}

// hasQuorum reports whether a write would be possible, as far as this node can know:
// it leads with a valid lease, or it hears a leader.
func (n *Node) hasQuorum() bool {
	if n.raft.State() == raft.Leader {
		return true
	}
	_, id := n.raft.LeaderWithID()
	return id != "" && time.Since(n.raft.lastContact()) < 3*n.cfg.RaftTimeout
}

// quorumAge is how long there has been no quorum; 0 when there is.
func (n *Node) quorumAge() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lostQuorum.IsZero() {
		return 0
	}
	return time.Since(n.lostQuorum)
}
