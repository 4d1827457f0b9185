package app

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/internal/config"
)

// liveTLS is one side of SIP over TLS whose files may change while the node runs: new connections use the new ones.
type liveTLS struct {
	use   string // the listener, or "client"
	files config.TLS
	load  func(config.TLS) (*tls.Config, error)
	now   atomic.Pointer[tls.Config]
	seen  string // content that now was made of, as fingerprints
}

func newLiveTLS(use string, files config.TLS, load func(config.TLS) (*tls.Config, error)) (*liveTLS, error) {
	l := &liveTLS{use: use, files: files, load: load}
	if _, err := l.reload(); err != nil {
		return nil, err
	}
	return l, nil
}

// reload reads the files and reports whether they hold something else than before.
func (l *liveTLS) reload() (changed bool, err error) {
	next, err := l.load(l.files)
	if err != nil {
		return false, fmt.Errorf("%s: %w", l.use, err)
	}
	content, err := l.content()
	if err != nil {
		return false, fmt.Errorf("%s: %w", l.use, err)
	}
	if l.now.Load() != nil && content == l.seen {
		return false, nil
	}
	first := l.now.Load() == nil
	l.now.Store(next)
	l.seen = content
	return !first, nil
}

// content is all that the files hold, but for the private key, which belongs to the certificate.
func (l *liveTLS) content() (string, error) {
	var all []byte
	for _, path := range []string{l.files.Cert, l.files.CA} {
		if path == "" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		all = append(append(all, text...), 0)
	}
	return string(all), nil
}

// server is the configuration of a listener: each handshake takes what is in force then.
func (l *liveTLS) server() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return l.now.Load(), nil },
	}
}

// client makes the configuration of one connection that this node opens.
func (l *liveTLS) client(serverName string) *tls.Config {
	c := l.now.Load().Clone()
	c.ServerName = serverName
	return c
}

// leaf is the certificate that is shown; nil when none is.
func (l *liveTLS) leaf() *x509.Certificate {
	c := l.now.Load()
	if len(c.Certificates) == 0 {
		return nil
	}
	return c.Certificates[0].Leaf
}

// expires is when it ends; zero without one.
func (l *liveTLS) expires() time.Time {
	if c := l.leaf(); c != nil {
		return c.NotAfter
	}
	return time.Time{}
}
