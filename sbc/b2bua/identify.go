package b2bua

import (
	"bytes"
	"errors"
	"strings"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/fraud"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// caller is who an INVITE comes from.
type caller struct {
	provider *trunkgroup.Group    // a carrier's source
	customer *trunkgroup.Group    // a customer's source or credential
	prefix   string               // tech prefix to be removed from the called number
	user     string               // digest user
	ani      string               // shown in place of what the caller says (P-29)
	nonce    auth.Use             // what the digest spent
	test     bool                 // a test call of the node itself
	proto    trunkgroup.Transport // of the trunk in whose name that is
	fraud    fraud.Verdict        // by the customer's bounds
	token    *geo.Token           // a peer node that hands the call to us
}

// invite takes an INVITE that begins a call: nobody else has it, its caller is
// known, and nothing in it asks for what we do not do.
func (s *Shard) invite(p *Packet, key uint64) {
	if p.Peer == "" && s.known(p, key) {
		return
	}
	if p.Peer == "" && p.Message.Has(sip.Handoff) {
		// Only the interconnect carries hand-offs (DEC-08). The header is
		// not read and never crosses.
		s.env.Count(Event{Kind: EventHandoffHeader})
	}
	if s.pass(p, key) {
		return
	}
	s.begin(p, key)
}

// begin takes an INVITE here.
func (s *Shard) begin(p *Packet, key uint64) {
	if who, ok := s.identify(p); ok {
		s.beginAs(p, key, who)
	}
}

// beginAs takes the INVITE of a caller who is known.
func (s *Shard) beginAs(p *Packet, key uint64, who caller) {
	if who.token != nil && s.takenElsewhere(who.token.CallID) {
		s.holdHandoff(p, key, who.token.CallID)
		return
	}
	if s.foreign(p, &who) {
		s.reject(p, key, 403, "")
		s.env.Count(Event{Kind: EventReject, Reason: "foreign_host"})
		return
	}
	if downgraded(p) {
		s.reject(p, key, 403, "")
		s.env.Count(Event{Kind: EventReject, Reason: "insecure"})
		return
	}
	if code, extra := screen(p.Message); code != 0 {
		s.reject(p, key, code, extra)
		return
	}
	if !s.room(p, &who) {
		s.reject(p, key, 503, "Retry-After: 5\r\n")
		return
	}
	if who.token != nil && !s.accept(who.token.CallID) {
		// The same hand-off once more, after its call (DEC-08).
		s.reject(p, key, 482, "")
		s.env.Count(Event{Kind: EventLoop, Reason: "handoff_replay"})
		return
	}
	if table, _ := s.env.Routing(); !s.screenFraud(p, table, &who) {
		return
	}
	s.noteInvite(p)
	c := s.newCall(p, key, who)
	c.trying()
	c.route(who)
}

// identify finds out who calls: a peer site's node by the interconnect, a
// trunk by its source, a customer by digest. When it reports false the request
// is answered.
func (s *Shard) identify(p *Packet) (caller, bool) {
	m := p.Message
	if p.Peer != "" {
		token, err := s.token(m)
		if err != nil || token.Origin != p.Peer {
			kind := EventReject
			if errors.Is(err, geo.ErrTokenHop) {
				kind = EventLoop // a peer never hands back (P-15)
			}
			s.env.Count(Event{Kind: kind, Reason: "handoff_token"})
			s.refuse(p, 403, "", "")
			return caller{}, false
		}
		return caller{token: &token}, true
	}
	table, view := s.env.Routing()
	if table == nil {
		s.refuse(p, 503, "", "Retry-After: 5\r\n")
		return caller{}, false
	}
	uri, err := sip.ParseURI(m.RequestURI())
	if err != nil {
		s.refuse(p, 416, "", "")
		return caller{}, false
	}
	match, ok := table.MatchSource(trunkgroup.SourceKey{
		Local: p.Local, Source: p.Source, Transport: p.Transport, User: uri.User,
	})
	if ok {
		return caller{provider: match.Provider, customer: match.Customer, prefix: match.Prefix}, true
	}
	if g := s.fromCarrier(p, table, view, uri.User); g != nil {
		return caller{provider: g}, true
	}
	return s.authenticate(p, table)
}

// screen refuses what a request asks for and we do not do. Extra is complete
// header lines.
func screen(m *sip.Message) (code int, extra string) {
	if m.MaxForwards() == 0 {
		return 483, ""
	}
	if _, ok := targetOf(m.Header(sip.Contact)); !ok {
		return 400, "" // RFC 3261 8.1.1.8
	}
	if options := required(m); options != "" {
		return 420, "Unsupported: " + options + "\r\n"
	}
	if m.Has(sip.Replaces) {
		// No dialog of ours is replaced by a stranger's word (RFC 3891 3).
		return 481, ""
	}
	if !acceptsSDP(m) {
		return 406, acceptLine
	}
	return 0, ""
}

// required lists the extensions that the request requires: we have none.
func required(m *sip.Message) string {
	var out []string
	for _, id := range [...]sip.HeaderID{sip.Require, sip.ProxyRequire} {
		m.EachOf(id, func(v []byte) bool {
			sip.EachValue(v, func(one []byte) bool {
				out = append(out, string(one))
				return len(out) < 16
			})
			return len(out) < 16
		})
	}
	return strings.Join(out, ", ")
}

// acceptsSDP tells whether the sender can take an SDP answer (RFC 3261 20.1:
// without Accept it can).
func acceptsSDP(m *sip.Message) bool {
	if !m.Has(sip.Accept) {
		return true
	}
	found, any := false, false
	m.EachOf(sip.Accept, func(v []byte) bool {
		sip.EachValue(v, func(one []byte) bool {
			kind, _, _ := strings.Cut(strings.ToLower(string(one)), ";")
			any = any || strings.TrimSpace(kind) != ""
			switch strings.TrimSpace(kind) {
			case "application/sdp", "application/*", "*/*", "multipart/mixed", "multipart/*":
				found = true
			}
			return !found
		})
		return !found
	})
	return found || !any
}

// newCall makes the call of an INVITE and its server transaction.
func (s *Shard) newCall(p *Packet, key uint64, who caller) *Call {
	m := p.Message
	c := &Call{
		s: s, msg: m, user: who.user, prefix: who.prefix, peer: p.Peer,
		source: p.Source, local: p.Local, proto: p.Transport, test: who.test, inviteSeq: m.CSeq(),
	}
	if who.test {
		c.proto = who.proto
	}
	s.hot = c
	c.in = &incoming{key: key, msg: m, reply: replyTo(p), source: p.Source, call: c, began: s.now}
	c.times.start = s.now
	c.tag = s.mint()
	c.a = &leg{
		call: c, caller: true, callID: string(m.CallID()), localTag: c.tag, remoteTag: string(m.FromTag()),
		local: withoutTag(m.Header(sip.To)), remote: withoutTag(m.Header(sip.From)),
		remoteSeq: m.CSeq(), numbered: true, reach: legReach(p, who.user != ""),
	}
	c.a.base = s.requestBase(p, transport.Target{}, c.a.reach)
	c.a.localSeq = uint32(s.env.Random()>>40) | 1
	c.a.setRoutes(m, false)
	c.a.setTarget(s, m.Header(sip.Contact))
	if who.token != nil {
		c.token = handedOver{Token: *who.token, yes: true}
		c.id, c.test = who.token.CallID, who.token.Test
	} else {
		c.id = callID(s.now, s.env.Random(), s.env.Random())
	}
	s.server[key] = c.in
	s.enter(c.a, c.tag)
	s.calls[c] = struct{}{}
	c.share(who.nonce)
	return c
}

// requestBase is where requests towards the caller go while its Contact says
// nothing better: back to where the INVITE came from. The connection of a node
// that passed the INVITE on is not ours, and soon nobody's (DEC-19).
// Only a far end that cannot be reached in any other way is asked through it (was
// is how it was before).
func (s *Shard) requestBase(p *Packet, was transport.Target, reach trunkgroup.Reach) transport.Target {
	if p.Relay != "" && reach != 0 {
		return relayBase(p, was)
	}
	t := transport.Target{Transport: p.Transport, Addr: p.Source, Listener: p.Listener, Node: p.Peer, Flow: p.Flow}
	if p.Relay != "" {
		return s.direct(t)
	}
	return t
}

// withoutTag returns a From or To value without its tag parameter.
func withoutTag(v []byte) string {
	a, err := sip.ParseNameAddr(v)
	if err != nil {
		return string(v)
	}
	b := append(appendDisplay(make([]byte, 0, len(v)+8), v, &a), '<')
	return string(append(append(b, a.URI...), '>'))
}

// appendDisplay appends the display name of an address, if any, as a quoted
// string. In a name that came without quotes nothing is an escape.
func appendDisplay(dst, v []byte, a *sip.NameAddr) []byte {
	if len(a.Display) == 0 {
		return dst
	}
	dst = append(dst, '"')
	if quoted := bytes.HasPrefix(bytes.TrimLeft(v, " \t"), []byte{'"'}); quoted {
		dst = append(dst, a.Display...)
	} else {
		for _, c := range a.Display {
			if c == '\\' || c == '"' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
		}
	}
	return append(dst, `" `...)
}
