package trunkgroup

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

// RoutePolicy is a compiled PolicySpec. It is part of a Table and never changes.
type RoutePolicy struct {
	Keep     *policy.Filter // nil: all stay
	Order    *policy.Order  // nil: as decided
	Fields   []PolicyField  // by name
	Failures []FailureRule
	Webhooks []*Webhook

	kinds []policy.EventKind // that some webhook is told of
}

// PolicyField is one field that rules add to the record.
type PolicyField struct {
	Name string
	Text *policy.Field
}

// FailureRule is one rule for calls whose routes have all failed.
type FailureRule struct {
	When *policy.Condition // nil: always
	// One of the three is set.
	Routes *RouteSet // tried next
	Ask    bool      // ask the decision server again
	Reject Rejection
}

// Webhook is a compiled WebhookSpec.
type Webhook struct {
	URL, AuthHeader, Secret string // not yet expanded, see ExpandEnv
	Events                  []policy.EventKind
	Timeout                 time.Duration // of one request
}

const defaultWebhookTimeout = 5 * time.Second

// Tells reports whether somebody is told of events of a kind.
func (p *RoutePolicy) Tells(kind policy.EventKind) bool {
	return p != nil && slices.Contains(p.kinds, kind)
}

// compilePolicy compiles rules that Validate has read before.
func compilePolicy(s *PolicySpec) *RoutePolicy {
	if s == nil {
		return nil
	}
	p := &RoutePolicy{}
	if s.Keep != "" {
		p.Keep, _ = policy.CompileFilter(s.Keep)
	}
	if s.OrderBy != "" {
		p.Order, _ = policy.CompileOrder(s.OrderBy)
	}
	for _, name := range slices.Sorted(maps.Keys(s.CDRFields)) {
		if text, err := policy.CompileField(s.CDRFields[name]); err == nil {
			p.Fields = append(p.Fields, PolicyField{Name: name, Text: text})
		}
	}
	for i := range s.OnFailure {
		p.Failures = append(p.Failures, compileFailureRule(&s.OnFailure[i]))
	}
	for i := range s.Webhooks {
		p.addWebhook(&s.Webhooks[i])
	}
	return p
}

func compileFailureRule(s *FailureRuleSpec) FailureRule {
	r := FailureRule{Ask: s.Ask}
	if s.When != "" {
		r.When, _ = policy.CompileCondition(s.When)
	}
	if s.Reject != nil {
		r.Reject = Rejection{Code: s.Reject.Code, Reason: s.Reject.Reason}
	}
	if len(s.Route) > 0 {
		r.Routes = &RouteSet{Source: RoutesPolicy}
		for _, group := range s.Route {
			r.Routes.Routes = append(r.Routes.Routes, CarrierRoute{CarrierID: policyCarrier + group, GatewayGroup: group})
		}
	}
	return r
}

// policyCarrier begins the carrier id of a route that a rule names, like that of a
// fallback group (S-093).
const policyCarrier = "policy:"

func (p *RoutePolicy) addWebhook(s *WebhookSpec) {
	w := &Webhook{URL: s.URL, AuthHeader: s.AuthHeader, Secret: s.Secret, Events: s.Events, Timeout: s.Timeout.or(defaultWebhookTimeout)}
	if len(w.Events) == 0 {
		w.Events = policy.EventKinds()
	}
	for _, kind := range w.Events {
		if !slices.Contains(p.kinds, kind) {
			p.kinds = append(p.kinds, kind)
		}
	}
	p.Webhooks = append(p.Webhooks, w)
}

// RuleFault is a rule that could not be evaluated for a call, which goes on as without
// it.
type RuleFault struct {
	Rule string // keep, order_by, cdr_fields.region, on_failure[1].when
	Err  error
}

// Policing is what the rules of a plan have made of the routes that were decided on.
type Policing struct {
	// Set is what remains: what was decided itself when nothing changes.
	Set    *RouteSet
	Gone   []int     // places of the routes that keep took out, from 0, ascending
	Order  []int     // places of those that remain, in their new order
	Keys   []float64 // what they were ordered by; nil when they were not
	Faults []RuleFault
}

// Police filters and orders what was decided for a call (S-014). A rule that cannot be
// evaluated for one of the routes counts for none of them.
func (p *RoutePolicy) Police(m *policy.Machine, call *policy.Call, set *RouteSet) (out Policing) {
	out.Set = set
	if p == nil || p.Keep == nil && p.Order == nil || set.Absent || set.Reject.Code != 0 {
		return out
	}
	var route policy.Route
	out.keep(p, m, call, &route)
	out.order(p, m, call, &route)
	if len(out.Gone) == 0 && slices.IsSorted(out.Order) {
		return out
	}
	changed := *set
	changed.Routes = make([]CarrierRoute, len(out.Order))
	for i, at := range out.Order {
		changed.Routes[i] = set.Routes[at]
	}
	out.Set = &changed
	return out
}

