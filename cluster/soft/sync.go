package soft

import (
	"slices"
	"time"
)

// Receive takes a frame of another node. An error means that nothing of it was taken.
// The frame may be kept.
func (s *Store) Receive(now time.Time, from string, frame []byte) error {
	s.now = now
	if len(frame) < 2 {
		return ErrFrame
	}
	if frame[0] != frameVersion || from == s.cfg.Node {
		return ErrVersion
	}
	body := frame[2:]
	switch frame[1] {
	case typeHave:
		reply, list, err := parseHave(body)
		if err != nil {
			return err
		}
		s.compare(from, list)
		if reply {
			s.sendHave(from, false)
		}
	case typeWant:
		list, err := parseWant(body)
		if err != nil {
			return err
		}
		for _, w := range list {
			s.serve(from, w)
		}
	case typeDelta:
		d, err := parseDelta(body)
		if err != nil {
			return err
		}
		s.merge(from, d)
	default:
		return ErrVersion
	}
	return nil
}

// sendHave sends this node's vector: itself, and every process of which it has entries.
func (s *Store) sendHave(to string, reply bool) {
	var list []vector
	for _, o := range s.order {
		if o != s.own && o.tip == 0 || !o.live && len(o.entries) == 0 {
			continue
		}
		v := vector{node: o.node, boot: o.boot, tip: o.tip}
		if !o.live {
			v.dead, v.lost, v.silent = true, s.now.Sub(o.lost), s.now.Sub(o.heard)
		}
		if o.resync {
			v.tip = 0 // a copy in the making is of no use to others
		}
		list = append(list, v)
	}
	var flags byte
	if reply {
		flags = haveReply
	}
	s.out = append(s.out, Message{To: to, Frame: appendHave(nil, flags, list)})
}

// compare asks a peer for what it has more. What a living owner itself can give is
// asked of the owner only.
func (s *Store) compare(from string, list []vector) {
	var wants []want
	for _, v := range list {
		o := s.origins[originKey{v.node, v.boot}]
		if o == s.own || v.tip == 0 {
			continue
		}
		direct := v.node == from && !v.dead // and not an earlier process of it
		known := o != nil
		switch {
		case !known && s.nodes[v.node] == liveness{true, v.boot} && !direct:
			continue // its owner is about to say so itself
		case known && o.live && !direct, known && o.asked != "":
			continue
		case known && v.tip <= o.tip && !o.resync && !(o.partial && direct):
			continue
		}
		if !known {
			o = s.origin(v.node, v.boot)
			if v.dead {
				o.lost, o.heard = s.now.Add(-v.lost), s.now.Add(-v.silent)
			}
		}
		if o.partial && direct {
			o.restart(0) // all of it
		}
		wants = append(wants, s.ask(o, from))
	}
	if len(wants) > 0 {
		s.out = append(s.out, Message{To: from, Frame: appendWant(nil, wants)})
	}
}

// ask notes that a peer is asked for more of an origin.
func (s *Store) ask(o *origin, peer string) want {
	o.asked, o.askedAt = peer, s.now
	w := want{node: o.node, boot: o.boot, after: o.tip}
	if o.resync {
		w.base = o.base
	}
	return w
}

// serve sends a window of deltas. Where tombstones above the asker's number are
// forgotten already, the origin is sent from its beginning.
func (s *Store) serve(to string, w want) {
	o := s.origins[originKey{w.node, w.boot}]
	if o == nil || o.resync || o.tip == 0 || w.after > o.tip {
		return // what there is here is of no use to the asker
	}
	after, reset := w.after, false
	if after == 0 || o.floor > max(after, w.base) {
		after, reset = 0, true
	}
	s.send(o, []string{to}, after, s.cfg.Window, reset)
}

// send makes the frames with the changes of an origin above a number, up to limit
// octets of them.
func (s *Store) send(o *origin, to []string, after uint64, limit int, reset bool) {
	log := o.after(after)
	d := delta{node: o.node, boot: o.boot, from: after, tip: o.tip, reset: reset}
	body := make([]byte, 0, min(s.cfg.Chunk, 256*len(log))+64)
	entries, sent := 0, 0
	emit := func() {
		frame := appendDelta(make([]byte, 0, len(body)+64+len(d.node)), &d, entries)
		frame = append(frame, body...)
		for _, peer := range to {
			s.out = append(s.out, Message{To: peer, Frame: frame})
		}
		s.stats.Deltas += uint64(len(to))
		sent += len(body)
		d.from, d.reset, body, entries = d.to, false, body[:0], 0
	}
	for _, at := range log {
		if at.seq > o.tip {
			break // known by chance, without what lies between
		}
		if at.e.removed {
			continue
		}
		if len(body) >= s.cfg.Chunk {
			d.more = sent+len(body) >= limit
			if emit(); d.more {
				return
			}
		}
		body = appendChange(body, at.e, s.now)
		d.to, entries = at.seq, entries+1
	}
	d.to = o.tip
	emit()
}

// Output returns the frames to send, in order, and forgets them. It adds the own
// changes since the last call: one delta for all peers, or when there are too many of
// them for that, the vector, so that each peer pulls at its pace.
func (s *Store) Output() []Message {
	if s.pushed < s.own.tip && len(s.names) > 0 {
		if s.backlog() <= s.cfg.Window {
			s.send(s.own, slices.Clone(s.names), s.pushed, s.cfg.Window, false)
		} else {
			for _, peer := range s.names {
				s.sendHave(peer, false)
			}
		}
	}
	s.pushed = s.own.tip
	out := s.out
	s.out = nil
	return out
}

// backlog is about how many octets of own changes were not told yet.
func (s *Store) backlog() (n int) {
	for _, at := range s.own.after(s.pushed) {
		if !at.e.removed {
			n += at.e.size()
		}
	}
	return n
}
