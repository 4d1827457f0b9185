package b2bua

import (
	"bytes"
	"crypto/md5"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/icholy/digest"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/sbc/uac"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	registrarAddr = "192.0.2.20:5060"
	carrierRealm  = "carrier.example"
)

// newAccountWorld is a world whose carrier lets us log in, and has a registrar.
func newAccountWorld(t testing.TB, node, site string, change func(*trunkgroup.AccountSpec)) *world {
	t.Helper()
	doc := document()
	a := &trunkgroup.AccountSpec{
		AOR: "sip:+12145550100@carrier.example", Username: "acme", Realm: carrierRealm, Register: true, Registrar: registrarAddr,
		HA1MD5: fmt.Sprintf("%x", md5.Sum([]byte("acme:"+carrierRealm+":secret"))),
	}
	if change != nil {
		change(a)
	}
	doc.TrunkGroups[2].Members[0].Account = a
	w := newWorldOf(t, node, site, doc)
	key := bytes.Repeat([]byte("x"), 32)
	w.s.SetKeys(Keys{Identifiers: [][]byte{key}, Handoff: [][]byte{key}, Accounts: [][]byte{[]byte("new"), []byte("old")}})
	return w
}

func (w *world) carrier() *trunkgroup.Member { return w.table.Member("carrier-a/dal") }

func outboundCall() string {
	return invite{called: "+13105550000", host: pbx1Addr, body: offer}.String()
}

func challenge(code int, more string) string {
	name := "WWW-Authenticate"
	if code == 407 {
		name = "Proxy-Authenticate"
	}
	return name + ": Digest realm=\"" + carrierRealm + "\", nonce=\"n" + more + "\"\r\n"
}

// credentialed demands that a request shows what another implementation makes of the
// password.
func credentialed(t testing.TB, m *sip.Message, id sip.HeaderID) *digest.Credentials {
	t.Helper()
	got, err := digest.ParseCredentials(string(m.Header(id)))
	if err != nil {
		t.Fatalf("%v in\n%s", err, m.Raw())
	}
	c := &digest.Challenge{Realm: got.Realm, Nonce: got.Nonce, Algorithm: "MD5"}
	if got.QOP != "" {
		c.QOP = []string{got.QOP}
	}
	method := m.Method()
	if method == sip.ACK {
		method = sip.INVITE // those of its INVITE
	}
	want, err := digest.Digest(c, digest.Options{Method: method, URI: got.URI, Username: "acme", Password: "secret", Cnonce: got.Cnonce, Count: got.Nc})
	if err != nil || want.Response != got.Response {
		t.Fatalf("%v, want %q in\n%s", err, want.Response, m.Raw())
	}
	return got
}

