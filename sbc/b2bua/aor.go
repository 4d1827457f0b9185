package b2bua

import (
	"strings"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// causeRegistrationOnly: a digest user that may register and reach addresses of
// record asked for the PSTN.
const causeRegistrationOnly = "REGISTRATION_ONLY"

// aorPrefix begins the called party of a call to an address of record, where
// others have a number.
const aorPrefix = "sip:"

// routeCustomer finds where a customer's call goes: to a PBX of its own that it
// calls by the address of record, like a call from outside, or to the
// carriers. A user that stands for a registered PBX has no way but the first: a
// registration opens no door to the PSTN (P-29).
func (c *Call) routeCustomer(table *trunkgroup.Table, customer *trunkgroup.Group, uri sip.URI, user []byte) []*trunkgroup.Group {
	if m := table.CalledMember(customer, user, uri.Host); m != nil {
		c.dir, c.ingress, c.customer, c.called = inbound, customer, m.Group, m.Registration.AOR
		return []*trunkgroup.Group{m.Group}
	}
	if !customer.MayCallOut() {
		c.dir, c.ingress, c.customer = outbound, customer, customer
		c.fail(403, causeRegistrationOnly)
		return nil
	}
	return c.routeOutbound(table, customer, user)
}

// toAOR tells whether the call was routed by an address of record.
func (c *Call) toAOR() bool { return strings.HasPrefix(c.called, aorPrefix) }
