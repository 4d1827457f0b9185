package b2bua

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/icholy/digest"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// packetVia gives the shard a message from an address over a transport, on a flow.
func (w *world) packetVia(p transport.Packet, relay, text string) {
	w.t.Helper()
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		w.t.Fatalf("test message: %v\n%s", fault, text)
	}
	p.Message = m
	w.step(func() { w.s.Receive(w.now, &Packet{Packet: p, Relay: relay}) })
}

// request writes a request of any method outside of a dialog.
func outsideRequest(method, uri, to, lines string) string {
	return method + " " + uri + " SIP/2.0\r\nVia: SIP/2.0/UDP " + strangerAddr + ";branch=z9hG4bKout" + method + "\r\nMax-Forwards: 70\r\n" +
		"From: <sip:x@" + strangerAddr + ">;tag=1\r\nTo: " + to + "\r\nCall-ID: out-" + method + "\r\nCSeq: 1 " + method +
		"\r\nContact: <sip:x@" + strangerAddr + ">\r\n" + lines + "Content-Length: 0\r\n\r\n"
}

// Class 12: whether a user exists shows in nothing of an answer, whatever is
// wrong with the credentials.
func TestAbuse12_UsersAreNotToldApart(t *testing.T) {
	const auth = `Authorization: Digest username=%q, realm="sip.example.com", nonce="abc", uri="sip:+13105550123@203.0.113.1", ` +
		`response="00000000000000000000000000000000", algorithm=MD5, qop=auth, nc=00000001, cnonce="x"` + "\r\n"
	var seen []string
	for _, user := range []string{"initech", "nobody1"} {
		w := newWorldOf(t, "dal-1", "dallas", digestDocument())
		w.raw(strangerAddr, invite{called: "+13105550123", body: offer, host: strangerAddr, lines: fmt.Sprintf(auth, user)}.String())
		got := w.take(strangerAddr, "SIP/2.0 401")
		var names []string
		got.Each(func(h sip.Header) bool { names = append(names, string(h.Name)); return true })
		seen = append(seen, fmt.Sprint(len(got.Raw()), names))
	}
	if seen[0] != seen[1] {
		t.Errorf("%s\n%s", seen[0], seen[1])
	}
}

// Class 13: no method of a stranger does anything, whomever it is meant for: a
// challenge, or an answer that says nothing.
func TestAbuse13_EveryMethodOfAStranger(t *testing.T) {
	want := map[string][]int{
		"INVITE": {401}, "REGISTER": {401, 405}, "OPTIONS": {200}, "MESSAGE": {405}, "SUBSCRIBE": {405}, "PUBLISH": {405}, "REFER": {405},
		"NOTIFY": {481}, "INFO": {481}, "UPDATE": {481}, "PRACK": {481}, "BYE": {481}, "CANCEL": {481}, "FOO": {501}, "ACK": nil,
	}
	for method, codes := range want {
		var first string
		for _, user := range []string{"+12145550100", "initech", "1001", "nobody"} {
			w := newWorldOf(t, "dal-1", "dallas", digestDocument())
			uri := "sip:" + user + "@203.0.113.1"
			w.raw(strangerAddr, outsideRequest(method, uri, "<sip:x@203.0.113.1>", "Event: presence\r\nRefer-To: <sip:evil@x>\r\n"))
			w.untouched()
			if len(w.forward) != 0 {
				t.Errorf("%s went to another node", method)
			}
			if codes == nil {
				if len(w.sent) != 0 {
					t.Errorf("%s was answered", method)
				}
				continue
			}
			if len(w.sent) != 1 || !slices.Contains(codes, w.sent[0].m.Status()) {
				t.Errorf("%s: %s", method, w.trace())
				continue
			}
			got := w.sent[0].m
			for _, id := range []sip.HeaderID{sip.Server, sip.UserAgent} {
				if got.Has(id) {
					t.Errorf("%s: a product name for a stranger", method)
				}
			}
			answer := fmt.Sprint(got.Status(), string(got.Reason()), len(got.Raw()))
			if first == "" {
				first = answer
			}
			if answer != first {
				t.Errorf("%s to %s: %s, to another %s", method, user, answer, first)
			}
		}
	}
}

