package transport

import (
	"bytes"
	"time"
)

// maxUnanswered bounds the requests that a pooled connection remembers. Beyond it the oldest are no longer sent again.
const maxUnanswered = 128

// expectsAnswer tells requests that are answered from responses and ACK.
func expectsAnswer(data []byte) bool {
	return !bytes.HasPrefix(data, []byte("SIP/2.0 ")) && !bytes.HasPrefix(data, []byte("ACK "))
}

// await remembers, under mu, a request until an answer to it arrives.
func (c *conn) await(e entry) {
	if n := len(c.unanswered); n == maxUnanswered {
		copy(c.unanswered, c.unanswered[1:])
		c.unanswered = c.unanswered[:n-1]
	}
	c.unanswered = append(c.unanswered, e)
}

// answered forgets the requests with this branch, and those that are too old to be sent again.
func (c *conn) answered(branch []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.unanswered) == 0 {
		return
	}
	oldest := time.Now().Add(-c.set.limits.Unanswered)
	kept := c.unanswered[:0]
	for _, e := range c.unanswered {
		if !bytes.Equal(e.branch, branch) && e.at.After(oldest) {
			kept = append(kept, e)
		}
	}
	clear(c.unanswered[len(kept):])
	c.unanswered = kept
}

// settle sends again what a dead pooled connection swallowed, once and over a fresh connection (RFC 3261 18.4, RFC 5923 7: the
// same transaction), and fails the rest. A request whose connection was dialled for it was answered by that peer's close: it
// is not tried twice.
func (c *conn) settle(lost []entry, err error) {
	oldest := time.Now().Add(-c.set.limits.Unanswered)
	for _, e := range lost {
		switch {
		case e.pong:
		case e.branch != nil && !e.fresh && !e.resent && e.at.After(oldest) && c.set.ctx.Err() == nil:
			e.resent, e.off = true, 0
			c.set.counters.Resent.Add(1)
			c.set.sendPooled(e)
		case e.off == len(e.data) && e.at.Before(oldest):
			// Nobody waits for it any more.
		default:
			c.set.fail(e.ref, e.target, err)
		}
	}
}
