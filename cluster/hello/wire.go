package hello

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

func send(w io.Writer, m *message) ([]byte, error) {
	wire := m.append(make([]byte, 2, 256))
	binary.BigEndian.PutUint16(wire, uint16(len(wire)-2))
	_, err := w.Write(wire)
	return wire, err
}

// receive reads one hello and returns it with its exact octets, length included,
// which both proofs cover.
func receive(r io.Reader) (message, []byte, error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return message{}, nil, fmt.Errorf("hello: read: %w", err)
	}
	if head == [2]byte{0x16, 0x03} { // the head of a TLS record
		return message{}, nil, ErrTLS
	}
	n := int(binary.BigEndian.Uint16(head[:]))
	if n > MaxMessage {
		return message{}, nil, fmt.Errorf("hello: a message of %d octets, at most %d are read", n, MaxMessage)
	}
	wire := make([]byte, 2+n)
	copy(wire, head[:])
	if _, err := io.ReadFull(r, wire[2:]); err != nil {
		return message{}, nil, fmt.Errorf("hello: read: %w", err)
	}
	m, err := decode(wire[2:])
	return m, wire, err
}

// mac is the proof over the concatenation of parts; the two hellos carry their
// own lengths, so no two different exchanges have the same concatenation.
func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}
