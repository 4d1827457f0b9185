package interconnect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/tandem-sbc/tandem/cluster/hello"
	"github.com/tandem-sbc/tandem/cluster/pki"
)

// secureAccepted runs TLS on an accepted stream, if this node has a certificate. The
// deadline of conn bounds it. joins is set when the other side asks to join and holds no certificate.
func (i *Interconnect) secureAccepted(conn net.Conn, t *trust) (out net.Conn, p proof, joins bool, err error) {
	if t.identity == nil {
		return conn, proof{}, false, nil
	}
	if t.plain {
		first, err := peek(conn)
		if err != nil {
			return conn, proof{}, false, fmt.Errorf("hello: read: %w", err)
		}
		conn = first
		if !first.isTLS() {
			return conn, proof{}, false, nil
		}
	}
	cfg := t.identity.Server()
	if i.onJoin != nil && i.joinOpen() {
		i.offerJoin(cfg, t.identity)
	}
	c := tls.Server(conn, cfg)
	if err := c.HandshakeContext(i.ctx); err != nil {
		return conn, proof{}, false, named(t.identity.HandshakeError(err, c.ConnectionState().PeerCertificates))
	}
	if c.ConnectionState().NegotiatedProtocol == pki.ProtocolJoin {
		return &secured{c, conn}, proof{}, true, nil
	}
	return &secured{c, conn}, proofOf(c, t.identity), false, nil
}

// secureDialed runs TLS on a stream that this node dialled. target is the node that is meant; empty takes any.
func secureDialed(ctx context.Context, conn net.Conn, id *pki.Identity, target string) (net.Conn, proof, error) {
	c := tls.Client(conn, id.Client())
	if err := c.HandshakeContext(ctx); err != nil {
		return conn, proof{}, named(id.HandshakeError(err, c.ConnectionState().PeerCertificates))
	}
	p := proofOf(c, id)
	if target != "" && p.node != target {
		return conn, p, fmt.Errorf("%w: its certificate is that of %q", hello.ErrIdentity, p.node)
	}
	return &secured{c, conn}, p, nil
}

// named makes an ErrHandshake of what is none of ours.
func named(err error) error {
	if pki.Reason(err) != "other" {
		return err
	}
	return fmt.Errorf("%w: %w", pki.ErrHandshake, err)
}

// refusedAfter turns the end of a stream right after the TLS handshake into its reason: with TLS 1.3 the
// dialer learns only then that its certificate was not accepted.
func refusedAfter(err error) error {
	if e := pki.Classify(err); errors.Is(e, pki.ErrRefused) {
		return e
	}
	return err
}

// peeked is a stream whose first octet was looked at.
type peeked struct {
	net.Conn
	first [1]byte
	used  bool
}

func peek(conn net.Conn) (*peeked, error) {
	p := &peeked{Conn: conn}
	_, err := conn.Read(p.first[:])
	return p, err
}

// isTLS reports whether the stream begins with a TLS handshake record; a hello of ours begins with its length,
// which is never that long.
func (p *peeked) isTLS() bool { return p.first[0] == 0x16 }

// Read implements net.Conn.
func (p *peeked) Read(b []byte) (int, error) {
	if p.used || len(b) == 0 {
		return p.Conn.Read(b)
	}
	p.used = true
	b[0] = p.first[0]
	return 1, nil
}

// CloseWrite ends the writing half, if the stream can.
func (p *peeked) CloseWrite() error {
	if half, ok := p.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return p.Conn.Close()
}
