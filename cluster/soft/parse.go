package soft

import (
	"encoding/binary"
	"math"
	"time"
)

// reader takes fields off a frame; after the first fault all is zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) octet() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) octets(limit int) []byte {
	n := r.number()
	if r.bad || n > uint64(limit) || n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// duration reads milliseconds; what no clock counts is malformed.
func (r *reader) duration() time.Duration {
	n := r.number()
	if n > math.MaxInt64/uint64(4*time.Millisecond) {
		r.bad, r.b = true, nil
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

// length reads how many items follow, each of at least size octets.
func (r *reader) length(size int) int {
	n := r.number()
	if r.bad || n > uint64(len(r.b)/size) {
		r.bad, r.b = true, nil
		return 0
	}
	return int(n)
}

func parseHave(b []byte) (reply bool, list []vector, err error) {
	r := reader{b: b}
	reply = r.octet()&haveReply != 0
	for range r.length(5) {
		v := vector{node: string(r.octets(maxName)), boot: r.number(), tip: r.number()}
		lost, silent := r.duration(), r.duration()
		if v.dead = lost > 0; v.dead {
			v.lost, v.silent = lost-time.Millisecond, max(silent-time.Millisecond, 0)
		}
		list = append(list, v)
	}
	if r.bad {
		return false, nil, ErrFrame
	}
	return reply, list, nil
}

func parseWant(b []byte) ([]want, error) {
	r := reader{b: b}
	var list []want
	for range r.length(4) {
		list = append(list, want{node: string(r.octets(maxName)), boot: r.number(), after: r.number(), base: r.number()})
	}
	if r.bad {
		return nil, ErrFrame
	}
	return list, nil
}

func parseDelta(b []byte) (*delta, error) {
	r := reader{b: b}
	flags := r.octet()
	d := &delta{
		reset: flags&deltaReset != 0, more: flags&deltaMore != 0,
		node: string(r.octets(maxName)), boot: r.number(), from: r.number(), to: r.number(), tip: r.number(),
	}
	n := r.length(6)
	d.entries = make([]change, 0, n)
	last := d.from
	for range n {
		c := r.change()
		if r.bad || c.seq <= last || c.seq > d.to {
			return nil, ErrFrame // numbers rise within (from, to]
		}
		last = c.seq
		d.entries = append(d.entries, c)
	}
	if r.bad || d.to < d.from || d.tip < d.to || d.reset && d.from != 0 {
		return nil, ErrFrame
	}
	return d, nil
}

func (r *reader) change() change {
	c := change{kind: Kind(r.octet())}
	flags := r.octet()
	c.tombstone, c.expires = flags&entryTombstone != 0, flags&entryExpires != 0
	c.seq, c.version = r.number(), r.number()
	c.key = string(r.octets(MaxKey))
	if c.expires {
		c.remaining = r.duration()
	}
	c.age = r.duration()
	c.value = r.octets(MaxValue)
	if c.key == "" || c.tombstone && !c.expires {
		r.bad = true
	}
	return c
}
