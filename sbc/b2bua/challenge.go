package b2bua

import (
	"bytes"
	"slices"

	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// verdict is what the digest credentials of a request are worth.
type verdict struct {
	auth.Result
	realm string // that the request is challenged for
}

// authenticate asks the caller of an INVITE from an unknown source for digest
// credentials (P-11, P-29). Every failure gets the same answer: a fresh
// challenge.
func (s *Shard) authenticate(p *Packet, table *trunkgroup.Table) (caller, bool) {
	v := s.judge(p, table)
	if v.Outcome != auth.OK {
		s.challenge(p, table, v)
		return caller{}, false
	}
	if !v.Credential.AllowedFrom(p.Source.Addr()) {
		s.refuse(p, 403, "", "")
		return caller{}, false
	}
	return caller{customer: v.Group, user: v.Username, ani: v.Credential.ANIOverride, nonce: v.Use}, true
}

// judge verifies the digest credentials of a request of any method, for the
// realm of its Request-URI's host. It does the same work for users that exist
// and users that do not, answers nothing, and counts a failure. Whoever does not
// get an OK is to be challenged with the verdict, whatever else the request asks
// for: only then do strangers learn nothing.
func (s *Shard) judge(p *Packet, table *trunkgroup.Table) verdict {
	m := p.Message
	v := verdict{realm: s.realm(m, table)}
	if s.cfg.Verifier == nil {
		return v
	}
	req := auth.Request{
		Source: p.Source.Addr().Unmap(), Method: m.Method(), URI: m.RequestURI(), Realm: v.realm, Lookup: table.MatchCredential,
	}
	m.EachOf(sip.Authorization, func(value []byte) bool {
		v.Result = s.cfg.Verifier.Verify(s.now, &req, value)
		return v.Outcome == auth.None
	})
	if v.Outcome == auth.OK && !v.Group.ACL.Admits(p.Source.Addr()) {
		// Who is kept out of the group is as a stranger to it, and hears the same.
		v.Result = auth.Result{Outcome: auth.Denied, Reason: reasonACL, Proven: true, Username: v.Username}
	}
	switch v.Outcome {
	case auth.OK:
		s.env.Count(Event{Kind: EventAuthenticated, Source: p.Source, Proven: true})
	case auth.Denied, auth.Stale:
		s.env.Count(Event{Kind: EventAuthFailure, Reason: v.Reason, Source: p.Source, Proven: v.Proven || p.Transport.Reliable()})
	}
	return v
}

// reasonACL is why right credentials are refused from where their group takes no
// callers.
const reasonACL = "acl"

// realm is what a request is challenged for: the host of its Request-URI when
// that is a domain of ours, else the node's own.
func (s *Shard) realm(m *sip.Message, table *trunkgroup.Table) string {
	if uri, err := sip.ParseURI(m.RequestURI()); err == nil {
		if realm := table.RealmOf(string(uri.Host)); realm != "" {
			return realm
		}
	}
	if s.cfg.Verifier == nil {
		return ""
	}
	return s.cfg.Verifier.Realm()
}

// challenge answers 401 to a request that judge has seen. To a datagram whose
// source may be forged the answer is not larger than the request, as far as
// every user of the realm still finds an algorithm in it: the middle one is left
// out first, then SHA-256.
func (s *Shard) challenge(p *Packet, table *trunkgroup.Table, v verdict) {
	if s.cfg.Verifier == nil {
		s.refuse(p, 403, "", "")
		return
	}
	ch := s.cfg.Verifier.Challenge(s.now, p.Source.Addr().Unmap(), v.realm, v.Outcome == auth.Stale)
	offer := table.Offer(v.realm)
	var buf [512]byte
	lines := buf[:0]
	for _, algorithm := range [...]string{trunkgroup.AlgorithmSHA256, trunkgroup.AlgorithmSHA512256, trunkgroup.AlgorithmMD5} {
		if offer.Has(algorithm) { // the one preferred first (RFC 8760 2.4)
			lines = appendChallenge(lines, ch, algorithm)
		}
	}
	var tag [16]byte
	answer := s.response1(p, 401, "", s.hashTag(&tag, p.Message), lines)
	if !v.Proven && !p.Transport.Reliable() {
		answer = shorten(answer, len(p.Message.Raw()), ch, offer)
	}
	s.env.Send(briefReplyTo(p), answer, 0)
}

// shorten takes challenges out of an answer that is longer than limit, while no
// user of the realm is left without one.
func shorten(answer []byte, limit int, ch auth.Challenge, offer trunkgroup.Offer) []byte {
	for _, algorithm := range [...]string{trunkgroup.AlgorithmSHA512256, trunkgroup.AlgorithmSHA256} {
		less, ok := offer.Without(algorithm)
		if !ok || len(answer) <= limit {
			continue
		}
		var buf [256]byte
		line := appendChallenge(buf[:0], ch, algorithm)
		if i := bytes.Index(answer, line); i >= 0 {
			answer, offer = slices.Delete(answer, i, i+len(line)), less
		}
	}
	return answer
}

// appendChallenge appends one header line of a 401.
func appendChallenge(dst []byte, ch auth.Challenge, algorithm string) []byte {
	return append(ch.Append(append(dst, "WWW-Authenticate: "...), algorithm), "\r\n"...)
}
