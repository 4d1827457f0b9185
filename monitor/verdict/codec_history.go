package verdict

import (
	"encoding/binary"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// maxFlaps bounds a count on the wire.
const maxFlaps = 1 << 20

// appendHistory appends what records hold since there are latencies. It stands behind all that an older build reads, which leaves it out.
func (r *Record) appendHistory(dst []byte) []byte {
	l := &r.Latency
	for _, d := range []time.Duration{l.Estimate, l.Average, l.Max, l.Deviation()} {
		dst = binary.AppendUvarint(dst, uint64(max(0, d)/time.Microsecond))
	}
	dst = binary.AppendUvarint(dst, l.Replies)
	dst = binary.AppendUvarint(dst, l.Timeouts)
	return binary.AppendUvarint(dst, uint64(min(max(0, r.Flaps), maxFlaps)))
}

// readHistory reads what appendHistory wrote.
func (r *Record) readHistory(d *decoder) {
	span := func() time.Duration { return d.Duration(time.Microsecond, maxAge) }
	l := trunkgroup.RoundTrips{Estimate: span(), Average: span(), Max: span()}
	l.Remember(span())
	l.Replies, l.Timeouts = d.Number(), d.Number()
	r.Latency, r.Flaps = l, d.Int(maxFlaps)
}
