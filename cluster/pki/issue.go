package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Lives of what is issued.
const (
	AuthorityLife = 10 * 365 * 24 * time.Hour
	NodeLife      = 365 * 24 * time.Hour
	// Backdate is how far in the past a certificate begins: the clocks of the nodes that
	// judge it may be late by that much.
	Backdate = time.Hour
)

// Authority can issue certificates for the nodes of one cluster.
type Authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// NewAuthority makes an authority for a cluster and returns it as PEM: the certificate, which
// every node gets, and the private key, which only an authority has.
func NewAuthority(cluster string, now time.Time) (cert, key []byte, err error) {
	signer, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	number, err := serial()
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: "tandem cluster " + cluster},
		NotBefore: now.Add(-Backdate), NotAfter: now.Add(AuthorityLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign,
		// Nothing but nodes of this cluster, even if the key is stolen.
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: []string{cluster + suffix},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer)
	if err != nil {
		return nil, nil, fmt.Errorf("pki: authority: %w", err)
	}
	key, err = encodeKey(signer)
	return encodeCert(der), key, err
}

// ParseAuthority reads an authority from PEM. The certificate may stand among others, as in the file of a cluster that
// is changing its authority: the one that the key belongs to is taken.
func ParseAuthority(certs, key []byte) (*Authority, error) {
	list, err := ParseAuthorities(certs)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		pair, err := tls.X509KeyPair(encodeCert(c.Raw), key)
		if err != nil {
			continue
		}
		signer, ok := pair.PrivateKey.(crypto.Signer)
		if !ok {
			return nil, errors.New("pki: authority: its key cannot sign")
		}
		return &Authority{cert: c, key: signer}, nil
	}
	return nil, errors.New("pki: authority: the key belongs to none of the certificates")
}

// Certificate is the authority's own.
func (a *Authority) Certificate() *x509.Certificate { return a.cert }

// PEM is the authority's certificate as text.
func (a *Authority) PEM() []byte { return encodeCert(a.cert.Raw) }

// Issue makes a key and a certificate for a node, both as PEM.
func (a *Authority) Issue(cluster, node string, life time.Duration, now time.Time) (cert, key []byte, err error) {
	signer, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	if cert, err = a.sign(cluster, node, signer.Public(), life, now); err != nil {
		return nil, nil, err
	}
	key, err = encodeKey(signer)
	return cert, key, err
}

// Sign makes the certificate of a node for the key of a request (DER). Of the request
// nothing but the key is taken, and that it is the requester's is checked.
func (a *Authority) Sign(request []byte, cluster, node string, life time.Duration, now time.Time) ([]byte, error) {
	r, err := x509.ParseCertificateRequest(request)
	if err != nil {
		return nil, fmt.Errorf("pki: request: %w", err)
	}
	if err := r.CheckSignature(); err != nil {
		return nil, fmt.Errorf("pki: request: %w", err)
	}
	if k, ok := r.PublicKey.(*ecdsa.PublicKey); !ok || k.Curve != elliptic.P256() {
		return nil, errors.New("pki: request: the key is not of P-256")
	}
	return a.sign(cluster, node, r.PublicKey, life, now)
}

func (a *Authority) sign(cluster, node string, public any, life time.Duration, now time.Time) ([]byte, error) {
	number, err := serial()
	if err != nil {
		return nil, err
	}
	end := now.Add(life)
	if a.cert.NotAfter.Before(end) {
		end = a.cert.NotAfter // it could not be verified later
	}
	if !end.After(now) {
		return nil, fmt.Errorf("%w: %s", ErrExpired, subject(a.cert))
	}
	template := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: node}, DNSNames: []string{Name(cluster, node)},
		NotBefore: now.Add(-Backdate), NotAfter: end,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, public, a.key)
	if err != nil {
		return nil, fmt.Errorf("pki: certificate of %s: %w", node, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("pki: certificate of %s: %w", node, err)
	}
	// An authority that may not sign this name would make a certificate that nobody takes.
	check := &Identity{cluster: cluster, roots: x509.NewCertPool()}
	check.roots.AddCert(a.cert)
	if _, err := check.Verify([]*x509.Certificate{cert}, now); err != nil {
		return nil, fmt.Errorf("pki: certificate of %s: this authority may not issue it: %w", node, err)
	}
	return encodeCert(der), nil
}

// NewRequest makes a key (PEM) and a request for a certificate for it (DER).
func NewRequest() (key, request []byte, err error) {
	signer, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	if request, err = x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, signer); err != nil {
		return nil, nil, fmt.Errorf("pki: request: %w", err)
	}
	key, err = encodeKey(signer)
	return key, request, err
}

func newKey() (*ecdsa.PrivateKey, error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("pki: key: %w", err)
	}
	return k, nil
}

// serial is 127 random bits: nobody counts, and no two are alike.
func serial() (*big.Int, error) {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("pki: serial number: %w", err)
	}
	return n.Add(n, big.NewInt(1)), nil
}

func encodeCert(der []byte) []byte {
	var out bytes.Buffer
	_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: der}) // a buffer takes all
	return out.Bytes()
}

func encodeKey(k *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		return nil, fmt.Errorf("pki: key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// Cluster is the cluster that the authority is of; empty when it may sign for any.
func (a *Authority) Cluster() string {
	for _, d := range a.cert.PermittedDNSDomains {
		if cluster, ours := strings.CutSuffix(d, suffix); ours {
			return cluster
		}
	}
	return ""
}
