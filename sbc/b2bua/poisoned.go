package b2bua

import "github.com/tandem-sbc/tandem/sbc/sip"

// Poisoned ends the call that a message belongs to after a fault of ours: the
// caller of Receive has recovered from a panic. Both sides get what can still
// be sent; the call's record is written.
func (s *Shard) Poisoned(m *sip.Message) {
	c := s.callOf(m)
	if c == nil || c.phase == over {
		return
	}
	c.busy = false
	c.todo = nil
	c.end.cause = "INTERNAL_FAULT"
	switch {
	case c.phase == hunting && c.in != nil:
		for _, t := range c.tries {
			if t.tx != nil {
				t.tx.abandon()
			}
		}
		c.finalFailure(500, "", nil)
	case c.phase == answered || c.phase == up:
		c.hangUpBoth("")
	}
	c.finish()
	c.remove()
}

func (s *Shard) callOf(m *sip.Message) *Call {
	if !m.IsRequest() {
		id, ok := ParseBranch(m.Branch())
		if !ok {
			return nil
		}
		switch tx := s.client[id.Token].(type) {
		case *inviteTx:
			if t, ok := tx.owner.(*try); ok {
				return t.call
			}
			if tx.id.leg != nil {
				return tx.id.leg.call
			}
		case *outgoing:
			if r, ok := tx.taker.(*relayed); ok {
				return r.call
			}
		}
		return nil
	}
	if in := s.server[s.serverKey(m, m.Method())]; in != nil {
		return in.call
	}
	if l := s.findLeg(m); l != nil {
		return l.call
	}
	return nil
}