// TestRFC3261_22_CarriersChallengeIsAnswered: the same dialog with the next number,
// and credentials in all that follows; the limits count it as one call.
func TestRFC3261_22_CarriersChallengeIsAnswered(t *testing.T) {
	for _, c := range []struct {
		code int
		id   sip.HeaderID
	}{{401, sip.Authorization}, {407, sip.ProxyAuthorization}} {
		w := newAccountWorld(t, "dal-1", "dallas", nil)
		w.from(pbx1Addr, outboundCall())
		first := w.take(carrierAddr, "INVITE")
		w.from(carrierAddr, reply(first, 100, "", ""))
		w.from(carrierAddr, reply(first, c.code, "x", "", challenge(c.code, "1\", qop=\"auth")))
		w.take(carrierAddr, "ACK")
		second := w.take(carrierAddr, "INVITE")
		if string(second.CallID()) != string(first.CallID()) || string(second.FromTag()) != string(first.FromTag()) || second.CSeq() != first.CSeq()+1 ||
			string(second.Branch()) == string(first.Branch()) || len(second.ToTag()) > 0 || !bytes.Equal(second.Body(), first.Body()) {
			t.Fatalf("%d: not the same would-be dialog:\n%s%s", c.code, first.Raw(), second.Raw())
		}
		credentialed(t, second, c.id)
		w.from(carrierAddr, reply(first, c.code, "x", "", challenge(c.code, "1"))) // once more
		w.take(carrierAddr, "ACK")
		w.none(carrierAddr, "INVITE")
		w.from(carrierAddr, reply(second, 200, "callee", answerSDP, "Contact: <sip:gw@"+carrierAddr+">\r\n"))
		ok := w.take(pbx1Addr, "SIP/2.0 200")
		if ack := w.take(carrierAddr, "ACK"); ack.CSeq() != second.CSeq() {
			t.Errorf("ACK of %d, want %d", ack.CSeq(), second.CSeq())
		} else {
			credentialed(t, ack, c.id)
		}
		w.from(pbx1Addr, ackFor(ok, "z9hG4bKack", ""))
		w.from(pbx1Addr, inside(ok, "INVITE", 2, "Contact: <sip:pbx@"+pbx1Addr+">\r\n", offer))
		re := w.take(carrierAddr, "INVITE")
		if got := credentialed(t, re, c.id); got.Nc != 2 || re.CSeq() != second.CSeq()+1 {
			t.Errorf("re-INVITE: nc %d, CSeq %d", got.Nc, re.CSeq())
		}
		w.from(carrierAddr, reply(re, c.code, "callee", "", challenge(c.code, "r\", stale=true, qop=\"auth")))
		w.take(carrierAddr, "ACK")
		re = w.take(carrierAddr, "INVITE")
		if got := credentialed(t, re, c.id); got.Nonce != "nr" || re.CSeq() != second.CSeq()+2 {
			t.Errorf("re-INVITE again: nonce %q, CSeq %d", got.Nonce, re.CSeq())
		}
		w.from(carrierAddr, reply(re, 200, "callee", answerSDP, "Contact: <sip:gw@"+carrierAddr+">\r\n"))
		if ack := w.take(carrierAddr, "ACK"); ack.CSeq() != re.CSeq() {
			t.Errorf("ACK of %d, want %d", ack.CSeq(), re.CSeq())
		} else {
			credentialed(t, ack, c.id)
		}
		w.from(pbx1Addr, strings.Replace(inside(w.take(pbx1Addr, "SIP/2.0 200"), "ACK", 2, "", ""), "z9hG4bKinACK2", "z9hG4bKack2", 1))
		w.from(pbx1Addr, inside(ok, "BYE", 3, "", ""))
		bye := w.take(carrierAddr, "BYE")
		if got := credentialed(t, bye, c.id); got.Nc != 2 || bye.CSeq() != re.CSeq()+1 {
			t.Errorf("nc %d, CSeq %d", got.Nc, bye.CSeq())
		}
		w.from(carrierAddr, reply(bye, c.code, "callee", "", challenge(c.code, "2\", stale=true, qop=\"auth")))
		again := w.take(carrierAddr, "BYE")
		if got := credentialed(t, again, c.id); got.Nonce != "n2" || again.CSeq() != bye.CSeq()+1 {
			t.Errorf("nonce %q, CSeq %d", got.Nonce, again.CSeq())
		}
		w.from(carrierAddr, reply(again, c.code, "callee", "", challenge(c.code, "3\", stale=true")))
		w.none(carrierAddr, "BYE")
		w.quiet()
	}
}

// TestDEC23_ChallengeWithoutAnswer: a wrong password, another realm or another
// algorithm reaches the caller as 500, and nothing goes out a second time.
func TestDEC23_ChallengeWithoutAnswer(t *testing.T) {
	for name, line := range map[string]string{
		"other_realm":     "WWW-Authenticate: Digest realm=\"evil.example\", nonce=\"n\"\r\n",
		"other_algorithm": "WWW-Authenticate: Digest realm=\"carrier.example\", nonce=\"n\", algorithm=SHA-256\r\n",
		"no_challenge":    "",
	} {
		w := newAccountWorld(t, "dal-1", "dallas", nil)
		w.from(pbx1Addr, outboundCall())
		b := w.take(carrierAddr, "INVITE")
		w.from(carrierAddr, reply(b, 401, "x", "", line))
		w.take(carrierAddr, "ACK")
		w.none(carrierAddr, "INVITE")
		w.take(pbx1Addr, "SIP/2.0 500")
		if !w.counted1(name) {
			t.Errorf("%s was not counted", name)
		}
		w.quiet()
	}
	w := newAccountWorld(t, "dal-1", "dallas", nil)
	w.from(pbx1Addr, outboundCall())
	for range 2 {
		b := w.take(carrierAddr, "INVITE")
		w.from(carrierAddr, reply(b, 401, "x", "", challenge(401, "1")))
	}
	w.none(carrierAddr, "INVITE")
	w.take(pbx1Addr, "SIP/2.0 500")
	if !w.counted1("refused") {
		t.Error("a wrong password was not counted")
	}
	w.quiet()
}

