package b2bua

import (
	"bytes"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/uac"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// accounts tells which member is registered at a carrier under which user of our
// Contact. It is made anew for each table and each set of keys, by the first INVITE
// whose Request-URI has such a user.
type accounts struct {
	keys    [][]byte // the first makes, all are read
	table   *trunkgroup.Table
	byToken map[string]*trunkgroup.Member
}

func (a *accounts) setKeys(keys [][]byte) { *a = accounts{keys: keys} }

// token is the user of our Contact for a member's account.
func (a *accounts) token(m *trunkgroup.Member) string { return uac.Token(a.keys[0], m) }

// member returns the member whose registration a Request-URI's user names, or nil. A
// user that nobody could guess is looked up in a map: how long that takes says nothing.
func (a *accounts) member(t *trunkgroup.Table, user []byte) *trunkgroup.Member {
	if t == nil || len(a.keys) == 0 || !uac.IsToken(user) {
		return nil
	}
	if a.table != t {
		a.table, a.byToken = t, make(map[string]*trunkgroup.Member)
		for _, m := range t.Members() {
			if m.Account != nil && m.Account.Register {
				for _, key := range a.keys {
					a.byToken[uac.Token(key, m)] = m
				}
			}
		}
	}
	return a.byToken[string(bytes.ToLower(user))]
}

// fromCarrier finds the carrier of an INVITE that came to our registration there: by
// the user of our Contact, and from an address that is the carrier's, unless its
// account trusts whoever knows the Contact.
func (s *Shard) fromCarrier(p *Packet, t *trunkgroup.Table, v *trunkgroup.View, user []byte) *trunkgroup.Group {
	m := s.accounts.member(t, user)
	switch {
	case m == nil:
		return nil
	case !v.FromCarrier(m, p.Source.Addr()):
		s.env.Count(Event{Kind: EventAccount, Group: m.Group, Member: m, Result: "inbound_other_source"})
		return nil
	}
	s.env.Count(Event{Kind: EventAccount, Group: m.Group, Member: m, Result: "inbound"})
	return m.Group
}

// calledParty is the header in which a registrar's proxy keeps the Request-URI that
// it put our Contact in place of (RFC 7315 section 4.2).
const calledParty = "P-Called-Party-ID"

// dialled is the user that a carrier's call is for. Where the carrier put our Contact
// into the Request-URI, that says nothing of the called number: it is what was called
// before, or the To.
func (c *Call) dialled(t *trunkgroup.Table, user []byte) []byte {
	if c.s.accounts.member(t, user) == nil {
		return user
	}
	for _, v := range [...][]byte{headerNamed(c.msg, calledParty), c.msg.Header(sip.To)} {
		a, err := sip.ParseNameAddr(v)
		if err != nil {
			continue
		}
		if u, err := sip.ParseURI(a.URI); err == nil && len(u.Number()) > 0 {
			return u.Number()
		}
	}
	return user
}

// headerNamed returns the first value of a header that has no id; nil for none.
func headerNamed(m *sip.Message, name string) (value []byte) {
	m.Each(func(h sip.Header) bool {
		if h.ID == sip.Other && bytes.EqualFold(h.Name, []byte(name)) {
			value = h.Value
		}
		return value == nil
	})
	return value
}
