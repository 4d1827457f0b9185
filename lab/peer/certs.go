package peer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// Authority is a certificate authority that lives for one run.
type Authority struct {
	// CertFile is its certificate in PEM, for a program's list of trusted roots.
	CertFile string

	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// KeyPair is a certificate and its private key, both PEM files.
type KeyPair struct{ CertFile, KeyFile string }

// certLife is short: no certificate of a run is of use after it.
const certLife = 24 * time.Hour

// NewAuthority makes an authority and writes its certificate into dir.
func NewAuthority(dir string) (*Authority, error) {
	a := &Authority{dir: dir, CertFile: filepath.Join(dir, "ca.pem")}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Tandem laboratory"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(certLife),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, fmt.Errorf("authority's key: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("authority's certificate: %w", err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("authority's certificate: %w", err)
	}
	return a, writePEM(a.CertFile, "CERTIFICATE", der)
}

// Issue makes a certificate for a name and addresses, for servers and clients.
func (a *Authority) Issue(name string, addresses ...netip.Addr) (KeyPair, error) {
	pair := KeyPair{filepath.Join(a.dir, name+".pem"), filepath.Join(a.dir, name+".key")}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return pair, fmt.Errorf("certificate of %s: %w", name, err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, addr := range addresses {
		template.IPAddresses = append(template.IPAddresses, addr.AsSlice())
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair, fmt.Errorf("certificate of %s: %w", name, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return pair, fmt.Errorf("certificate of %s: %w", name, err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair, fmt.Errorf("certificate of %s: %w", name, err)
	}
	return pair, errors.Join(writePEM(pair.CertFile, "CERTIFICATE", der), writePEM(pair.KeyFile, "PRIVATE KEY", private))
}

func writePEM(path, kind string, der []byte) error {
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		return fmt.Errorf("write certificate: %w", err)
	}
	return nil
}
