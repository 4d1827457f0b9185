package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/monitor"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Knobs implements admin.Knobs.
func (d *desk) Knobs(context.Context) (admin.KnobList, error) {
	list := admin.KnobList{Site: d.app.cfg.Site, Knobs: []admin.KnobLine{}}
	for _, k := range d.app.watch.monitor.Knobs() {
		list.Knobs = append(list.Knobs, knobLine(k))
	}
	return list, nil
}

func knobLine(k verdict.Knob) admin.KnobLine {
	setting := k.State.String()
	switch {
	case k.Weight > 0:
		setting = fmt.Sprintf("weight %d", k.Weight)
	case pausedSite(k.Member) != "" && k.State != trunkgroup.AdminUp:
		setting = "paused"
	case k.State == trunkgroup.AdminUp:
		setting = trunkgroup.Active.String()
	}
	return admin.KnobLine{
		Subject: k.Member, Setting: setting, Author: k.Author, Reason: k.Reason, Node: k.Node,
		Set: k.Set, Age: time.Since(k.Set).Round(time.Millisecond).Seconds(), Expires: k.Expires,
	}
}

// SetWeight implements admin.Knobs.
func (d *desk) SetWeight(ctx context.Context, group, member string, o admin.WeightOrder) (admin.KnobLine, error) {
	subject := group + "/" + member
	if err := d.knownMember(subject); err != nil {
		return admin.KnobLine{}, err
	}
	return d.one(ctx, order{Verb: "weight", Site: d.siteOf(subject), Subject: subject, Weight: o.Weight, Author: o.Author, Reason: o.Reason})
}

// SetSite implements admin.Knobs.
func (d *desk) SetSite(ctx context.Context, site string, o admin.SiteOrder) (admin.KnobLine, error) {
	if err := d.knownSite(site); err != nil {
		return admin.KnobLine{}, err
	}
	return d.one(ctx, order{Verb: "drain", Site: site, On: o.Drain, Author: o.Author, Reason: o.Reason})
}

// Renew implements admin.Knobs.
func (d *desk) Renew(ctx context.Context, o admin.RenewOrder) (admin.KnobLine, error) {
	member, site, _ := verdict.Subject(o.Subject)
	if site == "" {
		site = d.siteOf(member)
	} else if err := d.knownSite(site); err != nil {
		return admin.KnobLine{}, err
	}
	return d.one(ctx, order{Verb: "renew", Site: site, Subject: o.Subject, Author: o.Author})
}

// knownMember refuses a member that the document does not have, and names the nearest.
func (d *desk) knownMember(key string) error {
	b := d.app.watch.monitor.Board()
	if b == nil || b.Table.Member(key) != nil {
		return nil
	}
	keys := make([]string, 0, len(b.Table.Members()))
	for _, m := range b.Table.Members() {
		keys = append(keys, m.Key)
	}
	remedy := cmp.Or(trunkgroup.Suggest(key, keys), "tandem member list shows all")
	return fmt.Errorf("%w: %q: %w; %s", admin.ErrNotFound, key, monitor.ErrNoMember, remedy)
}

// knownSite refuses a site that the document does not have.
func (d *desk) knownSite(site string) error {
	if b := d.app.watch.monitor.Board(); b == nil || !slices.Contains(b.Table.Sites(), site) {
		return fmt.Errorf("%w: %q: %w", admin.ErrNotFound, site, monitor.ErrNoSite)
	}
	return nil
}

// pausedSite is the site of a knob that stops probes; empty for other knobs.
func pausedSite(subject string) string {
	if _, site, _ := verdict.Subject(subject); subject == verdict.PauseOf(site) {
		return site
	}
	return ""
}

// siteOf is the site of a member, as far as it is known.
func (d *desk) siteOf(member string) string {
	if b := d.app.watch.monitor.Board(); b != nil {
		if m := b.Table.Member(member); m != nil {
			return m.Site
		}
	}
	return ""
}

// knobError says in the API's words why a knob of a site was not turned.
func (d *desk) knobError(err error, site string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, monitor.ErrNoMember), errors.Is(err, monitor.ErrNoSite), errors.Is(err, monitor.ErrNoKnob):
		return fmt.Errorf("%w: %w", admin.ErrNotFound, err)
	case errors.Is(err, monitor.ErrWeight):
		return fmt.Errorf("%w: %w", admin.ErrInvalid, err)
	case errors.Is(err, monitor.ErrNotProbed):
		return fmt.Errorf("%w: %w: draining or disabled takes it out, active puts it back", admin.ErrInvalid, err)
	case errors.Is(err, monitor.ErrTooMany):
		return fmt.Errorf("%w: %w: name its groups one by one, or drain the site", admin.ErrRefused, err)
	case errors.Is(err, monitor.ErrLastSite):
		return fmt.Errorf("%w: %w: its calls would have nowhere to go", admin.ErrRefused, err)
	case errors.Is(err, monitor.ErrOtherSite):
		return fmt.Errorf("%w: %w: ask one of its nodes, %s", admin.ErrRefused, err, strings.Join(d.nodesOf(site), ", "))
	}
	return err
}

// nodesOf names the nodes of a site that are up.
func (d *desk) nodesOf(site string) []string {
	names := []string{}
	for _, p := range d.app.node.Peers() {
		if p.Site == site && p.Up {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return []string{"none of which is up"}
	}
	slices.Sort(names)
	return names
}

// drained is drainedSite of this node's own site.
func (d *desk) drained() (why string, needed bool) { return d.drainedSite(d.app.cfg.Site) }

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
