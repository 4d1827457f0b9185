package transport

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"
)

// maxUnanswered bounds the requests that a pooled connection remembers. Beyond it the oldest are no longer sent again.
const maxUnanswered = 512

// expectsAnswer tells requests that are answered from responses and ACK.
func expectsAnswer(data []byte) bool {
	return !bytes.HasPrefix(data, []byte("SIP/2.0 ")) && !bytes.HasPrefix(data, []byte("ACK "))
}

// await remembers, under mu, a request until an answer to it arrives. They stand in the order in which they were sent.
func (c *conn) await(e entry) {
	if len(c.unanswered) == maxUnanswered {
		c.forget(0)
	}
	c.unanswered = append(c.unanswered, e)
}

// answered forgets the request with this branch, and those that are too old to be sent again.
func (c *conn) answered(branch []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.unanswered) == 0 {
		return
	}
	oldest := time.Now().Add(-c.set.limits.Unanswered)
	for len(c.unanswered) > 0 && c.unanswered[0].at.Before(oldest) {
		c.forget(0)
	}
	for i := range c.unanswered {
		if bytes.Equal(c.unanswered[i].branch, branch) {
			c.forget(i)
			return
		}
	}
}

// forget removes one; the first, which is the usual one, without moving the others.
func (c *conn) forget(i int) {
	if i == 0 {
		c.unanswered[0] = entry{}
		c.unanswered = c.unanswered[1:]
		return
	}
	c.unanswered = slices.Delete(c.unanswered, i, i+1)
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
		case e.branch != nil && e.at.Before(oldest):
			// Nobody waits for it any more.
		case e.resent && errors.Is(err, ErrNotSent):
			c.set.fail(e.ref, e.target, fmt.Errorf("transport: sent once, and lost with its connection to %s", c.remote))
		default:
			c.set.fail(e.ref, e.target, err)
		}
	}
}
