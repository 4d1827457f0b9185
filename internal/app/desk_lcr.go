package app

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/metrics"
	"github.com/tandem-sbc/tandem/sbc/lcr"
	"github.com/tandem-sbc/tandem/sbc/lcr/client"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Decisions implements admin.Decisions.
func (d *desk) Decisions(context.Context) (admin.DecisionList, error) {
	r := d.app.routes
	kept := r.client.Cache()
	out := admin.DecisionList{Node: d.app.cfg.Name, Kept: kept.Entries, Bytes: kept.Bytes, Servers: []admin.DecisionServer{}}
	for _, s := range r.client.Status() {
		row := admin.DecisionServer{
			Plan: s.Plan, URL: trunkgroup.ShownURL(s.Server.URL), State: "up", Breaker: s.Breaker.String(), Since: when(s.Since), Why: s.Why, NextTry: when(s.Until),
			Last: when(s.LastOK), Fallback: s.Server.FallbackGroup, Pending: s.Pending, Hits: s.Hits, Misses: s.Misses, Fallbacks: s.Fallbacks,
			Results: resultCounts(&s),
		}
		switch {
		case s.Away:
			row.State = "away"
		case s.LastOK.IsZero():
			row.State = "unknown"
		}
		n := uint64(0)
		for _, count := range s.Latency {
			n += count
		}
		if n > 0 {
			row.MeanMs = s.LatencySum.Seconds() * 1000 / float64(n)
		}
		out.Servers = append(out.Servers, row)
	}
	return out, nil
}

func resultCounts(s *client.Status) map[string]uint64 {
	m := make(map[string]uint64, len(s.Results))
	for _, r := range client.Results() {
		m[r.String()] = s.Results[r]
	}
	return m
}

// decisionPlan finds the plan that a question means.
func (d *desk) decisionPlan(name, group string) (*trunkgroup.RoutePlan, error) {
	board := d.app.watch.monitor.Board()
	if board == nil || board.Table == nil {
		return nil, fmt.Errorf("%w: no configuration in force", admin.ErrUnavailable)
	}
	if group != "" {
		g := board.Table.Group(group)
		switch {
		case g == nil:
			return nil, fmt.Errorf("%w: there is no trunk group %q", admin.ErrNotFound, group)
		case name == "" && g.Plan() != nil:
			name = g.Plan().Name
		}
	}
	var found []*trunkgroup.RoutePlan
	for _, p := range board.Table.RoutePlans() {
		if p.Decision != nil && (name == "" || p.Name == name) {
			found = append(found, p)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("%w: %d plans have a decision server: name one", admin.ErrInvalid, len(found))
	case name != "":
		return nil, fmt.Errorf("%w: no plan %q has a decision server", admin.ErrNotFound, name)
	}
	return nil, fmt.Errorf("%w: no plan has a decision server", admin.ErrNotFound)
}

// AskDecision implements admin.Decisions.
func (d *desk) AskDecision(ctx context.Context, q admin.DecisionQuestion) (admin.DecisionAnswer, error) {
	plan, err := d.decisionPlan(q.Plan, q.Group)
	if err != nil {
		return admin.DecisionAnswer{}, err
	}
	in := d.app.routes.inquire(ctx, plan, q.Group, q.Number, q.Caller, netip.Addr{}, trunkgroup.UDP)
	out := admin.DecisionAnswer{
		Plan: plan.Name, Number: q.Number, Result: in.Result.String(), Why: in.Why, Millis: float64(in.Took.Microseconds()) / 1000,
		Source: in.Set.Source, KeptFor: in.TTL.Seconds(), Code: in.Set.Reject.Code, Reason: in.Set.Reject.Reason, Retarget: in.Set.Destination,
		Routes: []admin.DecisionRoute{},
	}
	for _, n := range in.Notes {
		text := n.Text
		if n.Carrier != "" {
			text = n.Carrier + ": " + text
		}
		out.Notes = append(out.Notes, text)
	}
	for i := range in.Set.Routes {
		out.Routes = append(out.Routes, decisionRoute(&in.Set.Routes[i]))
	}
	return out, nil
}

func decisionRoute(r *trunkgroup.CarrierRoute) admin.DecisionRoute {
	row := admin.DecisionRoute{
		Carrier: r.CarrierID, Group: r.GatewayGroup, NextHop: r.NextHop, RURI: r.RURI, Currency: r.Currency, Causes: r.RerouteCauses.Codes(),
	}
	if r.Rated {
		row.Rate = &r.Rate
	}
	if r.Timeout > 0 {
		row.Timeout = r.Timeout.String()
	}
	for _, h := range r.Hops {
		row.Hops = append(row.Hops, h.Addr.String()+"/"+h.Transport.String())
	}
	return row
}

// inquire asks a plan's server for an operator.
func (r *callRoutes) inquire(ctx context.Context, plan *trunkgroup.RoutePlan, group, number, caller string, source netip.Addr, proto trunkgroup.Transport) client.Inquiry {
	if caller == "" {
		caller = "anonymous"
	}
	now := time.Now()
	return r.client.Inquire(ctx, &client.Query{
		Plan: plan, Group: group, Dialed: number, CallID: fmt.Appendf(nil, "ask-%x@%s", now.UnixNano(), r.app.cfg.Name),
		From: []byte("sip:" + caller + "@" + inventedHost), To: []byte("sip:" + number + "@" + inventedHost), Source: source, Transport: proto, Now: now,
	})
}

// FlushDecisions implements admin.Decisions.
func (d *desk) FlushDecisions(_ context.Context, f admin.DecisionFlush) (admin.DecisionFlushed, error) {
	r := d.app.routes
	if f.Number == "" {
		if f.Plan != "" {
			if _, err := d.decisionPlan(f.Plan, ""); err != nil {
				return admin.DecisionFlushed{}, err
			}
		}
		n, err := r.flush(f.Plan)
		if err != nil {
			return admin.DecisionFlushed{}, fmt.Errorf("%w: this node forgot %d; the others cannot be told: %w", admin.ErrUnavailable, n, err)
		}
		return admin.DecisionFlushed{Forgotten: n}, nil
	}
	plan, err := d.decisionPlan(f.Plan, f.Group)
	if err != nil {
		return admin.DecisionFlushed{}, err
	}
	out := admin.DecisionFlushed{}
	if r.forget(lcr.Key{Plan: plan.Name, Edition: plan.Decision.Edition, Group: f.Group, Number: f.Number}) {
		out.Forgotten = 1
	}
	return out, nil
}

// metrics is what /metrics shows of decision servers.
func (r *callRoutes) metrics() metrics.Decisions {
	kept := r.client.Cache()
	out := metrics.Decisions{
		Kept: kept.Entries, Octets: kept.Bytes, Evicted: kept.Evicted, Untold: r.untold.Load(), Useless: r.useless.Load(),
		LatencyBounds: client.LatencyBounds[:],
	}
	for _, s := range r.client.Status() {
		out.Plans = append(out.Plans, metrics.DecisionPlan{
			Plan: s.Plan, Breaker: s.Breaker.String(), Away: s.Away, Pending: s.Pending, Hits: s.Hits, Misses: s.Misses, Fallbacks: s.Fallbacks,
			Results: resultCounts(&s), Latency: s.Latency[:], LatencySum: s.LatencySum,
		})
	}
	return out
}
