package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"
)

// Reasons for which a certificate opens nothing.
var (
	// ErrAuthority: none of the authorities of this node signed it.
	ErrAuthority = errors.New("pki: the certificate is of an authority that this node does not trust")
	// ErrCluster: it was issued for a node of another cluster.
	ErrCluster = errors.New("pki: the certificate is of another cluster")
	// ErrName: it is no certificate of a node.
	ErrName = errors.New("pki: not the certificate of a node")
	// ErrExpired: its time is over, by the clock of this machine.
	ErrExpired = errors.New("pki: the certificate has expired")
	// ErrNotYet: its time has not come, by the clock of this machine.
	ErrNotYet = errors.New("pki: the certificate is not valid yet")
	// ErrRefused: the other side did not accept what this node showed.
	ErrRefused = errors.New("pki: the peer does not accept this node's certificate")
	// ErrNone: the other side showed no certificate.
	ErrNone = errors.New("pki: the peer shows no certificate")
	// ErrPlain: the other side does not speak TLS.
	ErrPlain = errors.New("pki: the peer does not speak TLS")
	// ErrHandshake: anything else that ends a TLS handshake.
	ErrHandshake = errors.New("pki: TLS handshake failed")
)

// Reason is a short word for the error of a handshake, for metrics; "other" when it is none
// of this package's.
func Reason(err error) string {
	for _, r := range []struct {
		err  error
		word string
	}{
		{ErrAuthority, "authority"},
		{ErrCluster, "cluster"},
		{ErrName, "name"},
		{ErrExpired, "expired"},
		{ErrNotYet, "not_yet"},
		{ErrRefused, "peer_refused"},
		{ErrNone, "no_certificate"},
		{ErrPlain, "plain"},
		{ErrHandshake, "tls"},
	} {
		if errors.Is(err, r.err) {
			return r.word
		}
	}
	return "other"
}

// judged turns an error of package x509 into one of ours. Errors about time show both
// times: a wrong clock and a wrong certificate look alike.
func judged(err error, c *x509.Certificate, now time.Time) error {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		if invalid.Cert != nil {
			c = invalid.Cert
		}
		const layout = time.RFC3339
		if now.Before(c.NotBefore) {
			return fmt.Errorf("%w: %s is valid from %s, and the clock here says %s", ErrNotYet, subject(c), c.NotBefore.UTC().Format(layout), now.UTC().Format(layout))
		}
		return fmt.Errorf("%w: %s was valid until %s, and the clock here says %s", ErrExpired, subject(c), c.NotAfter.UTC().Format(layout), now.UTC().Format(layout))
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Errorf("%w: %s, issued by %q", ErrAuthority, subject(c), bounded(c.Issuer.CommonName))
	}
	return fmt.Errorf("%w: %w", ErrName, err)
}

// Classify turns what a TLS handshake, or the first read behind it, returned into an error of this package; an error that is one, or
// has nothing to do with TLS, stays what it is.
func Classify(err error) error {
	if err == nil || Reason(err) != "other" {
		return err
	}
	if header, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fmt.Errorf("%w: %s", ErrPlain, header.Msg)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return fmt.Errorf("%w: it says %q", ErrRefused, op.Err.Error())
	}
	return err
}

// subject names a certificate in errors; a stranger may have written it.
func subject(c *x509.Certificate) string {
	if len(c.DNSNames) > 0 {
		return fmt.Sprintf("%q", bounded(c.DNSNames[0]))
	}
	return fmt.Sprintf("%q", bounded(c.Subject.CommonName))
}

// bounded shortens what a stranger wrote.
func bounded(s string) string {
	const most = 100
	if len(s) > most {
		return s[:most]
	}
	return s
}
