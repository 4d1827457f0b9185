package octets

import (
	"encoding/binary"
	"time"
)

// Reader takes fields off the front of a record. The zero value has read all of an
// empty one.
type Reader struct {
	b      []byte
	strict bool
	bad    bool
}

// Read begins with a record. Texts that are read as octets are parts of it.
func Read(b []byte) Reader { return Reader{b: b} }

// ReadStrict is Read for records of which there is one encoding for each meaning: a
// number that is not in its shortest form is a fault.
func ReadStrict(b []byte) Reader { return Reader{b: b, strict: true} }

// Fail notes a fault that the caller has found.
func (r *Reader) Fail() { r.bad, r.b = true, nil }

// Bad reports whether there was a fault.
func (r *Reader) Bad() bool { return r.bad }

// More reports whether something is left to be read.
func (r *Reader) More() bool { return len(r.b) > 0 }

// Rest takes all that is left. It is not copied.
func (r *Reader) Rest() []byte {
	v := r.b
	r.b = nil
	return v
}

// End reports whether all was read without a fault.
func (r *Reader) End() bool { return !r.bad && len(r.b) == 0 }

// Octet reads one octet.
func (r *Reader) Octet() byte {
	if len(r.b) == 0 {
		r.Fail()
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

// Number reads a number of 64 bits.
func (r *Reader) Number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || r.strict && n > 1 && r.b[n-1] == 0 {
		r.Fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// Int reads a number that is at most limit.
func (r *Reader) Int(limit int) int {
	n := r.Number()
	if n > uint64(limit) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Length reads how many items follow, each of at least size octets: no more than are
// there, so that what is made for them is bounded by the record.
func (r *Reader) Length(size int) int {
	n := r.Number()
	if n > uint64(len(r.b)/size) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Octets reads a length and so many octets, at most limit. They are not copied.
func (r *Reader) Octets(limit int) []byte {
	n := r.Int(limit)
	if r.bad || n > len(r.b) {
		r.Fail()
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// Text reads a text of at most limit octets.
func (r *Reader) Text(limit int) string { return string(r.Octets(limit)) }

// Duration reads a time in units, at most limit.
func (r *Reader) Duration(unit, limit time.Duration) time.Duration {
	n := r.Number()
	if n > uint64(limit/unit) {
		r.Fail()
		return 0
	}
	return time.Duration(n) * unit
}

// Append appends a text with its length before it.
func Append[T string | []byte](dst []byte, v T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(v))), v...)
}
