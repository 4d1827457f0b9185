package simulation

import (
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// configLog is the model of the consensus library: what a majority of the five
// voters can reach is put into one order, and every node that a majority can
// reach gets all of it, in that order, sooner or later.
type configLog struct {
	entries [][]byte
	docs    map[string]bool // all documents that were ever in force
}

// disk is what a node has on disk: the config log, and the operators' words.
type disk struct {
	snapshot []byte
	applied  int       // entries in the snapshot
	good     fsm.Entry // the last known good document
	knobs    []verdict.Knob
}

// firstDocument is what the cluster begins with.
func (w *world) firstDocument() {
	w.log.docs = map[string]bool{docName(0, w.plan.limited): true}
	c := fsm.Set{Cluster: clusterID, Author: "sim", Reason: "first", At: time.Unix(epoch, 0).UTC(), Document: []byte(docName(0, w.plan.limited))}
	w.log.entries = append(w.log.entries, c.Append(nil))
}

// majority tells whether a node sees more than half of the voters.
func (w *world) majority(n *node) bool {
	votes := 1
	for _, x := range w.nodes {
		if x != n && x.runs() && w.open(n, x) && w.open(x, n) {
			votes++
		}
	}
	return n.runs() && 2*votes > len(w.nodes)
}

// propose makes a change at a node. Without a majority nothing comes of it.
func (w *world) propose(n *node, c fsm.Command, doc string) {
	if !w.majority(n) {
		w.say("%s cannot change the config: no majority", n.name)
		return
	}
	w.after(between(w.net, 5*time.Millisecond, 200*time.Millisecond), func() {
		if !w.majority(n) {
			return // an election came between; nobody knows what became of it
		}
		w.log.entries = append(w.log.entries, c.Append(nil))
		w.log.docs[doc] = true
		w.sums.Configs++
		w.say("%s commits entry %d: %T %s", n.name, len(w.log.entries), c, doc)
		for _, x := range w.nodes {
			w.catchUp(x)
		}
	})
}

// catchUp brings the log to a node, if it can be reached.
func (w *world) catchUp(n *node) {
	w.after(between(w.net, w.plan.lan, 300*time.Millisecond), func() {
		if w.majority(n) {
			n.step(n.apply)
		}
	})
}

// joined is called when a node can reach another one again.
func (w *world) joined(n *node) { w.catchUp(n) }

// apply takes the entries that the node has not yet. Now and then it makes a
// snapshot.
func (n *node) apply() {
	if n.applied == len(n.w.log.entries) {
		return
	}
	for ; n.applied < len(n.w.log.entries); n.applied++ {
		n.state.Apply(n.w.log.entries[n.applied])
	}
	if chance(n.w.net, 0.5) {
		b, err := n.state.Snapshot()
		if err != nil {
			n.w.fault("%s: no snapshot: %v", n.name, err)
			return
		}
		n.disk.snapshot, n.disk.applied = b, n.applied
	}
	n.publishTable()
}

// publishTable puts the revision that holds for the node's site in force if it is
// newer than what runs (DEC-14), and keeps it on disk.
func (n *node) publishTable() {
	e, _, ok := n.state.Effective(n.site)
	if ok && e.Version.Newer(n.disk.good.Version) {
		n.disk.good = e
		n.run(e)
	}
}

// run makes a revision the one that calls are routed by.
func (n *node) run(e fsm.Entry) {
	n.w.say("%s publishes %v %s", n.name, e.Version, e.Document)
	if n.newest.Newer(e.Version) {
		n.w.fault("%s goes back from %v to %v", n.name, n.newest, e.Version)
	}
	n.newest = e.Version
	if n.witness {
		return
	}
	n.table = n.w.lab.table(string(e.Document), e.Version)
	n.view = trunkgroup.NewView(n.table)
	n.rights.engine.SetLimits(n.now(), limitsOf(n.table))
	n.nodesChanged()
}

// loadConfig starts from disk: with the last known good document, and with a
// snapshot that may be older; what the log has since is replayed and publishes
// nothing that is older.
func (n *node) loadConfig() {
	n.state, n.applied = fsm.New(clusterID), 0
	if n.disk.good.Version.Revision > 0 {
		n.run(n.disk.good)
	}
	if n.disk.snapshot == nil {
		n.state.Apply(n.w.log.entries[0])
		n.applied = 1
	} else {
		s, err := fsm.Restore(clusterID, n.disk.snapshot)
		if err != nil {
			n.w.fault("%s cannot read its own snapshot: %v", n.name, err)
			return
		}
		n.state, n.applied = s, n.disk.applied
	}
	n.publishTable()
}
