package app

import (
	"context"
	"errors"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/monitor/admin"
)

// Recover implements admin.Rescue.
func (d *desk) Recover(ctx context.Context, o admin.RecoverOrder) (admin.Recovery, error) {
	r, err := d.app.node.Recover(ctx, cluster.Recovery{Confirm: o.Confirm, Author: o.Author, Reason: o.Reason, DryRun: o.DryRun})
	out := admin.Recovery{
		Cluster: d.app.cfg.Cluster.ID, DryRun: o.DryRun, Nodes: []string{}, Gone: notNil(r.Gone), Adopted: notNil(r.Adopted),
		Epoch: r.Epoch.Number, Generation: r.Version.Generation, Revision: r.Version.Revision,
	}
	for _, n := range r.Reached {
		out.Nodes = append(out.Nodes, n.String())
	}
	return out, rescueError(err)
}

func notNil(list []string) []string { return append([]string{}, list...) }

// Rejoin implements admin.Rescue.
func (d *desk) Rejoin(ctx context.Context, o admin.RejoinOrder) (admin.Rejoined, error) {
	err := d.app.node.Rejoin(ctx, o.Confirm)
	st := d.app.node.Status()
	return admin.Rejoined{
		Cluster: st.Cluster, Node: st.Node, Generation: st.Running.Generation, Revision: st.Running.Revision,
	}, rescueError(err)
}

// rescueError says in the API's words why nothing was done.
func rescueError(err error) error {
	switch {
	case errors.Is(err, cluster.ErrConfirm):
		return as(admin.ErrInvalid, err)
	case errors.Is(err, cluster.ErrNotLost), errors.Is(err, cluster.ErrMember):
		return as(admin.ErrRefused, err)
	}
	return adminError(err)
}
