package fsm

import (
	"encoding/binary"
	"errors"
)

// ErrMalformed is returned for octets that are no encoding of what was asked for.
var ErrMalformed = errors.New("fsm: malformed encoding")

// reader takes fields off an encoding; after the first fault all is zero.
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

// number reads a uvarint in its shortest form, so that every value has one encoding.
func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || n > 1 && r.b[n-1] == 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

// octets reads a length and so many octets, at most limit. They are not copied.
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

func (r *reader) text(limit int) string { return string(r.octets(limit)) }

// end reports whether everything was read without a fault.
func (r *reader) end() bool { return !r.bad && len(r.b) == 0 }

func appendOctets[T string | []byte](dst []byte, v T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(v)))
	return append(dst, v...)
}
