package pki

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"time"
)

// JoinServer is the configuration for somebody who holds a join token and no certificate: nothing is asked of
// him, and the authority goes along, since he knows only its fingerprint.
func (id *Identity) JoinServer() *tls.Config {
	cert := id.certificate
	cert.Certificate = append([][]byte(nil), cert.Certificate...)
	if a := id.Issuer(); a != nil {
		cert.Certificate = append(cert.Certificate, a.Raw)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}, NextProtos: []string{ProtocolJoin},
		SessionTicketsDisabled: true,
	}
}

// JoinClient is the configuration of who joins: the other side must be node of cluster, by a certificate
// of the authority with that fingerprint.
func JoinClient(cluster, node string, authority [sha256.Size]byte) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{ProtocolJoin}, SessionTicketsDisabled: true,
		// VerifyConnection holds the chain against the fingerprint.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			if s.NegotiatedProtocol != ProtocolJoin {
				return fmt.Errorf("%w: the node does not speak the join protocol", ErrHandshake)
			}
			id := &Identity{cluster: cluster, roots: x509.NewCertPool()}
			for _, c := range s.PeerCertificates {
				if sum := sha256.Sum256(c.Raw); c.IsCA && subtle.ConstantTimeCompare(sum[:], authority[:]) == 1 {
					id.roots.AddCert(c)
				}
			}
			got, err := id.Verify(s.PeerCertificates, time.Now())
			if err == nil && got != node {
				err = fmt.Errorf("%w: it is of node %q, and %q was meant", ErrName, got, node)
			}
			if err != nil {
				return fmt.Errorf("%w (the authority in the token is %s)", err, hex.EncodeToString(authority[:4]))
			}
			return nil
		},
	}
}
