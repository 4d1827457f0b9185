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
			HA1SHA256: ha1Of("SHA-256", "acme", testRealm, "s3cret"), HA1SHA512256: ha1Of("SHA-512-256", "acme", testRealm, "s3cret"),
			Algorithms: trunkgroup.AlgorithmNames(),
		},
		"modern": {
			Username: "modern", Realm: testRealm, HA1SHA256: ha1Of("SHA-256", "modern", testRealm, "s3cret"),
			Algorithms: []string{trunkgroup.AlgorithmSHA256},
		},
		// Has the hash for MD5 and must not use it.
		"strict": {
			Username: "strict", Realm: testRealm, HA1SHA256: ha1Of("SHA-256", "strict", testRealm, "s3cret"),
			HA1MD5: ha1Of("MD5", "strict", testRealm, "s3cret"), Algorithms: []string{trunkgroup.AlgorithmSHA256},
		},
	}
)

// challenges lists what v offers for the test's realm: SHA-256, SHA-512-256, MD5.
func challenges(v *Verifier, now time.Time, stale bool) (list []string) {
	ch := v.Challenge(now, testSource, testRealm, stale)
	for _, a := range trunkgroup.AlgorithmNames() {
		list = append(list, string(ch.Append(nil, a)))
	}
	return list
}

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
	return askFrom(v, now, testSource, testRealm, authorization)
}

func askFrom(v *Verifier, now time.Time, source netip.Addr, realm, authorization string) Result {
	req := Request{Source: source, Method: "INVITE", URI: []byte(testURI), Realm: realm, Lookup: testLookup}
	return v.Verify(now, &req, []byte(authorization))
}

// RFC 8760: one header field per algorithm, the most preferred first; the same nonce may stand in both.
func TestRFC8760_Challenges(t *testing.T) {
	v := newTestVerifier(t, Options{})
	list := challenges(v, testStart, false)
	for i, want := range []string{"SHA-256", "SHA-512-256", "MD5"} {
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
	if again := challenges(v, testStart, true); again[0] == list[0] || !strings.Contains(again[2], "stale=true") {
		t.Errorf("second challenge in one second: %s", again)
	}
}

func TestVerify(t *testing.T) {
	v := newTestVerifier(t, Options{})
	list := challenges(v, testStart, false)
	good := func(user, password string) string { return answer(t, list[0], user, password, "INVITE", testURI, 1) }
	for _, c := range []struct {
		name, header string
		want         Outcome
		reason       string
	}{
		{"wrong secret", good("acme", "guess"), Denied, ReasonDigest},
		{"unknown user", good("nobody", "s3cret"), Denied, ReasonUnknownUser},
		{"no secret for MD5", answer(t, list[2], "modern", "s3cret", "INVITE", testURI, 1), Denied, ReasonAlgorithm},
		{"a downgrade that the user excludes", answer(t, list[2], "strict", "s3cret", "INVITE", testURI, 1), Denied, ReasonAlgorithm},
		{"other method", answer(t, list[0], "acme", "s3cret", "REGISTER", testURI, 1), Denied, ReasonDigest},
		{"other uri", answer(t, list[0], "acme", "s3cret", "INVITE", "sip:19005551234@sbc.example.net", 1), Denied, ReasonURI},
		{"uri changed after signing", strings.Replace(answer(t, list[0], "acme", "s3cret", "INVITE", "sip:x@y", 1), "sip:x@y", testURI, 1), Denied, ReasonDigest},
		{"other realm", strings.Replace(good("acme", "s3cret"), testRealm, "other.example", 1), None, ""},
		{"basic", "Basic QWxhZGRpbjpvcGVu", None, ""},
		{"empty", "", None, ""},
		{"malformed", `Digest username="acme",realm="`, Denied, ReasonMalformed},
		{"session variant", strings.Replace(good("acme", "s3cret"), "SHA-256", "SHA-256-sess", 1), Denied, ReasonUnsupported},
		{"another algorithm than it was computed with", strings.Replace(good("acme", "s3cret"), "SHA-256", "SHA-512-256", 1), Denied, ReasonDigest},
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
	header := answer(t, challenges(one, testStart, false)[0], "acme", "s3cret", "INVITE", testURI, 1)
	got := ask(two, testStart.Add(time.Second), header)
	if got.Outcome != OK || got.Credential != testUsers["acme"] || got.Username != "acme" || got.Use.Count != 1 {
		t.Fatalf("other node: %+v", got)
	}
	// The replay check is per node: the pair (Nonce, Count) lets the cluster's open INVITE entry see it.
	if again := ask(one, testStart.Add(time.Second), header); again.Use.Nonce != got.Use.Nonce || again.Use.Count != got.Use.Count {
		t.Errorf("the nodes name the nonce differently: %+v, %+v", got, again)
	}
	if mapped := askFrom(one, testStart, netip.MustParseAddr("::ffff:192.0.2.77"), testRealm, header); mapped.Reason != ReasonReplay {
		t.Errorf("mapped address: %+v", mapped)
	}
	other := askFrom(two, testStart, netip.MustParseAddr("192.0.2.78"), testRealm, header)
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
	ch := challenges(v, testStart, false)[0]
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
		ch := challenges(v, testStart, false)[0]
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
		ch := strings.Replace(challenges(v, testStart, false)[2], `, qop="auth"`, "", 1)
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
	const realm = `a"b\c`
	v := newTestVerifier(t, Options{})
	ch := string(v.Challenge(testStart, testSource, realm, false).Append(nil, "MD5"))
	if !strings.HasPrefix(ch, `Digest realm="a\"b\\c", `) {
		t.Fatalf("challenge %s", ch)
	}
	nonce := ch[strings.Index(ch, `nonce="`)+len(`nonce="`):]
	nonce = nonce[:strings.IndexByte(nonce, '"')]
	header := fmt.Sprintf(`Digest username="u", realm="a\"b\\c", nonce="%s", uri="%s", nc=00000001, cnonce="c", qop=auth, response="0"`, nonce, testURI)
	if got := askFrom(v, testStart, testSource, realm, header); got.Outcome != Denied || got.Reason != ReasonUnknownUser {
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
		header := answer(t, challenges(mints, testStart, false)[0], "acme", "s3cret", "INVITE", testURI, 1)
		if got := ask(judges, testStart, header); got.Outcome != tc.want {
			t.Errorf("minted at %v, judged at %v: %v, want %v", tc.theirs, tc.ours, got.Outcome, tc.want)
		}
	}
}
