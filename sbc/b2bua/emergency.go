package b2bua

import (
	"bytes"
	"time"

	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// emergencyRoom is how many times its calls a shard holds when what comes on top
// are emergency calls: no limit applies to these (DEC-17), memory has an end.
const emergencyRoom = 2

// emergencyPatience bounds how long an emergency call waits for somebody who decides.
const emergencyPatience = 3 * time.Second

// patience is how long the call waits for somebody who decides about it.
func (c *Call) patience() time.Duration {
	d := c.asks.Patience() + decisionGrace
	if c.emergency() {
		d = min(d, emergencyPatience)
	}
	return d
}

// anyCarrier sends an emergency call to all carriers of the document, as without a plan
// (P-12), when nobody has decided where it goes: a server that is away, or that knows no
// such number, is no reason why help does not come (DEC-17). It gives the call its final
// response, and reports false, when there are none.
func (c *Call) anyCarrier(table *trunkgroup.Table) bool {
	c.asks, c.routes, c.groups = nil, nil, nil
	if table != nil {
		c.groups = table.Providers(nil, nil)
	}
	if len(c.groups) == 0 {
		c.fail(503, causeNoDecision)
		return false
	}
	return true
}

// emergencyUser reports whether the user of a Request-URI is an emergency number
// to a group: behind the tech prefix of its source, by its numbering policy.
func emergencyUser(g *trunkgroup.Group, prefix string, user []byte) bool {
	if g == nil || !endsLikeEmergency(user) {
		return false
	}
	e164, err := number.Normalise(g.Numbering, trunkgroup.BehindPrefix(user, prefix))
	return err == nil && trunkgroup.EmergencyNumber(e164)
}

// endsLikeEmergency tells most other numbers from emergency numbers at no cost.
func endsLikeEmergency(user []byte) bool {
	if end := bytes.IndexByte(user, ';'); end >= 0 {
		user = user[:end]
	}
	return len(user) >= 3 && trunkgroup.EmergencyNumber(user[len(user)-3:])
}

// LooksLikeEmergency reports whether the first line of a request may be that of an
// emergency call: its Request-URI has a user that ends like one.
func LooksLikeEmergency(line []byte) bool {
	_, uri, _ := bytes.Cut(line, []byte(" "))
	user, _, found := bytes.Cut(uri, []byte("@"))
	return !found || endsLikeEmergency(user)
}

// TrunkEmergency reports whether a request is an emergency call of a trunk that
// is identified by its source, or of a peer site. Nobody else is believed: a
// stranger who dials 911 is a stranger (DEC-17). It may be called by any
// goroutine and does not allocate for other calls.
func TrunkEmergency(t *trunkgroup.Table, p *Packet) bool {
	m := p.Message
	if t == nil || m.Method() != sip.INVITE || len(m.ToTag()) > 0 {
		return false
	}
	uri, err := sip.ParseURI(m.RequestURI())
	if err != nil || !endsLikeEmergency(uri.User) {
		return false
	}
	if p.Peer != "" {
		return true // its token is checked like any other
	}
	match, ok := t.MatchSource(trunkgroup.SourceKey{
		Local: p.Local, Source: p.Source, Transport: p.Transport, User: uri.User,
	})
	if !ok {
		return false
	}
	return emergencyUser(match.Provider, match.Prefix, uri.User) || emergencyUser(match.Customer, match.Prefix, uri.User)
}

// mayBeEmergency reports whether to look closer at an INVITE that would be
// refused unread: it is an emergency call of a trunk, or somebody dials exactly
// an emergency number and may prove by digest to be a customer.
func (s *Shard) mayBeEmergency(p *Packet) bool {
	uri, err := sip.ParseURI(p.Message.RequestURI())
	if err != nil || !endsLikeEmergency(uri.User) {
		return false
	}
	if trunkgroup.EmergencyNumber(uri.User) {
		return true
	}
	table, _ := s.env.Routing()
	return TrunkEmergency(table, p)
}

// room reports whether the shard may hold one more call of this caller.
func (s *Shard) room(p *Packet, who *caller) bool {
	if len(s.calls) < s.cfg.MaxCalls {
		return true
	}
	if len(s.calls) >= emergencyRoom*s.cfg.MaxCalls {
		return false
	}
	if who.token != nil {
		return trunkgroup.EmergencyNumber([]byte(who.token.Called))
	}
	uri, err := sip.ParseURI(p.Message.RequestURI())
	if err != nil {
		return false
	}
	return emergencyUser(who.provider, who.prefix, uri.User) || emergencyUser(who.customer, who.prefix, uri.User)
}