// counted1 tells whether an event of an account with that result was counted.
func (w *world) counted1(result string) bool {
	for _, e := range w.events {
		if e.Kind == EventAccount && e.Result == result && e.Member == w.carrier() {
			return true
		}
	}
	return false
}

// TestChallengedAttemptKeepsItsTimers: the carrier who challenges and then says
// nothing has no more time than one who says nothing.
func TestChallengedAttemptKeepsItsTimers(t *testing.T) {
	w := newAccountWorld(t, "dal-1", "dallas", nil)
	w.from(pbx1Addr, outboundCall())
	b := w.take(carrierAddr, "INVITE")
	w.advance(3 * time.Second)
	w.from(carrierAddr, reply(b, 401, "x", "", challenge(401, "1")))
	w.take(carrierAddr, "INVITE")
	w.none(pbx1Addr, "SIP/2.0 5")
	w.advance(1100 * time.Millisecond) // b_timer, 4 s
	w.take(pbx1Addr, "SIP/2.0 503")
	w.quiet()
}

// TestChallengedAttemptIsCancelled: a CANCEL of the caller meets the second INVITE.
func TestChallengedAttemptIsCancelled(t *testing.T) {
	w := newAccountWorld(t, "dal-1", "dallas", nil)
	text := outboundCall()
	w.from(pbx1Addr, text)
	b := w.take(carrierAddr, "INVITE")
	w.from(carrierAddr, reply(b, 401, "x", "", challenge(401, "1")))
	b = w.take(carrierAddr, "INVITE")
	w.from(carrierAddr, reply(b, 180, "callee", ""))
	w.from(pbx1Addr, strings.Replace(strings.Replace(strings.Replace(text, "INVITE sip", "CANCEL sip", 1), "1 INVITE", "1 CANCEL", 1),
		"Content-Type: application/sdp\r\nContent-Length: "+fmt.Sprint(len(offer))+"\r\n\r\n"+offer, "Content-Length: 0\r\n\r\n", 1))
	if cancel := w.take(carrierAddr, "CANCEL"); cancel.CSeq() != b.CSeq() || string(cancel.Branch()) != string(b.Branch()) {
		t.Errorf("cancels another INVITE:\n%s", cancel.Raw())
	}
	w.quiet()
}

