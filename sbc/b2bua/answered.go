package b2bua

import "github.com/tandem-sbc/tandem/sbc/sip"

// announce tells that the call was answered, with its record as it would stand if
// nobody of this node could ever write it (DEC-24).
func (c *Call) announce() {
	r := c.rec
	r.Progress, r.Answer = c.times.progress, c.times.answer
	r.PDD = firstOf(c.times.progress, c.times.answer).Sub(c.times.start)
	r.SIPCode, r.SIPReason = 200, sip.ReasonPhrase(200)
	c.s.env.CallUp(r)
}
