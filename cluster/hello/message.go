package hello

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// MaxMessage bounds a hello in octets: a stranger cannot make a node read more.
const MaxMessage = 1024

const (
	nonceLength = 32
	macLength   = 32
)

// magic starts every hello; whatever else talks to the port is not ours.
var magic = [4]byte{'T', 'N', 'D', 'M'}

// Errors of decoding.
var (
	ErrTruncated = errors.New("hello: truncated message")
	ErrMagic     = errors.New("hello: not a tandem node")
	// ErrTLS: the peer begins a TLS handshake and this node has no certificate.
	ErrTLS = errors.New("hello: the peer speaks TLS and this node does not: name a certificate in cluster.tls")
)

// Purpose says what a stream is for.
type Purpose uint8

// Purposes of streams.
const (
	Interconnect Purpose = 1 // frames between two nodes: heartbeats, hand-offs, forwarded requests
	Raft         Purpose = 2 // the consensus library's own protocol
	Propose      Purpose = 3 // changes of the configuration, passed to the leader
	Inquire      Purpose = 4 // opened and closed again: asks only what the peer knows of the dialer
)

// String names the purpose as in logs and metrics.
func (p Purpose) String() string {
	switch p {
	case Interconnect:
		return "interconnect"
	case Raft:
		return "raft"
	case Propose:
		return "propose"
	case Inquire:
		return "inquire"
	}
	return fmt.Sprintf("purpose(%d)", uint8(p))
}

// message is one hello. Texts are at most 255 octets each.
type message struct {
	min, max uint8
	purpose  Purpose
	key      keyring.ID
	nonce    [nonceLength]byte
	boot     uint64 // the sender's boot number
	seen     uint64 // the highest boot number of the receiver that the sender saw
	cluster  string
	node     string
	site     string
	address  string // the sender's advertised interconnect address
	target   string // the node that a dialer means to reach; empty when any will do
	flags    uint8  // 0 of a build that does not send them
}

// flagRenewal marks a stream that takes the place of one which still stands.
const flagRenewal uint8 = 1

// append adds the encoded message to dst.
func (m *message) append(dst []byte) []byte {
	dst = append(dst, magic[:]...)
	dst = append(dst, m.min, m.max, byte(m.purpose))
	dst = append(dst, m.key[:]...)
	dst = append(dst, m.nonce[:]...)
	dst = binary.BigEndian.AppendUint64(dst, m.boot)
	dst = binary.BigEndian.AppendUint64(dst, m.seen)
	for _, s := range []string{m.cluster, m.node, m.site, m.address, m.target} {
		dst = append(dst, byte(len(s)))
		dst = append(dst, s...)
	}
	return append(dst, m.flags)
}

// decode reads a message; octets behind the known fields are ignored.
func decode(b []byte) (message, error) {
	const fixed = len(magic) + 3 + 8 + nonceLength + 16
	if len(b) < len(magic) || [4]byte(b[:4]) != magic {
		return message{}, ErrMagic
	}
	if len(b) < fixed {
		return message{}, ErrTruncated
	}
	m := message{min: b[4], max: b[5], purpose: Purpose(b[6]), key: keyring.ID(b[7:15])}
	copy(m.nonce[:], b[15:])
	m.boot = binary.BigEndian.Uint64(b[15+nonceLength:])
	m.seen = binary.BigEndian.Uint64(b[23+nonceLength:])
	rest := b[fixed:]
	for _, s := range []*string{&m.cluster, &m.node, &m.site, &m.address, &m.target} {
		if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
			return message{}, ErrTruncated
		}
		n := 1 + int(rest[0])
		*s, rest = string(rest[1:n]), rest[n:]
	}
	if len(rest) > 0 {
		m.flags = rest[0]
	}
	return m, nil
}
