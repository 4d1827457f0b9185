package uac

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/icholy/digest"

	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	realm    = "carrier.example"
	password = "secret"
)

// account is a login with all three hashes.
func account() *trunkgroup.Account {
	a1 := []byte("100:" + realm + ":" + password)
	return &trunkgroup.Account{
		AOR: "sip:100@carrier.example", User: "100", Host: realm, Username: "100", Realm: realm,
		HA1MD5: fmt.Sprintf("%x", md5.Sum(a1)), HA1SHA256: fmt.Sprintf("%x", sha256.Sum256(a1)), HA1SHA512256: fmt.Sprintf("%x", sha512.Sum512_256(a1)),
		Register: true, Expires: 600e9,
	}
}

// response is a final response with header lines.
func response(t testing.TB, code int, lines ...string) *sip.Message {
	t.Helper()
	text := fmt.Sprintf("SIP/2.0 %d Some Words\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKx\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:a@b>;tag=2\r\nCall-ID: c\r\nCSeq: 1 REGISTER\r\n", code) +
		strings.Join(lines, "") + "Content-Length: 0\r\n\r\n"
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		t.Fatalf("%v\n%s", fault, text)
	}
	return m
}

func challengeLine(realm, nonce, alg, more string) string {
	return fmt.Sprintf("WWW-Authenticate: Digest realm=%q, nonce=%q, algorithm=%s%s\r\n", realm, nonce, alg, more)
}

// right tells whether a credentials line is what another implementation makes of the
// password.
func right(t testing.TB, line, method string) bool {
	t.Helper()
	_, value, _ := strings.Cut(strings.TrimSuffix(line, "\r\n"), ": ")
	got, err := digest.ParseCredentials(value)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	c := &digest.Challenge{Realm: got.Realm, Nonce: got.Nonce, Opaque: got.Opaque, Algorithm: got.Algorithm}
	if got.QOP != "" {
		c.QOP = []string{got.QOP}
	}
	want, err := digest.Digest(c, digest.Options{Method: method, URI: got.URI, Username: "100", Password: password, Cnonce: got.Cnonce, Count: got.Nc})
	if err != nil {
		t.Fatal(err)
	}
	return want.Response == got.Response
}

// TestRFC7616Answers: every algorithm, with qop and without.
func TestRFC7616Answers(t *testing.T) {
	for _, alg := range []string{"MD5", "SHA-256", "SHA-512-256"} {
		for _, qop := range []string{"", `, qop="auth"`, `, qop="auth-int,auth"`, `, qop=auth`} {
			m := response(t, 401, challengeLine(realm, "n0nce", alg, qop+`, opaque="o"`))
			c, err := Choose(account(), m)
			if err != nil {
				t.Fatalf("%s %s: %v", alg, qop, err)
			}
			line := Answer(account(), &c, 7, 1, "REGISTER", "sip:carrier.example")
			if !right(t, line, "REGISTER") {
				t.Errorf("%s %s: %s", alg, qop, line)
			}
			if !strings.HasPrefix(line, "Authorization: ") || !strings.Contains(line, `opaque="o"`) || strings.Contains(line, "nc=00000007") != (qop != "") {
				t.Errorf("%s %s: %s", alg, qop, line)
			}
		}
	}
}

