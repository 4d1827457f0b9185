package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// Protocols that streams name by ALPN.
const (
	// ProtocolNode is spoken between nodes that both hold a certificate.
	ProtocolNode = "tandem-node/1"
	// ProtocolJoin is spoken by who holds a join token and no certificate yet.
	ProtocolJoin = "tandem-join/1"
)

// Server is the configuration of who accepts streams of other nodes: TLS 1.3 and a
// certificate from the other side. The identity behind it is the one of the moment.
func (id *Identity) Server() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{id.certificate}, NextProtos: []string{ProtocolNode},
		// The library's own check stands first for its precise alerts, which tell the other side why.
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: id.roots,
		VerifyConnection: id.verifyConnection,
		// A ticket would let a stream begin without the certificate.
		SessionTicketsDisabled: true,
	}
}

// Client is the configuration of who dials a node. Whose certificate comes back is for Peer to say: which node is meant
// is not always known before.
func (id *Identity) Client() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{id.certificate}, NextProtos: []string{ProtocolNode},
		// Chain, time and name are checked by VerifyConnection, on every connection.
		InsecureSkipVerify:     true,
		VerifyConnection:       id.verifyConnection,
		SessionTicketsDisabled: true,
	}
}

func (id *Identity) verifyConnection(s tls.ConnectionState) error {
	if s.NegotiatedProtocol != ProtocolNode {
		return fmt.Errorf("%w: the peer speaks %q", ErrHandshake, bounded(s.NegotiatedProtocol))
	}
	_, err := id.Verify(s.PeerCertificates, time.Now())
	return err
}

// HandshakeError is the error of a handshake in this package's words; c is whatever certificate the other side showed, if any.
func (id *Identity) HandshakeError(err error, shown []*x509.Certificate) error {
	if err == nil {
		return nil
	}
	if e := Classify(err); Reason(e) != "other" {
		return e
	}
	if failed, ok := asVerification(err); ok {
		if len(failed) > 0 {
			shown = failed
		}
		if len(shown) > 0 {
			if _, why := id.Verify(shown, time.Now()); why != nil {
				return why
			}
		}
		return fmt.Errorf("%w: %w", ErrAuthority, err)
	}
	return err
}

// asVerification returns the certificates that the library's own check refused.
func asVerification(err error) ([]*x509.Certificate, bool) {
	failed, ok := errors.AsType[*tls.CertificateVerificationError](err)
	if !ok {
		return nil, false
	}
	return failed.UnverifiedCertificates, true
}
