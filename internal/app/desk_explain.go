package app

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// inventedHost stands in the Request-URI of a question that names a number alone.
const inventedHost = "tandem.invalid"

// Explain implements admin.Explainer: it asks the functions that calls use.
func (d *desk) Explain(ctx context.Context, q admin.Question) (trunkgroup.Explanation, error) {
	x, err := d.explore(ctx, q)
	if err != nil {
		return trunkgroup.Explanation{}, err
	}
	x.annotate()
	x.limits(ctx)
	return x.Explanation, nil
}

// exploring is one question on its way to its answer.
type exploring struct {
	trunkgroup.Explored
	d     *desk
	q     *admin.Question
	board *verdict.Board
	query trunkgroup.Query
	down  []string // sites that are assumed to be down
}

// explore asks the domain.
func (d *desk) explore(ctx context.Context, q admin.Question) (*exploring, error) {
	x := &exploring{d: d, q: &q, board: d.app.watch.monitor.Board()}
	if x.board == nil {
		return nil, fmt.Errorf("%w: no configuration in force", admin.ErrUnavailable)
	}
	table, view, err := x.world()
	if err != nil {
		return nil, err
	}
	site := cmp.Or(q.Site, d.app.cfg.Site)
	if sites := table.Sites(); !slices.Contains(sites, site) {
		return nil, fmt.Errorf("%w: the document has no site %q, it has %s", admin.ErrNotFound, site, strings.Join(sites, ", "))
	}
	if slices.Contains(x.down, site) {
		return nil, fmt.Errorf("%w: no call enters at %s when it is down; ask for another site with --site", admin.ErrInvalid, site)
	}
	x.query = trunkgroup.Query{Site: site, Now: time.Now(), MayShow: d.app.frauds.watch.MayOriginate, Asks: x.asks}
	if err := x.caller(); err != nil {
		return nil, err
	}
	if err := x.call(table); err != nil {
		return nil, err
	}
	x.Explored = trunkgroup.Explore(table, view, x.query)
	x.decided(ctx, table, view, q.Ask)
	x.Assumed = q.Assume
	return x, nil
}

// world is the table and the view that the question is about.
func (x *exploring) world() (*trunkgroup.Table, *trunkgroup.View, error) {
	table, view := x.board.Table, x.board.View
	if at := x.q.At; at != 0 && at != table.Version().Revision {
		e, err := x.d.revision(at)
		if err != nil {
			return nil, nil, err
		}
		old, err := Compile(e.Document, e.Version)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: revision %d: %w", admin.ErrInvalid, at, err)
		}
		old = old.WithNumbers(table.Numbers())
		table, view = old, view.Transfer(table, old)
	}
	var all []trunkgroup.Assumption
	for _, text := range x.q.Assume {
		a, err := trunkgroup.ParseAssumption(text)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", admin.ErrInvalid, err)
		}
		if a.Site != "" {
			if !slices.Contains(table.Sites(), a.Site) {
				return nil, nil, fmt.Errorf("%w: the document has no site %q", admin.ErrNotFound, a.Site)
			}
			x.down = append(x.down, a.Site)
		}
		all = append(all, a)
	}
	view, err := view.Assume(table, all)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", admin.ErrNotFound, err)
	}
	return table, view, nil
}

// asks tells whether a node of a site is up, as this node sees it.
func (x *exploring) asks(site string) bool {
	if slices.Contains(x.down, site) {
		return false
	}
	for _, p := range x.d.app.server.Takers() {
		if p.Site == site && p.Fresh {
			return true
		}
	}
	return false
}

// caller reads where the call comes from.
func (x *exploring) caller() error {
	k := &x.query.Source
	k.Transport = trunkgroup.UDP
	var err error
	if x.q.Transport != "" {
		if k.Transport, err = trunkgroup.ParseTransport(x.q.Transport); err != nil {
			return fmt.Errorf("%w: %w", admin.ErrInvalid, err)
		}
	}
	for _, f := range []struct {
		text string
		to   *netip.AddrPort
	}{{x.q.Source, &k.Source}, {x.q.Local, &k.Local}} {
		if f.text == "" {
			continue
		}
		if *f.to, err = netip.ParseAddrPort(f.text); err != nil {
			return fmt.Errorf("%w: %q is not ip:port", admin.ErrInvalid, f.text)
		}
	}
	return nil
}

// call makes the message of the call and takes from it what calls take.
func (x *exploring) call(table *trunkgroup.Table) error {
	draft := x.draft()
	m, err := draft.Message()
	if err != nil {
		return fmt.Errorf("%w: %w", admin.ErrInvalid, err)
	}
	app := x.d.app
	i := b2bua.Inquiry{
		Message: m, Source: x.query.Source.Source, User: x.q.Username, Seed: app.server.Seed(), Sessions: app.sessions, Now: time.Now(),
	}
	if err := i.Ask(&x.query); err != nil {
		return fmt.Errorf("%w: %w", admin.ErrInvalid, err)
	}
	x.query.Realm = cmp.Or(x.q.Realm, table.RealmOf(string(x.query.Host)), app.cfg.SIP.Realm)
	if string(x.query.Host) == inventedHost {
		x.query.Host = nil
	}
	if x.q.Caller == "" {
		x.query.Caller = nil
	}
	x.query.Foreign = func(digest bool, host []byte) bool {
		return app.server.Foreign(table, x.query.Source.Local, digest, host)
	}
	x.query.Affinity, x.query.Sticks = x.q.Affinity, app.sticks
	x.query.Draw.Random = x.q.Chance
	reads := x.query.Draws
	x.query.Draws = func(d *trunkgroup.Decision, g *trunkgroup.Group) trunkgroup.Draw {
		draw := reads(d, g)
		draw.Turn, draw.Turns = x.Turn(g), x
		return draw
	}
	return nil
}

// Turn implements trunkgroup.Turner.
func (x *exploring) Turn(g *trunkgroup.Group) uint64 {
	if x.q.Turn != nil {
		return *x.q.Turn
	}
	return x.d.app.server.NextTurn(g.Name)
}

func (x *exploring) draft() b2bua.Draft {
	draft := b2bua.Draft{
		RequestURI: x.q.RequestURI, Caller: x.q.Caller, CallID: x.q.CallID, Headers: x.q.Headers,
		Transport: x.query.Source.Transport, Source: x.query.Source.Source,
	}
	switch {
	case draft.RequestURI != "":
	case strings.HasPrefix(x.q.Called, "sip:"), strings.HasPrefix(x.q.Called, "sips:"), strings.HasPrefix(x.q.Called, "tel:"):
		draft.RequestURI = x.q.Called
	default:
		draft.RequestURI = "sip:" + x.q.Called + "@" + inventedHost
	}
	return draft
}
