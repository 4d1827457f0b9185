package auth

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/icholy/digest"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	testRealm = "sip.example.net"
	testURI   = "sip:+12145550100@sbc.example.net"
)

var (
	testKey    = []byte("0123456789abcdef0123456789abcdef")
	testSource = netip.MustParseAddr("192.0.2.77")
	testStart  = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	testGroup  = &trunkgroup.Group{Name: "acme-out"}
	testUsers  = map[string]*trunkgroup.Credential{
		"acme": {
			Username: "acme", Realm: testRealm, HA1MD5: ha1Of("MD5", "acme", testRealm, "s3cret"),
			HA1SHA256: ha1Of("SHA-256", "acme", testRealm, "s3cret"),
		},
		"modern": {Username: "modern", Realm: testRealm, HA1SHA256: ha1Of("SHA-256", "modern", testRealm, "s3cret")},
	}
)

func testLookup(realm, username string) (*trunkgroup.Credential, *trunkgroup.Group) {
	if c := testUsers[username]; c != nil && realm == testRealm {
		return c, testGroup
	}
	return nil, nil
}

func newTestVerifier(t testing.TB, opts Options) *Verifier {
	t.Helper()
	v, err := New(testKey, testRealm, opts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// answer lets another digest implementation answer a challenge.
func answer(t testing.TB, challenge, user, password, method, uri string, count int) string {
	t.Helper()
	ch, err := digest.ParseChallenge(challenge)
	if err != nil {
		t.Fatalf("%s: %v", challenge, err)
	}
	cred, err := digest.Digest(ch, digest.Options{Method: method, URI: uri, Count: count, Username: user, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	return cred.String()
}

// ask lets a verifier judge an INVITE.
func ask(v *Verifier, now time.Time, authorization string) Result {
	return v.Verify(now, testSource, "INVITE", []byte(testURI), []byte(authorization), testLookup)
}

// RFC 8760: one header field per algorithm, the most preferred first; the same nonce may stand in both.
func TestRFC8760_Challenges(t *testing.T) {
	v := newTestVerifier(t, Options{})
	list := v.Challenges(testStart, testSource, false)
	for i, want := range []string{"SHA-256", "MD5"} {
		ch, err := digest.ParseChallenge(list[i])
		if err != nil {
			t.Fatal(err)
		}
		if ch.Algorithm != want || ch.Realm != testRealm || !ch.SupportsQOP("auth") || ch.Stale {
			t.Errorf("challenge %d = %s", i, list[i])
		}
		if got := ask(v, testStart, answer(t, list[i], "acme", "s3cret", "INVITE", testURI, i+1)); got.Outcome != OK || got.Group != testGroup {
			t.Errorf("%s: %+v", want, got)
		}
	}
	if again := v.Challenges(testStart, testSource, true); again[0] == list[0] || !strings.Contains(again[1], "stale=true") {
		t.Errorf("second challenge in one second: %s", again)
	}
}

func TestVerify(t *testing.T) {
	v := newTestVerifier(t, Options{})
	list := v.Challenges(testStart, testSource, false)
	good := func(user, password string) string { return answer(t, list[0], user, password, "INVITE", testURI, 1) }
	for _, c := range []struct {
		name, header string
		want         Outcome
		reason       string
	}{
		{"wrong secret", good("acme", "guess"), Denied, ReasonDigest},
		{"unknown user", good("nobody", "s3cret"), Denied, ReasonUnknownUser},
		{"no secret for MD5", answer(t, list[1], "modern", "s3cret", "INVITE", testURI, 1), Denied, ReasonUnknownUser},
		{"other method", answer(t, list[0], "acme", "s3cret", "REGISTER", testURI, 1), Denied, ReasonDigest},
		{"other uri", answer(t, list[0], "acme", "s3cret", "INVITE", "sip:19005551234@sbc.example.net", 1), Denied, ReasonURI},
		{"uri changed after signing", strings.Replace(answer(t, list[0], "acme", "s3cret", "INVITE", "sip:x@y", 1), "sip:x@y", testURI, 1), Denied, ReasonDigest},
		{"other realm", strings.Replace(good("acme", "s3cret"), testRealm, "other.example", 1), None, ""},
		{"basic", "Basic QWxhZGRpbjpvcGVu", None, ""},
		{"empty", "", None, ""},
		{"malformed", `Digest username="acme",realm="`, Denied, ReasonMalformed},
		{"session variant", strings.Replace(good("acme", "s3cret"), "SHA-256", "SHA-256-sess", 1), Denied, ReasonUnsupported},
		{"SHA-512-256", strings.Replace(good("acme", "s3cret"), "SHA-256", "SHA-512-256", 1), Denied, ReasonUnsupported},
		{"userhash", good("acme", "s3cret") + ", userhash=true", Denied, ReasonUnsupported},
		{"extended username", good("acme", "s3cret") + ", username*=UTF-8''acme", Denied, ReasonUnsupported},
		{"auth-int", strings.Replace(good("acme", "s3cret"), "qop=auth", "qop=auth-int", 1), Denied, ReasonQOP},
		{"nc zero", strings.Replace(good("acme", "s3cret"), "nc=00000001", "nc=00000000", 1), Denied, ReasonQOP},
		{"nc not hexadecimal", strings.Replace(good("acme", "s3cret"), "nc=00000001", "nc=0000000g", 1), Denied, ReasonQOP},
		{"nc short", strings.Replace(good("acme", "s3cret"), "nc=00000001", "nc=1", 1), Denied, ReasonQOP},
		{"right", good("acme", "s3cret"), OK, ""},
	} {
		got := ask(v, testStart, c.header)
		if got.Outcome != c.want || got.Reason != c.reason {
			t.Errorf("%s: %v %q, want %v %q", c.name, got.Outcome, got.Reason, c.want, c.reason)
		}
		if (got.Group != nil || got.Credential != nil) && got.Outcome != OK {
			t.Errorf("%s: a refusal names the group", c.name)
		}
	}
}

// ATA-04, DEC-25: a nonce is valid on every node of the cluster, for the source that it was given to.
func TestATA04_NonceOfAnotherNode(t *testing.T) {
	one, two := newTestVerifier(t, Options{}), newTestVerifier(t, Options{})
	header := answer(t, one.Challenges(testStart, testSource, false)[0], "acme", "s3cret", "INVITE", testURI, 1)
	got := ask(two, testStart.Add(time.Second), header)
	if got.Outcome != OK || got.Credential != testUsers["acme"] || got.Username != "acme" || got.Use.Count != 1 {
		t.Fatalf("other node: %+v", got)
	}
	// The replay check is per node: the pair (Nonce, Count) lets the cluster's open INVITE entry see it.
	if again := ask(one, testStart.Add(time.Second), header); again.Use.Nonce != got.Use.Nonce || again.Use.Count != got.Use.Count {
		t.Errorf("the nodes name the nonce differently: %+v, %+v", got, again)
	}
	if mapped := one.Verify(testStart, netip.MustParseAddr("::ffff:192.0.2.77"), "INVITE", []byte(testURI),
		[]byte(header), testLookup); mapped.Reason != ReasonReplay {
		t.Errorf("mapped address: %+v", mapped)
	}
	other := two.Verify(testStart, netip.MustParseAddr("192.0.2.78"), "INVITE", []byte(testURI), []byte(header), testLookup)
	if other.Outcome != Stale || other.Reason != ReasonNonce {
		t.Errorf("other source: %+v", other)
	}
	foreign, err := New([]byte("another cluster's key"), testRealm, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(foreign, testStart, header); got.Outcome != Stale || got.Reason != ReasonNonce {
		t.Errorf("foreign key: %+v", got)
	}
	if _, err := New(testKey[:MinKey-1], testRealm, Options{}); err == nil {
		t.Error("a short key is accepted")
	}
}

// ATA-03: a repeated nc with a right digest asks for a fresh nonce and does not forbid the caller.
func TestATA03_RepeatedCount(t *testing.T) {
	v := newTestVerifier(t, Options{})
	ch := v.Challenges(testStart, testSource, false)[0]
	for _, c := range []struct {
		count int
		want  Outcome
	}{{1, OK}, {1, Stale}, {3, OK}, {2, Stale}, {4, OK}} {
		got := ask(v, testStart, answer(t, ch, "acme", "s3cret", "INVITE", testURI, c.count))
		if got.Outcome != c.want || c.want == Stale && got.Reason != ReasonReplay {
			t.Errorf("nc %d: %+v", c.count, got)
		}
	}
	if got := ask(v, testStart, answer(t, ch, "acme", "guess", "INVITE", testURI, 1)); got.Outcome != Denied {
		t.Errorf("repeated nc with a wrong digest: %+v", got)
	}
}

// DEC-25: lifetime 300 s plus a skew bound of 300 s either way; outside it stale.
func TestDEC25_Lifetime(t *testing.T) {
	for _, c := range []struct {
		age  time.Duration
		want Outcome
	}{
		{-301 * time.Second, Stale}, {-300 * time.Second, OK}, {0, OK}, {300 * time.Second, OK}, {600 * time.Second, OK}, {601 * time.Second, Stale},
	} {
		v := newTestVerifier(t, Options{})
		ch := v.Challenges(testStart, testSource, false)[0]
		got := ask(v, testStart.Add(c.age), answer(t, ch, "acme", "s3cret", "INVITE", testURI, 1))
		if got.Outcome != c.want || c.want == Stale && got.Reason != ReasonExpired {
			t.Errorf("age %v: %+v", c.age, got)
		}
		if wrong := ask(v, testStart.Add(c.age), answer(t, ch, "acme", "guess", "INVITE", testURI, 2)); wrong.Outcome != Denied {
			t.Errorf("age %v with a wrong secret: %+v", c.age, wrong)
		}
	}
}

// An answer without qop is refused unless configured; then its nonce serves once.
func TestNoQOP(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		v := newTestVerifier(t, Options{AllowNoQOP: allowed})
		ch := strings.Replace(v.Challenges(testStart, testSource, false)[1], `, qop="auth"`, "", 1)
		header := answer(t, ch, "acme", "s3cret", "INVITE", testURI, 0)
		if strings.Contains(header, "qop") {
			t.Fatalf("the peer sent %s", header)
		}
		first, second := ask(v, testStart, header), ask(v, testStart, header)
		if !allowed && (first.Outcome != Denied || first.Reason != ReasonQOP) {
			t.Errorf("default: %+v", first)
		}
		if allowed && (first.Outcome != OK || second.Outcome != Stale) {
			t.Errorf("allowed: %+v, then %+v", first, second)
		}
	}
}

// A realm with a quote survives the header.
func TestRealmIsQuoted(t *testing.T) {
	v, err := New(testKey, `a"b\c`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ch := v.Challenges(testStart, testSource, false)[1]
	if !strings.HasPrefix(ch, `Digest realm="a\"b\\c", `) {
		t.Fatalf("challenge %s", ch)
	}
	nonce := ch[strings.Index(ch, `nonce="`)+len(`nonce="`):]
	nonce = nonce[:strings.IndexByte(nonce, '"')]
	header := fmt.Sprintf(`Digest username="u", realm="a\"b\\c", nonce="%s", uri="%s", nc=00000001, cnonce="c", qop=auth, response="0"`, nonce, testURI)
	if got := ask(v, testStart, header); got.Outcome != Denied || got.Reason != ReasonUnknownUser {
		t.Errorf("%+v", got)
	}
}

// DEC-25: "a skew bound of 300 s either way; outside it stale=true, fresh nonce of this node".
func TestDEC25_NonceOfANodeWhoseClockIsWrong(t *testing.T) {
	for _, tc := range []struct {
		theirs, ours time.Duration
		want         Outcome
	}{
		{0, 0, OK},
		{290 * time.Second, 0, OK},
		{-590 * time.Second, 0, OK}, // as old as a lifetime and the skew
		{145 * time.Second, -145 * time.Second, OK},
		{310 * time.Second, 0, Stale},
		{-610 * time.Second, 0, Stale},
		{160 * time.Second, -160 * time.Second, Stale},
	} {
		mints := newTestVerifier(t, Options{ClockOffset: tc.theirs})
		judges := newTestVerifier(t, Options{ClockOffset: tc.ours})
		header := answer(t, mints.Challenges(testStart, testSource, false)[0], "acme", "s3cret", "INVITE", testURI, 1)
		if got := ask(judges, testStart, header); got.Outcome != tc.want {
			t.Errorf("minted at %v, judged at %v: %v, want %v", tc.theirs, tc.ours, got.Outcome, tc.want)
		}
	}
}
