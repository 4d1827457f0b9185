package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Canary implements admin.Canaries.
func (d *desk) Canary(context.Context) (admin.Canary, error) {
	c, ok := d.app.node.Canary()
	if !ok {
		return admin.Canary{}, fmt.Errorf("%w: no canary is tried", admin.ErrNotFound)
	}
	out := admin.Canary{
		Site: c.Site, Generation: c.Version.Generation, Revision: c.Version.Revision, Author: c.Author, Reason: c.Reason,
		At: when(c.At), Nodes: []admin.CanaryNode{},
	}
	for _, n := range c.Nodes {
		out.Nodes = append(out.Nodes, admin.CanaryNode{Name: n.Name, Generation: n.Running.Generation, Revision: n.Running.Revision, FellBack: n.FellBack})
	}
	if c.Fallen != nil {
		out.Fallen, out.FallenAt = c.Fallen.Reason, when(c.Fallen.At)
	}
	return out, nil
}

// Stage implements admin.Canaries.
func (d *desk) Stage(ctx context.Context, site string, c admin.Change) (admin.Applied, error) {
	v, err := d.app.node.Stage(ctx, site, cluster.Change{
		Document: c.Text, Author: c.Author, Reason: c.Reason, ExpectRevision: c.Expect, Key: c.Key,
	})
	out, err := d.applied(v, err)
	// What is in force already makes no revision, and nobody tries it.
	staged, ok := d.app.node.Canary()
	out.Unchanged = err == nil && !(ok && staged.Version == v)
	return out, err
}

// Decide implements admin.Canaries.
func (d *desk) Decide(ctx context.Context, v admin.Verdict) (admin.Applied, error) {
	decision := cluster.Decision{Revision: v.Revision, Author: v.Author, Reason: v.Reason}
	if v.Promote {
		return d.applied(d.app.node.Promote(ctx, decision))
	}
	return d.applied(d.app.node.Abandon(ctx, decision))
}

func (d *desk) applied(v trunkgroup.Version, err error) (admin.Applied, error) {
	return admin.Applied{Cluster: d.app.cfg.Cluster.ID, Generation: v.Generation, Revision: v.Revision}, adminError(err)
}

// Backup implements admin.Vault.
func (d *desk) Backup(context.Context) ([]byte, error) {
	file, info, err := d.app.node.Backup()
	if err != nil {
		return nil, as(admin.ErrRefused, err)
	}
	d.app.log.Info("backup of the configuration log", "revision", info.Revision, "generation", info.Generation, "bytes", len(file))
	return file, nil
}

// Restore implements admin.Vault.
func (d *desk) Restore(ctx context.Context, r admin.Restoration) (admin.Applied, error) {
	b, err := d.app.node.OpenBackup(r.File)
	if err != nil {
		return admin.Applied{}, as(admin.ErrInvalid, err)
	}
	e, ok := b.Document(r.Revision)
	if !ok {
		return admin.Applied{}, fmt.Errorf("%w: the backup has no revision %d", admin.ErrNotFound, r.Revision)
	}
	if r.DryRun {
		_, err := Compile(e.Document, e.Version)
		if err == nil && b.Info.Cluster != d.app.cfg.Cluster.ID {
			err = fmt.Errorf("%w: the backup is of cluster %q, and this is %q", admin.ErrRefused, b.Info.Cluster, d.app.cfg.Cluster.ID)
		}
		return admin.Applied{Cluster: b.Info.Cluster, Generation: e.Version.Generation, Revision: e.Version.Revision, DryRun: true}, err
	}
	reason := fmt.Sprintf("restore of %d.%d from a backup of %s", e.Version.Generation, e.Version.Revision, b.Info.At.Format("2006-01-02T15:04Z"))
	if r.Reason != "" {
		reason += ": " + r.Reason
	}
	before := d.app.node.Status().Document
	v, err := d.app.node.Restore(ctx, b, cluster.Restoration{Revision: r.Revision, Author: r.Author, Reason: reason})
	if err != nil && !errors.Is(err, cluster.ErrNumbersNotRestored) && !errors.Is(err, cluster.ErrDecksNotRestored) && v.Newer(before) && d.app.node.Status().Document == v {
		// The document is in force; what was not taken over is the rest of the history.
		d.app.log.Warn("the history of a backup was not taken over", "error", err)
		err = nil
	}
	return d.applied(v, err)
}
