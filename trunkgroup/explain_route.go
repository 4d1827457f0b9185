package trunkgroup

import "strings"

// route puts the way of an identified call into words, and returns it.
func (e *explainer) route(m SourceMatch) Decision {
	d := e.t.Route(m, e.q.Called, e.host, e.q.NumberPolicy)
	e.out.Direction, e.out.Ingress, e.out.Called, e.out.Code = d.Direction, d.Ingress.Name, d.Called, d.Code
	e.out.RN = d.RN
	user := BehindPrefix(e.q.Called, m.Prefix)
	switch {
	case m.Provider == nil:
		e.routedCustomer(&d, user)
	case d.Ingress == m.Provider && d.Groups != nil:
		e.number(m.Provider, user)
		by, _ := e.t.FindNumber([]byte(d.Called))
		e.say("route", "%s owns the number by %s: inbound", d.Customer.Name, by.By())
		e.covered(d.Called, by)
	case m.Customer == nil:
		e.number(m.Provider, user)
		e.say("route", "no group owns the number: 404")
	default:
		e.number(m.Provider, user)
		e.say("route", "no group owns the number, and the source is customer %s too: outbound", m.Customer.Name)
		e.routedCustomer(&d, user)
	}
	return d
}

// covered says what else covers a number and lost: what covers the fewest numbers
// wins, and expressions come last, in their order.
func (e *explainer) covered(called string, winner NumberMatch) {
	const most = 5
	said := 0
	for _, m := range e.t.NumberCovers([]byte(called)) {
		if m == winner {
			continue
		}
		if said++; said > most {
			e.say("route", "and more; see: tandem number show %s", called)
			return
		}
		e.say("route", "%s of %s covers it too and is not used", m.By(), m.Group.Name)
	}
}

// routedCustomer says where a customer's call goes.
func (e *explainer) routedCustomer(d *Decision, user []byte) {
	g := d.Ingress
	switch {
	case d.Member != nil:
		e.say("route", "%s registers as %s: like a call from outside to %s", d.Member.Key, d.Called, d.Member.Group.Name)
		return
	case len(e.host) > 0:
		e.say("route", "no member of %s's customer registers as sip:%s@%s: it is taken for a number", g.Name, user, e.host)
	}
	if d.Cause == CauseRegistrationOnly {
		e.say("route", "users of %s reach addresses of record of their customer, and nobody else: 403", g.Name)
		return
	}
	e.number(g, user)
	if d.Err != nil {
		return
	}
	by := []byte(d.Called)
	if d.RN != "" {
		e.say("number", "was looked up for porting: routed by %s", d.RN)
		by = []byte(d.RN)
	}
	switch plan := g.plan; {
	case plan == nil && d.Groups == nil:
		e.say("route", "%s has no route plan, and there is no provider: 404", g.Name)
	case plan == nil:
		e.say("route", "%s has no route plan: all providers, %s", g.Name, names(d.Groups))
	case d.Plan != nil:
		e.say("route", "route plan %s leaves it to others", plan.Name)
	case d.Groups == nil:
		e.say("route", "route plan %s has no route for the number: 404", plan.Name)
	default:
		prefix, _ := plan.lookup(by)
		e.say("route", "route plan %s, prefix %s: %s", plan.Name, prefix, names(d.Groups))
	}
}

// number says what the called number is as a group writes numbers.
func (e *explainer) number(g *Group, user []byte) {
	if e.q.Normalise == nil {
		return
	}
	n, err := e.q.Normalise(g.Numbering, user)
	if err != nil {
		e.say("number", "%q as group %s writes numbers: %v", user, g.Name, err)
		return
	}
	e.say("number", "%q as group %s writes numbers is %s", user, g.Name, n)
}

func names(groups []*Group) string {
	all := make([]string, len(groups))
	for i, g := range groups {
		all[i] = g.Name
	}
	return strings.Join(all, ", ")
}
