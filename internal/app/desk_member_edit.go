package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

// AddMember implements admin.MemberEditor.
func (d *desk) AddMember(ctx context.Context, group string, m admin.NewMember) (admin.Applied, error) {
	spec := trunkgroup.MemberSpec{
		ID: m.ID, Site: m.Site, Address: m.Address, FQDN: m.FQDN, ServerName: m.ServerName, Weight: m.Weight, Priority: m.Priority,
		LastResort: m.LastResort, Limits: trunkgroup.LimitsSpec{Calls: m.Calls, CPS: m.CPS},
	}
	err := errors.Join(spec.Transport.UnmarshalText([]byte(m.Transport)), spec.Direction.UnmarshalText([]byte(m.Direction)))
	if err != nil {
		return admin.Applied{}, fmt.Errorf("%w: %w", admin.ErrInvalid, err)
	}
	change := admin.Change{Author: m.Author, Reason: cmp.Or(m.Reason, "member "+group+"/"+m.ID+" added"), DryRun: m.DryRun}
	return d.edit(ctx, change, func(text []byte) ([]byte, error) { return yamldoc.AddMember(documentName, text, group, spec) })
}

// RemoveMember implements admin.MemberEditor. Calls that are up at the member go on.
func (d *desk) RemoveMember(ctx context.Context, group, member string, o admin.MemberRemoval) (admin.Applied, error) {
	change := admin.Change{Author: o.Author, Reason: cmp.Or(o.Reason, "member "+group+"/"+member+" removed"), DryRun: o.DryRun}
	return d.edit(ctx, change, func(text []byte) ([]byte, error) { return yamldoc.RemoveMember(documentName, text, group, member) })
}

// edit changes the document in force and applies it, only if nobody else has changed
// it meanwhile.
func (d *desk) edit(ctx context.Context, c admin.Change, how func([]byte) ([]byte, error)) (admin.Applied, error) {
	current, ok := d.app.node.Current()
	if !ok {
		return admin.Applied{}, fmt.Errorf("%w: no configuration in force", admin.ErrUnavailable)
	}
	text, err := how(current.Document)
	switch {
	case errors.Is(err, yamldoc.ErrNoGroup), errors.Is(err, yamldoc.ErrNoMember):
		return admin.Applied{}, fmt.Errorf("%w: %w", admin.ErrNotFound, err)
	case errors.Is(err, yamldoc.ErrMember), errors.Is(err, yamldoc.ErrEdit):
		return admin.Applied{}, fmt.Errorf("%w: %w", admin.ErrRefused, err)
	case err != nil:
		return admin.Applied{}, err
	}
	revision := current.Version.Revision
	c.Text, c.Expect = text, &revision
	return d.Apply(ctx, c)
}
