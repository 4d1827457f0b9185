package b2bua

import "time"

const (
	// ownerGoneAfter is how long a node must be away before its dialogs are
	// given up (DEC-09).
	ownerGoneAfter = 5 * time.Second
	// byeHold is for how long a BYE is tried again towards its owner.
	byeHold = 5 * time.Second
	// byeRetry is the pause between these tries.
	byeRetry = 500 * time.Millisecond
)

// heldBye is a BYE whose owner cannot be reached now: it is tried again for
// five seconds, since silence to a BYE leaves it repeating for 32 (DEC-09).
type heldBye struct {
	place
	s     *Shard
	in    *incoming
	p     *Packet
	owner string
	next  time.Time
	until time.Time
}

func (s *Shard) holdBye(p *Packet, key uint64, owner string) {
	in := &incoming{key: key, msg: p.Message, reply: replyTo(p), source: p.Source}
	s.server[key] = in
	h := &heldBye{s: s, in: in, p: p, owner: owner, next: s.now.Add(byeRetry), until: s.now.Add(byeHold)}
	s.alarms.set(h)
}

func (h *heldBye) deadline() time.Time { return h.next }

func (h *heldBye) expire(now time.Time) {
	s := h.s
	switch {
	case s.env.Forward(h.owner, h.p):
		// The owner answers through us.
		delete(s.server, h.in.key)
		h.next = time.Time{}
	case now.Before(h.until):
		h.next = now.Add(byeRetry)
	default:
		delete(s.server, h.in.key)
		h.next = time.Time{}
		s.reject(h.p, h.in.key, 500, "Retry-After: 2\r\n")
	}
}
