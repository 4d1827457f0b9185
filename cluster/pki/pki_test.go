package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// authority makes the authority of a cluster.
func authority(t testing.TB, cluster string) *Authority {
	t.Helper()
	cert, key, err := NewAuthority(cluster, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	a, err := ParseAuthority(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// identity issues the certificate of a node and makes its identity; trust are further authorities.
func identity(t testing.TB, a *Authority, cluster, node string, life time.Duration, at time.Time, trust ...*Authority) *Identity {
	t.Helper()
	cert, key, err := a.Issue(cluster, node, life, at)
	if err != nil {
		t.Fatal(err)
	}
	cas := a.PEM()
	for _, other := range trust {
		cas = append(cas, other.PEM()...)
	}
	id, err := Parse(cluster, node, cert, key, cas)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestDEC08_WhoHoldsACertificate(t *testing.T) {
	now := time.Now()
	a, b := authority(t, "prod"), authority(t, "prod")
	here := identity(t, a, "prod", "dal-1", NodeLife, now)
	for _, c := range []struct {
		name string
		id   *Identity
		at   time.Time
		node string
		want error
	}{
		{"a node", identity(t, a, "prod", "ash-1", NodeLife, now), now, "ash-1", nil},
		{"another authority of the same name", identity(t, b, "prod", "ash-1", NodeLife, now), now, "", ErrAuthority},
		{"expired", identity(t, a, "prod", "ash-1", time.Hour, now), now.Add(2 * time.Hour), "", ErrExpired},
		{"a clock that is late by less than the backdate", identity(t, a, "prod", "ash-1", time.Hour, now), now.Add(-Backdate / 2), "ash-1", nil},
		{"a clock that is years late", identity(t, a, "prod", "ash-1", time.Hour, now), now.Add(-2 * Backdate), "", ErrNotYet},
	} {
		node, err := here.Verify(c.id.chain(), c.at)
		if node != c.node || !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, node, err, c.node, c.want)
		}
	}
	if _, err := here.Verify(nil, now); !errors.Is(err, ErrNone) {
		t.Errorf("no certificate: %v", err)
	}
}

// One authority that may sign for several clusters: its certificates of one open nothing in the other.
func TestAnotherClusterOfTheSameAuthority(t *testing.T) {
	now := time.Now()
	wide := wideAuthority(t)
	here := identity(t, wide, "prod", "dal-1", NodeLife, now)
	other := identity(t, wide, "test", "dal-1", NodeLife, now)
	if _, err := here.Verify(other.chain(), now); !errors.Is(err, ErrCluster) {
		t.Errorf("%v, want %v", err, ErrCluster)
	}
	if here.Trusts(other.chain()) {
		t.Error("it is trusted")
	}
}

// An authority of one cluster cannot sign for another one, even with its key stolen.
func TestAuthorityIsOfOneCluster(t *testing.T) {
	if _, _, err := authority(t, "prod").Issue("test", "dal-1", NodeLife, time.Now()); err == nil {
		t.Error("a certificate for another cluster was issued")
	}
}

func TestErrorsAboutTimeShowBothClocks(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	id := identity(t, authority(t, "prod"), "prod", "dal-1", time.Hour, time.Now())
	_, err := id.Verify(id.chain(), now.AddDate(-20, 0, 0))
	if err == nil || !strings.Contains(err.Error(), "2006-05-01T12:00:00Z") || !strings.Contains(err.Error(), id.Leaf().NotBefore.UTC().Format(time.RFC3339)) {
		t.Errorf("%v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	now := time.Now()
	a := authority(t, "prod")
	cert, key, err := a.Issue("prod", "dal-1", NodeLife, now)
	if err != nil {
		t.Fatal(err)
	}
	_, otherKey, _ := a.Issue("prod", "dal-2", NodeLife, now)
	for name, try := range map[string]func() (*Identity, error){
		"another node":      func() (*Identity, error) { return Parse("prod", "dal-2", cert, key, a.PEM()) },
		"another cluster":   func() (*Identity, error) { return Parse("test", "dal-1", cert, key, a.PEM()) },
		"another key":       func() (*Identity, error) { return Parse("prod", "dal-1", cert, otherKey, a.PEM()) },
		"another authority": func() (*Identity, error) { return Parse("prod", "dal-1", cert, key, authority(t, "prod").PEM()) },
		"no authority":      func() (*Identity, error) { return Parse("prod", "dal-1", cert, key, nil) },
		"a node as authority": func() (*Identity, error) {
			return Parse("prod", "dal-1", cert, key, cert)
		},
		"a key among authorities": func() (*Identity, error) {
			return Parse("prod", "dal-1", cert, key, append(a.PEM(), key...))
		},
	} {
		if _, err := try(); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
	if id, err := Parse("prod", "dal-1", cert, key, a.PEM()); err != nil || id.Node() != "dal-1" || !id.Same(id) {
		t.Errorf("the right files: %v", err)
	}
}

// The life of a certificate ends with that of its authority, not after it.
func TestLifeEndsWithTheAuthority(t *testing.T) {
	now := time.Now()
	a := authority(t, "prod")
	id := identity(t, a, "prod", "dal-1", 2*AuthorityLife, now)
	if id.Expires().After(a.Certificate().NotAfter) {
		t.Errorf("it ends %v, its authority %v", id.Expires(), a.Certificate().NotAfter)
	}
	if _, _, err := a.Issue("prod", "dal-1", NodeLife, now.Add(2*AuthorityLife)); !errors.Is(err, ErrExpired) {
		t.Errorf("an authority that has expired: %v", err)
	}
}

func TestRequests(t *testing.T) {
	a := authority(t, "prod")
	key, request, err := NewRequest()
	if err != nil {
		t.Fatal(err)
	}
	cert, err := a.Sign(request, "prod", "ash-9", NodeLife, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if id, err := Parse("prod", "ash-9", cert, key, a.PEM()); err != nil || id.Check(time.Now()) != nil {
		t.Errorf("%v", err)
	}
	request[len(request)-1] ^= 1
	if _, err := a.Sign(request, "prod", "ash-9", NodeLife, time.Now()); err == nil {
		t.Error("a request with a wrong signature was signed")
	}
}

// handshake runs both sides over loopback and returns their errors; the client's shows at its first read.
func handshake(t *testing.T, server, client *tls.Config) (atServer, atClient error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			done <- err
			return
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(20 * time.Second))
		s := tls.Server(c, server)
		if err = s.Handshake(); err == nil {
			_, err = s.Write([]byte("x"))
		}
		done <- err
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	s := tls.Client(c, client)
	if atClient = s.Handshake(); atClient == nil {
		_, atClient = s.Read(make([]byte, 1))
	}
	return <-done, atClient
}

func TestHandshakes(t *testing.T) {
	now := time.Now()
	a := authority(t, "prod")
	here := identity(t, a, "prod", "dal-1", NodeLife, now)
	expired := identity(t, a, "prod", "ash-1", time.Minute, now.Add(-30*time.Minute))
	stranger := identity(t, authority(t, "prod"), "prod", "ash-1", NodeLife, now)
	old := here.Client()
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	bare := here.Client()
	bare.Certificates = nil
	for _, c := range []struct {
		name           string
		client         *tls.Config
		server, dialer error // what each side says; nil for both: it works
		refused        bool
	}{
		{"a node", identity(t, a, "prod", "ash-1", NodeLife, now).Client(), nil, nil, false},
		{"an expired certificate", expired.Client(), ErrExpired, ErrRefused, true},
		{"another authority", stranger.Client(), nil, nil, true},
		{"no certificate", bare, nil, ErrRefused, true},
		{"TLS 1.2", old, nil, nil, true},
	} {
		atServer, atClient := handshake(t, here.Server(), c.client)
		if (atServer != nil && atClient != nil) != c.refused {
			t.Errorf("%s: server %v, client %v", c.name, atServer, atClient)
		}
		if got := here.HandshakeError(atServer, nil); c.server != nil && !errors.Is(got, c.server) {
			t.Errorf("%s: the server says %v, want %v", c.name, got, c.server)
		}
		if got := here.HandshakeError(atClient, nil); c.dialer != nil && !errors.Is(got, c.dialer) {
			t.Errorf("%s: the dialer says %v, want %v", c.name, got, c.dialer)
		}
	}
}

func FuzzHolder(f *testing.F) {
	f.Add("dal-1.prod.tandem.internal", "x")
	f.Add(".prod.tandem.internal", "*.prod.tandem.internal")
	f.Add("a.b.c.tandem.internal", "a.b.tandem.internal")
	f.Fuzz(func(t *testing.T, a, b string) {
		cluster, node, err := Holder(&x509.Certificate{DNSNames: []string{a, b}})
		if err != nil {
			return
		}
		if name := Name(cluster, node); !strings.EqualFold(name, a) && !strings.EqualFold(name, b) {
			t.Fatalf("%q and %q name %q", a, b, name)
		}
	})
}

// FuzzAuthorities: whatever stands in the file of authorities, it is read or refused.
func FuzzAuthorities(f *testing.F) {
	cert, key, err := NewAuthority("prod", time.Now())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(cert)
	f.Add(append(cert, key...))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := ParseAuthorities(text)
		if (err == nil) != (len(list) > 0) {
			t.Fatalf("%d certificates, %v", len(list), err)
		}
	})
}
