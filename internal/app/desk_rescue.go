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

// Remove implements admin.Rescue.
func (d *desk) Remove(ctx context.Context, o admin.RemoveOrder) (admin.Gone, error) {
	out := admin.Gone{Cluster: d.app.cfg.Cluster.ID, Node: o.Node, Voters: []string{}}
	err := d.app.node.Remove(ctx, cluster.Removal{Node: o.Node, Author: o.Author, Reason: o.Reason, Few: o.Few})
	for _, s := range d.app.node.Status().Raft.Servers {
		if s.Voter && s.Name != o.Node { // this node may hear of it a moment later than the leader
			out.Voters = append(out.Voters, s.Name)
		}
	}
	return out, rescueError(err)
}

// rescueError says in the API's words why nothing was done.
func rescueError(err error) error {
	switch {
	case errors.Is(err, cluster.ErrConfirm):
		return as(admin.ErrInvalid, err)
	case errors.Is(err, cluster.ErrNotLost), errors.Is(err, cluster.ErrMember):
		return as(admin.ErrRefused, err)
	case errors.Is(err, cluster.ErrUnknownNode):
		return as(admin.ErrNotFound, err)
	}
	return adminError(err)
}