func (o *Policing) keep(p *RoutePolicy, m *policy.Machine, call *policy.Call, route *policy.Route) {
	routes := o.Set.Routes
	o.Order = make([]int, 0, len(routes))
	for i := range routes {
		stays := true
		if p.Keep != nil {
			FillRoute(route, &routes[i], i+1)
			var err error
			if stays, err = m.Keep(p.Keep, call, route); err != nil {
				o.Faults = append(o.Faults, RuleFault{"keep", err})
				o.Gone, o.Order = nil, o.Order[:0]
				for i := range routes {
					o.Order = append(o.Order, i)
				}
				return
			}
		}
		if stays {
			o.Order = append(o.Order, i)
		} else {
			o.Gone = append(o.Gone, i)
		}
	}
}

func (o *Policing) order(p *RoutePolicy, m *policy.Machine, call *policy.Call, route *policy.Route) {
	if p.Order == nil {
		return
	}
	keys := make([]float64, len(o.Set.Routes))
	for _, at := range o.Order {
		FillRoute(route, &o.Set.Routes[at], at+1)
		var err error
		if keys[at], err = m.Key(p.Order, call, route); err != nil {
			o.Faults = append(o.Faults, RuleFault{"order_by", err})
			return
		}
	}
	slices.SortStableFunc(o.Order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	o.Keys = make([]float64, len(o.Order))
	for i, at := range o.Order {
		o.Keys[i] = keys[at]
	}
}

// FillRoute writes down a route as rules and webhooks see it; place counts from 1. It
// uses the maps that dst has.
func FillRoute(dst *policy.Route, r *CarrierRoute, place int) {
	headers, fields := dst.Headers, dst.Fields
	*dst = policy.Route{
		Place: place, CarrierID: r.CarrierID, Group: r.GatewayGroup, NextHop: r.NextHop, RURI: r.RURI, Destination: r.Destination,
		TechPrefix: r.TechPrefix, NumberPolicy: r.NumberPolicy, CallerID: r.CallerID, Restricted: r.Restricted,
		Rate: r.Rate, Rated: r.Rated, Currency: r.Currency, BillingIncrement: int(r.BillingIncrement), MinDuration: int(r.MinDuration),
		Timeout: r.Timeout.Seconds(), RerouteAfterProgress: r.RerouteAfterProgress,
		Headers: fillMap(headers, r.Headers), Fields: fillMap(fields, r.CDRFields),
	}
}

func fillMap(m map[string]string, list []NameValue) map[string]string {
	clear(m)
	if m == nil && len(list) > 0 {
		m = make(map[string]string, len(list))
	}
	for i := range list {
		m[list[i].Name] = list[i].Value
	}
	return m
}

// Rule returns the first rule that holds for a call whose routes have all failed, by its
// place, or -1 (S-045). Used has a bit for each rule that was carried out in this call: it
// is not asked again, so that no call goes round in a circle.
func (p *RoutePolicy) Rule(m *policy.Machine, used uint32, call *policy.Call, failure *policy.Failure, attempts []policy.Attempt) (at int, faults []RuleFault) {
	if p == nil {
		return -1, nil
	}
	for i := range p.Failures {
		r := &p.Failures[i]
		if used&(1<<i) != 0 {
			continue
		}
		if r.When == nil {
			return i, faults
		}
		holds, err := m.Holds(r.When, call, failure, attempts)
		if err != nil {
			faults = append(faults, RuleFault{index("on_failure", i) + ".when", err})
			continue
		}
		if holds {
			return i, faults
		}
	}
	return -1, faults
}

// FieldTexts returns what rules add to the record of a call that a route answered.
func (p *RoutePolicy) FieldTexts(m *policy.Machine, call *policy.Call, route *policy.Route, attempts []policy.Attempt) (fields []NameValue, faults []RuleFault) {
	if p == nil {
		return nil, nil
	}
	for _, f := range p.Fields {
		text, err := m.Text(f.Text, call, route, attempts)
		if err != nil {
			faults = append(faults, RuleFault{"cdr_fields." + f.Name, err})
			continue
		}
		fields = append(fields, NameValue{f.Name, text})
	}
	return fields, faults
}