// TestRFC7616Example is the MD5 and SHA-256 example of RFC 7616 section 3.9.1.
func TestRFC7616Example(t *testing.T) {
	a1 := []byte("Mufasa:http-auth@example.org:Circle of Life")
	a := &trunkgroup.Account{
		Username: "Mufasa", Realm: "http-auth@example.org",
		HA1MD5: fmt.Sprintf("%x", md5.Sum(a1)), HA1SHA256: fmt.Sprintf("%x", sha256.Sum256(a1)),
	}
	c := Challenge{Realm: a.Realm, Nonce: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", QOP: true, Auth: true, Algorithm: auth.MD5}
	// Its cnonce is no hexadecimal number; the digest is made by hand with the pieces of this package.
	for alg, want := range map[auth.Algorithm]string{
		auth.MD5: "8ca523f5e9506fed4657c9700eebdbec", auth.SHA256: "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
	} {
		got := hash(alg, hashOf(a, alg)+":"+c.Nonce+":00000001:f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ:auth:"+hash(alg, "GET:/dir/index.html"))
		if got != want {
			t.Errorf("%s: %s, want %s", alg, got, want)
		}
	}
}

// TestOtherRealmsAreNeverAnswered: a challenge for somebody else's login gets nothing,
// wherever it stands among others (the fault of CVE-2021-41158).
func TestOtherRealmsAreNeverAnswered(t *testing.T) {
	only := account()
	only.HA1SHA256, only.HA1SHA512256 = "", ""
	for _, c := range []struct {
		name   string
		a      *trunkgroup.Account
		lines  []string
		want   error
		chosen auth.Algorithm
	}{
		{"another realm", account(), []string{challengeLine("evil.example", "n", "MD5", "")}, ErrRealm, 0},
		{"in another case", account(), []string{challengeLine("Carrier.example", "n", "MD5", "")}, ErrRealm, 0},
		{"no realm of ours for the hash we have", only, []string{challengeLine("evil.example", "n", "MD5", ""), challengeLine(realm, "n", "SHA-256", "")}, ErrAlgorithm, 0},
		{"the first of ours counts", account(), []string{challengeLine("x", "n", "MD5", ""), challengeLine(realm, "n", "SHA-512-256", ""), challengeLine(realm, "n", "MD5", "")}, nil, auth.SHA512256},
		{"the first that we have the hash for", only, []string{challengeLine(realm, "n", "SHA-256", ""), challengeLine(realm, "n", "MD5", "")}, nil, auth.MD5},
		{"an algorithm of nobody", account(), []string{challengeLine(realm, "n", "MD5-sess", "")}, ErrAlgorithm, 0},
		{"auth-int alone", account(), []string{challengeLine(realm, "n", "MD5", `, qop="auth-int"`)}, ErrAlgorithm, 0},
		{"no challenge", account(), nil, ErrNoChallenge, 0},
		{"of a proxy in a 401", account(), []string{"Proxy-Authenticate: Digest realm=\"" + realm + "\", nonce=\"n\"\r\n"}, ErrNoChallenge, 0},
		{"another scheme", account(), []string{"WWW-Authenticate: Bearer realm=\"" + realm + "\"\r\n"}, ErrNoChallenge, 0},
		{"malformed", account(), []string{"WWW-Authenticate: Digest realm=\"" + realm + "\", nonce=\"n\", nonce=\"m\"\r\n"}, ErrNoChallenge, 0},
		{"no algorithm is MD5", account(), []string{"WWW-Authenticate: Digest realm=\"" + realm + "\", nonce=\"n\"\r\n"}, nil, auth.MD5},
	} {
		got, err := Choose(c.a, response(t, 401, c.lines...))
		if !errors.Is(err, c.want) || got.Algorithm != c.chosen {
			t.Errorf("%s: %v %v", c.name, got.Algorithm, err)
		}
	}
	if _, err := Choose(only, response(t, 401, challengeLine(realm, "n", "SHA-256", ""))); !strings.HasSuffix(err.Error(), "asks for SHA-256, the account has MD5") {
		t.Errorf("it does not say which hash to add: %v", err)
	}
	if _, err := Choose(only, response(t, 401, challengeLine(realm, "n", "MD5", `, qop="auth-int"`))); !strings.Contains(err.Error(), "MD5 without qop=auth") {
		t.Error(err)
	}
}

func TestProxyChallengesGetProxyCredentials(t *testing.T) {
	c, err := Choose(account(), response(t, 407, "Proxy-Authenticate: Digest realm=\""+realm+"\", nonce=\"n\"\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if line := Answer(account(), &c, 1, 1, "INVITE", "sip:1@h"); !strings.HasPrefix(line, "Proxy-Authorization: Digest ") || !right(t, line, "INVITE") {
		t.Error(line)
	}
}

func TestTokens(t *testing.T) {
	m := &trunkgroup.Member{Key: "carrier/dal", Account: account()}
	token := Token([]byte("key"), m)
	if !IsToken([]byte(token)) || !IsToken([]byte(strings.ToUpper(token))) || token != Token([]byte("key"), m) {
		t.Errorf("%q is no token", token)
	}
	if token == Token([]byte("other"), m) || token == Token([]byte("key"), &trunkgroup.Member{Key: "carrier/ash", Account: account()}) {
		t.Error("a token of another key or member is the same")
	}
	for _, no := range []string{"", "r", token[1:], token + "0", "+12145550100", strings.Repeat("1", tokenLen), "r" + strings.Repeat("g", 32)} {
		if IsToken([]byte(no)) {
			t.Errorf("%q passes for a token", no)
		}
	}
}

// FuzzParseChallenge: what is chosen can be echoed without breaking out of its quotes.
func FuzzParseChallenge(f *testing.F) {
	for _, s := range []string{
		`Digest realm="r", nonce="n", algorithm=SHA-256, qop="auth,auth-int", opaque="o", stale=TRUE`,
		`digest nonce=n,realm="\"",`, `Digest realm="a\`, `Basic realm="r"`, `Digest ,,,realm="x" , nonce="y"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, _, err := ParseChallenge(s)
		if err != nil || c.Nonce == "" {
			return
		}
		a := account()
		a.Realm = unescaped(c.Realm)
		line := Answer(a, &c, 1, 1, "REGISTER", "sip:carrier.example")
		if strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\r\n") || strings.Count(line, "\r") != 1 {
			t.Fatalf("%q gives the line %q", s, line)
		}
	})
}

// BenchmarkAnswer is what a challenged INVITE costs beside its second transaction.
func BenchmarkAnswer(b *testing.B) {
	a := account()
	m := response(b, 407, strings.Replace(challengeLine(realm, "n0nce", "SHA-256", `, qop="auth"`), "WWW-Authenticate", "Proxy-Authenticate", 1))
	b.ReportAllocs()
	for b.Loop() {
		c, err := Choose(a, m)
		if err != nil {
			b.Fatal(err)
		}
		if Answer(a, &c, 1, 2, "INVITE", "sip:+12145550100@carrier.example") == "" {
			b.Fatal("no answer")
		}
	}
}
