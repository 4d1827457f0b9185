package interconnect

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cluster/hello"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/cluster/pki"
)

// link is a stream behind both handshakes, of whatever purpose, with what its other
// side proved by them.
type link struct {
	net.Conn
	i       *Interconnect
	peer    string
	purpose hello.Purpose
	key     keyring.ID
	// chain and own are the two certificates that were shown; nil on a plain stream.
	chain []*x509.Certificate
	own   *x509.Certificate
	born  time.Time
	// condemned is when a review first found that it may not stand, in Unix nanoseconds; 0: it may.
	condemned atomic.Int64
}

// Close takes the stream out of the review. It never waits, not even for the goodbye
// of TLS: that goes out by CloseWrite where it is wanted.
func (l *link) Close() error {
	l.i.mu.Lock()
	delete(l.i.links, l)
	l.i.mu.Unlock()
	return l.Conn.Close()
}

// CloseWrite ends the writing half, if the stream can.
func (l *link) CloseWrite() error {
	if half, ok := l.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return l.Conn.Close()
}

// secured is a TLS stream whose Close does not wait for a peer that does not read.
type secured struct {
	*tls.Conn
	raw net.Conn
}

// Close implements net.Conn.
func (s *secured) Close() error { return s.raw.Close() }

// proof is what the TLS handshake, if there was one, told of the other side.
type proof struct {
	node  string // name in the certificate; empty on a plain stream
	chain []*x509.Certificate
	own   *x509.Certificate
}

func proofOf(c *tls.Conn, id *pki.Identity) proof {
	p := proof{chain: c.ConnectionState().PeerCertificates, own: id.Leaf()}
	_, p.node, _ = pki.Holder(p.chain[0]) // the handshake has verified it
	return p
}

// remember puts a proven stream into the review; nil when the interconnect has stopped.
func (i *Interconnect) remember(conn net.Conn, p proof, remote hello.Remote) *link {
	l := &link{
		Conn: conn, i: i, peer: remote.Node, purpose: remote.Purpose, key: remote.Key,
		chain: p.chain, own: p.own, born: time.Now(),
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.links[l] = struct{}{}
	return l
}
