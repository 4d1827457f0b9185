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
	// inviteHold is how long an INVITE waits for the news that another
	// node's entry of it has closed: news and a caller who goes from that
	// node to us travel equally far.
	inviteHold = 200 * time.Millisecond
	// handoffHold is the same for a hand-off: the origin waits for a first word
	// for half a second.
	handoffHold = 300 * time.Millisecond
)

// heldBye is a BYE whose owner cannot be reached now: it is tried again for
// five seconds, since silence to a BYE leaves it repeating for 32 (DEC-09).
type heldBye struct {
	place
	s     *Shard
	in    *incoming
	p     Packet
	next  time.Time
	until time.Time
}

func (s *Shard) holdBye(p *Packet, key uint64) {
	in := &incoming{key: key, msg: p.Message, reply: replyTo(p), source: p.Source, began: s.now}
	s.server[key] = in
	h := &heldBye{s: s, in: in, p: *p, next: s.now.Add(byeRetry), until: s.now.Add(byeHold)}
	s.alarms.set(h)
}

func (h *heldBye) deadline() time.Time { return h.next }

func (h *heldBye) expire(now time.Time) {
	s := h.s
	owner, _ := s.remoteOwner(h.p.Message)
	switch {
	case !owner.Gone && s.toOwner(owner, &h.p):
		// The owner answers through us.
		delete(s.server, h.in.key)
		h.next = time.Time{}
	case now.Before(h.until):
		h.next = now.Add(byeRetry)
	default:
		delete(s.server, h.in.key)
		h.next = time.Time{}
		s.reject(&h.p, h.in.key, 500, "Retry-After: 2\r\n")
		s.keepBye(&h.p)
	}
}

// heldInvite is an INVITE with another branch than one that another node has told
// of, which is young or has rung: a fork, or a caller who got that node's final
// response and came here before its news did. The news decide; without any it
// was a fork (DEC-03).
type heldInvite struct {
	place
	s    *Shard
	p    Packet
	in   *incoming
	open uint64
	at   time.Time
}

func (s *Shard) holdInvite(p *Packet, key, open uint64) { s.hold482(p, key, open, inviteHold) }

// holdHandoff lets a hand-off wait that another node of this site has. The origin
// may ask here because it has just lost that node, which is then about to give the
// call up; without news of that a site takes a call once (DEC-07).
func (s *Shard) holdHandoff(p *Packet, key uint64, id string) {
	open := s.handoffKey(id)
	if s.invites[open] != nil || s.over(open) { // it is here, or was answered
		s.reject(p, key, 482, "")
		return
	}
	s.hold482(p, key, open, handoffHold)
}

// hold482 answers an INVITE 482 after a while, unless the node that has it is done
// with it by then.
func (s *Shard) hold482(p *Packet, key, open uint64, wait time.Duration) {
	if s.held[open] != nil {
		s.reject(p, key, 482, "")
		return
	}
	h := &heldInvite{
		s: s, p: *p, open: open, at: s.now.Add(wait),
		in: &incoming{key: key, msg: p.Message, reply: replyTo(p), source: p.Source, began: s.now},
	}
	s.server[key], s.held[open] = h.in, h
	s.alarms.set(h)
}

func (h *heldInvite) deadline() time.Time { return h.at }

func (h *heldInvite) expire(time.Time) {
	h.release()
	h.s.reject(&h.p, h.in.key, 482, "")
}

func (h *heldInvite) release() {
	h.at = time.Time{}
	delete(h.s.held, h.open)
	delete(h.s.server, h.in.key)
	h.s.alarms.drop(h)
}

// releaseInvites takes an INVITE that waited as the new call that it is.
func (s *Shard) releaseInvites(open uint64) {
	if h := s.held[open]; h != nil {
		h.release()
		s.invite(&h.p, h.in.key)
	}
}