// TestInboundOnRegistration: an INVITE to our Contact is the carrier's when it comes
// from where its registrar is, for the number in the To, at whatever node; from
// elsewhere it is a stranger's.
func TestInboundOnRegistration(t *testing.T) {
	const proxy, stranger = "192.0.2.21:5070", "203.0.113.99:5060"
	to := func(token, host string) string {
		text := invite{called: "+12145550100", host: host, body: offer}.String()
		return strings.Replace(text, "INVITE sip:+12145550100@", "INVITE sip:"+token+"@", 1)
	}
	for _, c := range []struct {
		name, source, token string
		trust               string
		want                string
	}{
		{"from the registrar", "192.0.2.20:45060", "new", "", "INVITE"},
		{"in upper case", registrarAddr, "NEW", "", "INVITE"},
		{"under the key before", registrarAddr, "old", "", "INVITE"},
		{"from the member's own address and another port", "192.0.2.10:9999", "new", "", "INVITE"},
		{"from where the registrar's name leads", proxy, "new", "", "INVITE"},
		{"from a stranger", stranger, "new", "", "SIP/2.0 401"},
		{"from a stranger who is trusted with the token", stranger, "new", "token", "INVITE"},
		{"a token of another key", registrarAddr, "other", "", "SIP/2.0 401"},
	} {
		w := newAccountWorld(t, "dal-1", "dallas", func(a *trunkgroup.AccountSpec) { a.Trust = c.trust })
		w.view.Carriers = make([][]netip.AddrPort, len(w.table.Members()))
		w.view.Carriers[w.carrier().Index] = []netip.AddrPort{netip.MustParseAddrPort("192.0.2.21:5060")}
		token := uac.Token([]byte(strings.ToLower(c.token)), w.carrier())
		if c.token == "NEW" {
			token = strings.ToUpper(token)
		}
		w.from(c.source, to(token, c.source))
		if c.want != "INVITE" {
			w.take(c.source, c.want)
			w.none(pbx1Addr, "INVITE")
			continue
		}
		b := w.take(pbx1Addr, "INVITE")
		if uri := string(b.RequestURI()); uri != "sip:+12145550100@"+pbx1Addr || bytes.Contains(b.Raw(), []byte(token)) {
			t.Errorf("%s: called %s\n%s", c.name, uri, b.Raw())
		}
		w.from(pbx1Addr, reply(b, 486, "callee", ""))
		w.take(c.source, "SIP/2.0 486")
		w.quiet()
		if r := w.records[0]; r.Called != "+12145550100" || r.IngressGroup != "carrier-a" {
			t.Errorf("%s: recorded %q %q", c.name, r.Called, r.IngressGroup)
		}
	}
}

// TestCalledPartyOfRegistration: what the carrier's proxy had called before it put our
// Contact in counts above the To, which a caller wrote.
func TestCalledPartyOfRegistration(t *testing.T) {
	w := newAccountWorld(t, "dal-1", "dallas", nil)
	text := invite{called: "+12145550999", host: registrarAddr, body: offer, lines: "P-Called-Party-ID: <sip:+12145550123@carrier.example>\r\n"}.String()
	w.from(registrarAddr, strings.Replace(text, "INVITE sip:+12145550999@", "INVITE sip:"+uac.Token([]byte("new"), w.carrier())+"@", 1))
	b := w.take(pbx1Addr, "INVITE")
	if uri := string(b.RequestURI()); uri != "sip:+12145550123@"+pbx1Addr {
		t.Errorf("called %s", uri)
	}
}

// TestDEC07_CallOnRegistrationIsHandedOff: the peer site knows the number too.
func TestDEC07_CallOnRegistrationIsHandedOff(t *testing.T) {
	p := newTwoSites(t)
	p.dal, p.ash = newAccountWorld(t, "dal-1", "dallas", nil), newAccountWorld(t, "ash-1", "ashburn", nil)
	p.dal.peers, p.ash.peers = newTwoSites(t).dal.peers, newTwoSites(t).ash.peers
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	text := invite{called: "+12145550100", host: registrarAddr, body: offer}.String()
	p.dal.from(registrarAddr, strings.Replace(text, "INVITE sip:+12145550100@", "INVITE sip:"+uac.Token([]byte("new"), p.dal.carrier())+"@", 1))
	p.exchange()
	if b := p.ash.take("198.51.100.74:5060", "INVITE"); string(b.RequestURI()) != "sip:+12145550100@198.51.100.74:5060" {
		t.Errorf("called %s", b.RequestURI())
	}
}

