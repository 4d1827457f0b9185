package b2bua

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/icholy/digest"

	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// secretsOf makes a digest user of password "secret" with the hashes named.
func secretsOf(user, realm string, algorithms ...string) trunkgroup.CredentialSpec {
	c := trunkgroup.CredentialSpec{Username: user, Realm: realm}
	a1 := []byte(user + ":" + realm + ":secret")
	for _, a := range algorithms {
		switch a {
		case trunkgroup.AlgorithmMD5:
			sum := md5.Sum(a1)
			c.HA1MD5 = hex.EncodeToString(sum[:])
		case trunkgroup.AlgorithmSHA256:
			sum := sha256.Sum256(a1)
			c.HA1SHA256 = hex.EncodeToString(sum[:])
		case trunkgroup.AlgorithmSHA512256:
			sum := sha512.Sum512_256(a1)
			c.HA1SHA512256 = hex.EncodeToString(sum[:])
		}
	}
	return c
}

// usersDocument is a configuration with these digest users.
func usersDocument(users ...trunkgroup.CredentialSpec) *trunkgroup.Document {
	doc := document()
	doc.TrunkGroups = append(doc.TrunkGroups, trunkgroup.GroupSpec{
		Name: "initech-out", Role: trunkgroup.TerminationCustomer, Credentials: users,
	})
	return doc
}

// stranger is an INVITE from an address that nobody knows, to a domain, of at
// least a size.
func stranger(domain string, size int, lines string) string {
	text := func(pad string) string {
		i := invite{called: "+13105550123", body: offer, host: strangerAddr, lines: lines + "User-Agent: x" + pad + "\r\n"}
		return strings.ReplaceAll(i.String(), "@203.0.113.1", "@"+domain)
	}
	return text(strings.Repeat("x", max(0, size-len(text("")))))
}

// challengesIn lists the challenges of a 401.
func challengesIn(t *testing.T, resp *sip.Message) (list []*digest.Challenge, algorithms []string) {
	t.Helper()
	resp.EachOf(sip.WWWAuthenticate, func(v []byte) bool {
		ch, err := digest.ParseChallenge(string(v))
		if err != nil {
			t.Fatal(err)
		}
		list, algorithms = append(list, ch), append(algorithms, ch.Algorithm)
		return true
	})
	return list, algorithms
}

