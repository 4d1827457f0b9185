package trunkgroup

import "bytes"

// Route says where the call of an identified caller goes, by the user and the
// host of its Request-URI: a carrier's by the called number, a customer's by the
// route plan. A source that is both is inbound when the number belongs to a
// customer here (DEC-18). Calls and Explain both ask it.
func (t *Table) Route(m SourceMatch, user, host []byte, p NumberPolicy) Decision {
	user = BehindPrefix(user, m.Prefix)
	if m.Provider != nil {
		d := t.routeInbound(m.Provider, user, p)
		if d.Groups != nil || m.Customer == nil {
			return d
		}
	}
	return t.routeCustomer(m.Customer, user, host, p)
}

// RouteHandedOver says where a call goes that a node of another site passes on.
// Its group is believed by name; a name that this revision does not have is
// matched again by the called number, else refused (DEC-07). User is that of the
// Request-URI as it was received there: it has the routing number of a ported one.
func (t *Table) RouteHandedOver(group, direction, called string, user []byte, p NumberPolicy) Decision {
	d := Decision{Direction: direction, Customer: t.Group(group), Called: called}
	if d.Direction != Outbound {
		d.Direction = Inbound
	}
	if d.Customer == nil && d.Direction == Inbound {
		d.Customer = t.MatchNumber([]byte(called))
	}
	switch {
	case d.Customer == nil:
	case d.Direction == Inbound:
		d.Groups = t.only(d.Customer)
	default:
		by := []byte(called)
		if rn := p.routingNumber(d.Customer, user); rn != nil {
			by, d.RN = rn, string(rn)
		}
		d.Groups = t.Providers(d.Customer, by)
	}
	switch {
	case len(d.Groups) > 0:
	case d.Direction == Outbound && d.Customer != nil && d.Customer.plan.Asks():
		d.Groups, d.Plan = nil, d.Customer.plan
	default:
		d.Groups, d.Code, d.Cause = nil, 503, CauseNoRoute
	}
	return d
}

// BehindPrefix returns the user without the tech prefix of its source (P-28). A
// user that is nothing but the prefix stays as it is.
func BehindPrefix(user []byte, prefix string) []byte {
	if rest, ok := bytes.CutPrefix(user, []byte(prefix)); ok && len(rest) > 0 {
		return rest
	}
	return user
}

// routeInbound finds the customer that owns the number which a carrier calls.
func (t *Table) routeInbound(provider *Group, user []byte, p NumberPolicy) Decision {
	d := Decision{Direction: Inbound, Ingress: provider}
	e164, err := p.read(provider, user)
	if err == nil {
		d.Called, d.Customer = string(e164), t.MatchNumber(e164)
	}
	if d.Customer == nil {
		d.Code, d.Cause, d.Err = 404, CauseNoRoute, err // DEC-04
		return d
	}
	d.Groups = t.only(d.Customer)
	return d
}

// routeCustomer finds where a customer's call goes: to a PBX of its own that it
// calls by the address of record, like a call from outside, or to the
// carriers. A user that stands for a registered PBX has no way but the first: a
// registration opens no door to the PSTN (P-29).
func (t *Table) routeCustomer(customer *Group, user, host []byte, p NumberPolicy) Decision {
	if m := t.CalledMember(customer, user, host); m != nil {
		return Decision{
			Direction: Inbound, Ingress: customer, Customer: m.Group, Member: m, Called: m.Registration.AOR, Groups: t.only(m.Group),
		}
	}
	d := Decision{Direction: Outbound, Ingress: customer, Customer: customer}
	if !customer.MayCallOut() {
		d.Code, d.Cause = 403, CauseRegistrationOnly
		return d
	}
	e164, err := p.read(customer, user)
	if err != nil {
		d.Code, d.Cause, d.Err = p.code(err), CauseBadNumber, err
		return d
	}
	d.Called = string(e164)
	by := e164
	if rn := p.routingNumber(customer, user); rn != nil {
		by, d.RN = rn, string(rn)
	}
	d.Groups = t.Providers(customer, by)
	switch {
	case len(d.Groups) > 0:
	case customer.plan.Asks():
		d.Groups, d.Plan = nil, customer.plan
	default:
		d.Groups, d.Code, d.Cause = nil, 404, CauseNoRoute
	}
	return d
}

// only is the list of one group. It does not allocate.
func (t *Table) only(g *Group) []*Group { return t.groups[g.Index : g.Index+1 : g.Index+1] }

// read makes an E.164 number of a user, as a group writes numbers.
func (p *NumberPolicy) read(g *Group, user []byte) ([]byte, error) {
	if p.Normalise == nil {
		return user, nil
	}
	return p.Normalise(g.Numbering, user)
}

// code is the final response to a number that could not be read.
func (p *NumberPolicy) code(err error) int {
	if p.Code == nil {
		return 404
	}
	return p.Code(err)
}

// routingNumber returns the number by which a ported number is routed, once the
// caller or somebody before it has looked it up (NUM-01); nil for none.
func (p *NumberPolicy) routingNumber(g *Group, user []byte) []byte {
	if p.Portability == nil || p.Normalise == nil {
		return nil
	}
	rn, looked := p.Portability(user)
	if !looked || len(rn) == 0 {
		return nil
	}
	by, err := p.Normalise(g.Numbering, rn)
	if err != nil {
		return nil
	}
	return by
}
