package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// decided asks the domain again with what others decide about the call, when its plan
// leaves it to them: what is kept, or with ask what the server says now.
func (x *exploring) decided(ctx context.Context, table *trunkgroup.Table, view *trunkgroup.View, ask bool) {
	d := &x.Decision
	plan := d.Plan
	if plan == nil || x.Code != 0 {
		return
	}
	set, words := x.decision(ctx, plan, ask)
	if set != nil {
		x.query.Routes = set
		x.Explored = trunkgroup.Explore(table, view, x.query)
	}
	for _, text := range words {
		x.say("decision", "%s", text)
	}
}

// decision is what is decided, and where that comes from.
func (x *exploring) decision(ctx context.Context, plan *trunkgroup.RoutePlan, ask bool) (set *trunkgroup.RouteSet, words []string) {
	r := x.d.app.routes
	q := b2bua.RouteQuery{
		Plan: plan, Group: x.Decision.Customer.Name, Dialed: x.Decision.Called, Source: x.query.Source.Source,
		Transport: x.query.Source.Transport, Caller: x.query.Caller, Now: time.Now(),
	}
	if plan.Decision == nil {
		return r.Known(&q), nil
	}
	key := fmt.Sprintf("%s:%s", q.Group, q.Dialed)
	if !ask {
		kept, asked, until := r.client.Kept(clientQuery(&q))
		if kept == nil {
			return nil, []string{"no answer is kept for " + key + ": the call would ask the server of plan " + plan.Name + "; --ask asks it now"}
		}
		return kept, []string{fmt.Sprintf("from the answers that are kept: asked at %s, good until %s",
			asked.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339))}
	}
	in := r.inquire(ctx, plan, q.Group, q.Dialed, string(q.Caller), q.Source.Addr(), q.Transport)
	if in.Why != "" {
		words = append(words, fmt.Sprintf("the server of plan %s was asked, and brought nothing (%s): %s", plan.Name, in.Result, in.Why))
	} else {
		keeps := "is not kept"
		if in.TTL > 0 {
			keeps = "is kept for " + in.TTL.String()
		}
		words = append(words, fmt.Sprintf("the server of plan %s answered in %.1f ms; such an answer %s", plan.Name, in.Took.Seconds()*1000, keeps))
	}
	for _, n := range in.Notes {
		words = append(words, strings.TrimPrefix(n.Carrier+": "+n.Text, ": "))
	}
	return in.Set, words
}
