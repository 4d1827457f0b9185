package b2bua

import (
	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	causeFraud        = "FRAUD_LIMIT"      // a bound of the customer's fraud section
	causeDoNotOrigin  = "DO_NOT_ORIGINATE" // the caller is one that nobody may show
	reasonBlocked     = "Network Blocked"  // of a 603 for what we judge by ourselves
	reasonBlockedLine = "Reason: Q.850;cause=21"
)

// screenFraud judges a customer's call by the bounds of its fraud section. When
// it reports false the call was challenged: its caller is known by the source
// only, and a bound asks for more. Emergency calls are not judged (DEC-17).
func (s *Shard) screenFraud(p *Packet, table *trunkgroup.Table, who *caller) bool {
	g := who.customer
	if g == nil || g.Fraud == nil || s.cfg.Fraud == nil || table == nil {
		return true
	}
	e164, ok := dialled(p.Message, table, who)
	if !ok || trunkgroup.EmergencyNumber(e164) {
		return true
	}
	who.fraud = s.cfg.Fraud.Screen(s.now, g.Fraud, e164, who.user != "")
	if who.fraud.Action != trunkgroup.FraudChallenge || who.fraud.Use != nil {
		return true
	}
	v := s.judge(p, table)
	if v.Outcome != auth.OK || v.Group == nil || v.Group.Fraud != g.Fraud {
		s.challenge(p, table, v)
		return false
	}
	if !v.Credential.AllowedFrom(p.Source.Addr()) {
		s.refuse(p, 403, "", "")
		return false
	}
	who.user, who.ani, who.nonce = v.Username, v.Credential.ANIOverride, v.Use
	who.fraud = s.cfg.Fraud.Screen(s.now, g.Fraud, e164, true)
	return true
}

// dialled is the number that a customer's call asks for; it is not ok when the
// call is no outbound call, or fails by itself.
func dialled(m *sip.Message, table *trunkgroup.Table, who *caller) ([]byte, bool) {
	uri, err := sip.ParseURI(m.RequestURI())
	if err != nil {
		return nil, false
	}
	user := trunkgroup.BehindPrefix(uri.User, who.prefix)
	if who.provider != nil { // a source of both roles (DEC-18)
		if e164, err := number.Normalise(who.provider.Numbering, user); err == nil && table.MatchNumber(e164) != nil {
			return nil, false
		}
	}
	e164, err := number.Normalise(who.customer.Numbering, user)
	return e164, err == nil
}

// screened refuses a call beyond a bound that blocks, and one whose caller is on
// a do-not-originate list. Both leave a record.
func (c *Call) screened(who *caller) bool {
	if c.token.yes || c.emergency() {
		return true // its own site has judged it
	}
	c.fraud = who.fraud.Use
	if who.fraud.Action == trunkgroup.FraudBlock {
		c.end.cause = causeFraud
		c.end.extra = reasonBlockedLine
		if to := c.customer.Fraud.Contact; to != "" {
			c.end.extra += `;text="v=analytics1;url=` + to + `"`
		}
		c.end.extra += "\r\n"
		c.finalFailure(603, reasonBlocked, nil)
		return false
	}
	if !c.mayOriginate() {
		c.fail(603, causeDoNotOrigin)
		return false
	}
	return true
}

// mayOriginate looks the shown caller up in the do-not-originate lists: From, and
// every name that the far end gives him beside it, since who is called may show any.
func (c *Call) mayOriginate() bool {
	table, _ := c.s.env.Routing()
	lists := c.s.cfg.Fraud
	if table == nil || c.ingress == nil || !table.ListsOrigins() && !lists.ListsOrigins() {
		return true
	}
	if c.ani != "" { // shown in the place of both (P-29)
		shown := []byte(c.ani)
		return table.MayOriginate(shown) && lists.MayOriginate(shown)
	}
	may := true
	check := func(v []byte) bool {
		uri := addressOf(v)
		e164, err := number.Normalise(c.ingress.Numbering, uri.Number())
		may = err != nil || table.MayOriginate(e164) && lists.MayOriginate(e164)
		return may
	}
	for _, id := range [...]sip.HeaderID{sip.From, sip.PAssertedIdentity, sip.PPreferredIdentity, sip.RemotePartyID} {
		c.msg.EachOf(id, func(v []byte) bool {
			if id == sip.RemotePartyID {
				sip.EachValue(v, check)
			} else {
				check(v)
			}
			return may
		})
		if !may {
			return false
		}
	}
	return true
}
