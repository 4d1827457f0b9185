package verdict

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// format is the first byte of what is encoded here. A reader ignores bytes behind the fields that it knows, so fields are only ever added at
// the end; a change of meaning takes another number.
const format = 1

// maxText bounds a string on the wire in bytes.
const maxText = 256

// ErrFormat reports bytes that are no record or knob of a known format.
var ErrFormat = errors.New("verdict: unknown or damaged encoding")

// Append appends the record's encoding.
func (r *Record) Append(dst []byte) []byte {
	dst = append(dst, format)
	dst = appendText(dst, r.Key.String())
	dst = appendText(dst, r.Node)
	dst = binary.AppendUvarint(dst, r.Boot)
	dst = binary.AppendUvarint(dst, r.Seq)
	dst = append(dst, byte(r.State))
	dst = appendAge(dst, r.Age)
	dst = appendAge(dst, r.OutAge)
	dst = appendText(dst, r.Reason)
	dst = binary.AppendUvarint(dst, r.Changes)
	dst = append(dst, byte(r.Kind))
	dst = binary.AppendUvarint(dst, uint64(max(0, r.Code)))
	dst = binary.AppendUvarint(dst, uint64(max(0, r.RTT)/time.Microsecond))
	dst = appendAge(dst, r.ProbeAge)
	return appendAge(dst, r.GoodAge)
}

// DecodeRecord reads what Append wrote. It never panics and never trusts a length.
func DecodeRecord(b []byte) (Record, error) {
	d := decoder{b: b}
	d.format()
	var r Record
	key := d.text()
	r.Node = d.text()
	r.Boot, r.Seq = d.uint(), d.uint()
	r.State = trunkgroup.State(d.byte())
	r.Age, r.OutAge = d.age(), d.age()
	r.Reason = d.text()
	r.Changes = d.uint()
	r.Kind = trunkgroup.ProbeKind(d.byte())
	r.Code = d.int(999)
	r.RTT = d.duration(time.Microsecond)
	r.ProbeAge, r.GoodAge = d.age(), d.age()
	if d.bad {
		return Record{}, ErrFormat
	}
	var err error
	if r.Key, err = ParseKey(key); err != nil {
		return Record{}, err
	}
	if r.Node == "" || r.State.Administrative() || r.State.String() == "invalid" || r.Kind > trunkgroup.TransportError {
		return Record{}, ErrFormat
	}
	return r, nil
}

// Append appends the knob's encoding with its remaining time at now.
func (k *Knob) Append(dst []byte, now time.Time) []byte {
	dst = append(dst, format)
	dst = appendText(dst, k.Member)
	dst = append(dst, byte(k.State))
	dst = appendText(dst, k.Author)
	dst = appendText(dst, k.Reason)
	dst = binary.AppendUvarint(dst, k.Version)
	dst = appendText(dst, k.Node)
	dst = appendAge(dst, now.Sub(k.Set))
	dst = appendAge(dst, k.Expires.Sub(now))
	if _, _, weight := Subject(k.Member); weight {
		dst = binary.AppendUvarint(dst, uint64(max(0, k.Weight)))
	}
	return dst
}

// DecodeKnob reads what Append wrote, as of now.
func DecodeKnob(b []byte, now time.Time) (Knob, error) {
	d := decoder{b: b}
	d.format()
	k := Knob{Member: d.text(), State: trunkgroup.AdminState(d.byte()), Author: d.text(), Reason: d.text()}
	k.Version, k.Node = d.uint(), d.text()
	k.Set = now.Add(-d.age())
	k.Expires = now.Add(d.age())
	if _, _, weight := Subject(k.Member); weight {
		k.Weight = d.int(MaxWeight) // an older build that spreads the knob leaves it out: then it says nothing
	}
	if d.bad || k.State > trunkgroup.AdminDisabled || k.Node == "" || !properSubject(k.Member) {
		return Knob{}, ErrFormat
	}
	return k, nil
}

func appendText(dst []byte, s string) []byte {
	s = s[:min(len(s), maxText)]
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// appendAge writes milliseconds, rounded up so that an age that is not zero never becomes it.
func appendAge(dst []byte, d time.Duration) []byte {
	return binary.AppendUvarint(dst, uint64((max(0, d)+time.Millisecond-1)/time.Millisecond))
}

// decoder reads fields from the front of b; once something is wrong, bad stays set and all further fields are zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) format() {
	if d.byte() != format {
		d.bad = true
	}
}

func (d *decoder) byte() byte {
	if d.bad || len(d.b) == 0 {
		d.bad = true
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) uint() uint64 {
	if d.bad {
		return 0
	}
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int(most uint64) int {
	v := d.uint()
	if v > most {
		d.bad = true
		return 0
	}
	return int(v)
}

func (d *decoder) text() string {
	n := d.int(maxText)
	if d.bad || n > len(d.b) {
		d.bad = true
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

// maxAge bounds a duration on the wire: ten years.
const maxAge = 10 * 365 * 24 * time.Hour

func (d *decoder) duration(unit time.Duration) time.Duration {
	v := d.uint()
	if v > uint64(maxAge/unit) {
		d.bad = true
		return 0
	}
	return time.Duration(v) * unit
}

func (d *decoder) age() time.Duration { return d.duration(time.Millisecond) }
