package verdict

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
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
	dst = appendAge(dst, r.GoodAge)
	return r.appendHistory(dst)
}

// DecodeRecord reads what Append wrote. It never panics and never trusts a length.
func DecodeRecord(b []byte) (Record, error) {
	d := decode(b)
	var r Record
	key := d.text()
	r.Node = d.text()
	r.Boot, r.Seq = d.Number(), d.Number()
	r.State = trunkgroup.State(d.Octet())
	r.Age, r.OutAge = d.age(), d.age()
	r.Reason = d.text()
	r.Changes = d.Number()
	r.Kind = trunkgroup.ProbeKind(d.Octet())
	r.Code = d.Int(999)
	r.RTT = d.Duration(time.Microsecond, maxAge)
	r.ProbeAge, r.GoodAge = d.age(), d.age()
	if d.More() {
		r.readHistory(&d)
	}
	if d.Bad() {
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
	nearest, order := split(k.State)
	dst = append(dst, byte(nearest))
	dst = appendText(dst, k.Author)
	dst = appendText(dst, k.Reason)
	dst = binary.AppendUvarint(dst, k.Version)
	dst = appendText(dst, k.Node)
	dst = appendAge(dst, now.Sub(k.Set))
	dst = appendAge(dst, k.Expires.Sub(now))
	if _, _, weight := Subject(k.Member); weight {
		return binary.AppendUvarint(dst, uint64(max(0, k.Weight)))
	}
	return append(dst, order)
}

// DecodeKnob reads what Append wrote, as of now.
func DecodeKnob(b []byte, now time.Time) (Knob, error) {
	d := decode(b)
	k := Knob{Member: d.text(), State: trunkgroup.AdminState(d.Octet()), Author: d.text(), Reason: d.text()}
	k.Version, k.Node = d.Number(), d.text()
	k.Set = now.Add(-d.age())
	k.Expires = now.Add(d.age())
	if _, _, weight := Subject(k.Member); weight {
		k.Weight = d.Int(MaxWeight) // an older build that spreads the knob leaves it out: then it says nothing
	} else if d.More() {
		k.State = join(k.State, d.Octet())
	}
	if d.Bad() || k.State > trunkgroup.AdminTrying || k.Node == "" || !properSubject(k.Member) {
		return Knob{}, ErrFormat
	}
	return k, nil
}

func appendText(dst []byte, s string) []byte {
	return octets.Append(dst, s[:min(len(s), maxText)])
}

// appendAge writes milliseconds, rounded up so that an age that is not zero never becomes it.
func appendAge(dst []byte, d time.Duration) []byte {
	return binary.AppendUvarint(dst, uint64((max(0, d)+time.Millisecond-1)/time.Millisecond))
}

// decoder takes fields off what nodes tell each other.
type decoder struct{ octets.Reader }

// decode begins behind the format.
func decode(b []byte) decoder {
	d := decoder{octets.Read(b)}
	if d.Octet() != format {
		d.Fail()
	}
	return d
}

func (d *decoder) text() string { return d.Text(maxText) }

// maxAge bounds a duration on the wire: ten years.
const maxAge = 10 * 365 * 24 * time.Hour

func (d *decoder) age() time.Duration { return d.Duration(time.Millisecond, maxAge) }
