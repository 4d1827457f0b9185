package soft

import (
	"math"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
)

// maxDuration is the longest time that a frame may tell: sums of some are still times.
const maxDuration = math.MaxInt64 / 4

// reader takes fields off a frame.
type reader struct{ octets.Reader }

func read(b []byte) reader { return reader{octets.Read(b)} }

// duration reads milliseconds; what no clock counts is malformed.
func (r *reader) duration() time.Duration { return r.Duration(time.Millisecond, maxDuration) }

func parseHave(b []byte) (reply bool, list []vector, err error) {
	r := read(b)
	reply = r.Octet()&haveReply != 0
	for range r.Length(5) {
		v := vector{node: r.Text(maxName), boot: r.Number(), tip: r.Number()}
		lost, silent := r.duration(), r.duration()
		if v.dead = lost > 0; v.dead {
			v.lost, v.silent = lost-time.Millisecond, max(silent-time.Millisecond, 0)
		}
		list = append(list, v)
	}
	if r.Bad() {
		return false, nil, ErrFrame
	}
	return reply, list, nil
}

func parseWant(b []byte) ([]want, error) {
	r := read(b)
	var list []want
	for range r.Length(4) {
		list = append(list, want{node: r.Text(maxName), boot: r.Number(), after: r.Number(), base: r.Number()})
	}
	if r.Bad() {
		return nil, ErrFrame
	}
	return list, nil
}

func parseDelta(b []byte) (*delta, error) {
	r := read(b)
	flags := r.Octet()
	d := &delta{
		reset: flags&deltaReset != 0, more: flags&deltaMore != 0,
		node: r.Text(maxName), boot: r.Number(), from: r.Number(), to: r.Number(), tip: r.Number(),
	}
	n := r.Length(6)
	d.entries = make([]change, 0, n)
	last := d.from
	for range n {
		c := r.change()
		if r.Bad() || c.seq <= last || c.seq > d.to {
			return nil, ErrFrame // numbers rise within (from, to]
		}
		last = c.seq
		d.entries = append(d.entries, c)
	}
	if r.Bad() || d.to < d.from || d.tip < d.to || d.reset && d.from != 0 {
		return nil, ErrFrame
	}
	return d, nil
}

func (r *reader) change() change {
	c := change{kind: Kind(r.Octet())}
	flags := r.Octet()
	c.tombstone, c.expires = flags&entryTombstone != 0, flags&entryExpires != 0
	c.seq, c.version = r.Number(), r.Number()
	c.key = r.Text(MaxKey)
	if c.expires {
		c.remaining = r.duration()
	}
	c.age = r.duration()
	c.value = r.Octets(MaxValue)
	if c.key == "" || c.tombstone && !c.expires {
		r.Fail()
	}
	return c
}
