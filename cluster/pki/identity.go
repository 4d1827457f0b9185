package pki

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// Identity is what one node shows to the others and judges them by. It is immutable.
type Identity struct {
	cluster, node string
	certificate   tls.Certificate
	authorities   []*x509.Certificate
	roots         *x509.CertPool
}

// Parse makes an identity from PEM: the certificate with its chain, its private key, and
// the authorities that are trusted. It fails when these do not belong together or are not
// of this node; that the time of the certificate is over or has not come is Check's to say.
func Parse(cluster, node string, cert, key, authorities []byte) (*Identity, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("pki: certificate and key: %w", err)
	}
	id := &Identity{cluster: cluster, node: node, certificate: pair, roots: x509.NewCertPool()}
	if id.authorities, err = ParseAuthorities(authorities); err != nil {
		return nil, err
	}
	for _, a := range id.authorities {
		id.roots.AddCert(a)
	}
	ofCluster, ofNode, err := Holder(id.Leaf())
	switch {
	case err != nil:
		return nil, err
	case ofCluster != cluster:
		return nil, fmt.Errorf("%w: it is of cluster %q, and this is %q", ErrCluster, ofCluster, cluster)
	case ofNode != node:
		return nil, fmt.Errorf("%w: it is of node %q, and this is %q", ErrName, ofNode, node)
	}
	// Which time is right is judged apart; a chain that never fits is a fault now.
	if _, err := id.Verify(id.chain(), id.Leaf().NotBefore); err != nil && !errors.Is(err, ErrNotYet) && !errors.Is(err, ErrExpired) {
		return nil, err
	}
	return id, nil
}

// ParseAuthorities reads the certificates of authorities from PEM.
func ParseAuthorities(text []byte) ([]*x509.Certificate, error) {
	var list []*x509.Certificate
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("pki: authorities: a block %q stands among the certificates", bounded(block.Type))
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("pki: authorities: %w", err)
		}
		if !c.IsCA {
			return nil, fmt.Errorf("pki: authorities: %s is no authority", subject(c))
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, errors.New("pki: authorities: no certificate in PEM")
	}
	return list, nil
}

// Cluster and Node say whose identity it is.
func (id *Identity) Cluster() string { return id.cluster }

// Node is the name of the node.
func (id *Identity) Node() string { return id.node }

// Leaf is the certificate that the node shows.
func (id *Identity) Leaf() *x509.Certificate { return id.certificate.Leaf }

// Authorities are the certificates that are trusted.
func (id *Identity) Authorities() []*x509.Certificate { return id.authorities }

// Issuer is the authority that signed the node's certificate itself; nil when one between them did.
func (id *Identity) Issuer() *x509.Certificate {
	for _, a := range id.authorities {
		if bytes.Equal(a.RawSubject, id.Leaf().RawIssuer) && id.Leaf().CheckSignatureFrom(a) == nil {
			return a
		}
	}
	return nil
}

// Same reports whether two identities show and trust the same.
func (id *Identity) Same(other *Identity) bool {
	if id == nil || other == nil {
		return id == other
	}
	if !id.Leaf().Equal(other.Leaf()) || len(id.authorities) != len(other.authorities) {
		return false
	}
	for i, a := range id.authorities {
		if !a.Equal(other.authorities[i]) {
			return false
		}
	}
	return true
}

// Expires is when the certificate, or the authority that issued it, ends: the earlier of both.
func (id *Identity) Expires() time.Time {
	end := id.Leaf().NotAfter
	if a := id.Issuer(); a != nil && a.NotAfter.Before(end) {
		end = a.NotAfter
	}
	return end
}

// Check says why this node's own certificate would be refused by a peer that trusts the same authorities.
func (id *Identity) Check(now time.Time) error {
	_, err := id.Verify(id.chain(), now)
	return err
}

// Verify judges a certificate with its chain and returns the node whose it is.
func (id *Identity) Verify(chain []*x509.Certificate, now time.Time) (node string, err error) {
	if len(chain) == 0 {
		return "", ErrNone
	}
	rest := x509.NewCertPool()
	for _, c := range chain[1:] {
		rest.AddCert(c)
	}
	_, err = chain[0].Verify(x509.VerifyOptions{
		Roots: id.roots, Intermediates: rest, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return "", judged(err, chain[0], now)
	}
	cluster, node, err := Holder(chain[0])
	if err == nil && cluster != id.cluster {
		err = fmt.Errorf("%w: it is of cluster %q, and this is %q", ErrCluster, cluster, id.cluster)
	}
	return node, err
}

// Trusts reports whether a chain that was good once still is, whatever the clock says: it
// is signed by an authority of this identity and of this cluster.
func (id *Identity) Trusts(chain []*x509.Certificate) bool {
	if len(chain) == 0 {
		return false
	}
	_, err := id.Verify(chain, chain[0].NotBefore)
	return err == nil || errors.Is(err, ErrNotYet) || errors.Is(err, ErrExpired)
}

func (id *Identity) chain() []*x509.Certificate {
	chain := []*x509.Certificate{id.Leaf()}
	for _, raw := range id.certificate.Certificate[1:] {
		if c, err := x509.ParseCertificate(raw); err == nil {
			chain = append(chain, c)
		}
	}
	return chain
}

// Fingerprint names a certificate: the SHA-256 of it in hex.
func Fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return hex.EncodeToString(sum[:])
}