// TestSendRegister: the form of a REGISTER, and what comes back.
func TestSendRegister(t *testing.T) {
	w := newAccountWorld(t, "dal-1", "dallas", nil)
	var results []RegisterResult
	order := RegisterOrder{
		Member: w.carrier(), Addr: netip.MustParseAddrPort(registrarAddr), URI: "sip:carrier.example", CallID: "reg-1",
		Order: uac.Order{Seq: 7, Expires: 600, Remove: []string{"sip:old@203.0.113.9:5060", "not a uri>\r\nX: y"}, Credentials: "Authorization: Digest x=\"y\"\r\n"},
		Done:  func(r RegisterResult) { results = append(results, r) },
	}
	w.step(func() { w.s.SendRegister(w.now, order) })
	m := w.take(registrarAddr, "REGISTER sip:carrier.example SIP/2.0")
	contact := "sip:" + uac.Token([]byte("new"), w.carrier()) + "@203.0.113.1:5060"
	var contacts []string
	m.EachOf(sip.Contact, func(v []byte) bool { contacts = append(contacts, string(v)); return true })
	if len(contacts) != 2 || contacts[0] != "<sip:old@203.0.113.9:5060>;expires=0" || contacts[1] != "<"+contact+">;expires=600" {
		t.Errorf("contacts %q", contacts)
	}
	if string(m.Header(sip.To)) != "<sip:+12145550100@carrier.example>" || m.CSeq() != 7 || string(m.Header(sip.Authorization)) != `Digest x="y"` || string(m.Header(sip.Expires)) != "600" {
		t.Errorf("\n%s", m.Raw())
	}
	w.from(registrarAddr, reply(m, 100, "", ""))
	other := "sip:" + uac.Token([]byte("old"), w.carrier()) + "@other:5080;transport=tcp"
	w.from(registrarAddr, reply(m, 200, "r", "", "Contact: <"+contact+">;expires=60, <"+other+">, <sip:x@203.0.113.1:5060>\r\n"))
	if len(results) != 1 || results[0].Message.Status() != 200 || results[0].Contact != contact || !slices.Equal(results[0].Own, []string{contact, other}) {
		t.Fatalf("%+v", results)
	}
	w.step(func() { w.s.SendRegister(w.now, order) })
	w.take(registrarAddr, "REGISTER")
	w.advance(40 * time.Second)
	order.Addr = netip.MustParseAddrPort("[2001:db8::1]:5060")
	w.step(func() { w.s.SendRegister(w.now, order) })
	if len(results) != 3 || results[1].Err == nil || !errors.Is(results[2].Err, transport.ErrNoListener) {
		t.Errorf("%+v", results)
	}
	w.quiet()
}

// BenchmarkAccountOfToken is what an INVITE to one of our registrations costs beside
// any other; one to a number costs a look at its length.
func BenchmarkAccountOfToken(b *testing.B) {
	w := newAccountWorld(b, "dal-1", "dallas", nil)
	token := []byte(uac.Token([]byte("old"), w.carrier()))
	b.ReportAllocs()
	for b.Loop() {
		if w.s.accounts.member(w.table, token) != w.carrier() || w.s.accounts.member(w.table, []byte("+12145550100")) != nil {
			b.Fatal("not found")
		}
	}
}

// TestRegisterOverStreams: the Contact names the transport, so that the carrier's calls
// come to a listener that speaks it.
func TestRegisterOverStreams(t *testing.T) {
	doc := document()
	doc.TrunkGroups[2].Members[0].Transport = trunkgroup.TCP
	doc.TrunkGroups[2].Members[0].Account = &trunkgroup.AccountSpec{
		AOR: "sip:acme@carrier.example", Realm: carrierRealm, Register: true, HA1MD5: strings.Repeat("0", 32),
	}
	w := newWorldOf(t, "dal-1", "dallas", doc)
	w.s.SetKeys(Keys{Identifiers: [][]byte{[]byte("k")}, Handoff: [][]byte{[]byte("k")}, Accounts: [][]byte{[]byte("new")}})
	order := RegisterOrder{
		Member: w.carrier(), Addr: netip.MustParseAddrPort(carrierAddr), URI: "sip:carrier.example", CallID: "reg-1",
		Order: uac.Order{Seq: 1, Expires: 60}, Done: func(RegisterResult) {},
	}
	w.step(func() { w.s.SendRegister(w.now, order) })
	m := w.take(carrierAddr, "REGISTER")
	want := "<sip:" + uac.Token([]byte("new"), w.carrier()) + "@203.0.113.1:5060;transport=tcp>;expires=60"
	if got := string(m.Header(sip.Contact)); got != want {
		t.Errorf("Contact %s, want %s", got, want)
	}
	if via := m.TopVia(); string(via.Transport) != "TCP" {
		t.Errorf("Via over %s", via.Transport)
	}
}
