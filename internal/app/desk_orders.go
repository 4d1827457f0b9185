package app

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// order carries an operator's order out where it is to be carried out: here, or by
// a node of the site that it is about (DEC-25: only its own nodes turn a knob, so
// that two sites which do not see each other cannot contradict each other).
func (d *desk) order(ctx context.Context, o order) ([]admin.KnobLine, error) {
	if o.Site = cmp.Or(o.Site, d.app.cfg.Site); o.Site == d.app.cfg.Site {
		return d.carryOut(o)
	}
	answer, err := d.orders.pass(ctx, o)
	return answer.Knobs, err
}

// one is order for what is about one subject.
func (d *desk) one(ctx context.Context, o order) (admin.KnobLine, error) {
	lines, err := d.order(ctx, o)
	if err != nil {
		return admin.KnobLine{}, err
	}
	if len(lines) == 0 {
		return admin.KnobLine{}, fmt.Errorf("%w: the node of site %s does not say what it did; tandem knob list shows what is in force", admin.ErrUnavailable, o.Site)
	}
	return lines[0], nil
}

// carryOut turns a knob of this node's site.
func (d *desk) carryOut(o order) ([]admin.KnobLine, error) {
	m := d.app.watch.monitor
	var list []verdict.Knob
	var knob verdict.Knob
	state, known := trunkgroup.ParseAdminState(o.State)
	var err error
	switch {
	case o.Verb == "state" && known:
		knob, err = m.SetState(o.Subject, state, o.Author, o.Reason)
	case o.Verb == "states" && known:
		list, err = m.SetStates(o.Subject, state, o.Author, o.Reason)
	case o.Verb == "state", o.Verb == "states":
		return nil, fmt.Errorf("%w: state %q; it is active, inactive, trying, draining or disabled", admin.ErrInvalid, o.State)
	case o.Verb == "weight":
		knob, err = m.SetWeight(o.Subject, o.Weight, o.Author, o.Reason)
	case o.Verb == "probing":
		knob, err = m.PauseProbes(o.Site, o.On, o.Author, o.Reason)
	case o.Verb == "drain":
		knob, err = m.DrainSite(o.Site, o.On, o.Author, o.Reason)
	case o.Verb == "renew":
		knob, err = m.Renew(o.Subject)
	default:
		return nil, fmt.Errorf("%w: the version of this node knows no order %q", admin.ErrInvalid, o.Verb)
	}
	if err != nil {
		return nil, d.knobError(err, o.Site)
	}
	if list == nil {
		list = []verdict.Knob{knob}
	}
	lines := make([]admin.KnobLine, len(list))
	for i, k := range list {
		lines[i] = knobLine(k)
	}
	return lines, nil
}

// SetState implements admin.Members.
func (d *desk) SetState(ctx context.Context, group, member string, o admin.Order) (admin.Knob, error) {
	subject := group + "/" + member
	if err := d.knownMember(subject); err != nil {
		return admin.Knob{}, err
	}
	line, err := d.one(ctx, order{Verb: "state", Site: d.siteOf(subject), Subject: subject, State: o.State, Author: o.Author, Reason: o.Reason})
	return admin.Knob{State: line.Setting, Author: line.Author, Reason: line.Reason, Node: line.Node, Set: line.Set, Expires: line.Expires}, err
}

// SetStates implements admin.Members: one order for each site.
func (d *desk) SetStates(ctx context.Context, o admin.BulkOrder) (admin.BulkResult, error) {
	result := admin.BulkResult{Sites: []admin.BulkSite{}}
	board := d.app.watch.monitor.Board()
	if board == nil {
		return result, fmt.Errorf("%w: no configuration in force", admin.ErrUnavailable)
	}
	sites, err := sitesOf(board.Table, o.Group, o.Site)
	if err != nil {
		return result, err
	}
	var refused error
	failed := 0
	for _, site := range sites {
		row := admin.BulkSite{Site: site}
		what := order{Verb: "states", Site: site, Subject: o.Group, State: o.State, Author: o.Author, Reason: o.Reason}
		if site == d.app.cfg.Site {
			var lines []admin.KnobLine
			lines, err = d.carryOut(what)
			row.Members, row.Error = len(lines), worded(err)
		} else {
			var answer orderAnswer
			answer, err = d.orders.pass(ctx, what)
			row.Members, row.Error = answer.Count, worded(err)
		}
		if err != nil {
			failed++
			if refused == nil {
				refused = err
			}
		}
		result.Sites = append(result.Sites, row)
	}
	if failed == len(sites) {
		return result, refused // nothing was done: the audit trail must not say that it was
	}
	return result, nil
}

// sitesOf lists the sites that an order is about: the one that is named, or those
// where the group has members.
func sitesOf(t *trunkgroup.Table, group, site string) ([]string, error) {
	g := t.Group(group)
	if group != "" && g == nil {
		return nil, noGroup(t, group)
	}
	var sites []string
	for _, s := range t.Sites() {
		if site == s || site == "" && g != nil && len(g.At(s)) > 0 {
			sites = append(sites, s)
		}
	}
	switch {
	case len(sites) > 0:
		return sites, nil
	case site != "":
		return nil, fmt.Errorf("%w: the document has no site %q", admin.ErrNotFound, site)
	case g == nil:
		return nil, fmt.Errorf("%w: name a group or a site", admin.ErrInvalid)
	}
	return nil, fmt.Errorf("%w: group %s has no members", admin.ErrNotFound, group)
}

// noGroup says that there is no such group, and which there are.
func noGroup(t *trunkgroup.Table, name string) error {
	names := make([]string, 0, len(t.Groups()))
	for _, g := range t.Groups() {
		names = append(names, g.Name)
	}
	return fmt.Errorf("%w: there is no group %q; %s", admin.ErrNotFound, name, cmp.Or(trunkgroup.Suggest(name, names), "tandem config show has all"))
}

func worded(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