// Class 14: a far end that asks for a secret gets none: nobody's credentials
// leave for who is not configured to get them, and the caller is not asked for
// his (DEC-23).
func TestAbuse14_NoAnswerToAForeignChallenge(t *testing.T) {
	for _, code := range []int{401, 407} {
		w := newWorld(t)
		w.raw(pbx1Addr, edit(t, invite{called: "+13105550123", body: offer, host: pbx1Addr}.String(), "203.0.113.1", "203.0.113.1"))
		b := w.take(carrierAddr, "INVITE")
		challenge := `Digest realm="evil.example", nonce="n", algorithm=MD5, qop="auth"` + "\r\n"
		w.raw(carrierAddr, reply(b, code, "x", "", "WWW-Authenticate: "+challenge, "Proxy-Authenticate: "+challenge))
		w.take(carrierAddr, "ACK")
		w.none(carrierAddr, "INVITE")
		got := w.take(pbx1Addr, "SIP/2.0 500")
		if got.Has(sip.WWWAuthenticate) || got.Has(sip.ProxyAuthenticate) {
			t.Error("the challenge went to the caller")
		}
	}
}

// answerTo computes the answer to a challenge with whatever an attacker changes.
func answerTo(t testing.TB, resp *sip.Message, o digest.Options, algorithm string, change func(*digest.Credentials)) string {
	t.Helper()
	var line string
	resp.EachOf(sip.WWWAuthenticate, func(v []byte) bool {
		ch, err := digest.ParseChallenge(string(v))
		if err != nil {
			t.Fatal(err)
		}
		if ch.Algorithm != algorithm {
			return true
		}
		o.Username, o.Password = "initech", "secret"
		cred, err := digest.Digest(ch, o)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(cred)
		}
		line = "Authorization: " + cred.String() + "\r\n"
		return false
	})
	return line
}

// Class 15: an answer to a challenge is worth something for its own method, URI,
// realm, source, algorithm and once.
func TestAbuse15_DigestConfusion(t *testing.T) {
	const uri = "sip:+13105550123@203.0.113.1"
	right := digest.Options{Method: "INVITE", URI: uri, Count: 1}
	for name, c := range map[string]struct {
		options digest.Options
		change  func(*digest.Credentials)
		source  string
		called  string
		ok      bool
	}{
		"right":                   {options: right, ok: true},
		"of another method":       {options: digest.Options{Method: "REGISTER", URI: uri, Count: 1}},
		"for another number":      {options: digest.Options{Method: "INVITE", URI: "sip:+13105550199@203.0.113.1", Count: 1}},
		"stolen for a premium":    {options: right, called: "+19005550123"},
		"realm swapped":           {options: right, change: func(c *digest.Credentials) { c.Realm = "other.example" }},
		"nonce forged":            {options: right, change: func(c *digest.Credentials) { c.Nonce = strings.Repeat("A", len(c.Nonce)) }},
		"qop auth-int":            {options: right, change: func(c *digest.Credentials) { c.QOP = "auth-int" }},
		"algorithm claimed":       {options: right, change: func(c *digest.Credentials) { c.Algorithm = "SHA-256" }},
		"user claimed":            {options: right, change: func(c *digest.Credentials) { c.Username = "someone" }},
		"nonce of another source": {options: right, source: "203.0.113.99:5060"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(t, "dal-1", "dallas", digestDocument())
			call := invite{called: "+13105550123", body: offer, host: strangerAddr}
			w.raw(strangerAddr, call.String())
			challenge := w.take(strangerAddr, "SIP/2.0 401")
			call.lines, call.seq, call.branch = answerTo(t, challenge, c.options, "MD5", c.change), 2, "z9hG4bKa2"
			if c.called != "" {
				call.called = c.called
			}
			from := strangerAddr
			if c.source != "" {
				from = c.source
			}
			w.raw(from, call.String())
			if c.ok {
				w.take(carrierAddr, "INVITE")
				call.callID, call.branch = "replayed", "z9hG4bKa3"
				w.raw(strangerAddr, call.String())
				w.take(strangerAddr, "SIP/2.0 401") // the count did not rise
				w.none(carrierAddr, "INVITE")
				return
			}
			for i, x := range w.sent {
				if x.to.Addr.Addr() == netip.MustParseAddrPort(from).Addr() && x.m.Status() == 401 {
					w.sent = append(w.sent[:i], w.sent[i+1:]...)
					w.untouched()
					return
				}
			}
			t.Errorf("want a 401, got %s", w.trace())
		})
	}
}

