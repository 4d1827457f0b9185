package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/cluster/gossip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// canaryProtocol is the protocol of which all members must be before a canary is
// put into the log: an older build would halt at it.
const canaryProtocol = 2

// How often, and how long at most, a writer looks whether the log has come to its own node.
const (
	logPause    = 5 * time.Millisecond
	logPatience = 2 * time.Second
)

// Canary is a revision that one site tries (DEC-25).
type Canary struct {
	fsm.Revision // State is fsm.Staged, Site is where
	// Nodes are the live nodes of the site, by name.
	Nodes []CanaryNode
	// Fallen says why this node went back from the canary; nil when it did not, or is
	// not of the site.
	Fallen *Fallback
}

// CanaryNode is a node of a canary's site.
type CanaryNode struct {
	Name    string
	Running trunkgroup.Version // revision 0 when it is not known
	// FellBack: the node found a breach and runs the revision before the canary.
	FellBack bool
}

// Fallback is this node's way back from a canary.
type Fallback struct {
	Version trunkgroup.Version // of the canary
	Reason  string
	At      time.Time
}

// Decision ends a canary.
type Decision struct {
	// Revision is the canary's; 0 takes whichever is staged.
	Revision uint64
	Author   string
	Reason   string
	Key      string // makes the decision idempotent, as that of Change
}

// Stage makes the document the one of a single site, under a new revision; the
// others go on with the current one until Promote or Abandon. While a canary runs,
// other changes are refused. Errors are those of Propose.
func (n *Node) Stage(ctx context.Context, site string, c Change) (trunkgroup.Version, error) {
	if c.RaiseGeneration {
		return trunkgroup.Version{}, &RefusedError{Message: "a restore or recovery cannot be a canary"}
	}
	stage := &fsm.Stage{Set: *n.set(c), Site: site}
	if err := stage.Check(); err != nil {
		return trunkgroup.Version{}, &RefusedError{Message: err.Error()}
	}
	if err := n.validateCanary(stage); err != nil {
		return trunkgroup.Version{}, err
	}
	v, err := n.commit(ctx, stage.Append(nil), site == n.cfg.Site)
	if err == nil {
		n.awaitLog(ctx, func() bool { return !v.Newer(n.machine.version()) })
	}
	return v, err
}

// validateCanary says what speaks against a document and its site. A witness reads no
// documents.
func (n *Node) validateCanary(c *fsm.Stage) error {
	table, err := n.validate(c.Document, 0)
	if err == nil {
		err = n.joinable(table)
	}
	if err == nil && table != nil && !slices.Contains(table.Sites(), c.Site) {
		err = &RefusedError{Message: fmt.Sprintf("the document has no site %q, only %q", c.Site, table.Sites())}
	}
	return err
}

// Promote makes the canary the cluster's document, under the revision that it has.
// Errors are those of Propose.
func (n *Node) Promote(ctx context.Context, d Decision) (trunkgroup.Version, error) {
	return n.decide(ctx, d, true)
}

// Abandon takes the canary back: its site returns to the cluster's document, octet
// for octet, under a new revision. Errors are those of Propose.
func (n *Node) Abandon(ctx context.Context, d Decision) (trunkgroup.Version, error) {
	return n.decide(ctx, d, false)
}

func (n *Node) decide(ctx context.Context, d Decision, promote bool) (trunkgroup.Version, error) {
	c := &fsm.Decide{
		Cluster: n.cfg.Cluster, Promote: promote, Revision: d.Revision,
		Author: d.Author, Reason: d.Reason, Key: cmp.Or(d.Key, rand.Text()), At: time.Now(),
	}
	if err := c.Check(); err != nil {
		return trunkgroup.Version{}, &RefusedError{Message: err.Error()}
	}
	v, err := n.commit(ctx, c.Append(nil), true)
	if err == nil {
		n.awaitLog(ctx, func() bool {
			staged, ok := n.machine.canary()
			return !ok || staged.Version.Newer(v)
		})
	}
	return v, err
}

// awaitLog waits until the log has come here as far as it takes, so that who staged or ended a canary and
// asks the same node what is tried is not told of the time before. A node that is cut off meanwhile does not
// keep him: the change is made.
func (n *Node) awaitLog(ctx context.Context, here func() bool) {
	ctx, cancel := context.WithTimeout(ctx, logPatience)
	defer cancel()
	tick := time.NewTicker(logPause)
	defer tick.Stop()
	for !here() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		case <-n.ctx.Done():
			return
		}
	}
}

// Canary returns the revision that one site tries, as this node knows; false when
// there is none, and after a restart until there is a leader.
func (n *Node) Canary() (Canary, bool) {
	staged, ok := n.machine.canary()
	if !ok {
		return Canary{}, false
	}
	c := Canary{Revision: staged}
	if f := n.publisher.fallback(); f != nil && f.Version == staged.Version {
		c.Fallen = f
	}
	for _, m := range n.gossip.Members() {
		if m.Meta.Site == staged.Site && !m.Meta.Witness {
			c.Nodes = append(c.Nodes, n.canaryNode(m))
		}
	}
	return c, true
}

func (n *Node) canaryNode(m gossip.Member) CanaryNode {
	v := trunkgroup.Version{Cluster: n.cfg.Cluster, Generation: m.Meta.Generation, Revision: m.Meta.Revision}
	if m.Name == n.cfg.Node {
		running, _, _, _ := n.publisher.state()
		return CanaryNode{Name: m.Name, Running: running.Version, FellBack: n.publisher.fallback() != nil}
	}
	return CanaryNode{Name: m.Name, Running: v, FellBack: m.Meta.FellBack}
}

// ErrNoCanary is returned by Breach on a node that runs no canary.
var ErrNoCanary = errors.New("cluster: no canary runs on this node")

// Breach tells that the canary which this node runs does harm: the node goes back
// to the revision before it, at once and without asking anybody, and says so by an
// alarm and to the other nodes. The canary stays staged: a human promotes or abandons
// it. The node takes it again only when it is promoted.
func (n *Node) Breach(reason string) error {
	back, _ := n.machine.current()
	if err := n.publisher.breach(back, reason); err != nil {
		return err
	}
	n.poke()
	return nil
}