// answeredBy answers one challenge as a user does.
func answeredBy(t *testing.T, ch *digest.Challenge, user, password, domain string) string {
	t.Helper()
	cred, err := digest.Digest(ch, digest.Options{
		Method: "INVITE", URI: "sip:+13105550123@" + domain, Username: user, Password: password, Count: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return "Authorization: " + cred.String() + "\r\n"
}

// datagram is a packet as a UDP listener gives it.
func datagram(t testing.TB, addr, text string) *Packet {
	t.Helper()
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		t.Fatal(fault)
	}
	return &Packet{Packet: transport.Packet{Message: m, Transport: trunkgroup.UDP, Source: netip.MustParseAddrPort(addr)}}
}

// RFC 8760, P-11: each domain is a realm of its own, and its challenges offer what
// its users have, in order; one user's restriction shows nowhere.
func TestRFC8760_RealmPerDomain(t *testing.T) {
	all := trunkgroup.AlgorithmNames()
	strict := secretsOf("strict", "pbx.acme.example", all...)
	strict.Algorithms = []string{trunkgroup.AlgorithmSHA256}
	doc := usersDocument(
		secretsOf("anna", "pbx.acme.example", all...), strict,
		secretsOf("bert", "voice.initech.example", trunkgroup.AlgorithmMD5),
		secretsOf("carl", "sip.example.com", trunkgroup.AlgorithmSHA256, trunkgroup.AlgorithmMD5),
	)
	for _, c := range []struct {
		domain, realm string
		want          []string
	}{
		{"pbx.acme.example", "pbx.acme.example", all},
		{"PBX.Acme.example", "pbx.acme.example", all},
		{"voice.initech.example", "voice.initech.example", []string{trunkgroup.AlgorithmMD5}},
		{"203.0.113.1", "sip.example.com", []string{trunkgroup.AlgorithmSHA256, trunkgroup.AlgorithmMD5}},
		{"unknown.example", "sip.example.com", []string{trunkgroup.AlgorithmSHA256, trunkgroup.AlgorithmMD5}},
	} {
		w := newWorldOf(t, "dal-1", "dallas", doc)
		w.from(strangerAddr, stranger(c.domain, 1000, ""))
		list, got := challengesIn(t, w.take(strangerAddr, "SIP/2.0 401"))
		if !slices.Equal(got, c.want) || list[0].Realm != c.realm {
			t.Errorf("%s: %v in realm %s, want %v in %s", c.domain, got, list[0].Realm, c.want, c.realm)
		}
	}
}

// Each algorithm opens the door, in its realm alone, and none that the credential
// excludes.
func TestRFC8760_AlgorithmsOfACredential(t *testing.T) {
	all := trunkgroup.AlgorithmNames()
	strict := secretsOf("strict", "pbx.acme.example", all...)
	strict.Algorithms = []string{trunkgroup.AlgorithmSHA256}
	doc := usersDocument(secretsOf("anna", "pbx.acme.example", all...), strict, secretsOf("anna", "other.example", all...))
	for _, c := range []struct {
		user, algorithm, domain string
		opens                   bool
	}{
		{"anna", trunkgroup.AlgorithmSHA256, "pbx.acme.example", true},
		{"anna", trunkgroup.AlgorithmSHA512256, "pbx.acme.example", true},
		{"anna", trunkgroup.AlgorithmMD5, "pbx.acme.example", true},
		{"anna", trunkgroup.AlgorithmMD5, "other.example", true},
		{"strict", trunkgroup.AlgorithmSHA256, "pbx.acme.example", true},
		{"strict", trunkgroup.AlgorithmSHA512256, "pbx.acme.example", false},
		{"strict", trunkgroup.AlgorithmMD5, "pbx.acme.example", false}, // a downgrade
		{"strict", trunkgroup.AlgorithmSHA256, "other.example", false},
	} {
		w := newWorldOf(t, "dal-1", "dallas", doc)
		w.from(strangerAddr, stranger(c.domain, 1000, ""))
		list, _ := challengesIn(t, w.take(strangerAddr, "SIP/2.0 401"))
		i := slices.IndexFunc(list, func(ch *digest.Challenge) bool { return ch.Algorithm == c.algorithm })
		next := stranger(c.domain, 0, answeredBy(t, list[i], c.user, "secret", c.domain))
		w.from(strangerAddr, strings.NewReplacer("CSeq: 1 ", "CSeq: 2 ", "z9hG4bKa1", "z9hG4bKa2").Replace(next))
		if c.opens {
			w.take(carrierAddr, "INVITE")
			continue
		}
		w.take(strangerAddr, "SIP/2.0 401")
		w.none(carrierAddr, "INVITE")
	}
}

// A datagram whose source may be forged gets no answer that is larger than itself,
// as far as no user of the realm is locked out; a stream and whoever has answered
// a challenge get all of it.
func TestRFC8760_ChallengeIsNotLargerThanItsDatagram(t *testing.T) {
	const realm = "pbx.acme.example"
	sha, sha5, md := trunkgroup.AlgorithmSHA256, trunkgroup.AlgorithmSHA512256, trunkgroup.AlgorithmMD5
	for _, c := range []struct {
		name  string
		users []trunkgroup.CredentialSpec
		size  int
		want  []string
		more  bool // the answer is larger than the request
	}{
		{"large", []trunkgroup.CredentialSpec{secretsOf("a", realm, sha, sha5, md)}, 1000, []string{sha, sha5, md}, false},
		{"middle", []trunkgroup.CredentialSpec{secretsOf("a", realm, sha, sha5, md)}, 600, []string{sha, md}, false},
		{"small", []trunkgroup.CredentialSpec{secretsOf("a", realm, sha, sha5, md)}, 0, []string{md}, false},
		{"small, no MD5", []trunkgroup.CredentialSpec{secretsOf("a", realm, sha, sha5)}, 0, []string{sha}, false},
		{"small, one user each", []trunkgroup.CredentialSpec{
			secretsOf("a", realm, sha), secretsOf("b", realm, sha5), secretsOf("c", realm, md),
		}, 0, []string{sha, sha5, md}, true},
		{"small, one without MD5", []trunkgroup.CredentialSpec{secretsOf("a", realm, sha, sha5), secretsOf("c", realm, md)}, 0, []string{sha, md}, true},
	} {
		w := newWorldOf(t, "dal-1", "dallas", usersDocument(c.users...))
		text := stranger(realm, c.size, "")
		w.from(strangerAddr, text)
		got := w.take(strangerAddr, "SIP/2.0 401")
		if _, have := challengesIn(t, got); !slices.Equal(have, c.want) {
			t.Errorf("%s: %v, want %v (%d bytes for %d)", c.name, have, c.want, len(got.Raw()), len(text))
		}
		if larger := len(got.Raw()) > len(text); larger != c.more {
			t.Errorf("%s: %d bytes answer %d", c.name, len(got.Raw()), len(text))
		}
	}

	w := newWorldOf(t, "dal-1", "dallas", usersDocument(secretsOf("a", realm, sha, sha5, md)))
	w.from(strangerAddr, stranger(realm, 0, ""))
	list, _ := challengesIn(t, w.take(strangerAddr, "SIP/2.0 401"))
	w.from(strangerAddr, stranger(realm, 0, answeredBy(t, list[0], "a", "guess", realm)))
	if _, have := challengesIn(t, w.take(strangerAddr, "SIP/2.0 401")); len(have) != 3 {
		t.Errorf("a source that answered a challenge is offered %v", have)
	}
	if e := w.events[len(w.events)-1]; e.Kind != EventAuthFailure || !e.Proven || e.Source.String() != strangerAddr {
		t.Errorf("the failure of a proven source: %+v", e)
	}
}

// P-29: a credential that is bound to an address is worth nothing elsewhere.
func TestP29_BoundIP(t *testing.T) {
	for bound, want := range map[string]string{"203.0.113.0/24": "INVITE", "198.51.100.7": "SIP/2.0 403"} {
		user := secretsOf("anna", "pbx.acme.example", trunkgroup.AlgorithmMD5)
		user.BoundIP = []string{bound}
		w := newWorldOf(t, "dal-1", "dallas", usersDocument(user))
		w.from(strangerAddr, stranger("pbx.acme.example", 0, ""))
		list, _ := challengesIn(t, w.take(strangerAddr, "SIP/2.0 401"))
		next := stranger("pbx.acme.example", 0, answeredBy(t, list[0], "anna", "secret", "pbx.acme.example"))
		w.from(strangerAddr, strings.NewReplacer("CSeq: 1 ", "CSeq: 2 ", "z9hG4bKa1", "z9hG4bKa2").Replace(next))
		to := strangerAddr
		if want == "INVITE" {
			to = carrierAddr
		}
		w.take(to, want)
	}
}

// P-11: who is known and who is not, and why an answer is refused, shows neither
// in the bytes of the answer nor in the work that was done for it.
func TestP11_EveryFailureLooksTheSame(t *testing.T) {
	const realm = "pbx.acme.example"
	strict := secretsOf("strict", realm, trunkgroup.AlgorithmNames()...)
	strict.Algorithms = []string{trunkgroup.AlgorithmSHA256}
	doc := usersDocument(secretsOf("anna", realm, trunkgroup.AlgorithmNames()...), strict)
	for _, algorithm := range trunkgroup.AlgorithmNames() {
		seen := map[string][]string{}
		for _, user := range []string{"anna", "nina", "strict", "nobody"} {
			w := newWorldOf(t, "dal-1", "dallas", doc)
			w.from(strangerAddr, stranger(realm, 1000, ""))
			list, _ := challengesIn(t, w.take(strangerAddr, "SIP/2.0 401"))
			i := slices.IndexFunc(list, func(ch *digest.Challenge) bool { return ch.Algorithm == algorithm })
			text := stranger(realm, 1000, answeredBy(t, list[i], user, "guess", realm))
			w.from(strangerAddr, text)
			m := w.take(strangerAddr, "SIP/2.0 401")
			v := w.s.judge(datagram(t, strangerAddr, text), w.table)
			if v.Outcome != auth.Denied {
				t.Fatalf("%s: %v %s", user, v.Outcome, v.Reason)
			}
			next, _ := challengesIn(t, m)
			what := fmt.Sprintf("%d digests computed, answer:\n%s", v.Hashes, bytes.ReplaceAll(m.Raw(), []byte(next[0].Nonce), []byte("N")))
			seen[what] = append(seen[what], user)
		}
		if len(seen) != 1 {
			t.Errorf("%s: the answers differ: %v", algorithm, seen)
		}
	}
}

// BenchmarkStranger is what an INVITE of nobody costs: the digest of a guess, and the 401.
func BenchmarkStranger(b *testing.B) {
	for _, size := range []int{1000, 0} { // the second has to leave algorithms out
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			w := newWorldOf(b, "dal-1", "dallas", usersDocument(secretsOf("anna", "pbx.acme.example", trunkgroup.AlgorithmNames()...)))
			w.s.env = deaf{w}
			guess := fmt.Sprintf("Authorization: Digest username=%q, realm=\"pbx.acme.example\", nonce=\"x\", uri=\"sip:+13105550123@pbx.acme.example\", "+
				"algorithm=SHA-256, qop=auth, nc=00000001, cnonce=\"x\", response=\"%064d\"\r\n", "anna", 0)
			if size == 0 {
				guess = ""
			}
			p := datagram(b, strangerAddr, stranger("pbx.acme.example", size, guess))
			b.ReportAllocs()
			for b.Loop() {
				v := w.s.judge(p, w.table)
				w.s.challenge(p, w.table, v)
			}
		})
	}
}

// deaf is a world that forgets what it is told.
type deaf struct{ *world }

func (deaf) Send(transport.Target, []byte, uint64) {}
func (deaf) Count(Event)                           {}