// Class 15, downgrade: MD5 is refused for a credential that has more than that and
// is restricted to it, though somebody else's MD5 is offered in the same realm.
func TestAbuse15_Downgrade(t *testing.T) {
	doc := digestDocument()
	doc.TrunkGroups = append(doc.TrunkGroups, trunkgroup.GroupSpec{
		Name: "old-out", Role: trunkgroup.TerminationCustomer,
		Credentials: []trunkgroup.CredentialSpec{{Username: "old", Realm: "sip.example.com", HA1MD5: "00000000000000000000000000000000"}},
	})
	mine := &doc.TrunkGroups[len(doc.TrunkGroups)-2].Credentials[0]
	mine.HA1SHA256, mine.Algorithms = strings.Repeat("0", 64), []string{"SHA-256"}
	w := newWorldOf(t, "dal-1", "dallas", doc)
	call := invite{called: "+13105550123", body: offer, host: strangerAddr}
	w.raw(strangerAddr, call.String())
	challenge := w.take(strangerAddr, "SIP/2.0 401")
	call.lines = answerTo(t, challenge, digest.Options{Method: "INVITE", URI: "sip:+13105550123@203.0.113.1", Count: 1}, "MD5", nil)
	if call.lines == "" {
		t.Fatal("MD5 is not offered: nothing to downgrade to")
	}
	call.seq, call.branch = 2, "z9hG4bKa2"
	w.raw(strangerAddr, call.String())
	w.take(strangerAddr, "SIP/2.0 401")
	w.untouched()
}

// Class 17: a trunk is its address, port and transport, and nothing else makes
// one: not its name in From, not a header, not a port or transport beside it.
func TestAbuse17_IdentityIsExact(t *testing.T) {
	text := func(host string) string {
		return invite{called: "+13105550123", body: offer, host: host, lines: "P-Asserted-Identity: <sip:acme@198.51.100.10>\r\nX-Forwarded-For: 198.51.100.10\r\n"}.String()
	}
	for name, p := range map[string]transport.Packet{
		"another port":      {Source: netip.MustParseAddrPort("198.51.100.10:5070"), Transport: trunkgroup.UDP},
		"another transport": {Source: netip.MustParseAddrPort("198.51.100.10:5060"), Transport: trunkgroup.TCP, Flow: 7},
		"a neighbour":       {Source: netip.MustParseAddrPort("198.51.100.12:5060"), Transport: trunkgroup.UDP},
		"mapped into v6":    {Source: netip.MustParseAddrPort("[2001:db8::c633:640a]:5060"), Transport: trunkgroup.UDP},
	} {
		w := newWorld(t)
		w.packetVia(p, "", text("198.51.100.10:5060"))
		if len(w.sent) != 1 || w.sent[0].m.Status() != 401 {
			t.Errorf("%s: %s", name, w.trace())
		}
		w.sent = nil
		w.untouched()
	}
	w := newWorld(t)
	w.packetVia(transport.Packet{Source: netip.MustParseAddrPort(pbx1Addr), Transport: trunkgroup.UDP}, "", text("evil.example"))
	w.take(carrierAddr, "INVITE") // the trunk itself, whatever it says of itself
}
