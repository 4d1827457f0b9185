package b2bua

import "github.com/tandem-sbc/tandem/trunkgroup"

// egress returns the member of this site that answered the call, or nil.
func (c *Call) egress() *trunkgroup.Member {
	if c.test || c.times.answer.IsZero() || c.winner == nil || c.winner.node >= 0 {
		return nil
	}
	if m := c.winner.cand.Member; m.Index >= 0 {
		return m
	}
	return nil
}
