package hello

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// Versions of the streams' protocol that this build speaks.
const (
	MinVersion uint8 = 1
	MaxVersion uint8 = 1
)

// Labels of the two proof keys.
const (
	dialerLabel   = "tandem hello v1 dialer"
	acceptorLabel = "tandem hello v1 acceptor"
)

// Reasons for which a handshake fails. The ones after the proofs reach both sides.
var (
	ErrVersion  = errors.New("hello: no common protocol version")
	ErrCluster  = errors.New("hello: the peer belongs to another cluster")
	ErrKey      = errors.New("hello: the peer does not hold the cluster key")
	ErrIdentity = errors.New("hello: another node answered than the one that was meant")
	ErrSelf     = errors.New("hello: the peer has this node's own name")
	ErrBoot     = errors.New("hello: the peer has seen a later boot of this node")
	ErrPurpose  = errors.New("hello: the peer does not take streams of this purpose")
)

// Local is what this node says of itself.
type Local struct {
	Cluster string
	Node    string
	Site    string
	Address string // advertised interconnect address, host:port
	Boot    uint64
	Keys    *keyring.Keyring
	// Seen returns the highest boot number seen of a node, 0 when none. Nil means none.
	Seen func(node string) uint64
}

// Remote is what the handshake proved of the other side.
type Remote struct {
	Node    string
	Site    string
	Address string
	Boot    uint64
	Seen    uint64 // the highest boot of this node that the peer saw
	Purpose Purpose
	Version uint8         // of the stream's protocol
	RTT     time.Duration // dialer only: the time from its proof to the answer
}

// status is the acceptor's verdict, sent under its MAC.
type status uint8

const (
	statusOK status = iota
	statusIdentity
	statusSelf
	statusBoot
	statusPurpose
)

func (s status) err() error {
	switch s {
	case statusOK:
		return nil
	case statusIdentity:
		return ErrIdentity
	case statusSelf:
		return ErrSelf
	case statusBoot:
		return ErrBoot
	case statusPurpose:
		return ErrPurpose
	}
	return fmt.Errorf("hello: refused with status %d", uint8(s))
}

// Dial runs the dialer's side on a fresh stream, whose deadline the caller has
// set. target is the node that is meant; empty takes any member of the cluster.
// On an error the stream is useless; a Remote with a name then tells who
// refused.
func Dial(rw io.ReadWriter, l Local, purpose Purpose, target string) (Remote, error) {
	mine, err := l.message(purpose, target, l.Keys.Primary())
	if err != nil {
		return Remote{}, err
	}
	sent, err := send(rw, mine)
	if err != nil {
		return Remote{}, fmt.Errorf("hello: send: %w", err)
	}
	theirs, received, err := receive(rw)
	if err != nil {
		return Remote{}, err
	}
	if theirs.cluster != l.Cluster {
		return Remote{}, ErrCluster
	}
	version, err := common(mine, theirs)
	if err != nil {
		return Remote{}, err
	}
	dialerKey := l.Keys.Derive(dialerLabel)
	proof := mac(dialerKey, sent, received)
	start := time.Now()
	if _, err := rw.Write(proof); err != nil {
		return Remote{}, fmt.Errorf("hello: send proof: %w", err)
	}
	var answer [1 + macLength]byte
	if _, err := io.ReadFull(rw, answer[:]); err != nil {
		return Remote{}, fmt.Errorf("hello: read proof: %w", err)
	}
	want := mac(l.Keys.Derive(acceptorLabel), sent, received, answer[:1])
	if !hmac.Equal(want, answer[1:]) {
		return Remote{}, ErrKey
	}
	r := theirs.remote(version)
	r.Purpose, r.RTT = purpose, time.Since(start)
	if err := status(answer[0]).err(); err != nil {
		return r, err
	}
	if target != "" && r.Node != target {
		return r, ErrIdentity
	}
	return r, nil
}

// Accept runs the acceptor's side. takes says whether streams of a purpose are
// wanted. A Remote with a name beside an error tells which member was refused.
func Accept(rw io.ReadWriter, l Local, takes func(Purpose) bool) (Remote, error) {
	theirs, received, err := receive(rw)
	if err != nil {
		return Remote{}, err
	}
	if theirs.cluster != l.Cluster {
		return Remote{}, ErrCluster
	}
	dialerKey, ok := l.Keys.DeriveFor(theirs.key, dialerLabel)
	if !ok {
		return Remote{}, ErrKey
	}
	acceptorKey, _ := l.Keys.DeriveFor(theirs.key, acceptorLabel)
	mine, err := l.message(theirs.purpose, theirs.node, theirs.key)
	if err != nil {
		return Remote{}, err
	}
	sent, err := send(rw, mine)
	if err != nil {
		return Remote{}, fmt.Errorf("hello: send: %w", err)
	}
	version, err := common(mine, theirs)
	if err != nil {
		return Remote{}, err
	}
	var proof [macLength]byte
	if _, err := io.ReadFull(rw, proof[:]); err != nil {
		return Remote{}, fmt.Errorf("hello: read proof: %w", err)
	}
	if !hmac.Equal(mac(dialerKey, received, sent), proof[:]) {
		return Remote{}, ErrKey
	}
	verdict := l.judge(theirs, takes)
	answer := append([]byte{byte(verdict)}, mac(acceptorKey, received, sent, []byte{byte(verdict)})...)
	if _, err := rw.Write(answer); err != nil {
		return Remote{}, fmt.Errorf("hello: send proof: %w", err)
	}
	r := theirs.remote(version)
	r.Purpose = theirs.purpose
	return r, verdict.err()
}

// judge decides on a member whose proof was good.
func (l *Local) judge(m message, takes func(Purpose) bool) status {
	switch {
	case m.node == l.Node:
		return statusSelf
	case m.target != "" && m.target != l.Node:
		return statusIdentity
	case m.purpose == Inquire:
		return statusOK
	case l.seen(m.node) > m.boot:
		// DEC-13: a node that lost its boot number may not speak under an old one.
		return statusBoot
	case !takes(m.purpose):
		return statusPurpose
	}
	return statusOK
}

func (l *Local) seen(node string) uint64 {
	if l.Seen == nil {
		return 0
	}
	return l.Seen(node)
}

// message builds this side's hello with a fresh nonce; peer is the name that the
// other side is known or meant by.
func (l *Local) message(p Purpose, peer string, key keyring.ID) (*message, error) {
	m := &message{
		min: MinVersion, max: MaxVersion, purpose: p, key: key, boot: l.Boot, seen: l.seen(peer),
		cluster: l.Cluster, node: l.Node, site: l.Site, address: l.Address, target: peer,
	}
	for _, s := range []string{m.cluster, m.node, m.site, m.address, m.target} {
		if len(s) > 160 {
			return nil, fmt.Errorf("hello: %q is longer than 160 octets", s)
		}
	}
	if _, err := rand.Read(m.nonce[:]); err != nil {
		return nil, fmt.Errorf("hello: nonce: %w", err)
	}
	return m, nil
}

func (m *message) remote(version uint8) Remote {
	return Remote{Node: m.node, Site: m.site, Address: m.address, Boot: m.boot, Seen: m.seen, Version: version}
}

// common returns the highest version that both sides speak.
func common(a *message, b message) (uint8, error) {
	v := min(a.max, b.max)
	if v < a.min || v < b.min || v == 0 {
		return 0, fmt.Errorf("%w: %d..%d here, %d..%d there", ErrVersion, a.min, a.max, b.min, b.max)
	}
	return v, nil
}

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
