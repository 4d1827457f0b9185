package b2bua

// causeFault is in the record of a call that a fault of ours has ended.
const causeFault = "INTERNAL_FAULT"

// Poisoned ends the call that was being worked on when the step before it
// panicked: the shard's owner has recovered. Both sides get what can still be
// sent, the call's record is written, and nothing of it stays, even when
// ending it meets the same fault.
func (s *Shard) Poisoned() {
	switch x := s.hot.(type) {
	case responder:
		if tx, ok := x.(*inviteTx); !ok || tx.owner == nil {
			s.forget(x.branch(), x)
		}
	case *heldBye:
		delete(s.server, x.in.key)
	case *heldInvite:
		x.release()
	case *passedInvite:
		x.drop()
	case *registering:
		x.drop()
	}
	c := callOf(s.hot)
	s.hot = nil
	if c != nil && c.phase != over {
		c.bury()
	}
}

// callOf returns the call that a thing of the shard works for; nil when there is
// none.
func callOf(x any) *Call {
	switch x := x.(type) {
	case *Call:
		return x
	case *try:
		return x.call
	case *reinvite:
		return x.call
	case *relayed:
		return x.call
	case *halfBye:
		return callOf(x.taker)
	case *outgoing:
		return callOf(x.taker)
	case *inviteTx:
		if x.owner == nil && x.id.leg != nil {
			return x.id.leg.call
		}
		return callOf(x.owner)
	}
	return nil
}

// bury ends a call whose state nobody can trust any more.
func (c *Call) bury() {
	c.busy, c.todo = false, nil
	if c.end.cause == "" {
		c.end.cause = causeFault
	}
	attempt(func() {
		switch {
		case c.phase == hunting && c.in != nil:
			c.finalFailure(500, "", nil)
		case c.phase == answered || c.phase == up:
			c.hangUpBoth("")
		}
	})
	if c.phase == over {
		return
	}
	attempt(c.finish)
	for _, t := range c.tries {
		c.letGo(t)
	}
	if c.hand != nil {
		for _, t := range c.hand.tries {
			c.letGo(t)
		}
		c.hand = nil
	}
	for _, r := range c.reinvite {
		if r != nil {
			delete(c.s.server, r.in.key)
		}
	}
	for _, r := range c.relays {
		delete(c.s.server, r.in.key)
	}
	attempt(c.remove)
}

// letGo leaves an attempt to its transaction, which cleans up by itself.
func (c *Call) letGo(t *try) {
	if t.tx == nil || t == c.winner {
		return
	}
	attempt(t.tx.abandon)
	c.s.settle(t.tx.token, t.tx)
}

// attempt does what a fault may prevent.
func attempt(what func()) {
	defer func() { _ = recover() }()
	what()
}
