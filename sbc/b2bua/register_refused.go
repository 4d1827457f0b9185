package b2bua

import (
	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/registrar"
)

// noteChallenged counts a REGISTER that got a challenge. Credentials that were
// wrong are noted; none at all, and a nonce that is too old, are how every
// registration begins.
func (s *Shard) noteChallenged(p *Packet, v *verdict) {
	if v.Outcome == auth.Denied {
		s.noteRefused(p, "challenged", v.Reason)
		return
	}
	s.noteRegister("challenged")
}

// noteRefused counts a REGISTER that was refused, and says whose it would have
// been: from there operators learn why a PBX is not registered. The answer has
// left by then, so its time does not tell which addresses of record exist.
func (s *Shard) noteRefused(p *Packet, result, reason string) {
	e := Event{Kind: EventRegister, Result: result, Reason: reason, Source: p.Source}
	if table, _ := s.env.Routing(); table != nil {
		if aor, ok := registrar.AOR(p.Message); ok {
			e.Member = table.MatchAOR(aor)
		}
	}
	s.env.Count(e)
}
