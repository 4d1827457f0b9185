package b2bua

import (
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// causeShutdown is in the record of a call that was on a node when it stopped.
const causeShutdown = "NODE_STOPPED"

// Shutdown ends every call and takes no new one from then on (DEC-19, phase 3):
// who hears nothing yet gets a 503 without Retry-After and goes to the next
// node, who talks gets a BYE that says why. Each record is written at once; the
// shard must go on being stepped until the far ends have answered.
func (s *Shard) Shutdown(now time.Time) {
	s.now, s.hot, s.closing = now, nil, true
	s.part()
	list := make([]*Call, 0, len(s.calls))
	for c := range s.calls {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *Call) int { return strings.Compare(a.id, b.id) })
	for _, c := range list {
		s.hot = c
		c.shutDown()
	}
}

func (c *Call) shutDown() {
	switch c.phase {
	case hunting:
		c.giveUp(causeShutdown)
	case answered, up:
		c.end.cause = causeShutdown
		c.hangUpBoth("Reason: SIP;cause=503;text=\"node stops\"\r\n")
	case settling:
		c.finish()
		c.remove()
	case ending, over:
	}
}

// giveUp ends a hunt for reasons of ours.
func (c *Call) giveUp(cause string) {
	if c.seq != nil {
		c.do(c.seq.Stop(c.s.now, cause))
	}
	c.end.party = partySystem
	c.fail(503, cause)
}

// closed answers a request that would begin something at a node that stops. It
// reports false while the node does not.
func (s *Shard) closed(p *Packet) bool {
	if !s.closing {
		return false
	}
	switch p.Message.Method() {
	case sip.INVITE, sip.OPTIONS, sip.REGISTER:
		s.refuse(p, 503, "", "")
		return true
	}
	return false
}
