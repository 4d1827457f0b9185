package b2bua

import (
	"bytes"
	"crypto/md5" //nolint:gosec // digest with MD5
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// shapedCarriers is carriers() with a number policy, and an account at the first carrier.
func shapedCarriers() *trunkgroup.Document {
	return carriers(func(d *trunkgroup.Document) {
		d.NumberPolicies = []trunkgroup.NumberPolicySpec{
			{Name: "plain", Format: trunkgroup.FormatPlain, Numbering: trunkgroup.PolicyNumberingSpec{CountryCode: "1"}},
		}
		d.TrunkGroups[1].Members[0].Account = &trunkgroup.AccountSpec{
			AOR: "sip:acme@carrier.example", Username: "acme", Realm: carrierRealm, HA1MD5: fmt.Sprintf("%x", md5.Sum([]byte("acme:"+carrierRealm+":secret"))), //nolint:gosec // digest with MD5
		}
	})
}

// changedRoute is a route to a carrier that changes all that a route can change.
func changedRoute(carrier string) trunkgroup.CarrierRoute {
	r := routeTo(carrier)
	r.NumberPolicy, r.TechPrefix, r.Destination = "plain", "1010288", "+12025550123"
	r.CallerID, r.Restricted, r.Headers = "+13105550100", true, headersOf("X-Account", "42", "Via", "evil")
	return r
}

// S-080: tech_prefix 1010288 + plain policy gives 101028812025550123, and no prefix in To;
// S-082: the next carrier gets the caller's own request; S-086: and his own number.
func TestS080_S082_S086_ShapesOfACall(t *testing.T) {
	w := decided(t, shapedCarriers(), changedRoute(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	first := w.takes(gatewayA, 503)
	if got := string(first.RequestURI()); got != "sip:101028812025550123@"+gatewayA {
		t.Errorf("Request-URI %s", got)
	}
	if got := string(first.Header(sip.To)); got != "<sip:12025550123@"+gatewayA+">" {
		t.Errorf("To %s", got)
	}
	if got := withoutTag(first.Header(sip.From)); got != `"Anonymous" <sip:anonymous@anonymous.invalid>` {
		t.Errorf("From %s", got)
	}
	if got := string(first.Header(sip.PAssertedIdentity)); !strings.Contains(got, "<sip:13105550100@203.0.113.1") {
		t.Errorf("P-Asserted-Identity %s", got)
	}
	second := w.takes(gatewayB, 200)
	if got := string(second.RequestURI()); got != "sip:+13125550100@"+gatewayB {
		t.Errorf("Request-URI of the next carrier: %s", got)
	}
	if got := withoutTag(second.Header(sip.From)); got != `"Bob" <sip:+13105551234@203.0.113.1:5060>` {
		t.Errorf("From of the next carrier: %s", got)
	}
	if second.Has(sip.Privacy) || second.Has(sip.PAssertedIdentity) || bytes.Contains(second.Raw(), []byte("X-Account")) {
		t.Errorf("the next carrier sees what is the first one's:\n%s", second.Raw())
	}
	w.ends(200, "a 503")
}

// S-081: refused headers are told with carrier and name, the rest is applied all the same.
func TestS081_RefusedHeadersAreTold(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", shapedDocument())
	list := []string{"Via", "Call-ID", "CSeq", "Max-Forwards", "Content-Length", "From", "To", "Contact", "Record-Route", "Route"}
	route := &trunkgroup.CarrierRoute{CarrierID: "carrier-x", Headers: headersOf("X-First", "1")}
	for _, name := range list {
		route.Headers = append(route.Headers, headersOf(strings.ToLower(name), "evil")...)
	}
	route.Headers = append(route.Headers, headersOf("Proxy-Authorization", "Digest x=1", "X-Last", "2")...)
	out, faults := w.shapeInvite(mustParse(t, callerInvite("<sip:+13105551234@x>", "")), attempted{group: "carrier-a", route: route})
	for _, name := range list {
		if !slices.Contains(faults, "refused_header of carrier-x: "+strings.ToLower(name)) {
			t.Errorf("%s is not told", name)
		}
	}
	if len(faults) != len(list) || bytes.Contains(out, []byte("evil")) {
		t.Errorf("%q\n%s", faults, out)
	}
	for _, line := range []string{"\r\nX-First: 1\r\n", "\r\nX-Last: 2\r\n", "\r\nProxy-Authorization: Digest x=1\r\n"} {
		if !bytes.Contains(out, []byte(line)) {
			t.Errorf("%q is missing", line)
		}
	}
}

// S-087: "caller_id substitution -> identity assertion -> number_policy -> anonymisation":
// what each step gets from the one before it.
func TestS087_Order(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", shapedDocument())
	route := &trunkgroup.CarrierRoute{CallerID: "+13105550100", NumberPolicy: "plain"}
	sent := func() *sip.Message {
		out, _ := w.shapeInvite(mustParse(t, callerInvite("<sip:+13105551234@x>", "")), attempted{group: "carrier-a", route: route})
		return mustParse(t, string(out))
	}
	uri := func(m *sip.Message, id sip.HeaderID) string {
		from := addressOf(m.Header(id))
		return string(from.User)
	}
	m := sent()
	if uri(m, sip.From) != "13105550100" || uri(m, sip.PAssertedIdentity) != "13105550100" {
		t.Errorf("substitution comes before assertion, and that before the policy:\n%s", m.Raw())
	}
	route.Restricted = true
	m = sent()
	if uri(m, sip.From) != "anonymous" || uri(m, sip.PAssertedIdentity) != "13105550100" || string(m.Header(sip.Privacy)) != "id" {
		t.Errorf("anonymisation comes last:\n%s", m.Raw())
	}
	route.CallerID = ""
	if m = sent(); uri(m, sip.PAssertedIdentity) != "13105551234" {
		t.Errorf("assertion comes before anonymisation:\n%s", m.Raw())
	}
}

// S-053: "a relayed failure carries the CALLER's own From/To, never the shaped B-leg
// identity".
func TestS053_FailuresNameTheCallerAsHeCalled(t *testing.T) {
	w := decided(t, shapedCarriers(), changedRoute(b))
	w.from(customerAddr, vendorCall())
	m := w.takes(gatewayB)
	w.from(gatewayB, reply(m, 486, "far", "", "Contact: <sip:gw@"+gatewayB+">\r\n"))
	w.take(gatewayB, "ACK")
	final := w.take(customerAddr, "SIP/2.0 486")
	if got := string(final.Header(sip.From)); got != `"Bob" <sip:+13105551234@`+customerAddr+`>;tag=caller` {
		t.Errorf("From %s", got)
	}
	if got := withoutTag(final.Header(sip.To)); got != "<sip:+13125550100@203.0.113.1>" {
		t.Errorf("To %s", got)
	}
	w.quiet()
}

// S-055: the INVITE that answers a carrier's challenge has the shape of the first one.
func TestS055_ChallengeKeepsTheShape(t *testing.T) {
	w := decided(t, shapedCarriers(), changedRoute(a))
	w.from(customerAddr, vendorCall())
	first := w.takes(gatewayA)
	w.from(gatewayA, reply(first, 401, "far", "", "WWW-Authenticate: Digest realm=\""+carrierRealm+"\", nonce=\"n\"\r\n"))
	w.take(gatewayA, "ACK")
	again := w.takes(gatewayA)
	if again.CSeq() != first.CSeq()+1 || !again.Has(sip.Authorization) || !bytes.Equal(again.CallID(), first.CallID()) {
		t.Fatalf("no answer to the challenge:\n%s", again.Raw())
	}
	strip := func(m *sip.Message) string {
		var kept []string
		for line := range strings.SplitSeq(string(m.Raw()), "\r\n") {
			if !strings.HasPrefix(line, "Via:") && !strings.HasPrefix(line, "CSeq:") && !strings.HasPrefix(line, "Authorization:") {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "\n")
	}
	if strip(first) != strip(again) {
		t.Errorf("first:\n%s\nagain:\n%s", strip(first), strip(again))
	}
	w.says(gatewayA, again, 200)
	w.ends(200, "")
}

// S-085: nor do CANCEL, ACK, BYE and all that is said in the dialog tell who is withheld.
func TestS085_DialogTellsNothing(t *testing.T) {
	w := decided(t, shapedCarriers(), changedRoute(b))
	w.from(customerAddr, vendorCall())
	b := w.takes(gatewayB)
	w.from(gatewayB, reply(b, 200, "far", answerSDP, "Contact: <sip:gw@"+gatewayB+">\r\n"))
	ok := w.take(customerAddr, "SIP/2.0 200")
	ack := w.take(gatewayB, "ACK")
	w.from(customerAddr, ackFor(ok, "z9hG4bKack", ""))
	who := "P-Asserted-Identity: <sip:+13105551234@x>\r\nRemote-Party-ID: <sip:+13105551234@x>\r\nX-Caller: 3105551234\r\nX-Trace: 7\r\n"
	w.from(customerAddr, inside(ok, "INFO", 2, who, ""))
	info := w.take(gatewayB, "INFO")
	w.from(gatewayB, reply(info, 200, "far", ""))
	w.take(customerAddr, "SIP/2.0 200")
	w.from(gatewayB, calleeRequest(b, "far", "UPDATE", 7, "Contact: <sip:gw@"+gatewayB+">\r\n", ""))
	update := w.take(customerAddr, "UPDATE")
	w.from(customerAddr, reply(update, 200, "caller", "", who, "Contact: <sip:bob@"+customerAddr+">\r\n"))
	answer := w.take(gatewayB, "SIP/2.0 200")
	w.from(customerAddr, inside(ok, "BYE", 3, "", ""))
	bye := w.take(gatewayB, "BYE")
	for _, m := range []*sip.Message{b, ack, info, answer, bye} {
		if bytes.Contains(m.Raw(), []byte(callerDigits)) || m != b && m.Has(sip.PAssertedIdentity) {
			t.Errorf("tells who calls:\n%s", m.Raw())
		}
	}
	if !bytes.Contains(info.Raw(), []byte("X-Trace: 7")) || !bytes.Contains(answer.Raw(), []byte("X-Trace: 7")) {
		t.Error("what tells nothing goes through")
	}
	w.from(gatewayB, reply(bye, 200, "far", ""))
	w.take(customerAddr, "SIP/2.0 200")
	w.quiet()
}

// A name that is not configured "shapes nothing and is logged at warn with the carrier".
func TestS080_UnknownPolicyIsTold(t *testing.T) {
	r := routeTo(a)
	r.NumberPolicy = "nobody"
	w := decided(t, shapedCarriers(), r)
	w.from(customerAddr, vendorCall())
	if m := w.takes(gatewayA, 486); string(m.RequestURI()) != "sip:+13125550100@"+gatewayA {
		t.Errorf("Request-URI %s", m.RequestURI())
	}
	told := 0
	for _, e := range w.events {
		if e.Kind == EventRouteFault && e.Reason == FaultUnknownPolicy && e.Carrier == a && e.Detail == "nobody" && e.Call != "" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
	w.ends(486, "a 486")
}
