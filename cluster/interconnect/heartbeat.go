package interconnect

import (
	"encoding/binary"
	"time"
)

// beat is the payload of a ping and of a pong.
type beat struct {
	// seq numbers the pings of a stream; a pong repeats it.
	seq uint64
	// wall is the sender's wall clock in Unix nanoseconds, for the clock offset.
	wall int64
	// age is how long ago the sender last heard anything of the receiver. It
	// travels in milliseconds; neverHeard when it did not hear of it at all.
	age time.Duration
}

const (
	beatLength = 20
	// neverHeard is the age of a peer that was not heard yet.
	neverHeard = time.Duration(1<<32-1) * time.Millisecond
)

// wall is what this node's clock shows at now, for the clock offset.
func (i *Interconnect) wall(now time.Time) int64 { return now.Add(i.cfg.ClockOffset).UnixNano() }

// append adds the encoded beat to dst. The age is rounded up: it must never look
// younger than it is.
func (b beat) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, b.seq)
	dst = binary.BigEndian.AppendUint64(dst, uint64(b.wall))
	age := min(max(b.age, 0), neverHeard)
	return binary.BigEndian.AppendUint32(dst, uint32((age+time.Millisecond-1)/time.Millisecond))
}

// parseBeat reads a beat; octets behind the known fields are ignored.
func parseBeat(b []byte) (beat, bool) {
	if len(b) < beatLength {
		return beat{}, false
	}
	return beat{
		seq:  binary.BigEndian.Uint64(b),
		wall: int64(binary.BigEndian.Uint64(b[8:])),
		age:  time.Duration(binary.BigEndian.Uint32(b[16:])) * time.Millisecond,
	}, true
}
