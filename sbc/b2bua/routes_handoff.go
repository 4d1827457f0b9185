package b2bua

import (
	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// handRoutes puts the routes that remain into the token of a hand-off, with what their plan
// says of them: the node that takes the call asks nobody again (DEC-07). What does not fit
// is left out, the last routes first.
func (c *Call) handRoutes(token *geo.Token) {
	if c.lc == nil {
		return
	}
	c.lc.handed = c.remaining()
	left := trunkgroup.RouteSet{Destination: c.routes.Destination, Routes: make([]trunkgroup.CarrierRoute, len(c.lc.handed))}
	for i, r := range c.lc.handed {
		left.Routes[i] = *r
	}
	b := appendRouteSet(nil, &left)
	for len(b) > geo.MaxDecision && len(left.Routes) > 0 {
		left.Routes = left.Routes[:len(left.Routes)-1]
		b = appendRouteSet(b[:0], &left)
	}
	c.lc.handed = c.lc.handed[:len(left.Routes)]
	token.Decision = b
	if p := c.asks; p != nil {
		token.Ring, token.Causes, token.MaxMembers = p.Ring, p.RerouteCauses, p.MaxMembers
	}
}

// remaining are the routes that the peer site may try: all but those whose next hop was
// dialled from here. A gateway group has other members there.
func (c *Call) remaining() (list []*trunkgroup.CarrierRoute) {
	spent := make(map[*trunkgroup.CarrierRoute]bool)
	attempts := c.seq.Attempts()
	for i := range attempts {
		a := &attempts[i]
		if m := c.memberOf(a); m != nil && m.Index < 0 && a.Dialed {
			spent[c.routeOf(a)] = true
		}
	}
	for i := range c.routes.Routes {
		if r := &c.routes.Routes[i]; !spent[r] {
			list = append(list, r)
		}
	}
	return list
}

// takeHanded takes the routes that came with a hand-off. It gives the call its final
// response, and reports false, when there are none that can be read: nobody is asked a
// second time about one call.
func (c *Call) takeHanded() bool {
	if len(c.token.Decision) == 0 && c.emergency() { // nobody had decided there either
		table, _ := c.s.env.Routing()
		return c.anyCarrier(table)
	}
	set, err := parseRouteSet(c.token.Decision)
	if err != nil {
		c.fail(503, causeNoDecision)
		return false
	}
	name := "" // of the plan here, under which calls of carriers are counted
	if c.asks != nil {
		name = c.asks.Name
	}
	c.groups, c.routes = nil, set
	c.asks = trunkgroup.HandedPlan(name, c.token.Ring, c.token.Causes, c.token.MaxMembers)
	return true
}
