package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/recent"
	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// maxDifferences bounds what a plan lists; it counts all.
const maxDifferences = 500

// Plan implements admin.ConfigLog.
func (d *desk) Plan(_ context.Context, c admin.Change) (admin.Plan, error) {
	node := d.app.node
	v, err := node.Check(cluster.Change{Document: c.Text, ExpectRevision: c.Expect})
	if err != nil {
		return admin.Plan{}, adminError(err)
	}
	current, _ := node.Current()
	return d.compare(current, fsm.Entry{Version: v, Document: c.Text})
}

// Compare implements admin.ConfigLog.
func (d *desk) Compare(_ context.Context, from, to uint64) (admin.Plan, error) {
	was, err := d.revision(from)
	if err != nil {
		return admin.Plan{}, err
	}
	would, err := d.revision(to)
	if err != nil {
		return admin.Plan{}, err
	}
	p, err := d.compare(was, would)
	p.To = would.Version.Revision
	return p, err
}

// compare says what lies between two documents, the first of which may be none.
func (d *desk) compare(was, would fsm.Entry) (admin.Plan, error) {
	p := admin.Plan{
		Cluster: d.app.cfg.Cluster.ID, Generation: was.Version.Generation, Revision: was.Version.Revision,
		Same: bytes.Equal(was.Document, would.Document),
	}
	before, err := d.tableOf(was)
	if err != nil {
		return p, err
	}
	after, err := d.tableOf(would)
	if err != nil {
		return p, err
	}
	p.Diff = trunkgroup.Compare(documentOf(before), documentOf(after), maxDifferences)
	p.Equal = p.Diff.Equal()
	calls := d.app.recent.Calls()
	p.Calls = trunkgroup.Rerun(before, after, d.questions(calls))
	if n := len(calls); n > 0 {
		p.Oldest = when(calls[n-1].At)
	}
	return p, nil
}

// tableOf compiles a document; nil for none.
func (d *desk) tableOf(e fsm.Entry) (*trunkgroup.Table, error) {
	if e.Version.Revision == 0 {
		return nil, nil
	}
	if t := d.app.node.Table(); t != nil && t.Version() == e.Version {
		return t, nil
	}
	t, err := Compile(e.Document, e.Version)
	if err != nil {
		return nil, err
	}
	return t.WithNumbers(d.app.node.Numbers().Table), nil
}

func documentOf(t *trunkgroup.Table) *trunkgroup.Document {
	if t == nil {
		return nil
	}
	return t.Document()
}

// questions are the last calls of this node, as they were asked.
func (d *desk) questions(calls []*recent.Call) iter.Seq2[string, trunkgroup.Query] {
	realms := realmsOf(d.app.node.Table(), d.app.cfg.SIP.Realm)
	return func(yield func(string, trunkgroup.Query) bool) {
		for _, c := range calls {
			transport, err := trunkgroup.ParseTransport(c.Transport)
			if err != nil {
				continue
			}
			q := trunkgroup.Query{
				Site: c.Site, Realm: cmp.Or(realms[c.Username], d.app.cfg.SIP.Realm), Username: c.Username, Called: []byte(c.Called),
				Source:       trunkgroup.SourceKey{Local: c.Local, Source: c.Source, Transport: transport},
				NumberPolicy: number.Policy(),
			}
			name := fmt.Sprintf("%s from %s at %s", c.Called, cmp.Or(c.Username, c.Source.String()), c.At.UTC().Format(time.RFC3339))
			if !yield(name, q) {
				return
			}
		}
	}
}

// History implements admin.ConfigLog.
func (d *desk) History(context.Context) (admin.History, error) {
	h := admin.History{Cluster: d.app.cfg.Cluster.ID, Revisions: []admin.Revision{}}
	entries := d.entries()
	inForce := -1
	for i := range entries {
		if s := entries[i].State; s != fsm.Staged && s != fsm.Abandoned {
			inForce = i
		}
	}
	for i, e := range entries {
		sum := e.Sum()
		r := admin.Revision{
			Generation: e.Version.Generation, Revision: e.Version.Revision, Author: e.Author, Reason: e.Reason,
			At: when(e.At), Bytes: len(e.Document), Sum: hex.EncodeToString(sum[:]),
			Site: e.Site, DecidedBy: e.DecidedBy, DecidedFor: e.DecidedFor, DecidedAt: when(e.DecidedAt),
		}
		if e.State != fsm.Applied {
			r.State = e.State.String()
		}
		if i == inForce {
			r.State = "in force"
		}
		h.Revisions = append(h.Revisions, r)
	}
	return h, nil
}

// entries are the revisions that can be had: those of the log, or without one
// what this node has on disk.
func (d *desk) entries() []fsm.Revision {
	list := d.app.node.History()
	if current, ok := d.app.node.Current(); ok && len(list) == 0 {
		list = append(list, fsm.Revision{Entry: current})
	}
	return list
}

// revision finds a document of the history; 0 is the one in force.
func (d *desk) revision(n uint64) (fsm.Entry, error) {
	if n == 0 {
		if e, ok := d.app.node.Current(); ok {
			return e, nil
		}
		return fsm.Entry{}, fmt.Errorf("%w: the cluster has no document yet", admin.ErrNotFound)
	}
	list := d.entries()
	for i := range list {
		if list[i].Version.Revision == n {
			return list[i].Entry, nil
		}
	}
	if len(list) == 0 {
		return fsm.Entry{}, fmt.Errorf("%w: revision %d: this node has no history", admin.ErrNotFound, n)
	}
	return fsm.Entry{}, fmt.Errorf("%w: revision %d: the cluster remembers %d to %d", admin.ErrNotFound, n,
		list[0].Version.Revision, list[len(list)-1].Version.Revision)
}

// Revision implements admin.ConfigLog.
func (d *desk) Revision(_ context.Context, revision uint64) (admin.Document, error) {
	e, err := d.revision(revision)
	if err != nil {
		return admin.Document{}, err
	}
	return documentReply(d.app.cfg.Cluster.ID, e), nil
}

func documentReply(id string, e fsm.Entry) admin.Document {
	return admin.Document{
		Cluster: id, Generation: e.Version.Generation, Revision: e.Version.Revision,
		Author: e.Author, Reason: e.Reason, At: when(e.At), Text: string(e.Document),
	}
}

// Rollback implements admin.ConfigLog: an old document becomes the newest
// revision, octet for octet.
func (d *desk) Rollback(ctx context.Context, r admin.Rollback) (admin.Applied, error) {
	e, err := d.revision(r.Revision)
	if err != nil {
		return admin.Applied{}, err
	}
	reason := fmt.Sprintf("rollback to %d.%d", e.Version.Generation, e.Version.Revision)
	if r.Reason != "" {
		reason += ": " + r.Reason
	}
	return d.Apply(ctx, admin.Change{Text: e.Document, Author: r.Author, Reason: reason, Expect: r.Expect})
}
