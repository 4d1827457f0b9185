package hello

import (
	"crypto/rand"
	"errors"
	"fmt"
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
	ErrForged   = errors.New("hello: the name that the peer gives is not that of its certificate")
)

// Local is what this node says of itself.
type Local struct {
	Cluster string
	Node    string
	Site    string
	Address string // advertised interconnect address, host:port
	Boot    uint64
	Keys    *keyring.Keyring
	// Offer, when it is in Keys, is the secret that a dialer proves instead of the
	// primary one.
	Offer keyring.ID
	// Proven is the name in the certificate that the other side showed below this
	// handshake; empty without TLS. Another name is refused.
	Proven string
	// Renewal tells the acceptor that the stream takes the place of one that still
	// stands (dialer only).
	Renewal bool
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
	Key     keyring.ID    // the secret that both sides proved
	Renewal bool          // acceptor only: see Local.Renewal
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
	statusForged
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
	case statusForged:
		return ErrForged
	}
	return fmt.Errorf("hello: refused with status %d", uint8(s))
}

// judge decides on a member whose proof was good.
func (l *Local) judge(m message, takes func(Purpose) bool) status {
	switch {
	case l.Proven != "" && m.node != l.Proven:
		// DEC-08: the name in the certificate is the identity, not what the node says.
		return statusForged
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
	return Remote{
		Node: m.node, Site: m.site, Address: m.address, Boot: m.boot, Seen: m.seen, Version: version,
		Key: m.key, Renewal: m.flags&flagRenewal != 0,
	}
}

// common returns the highest version that both sides speak.
func common(a *message, b message) (uint8, error) {
	v := min(a.max, b.max)
	if v < a.min || v < b.min || v == 0 {
		return 0, fmt.Errorf("%w: %d..%d here, %d..%d there", ErrVersion, a.min, a.max, b.min, b.max)
	}
	return v, nil
}
