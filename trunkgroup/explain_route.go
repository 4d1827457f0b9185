package trunkgroup

import "strings"

// number normalises the called number as the ingress group writes numbers.
func (e *explainer) number(g *Group, prefix string) ([]byte, bool) {
	user := e.q.Called[min(len(prefix), len(e.q.Called)):]
	if e.q.Normalise == nil {
		return user, true
	}
	n, err := e.q.Normalise(g.Numbering, user)
	if err != nil {
		e.out.Code = 404
		if e.q.Code != nil {
			e.out.Code = e.q.Code(err)
		}
		e.say("number", "%q as group %s writes numbers: %v", user, g.Name, err)
		return nil, false
	}
	e.say("number", "%q as group %s writes numbers is %s", user, g.Name, n)
	return n, true
}

// portability returns the number that the route goes by: the routing number
// where the called user carries one, else the called number itself.
func (e *explainer) portability(g *Group, prefix string, e164 []byte) []byte {
	if e.q.Portability == nil || e.q.Normalise == nil {
		return e164
	}
	rn, looked := e.q.Portability(e.q.Called[min(len(prefix), len(e.q.Called)):])
	if !looked || len(rn) == 0 {
		return e164
	}
	by, err := e.q.Normalise(g.Numbering, rn)
	if err != nil {
		return e164
	}
	e.say("number", "was looked up for porting: routed by %s", by)
	return by
}

// route returns the groups to try, in order.
func (e *explainer) route(m SourceMatch) []*Group {
	if m.Provider != nil {
		e164, ok := e.number(m.Provider, m.Prefix)
		e.out.Code = 0
		if owner, by, found := e.t.numbers.Lookup(e164); ok && found {
			g := e.t.groups[owner]
			e.say("route", "%s owns the number by %s: inbound", g.Name, by)
			e.decided("inbound", m.Provider, e164)
			return []*Group{g}
		}
		if m.Customer == nil {
			e.say("route", "no group owns the number: 404")
			e.decided("inbound", m.Provider, e164)
			e.out.Code = 404 // DEC-04
			return nil
		}
		e.say("route", "no group owns the number, and the source is customer %s too: outbound", m.Customer.Name)
	}
	if g := e.routeAOR(m); g != nil {
		return []*Group{g}
	}
	if !m.Customer.MayCallOut() {
		e.say("route", "users of %s reach addresses of record of their customer, and nobody else: 403", m.Customer.Name)
		e.decided("outbound", m.Customer, nil)
		e.out.Code = 403 // P-29
		return nil
	}
	e164, ok := e.number(m.Customer, m.Prefix)
	e.decided("outbound", m.Customer, e164)
	if !ok {
		return nil
	}
	by := e.portability(m.Customer, m.Prefix, e164)
	groups := e.t.Providers(m.Customer, by)
	switch plan := m.Customer.plan; {
	case plan == nil:
		e.say("route", "%s has no route plan: all providers, %s", m.Customer.Name, names(groups))
	case groups == nil:
		e.say("route", "route plan %s has no route for the number: 404", plan.name)
		e.out.Code = 404
	default:
		prefix, _ := plan.lookup(by)
		e.say("route", "route plan %s, prefix %s: %s", plan.name, prefix, names(groups))
	}
	return groups
}

// routeAOR returns the group of the customer's own member that is called by its
// address of record, or nil.
func (e *explainer) routeAOR(m SourceMatch) *Group {
	user := e.q.Called[min(len(m.Prefix), len(e.q.Called)):]
	member := e.t.CalledMember(m.Customer, user, e.host)
	if member == nil {
		if len(e.host) > 0 {
			e.say("route", "no member of %s's customer registers as sip:%s@%s: it is taken for a number", m.Customer.Name, user, e.host)
		}
		return nil
	}
	e.say("route", "%s registers as %s: like a call from outside to %s", member.Key, member.Registration.AOR, member.Group.Name)
	e.decided("inbound", m.Customer, []byte(member.Registration.AOR))
	return member.Group
}

func (e *explainer) decided(direction string, ingress *Group, e164 []byte) {
	e.out.Direction, e.out.Ingress, e.out.Called = direction, ingress.Name, string(e164)
}

func names(groups []*Group) string {
	all := make([]string, len(groups))
	for i, g := range groups {
		all[i] = g.Name
	}
	return strings.Join(all, ", ")
}
