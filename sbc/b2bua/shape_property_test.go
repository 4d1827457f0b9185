package b2bua

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// callerDigits are the end of the number of every caller of these tests.
const callerDigits = "5551234"

// drawCaller draws an INVITE that names its caller in many places and many ways.
func drawCaller(rt *rapid.T) string {
	number := rapid.SampledFrom([]string{"+13105551234", "13105551234", "3105551234", "310-555-1234", "(310)555.1234", "%2B13105551234"})
	name := rapid.SampledFrom([]string{"", `"Bob" `, "Bob ", `"310 555 1234" `})
	value := func(label string) string {
		uri := rapid.SampledFrom([]string{"<sip:%s@198.51.100.10>", "<sip:%s@198.51.100.10:5070;transport=tcp>", "<tel:%s>", "<sips:%s;tgrp=a@198.51.100.10>"}).Draw(rt, label+" uri")
		user := number.Draw(rt, label)
		if strings.Contains(uri, "tel:") {
			user = strings.Replace(user, "%2B", "+", 1)
		}
		return name.Draw(rt, label+" name") + fmt.Sprintf(uri, user)
	}
	lines := ""
	for _, header := range []string{
		"P-Asserted-Identity", "P-Preferred-Identity", "Remote-Party-ID", "Diversion", "History-Info", "Referred-By", "Reply-To",
		"Call-Info", "X-Caller", "P-Called-Party-ID", "Subject", "User-to-User", "Contact-Info",
	} {
		if rapid.Bool().Draw(rt, header) {
			lines += header + ": " + value(header) + "\r\n"
		}
	}
	if rapid.Bool().Draw(rt, "two") {
		lines += "P-Asserted-Identity: " + value("first") + ", " + value("second") + "\r\n"
	}
	if rapid.Bool().Draw(rt, "privacy") {
		lines += "Privacy: " + rapid.SampledFrom([]string{"none", "id", "user;id", "header;critical"}).Draw(rt, "wish") + "\r\n"
	}
	from := value("From")
	// Who calls as nobody, and is asserted by nobody, has no number that could be kept.
	if strings.Contains(lines, "P-Asserted-Identity") && rapid.IntRange(0, 4).Draw(rt, "anonymous") == 0 {
		from = `"Anonymous" <sip:anonymous@anonymous.invalid>`
	}
	return callerInvite(from, lines)
}

func callerInvite(from, lines string) string {
	return "INVITE sip:+12025550123@203.0.113.1 SIP/2.0\r\nVia: SIP/2.0/UDP 198.51.100.10:5060;branch=z9hG4bKa1\r\nFrom: " + from +
		";tag=caller\r\nTo: <sip:+12025550123@203.0.113.1>\r\nCall-ID: call-1\r\nCSeq: 1 INVITE\r\nContact: <sip:bob@198.51.100.10:5060>\r\n" +
		lines + "Content-Length: 0\r\n\r\n"
}

// drawRoute draws a route of any shape.
func drawRoute(rt *rapid.T, label string) *trunkgroup.CarrierRoute {
	pick := func(of string, list ...string) string { return rapid.SampledFrom(list).Draw(rt, label+of) }
	return &trunkgroup.CarrierRoute{
		CarrierID: label, Restricted: rapid.Bool().Draw(rt, label+"restricted"),
		NumberPolicy: pick("policy", "", "plain", "national", "mixed@2026", "strict", "nobody"),
		TechPrefix:   pick("prefix", "", "1010288", "#31#", "\r\nX: y"), CallerID: pick("caller", "", "+13105550100", "sip:+13105550100@x", "\"<>@"),
		Destination: pick("destination", "", "+442079460000", "tel:+442079460000", "evil\r\nX: y"),
		RURI:        pick("ruri", "", "sip:+12025550177@gw.example", "sip:gw.example:5070", "<>"),
		Headers:     headersOf(pick("header", "X-Account", "Via", "Identity", "P-Charging-Vector"), pick("value", "42", "a\r\nX: y", "é")),
	}
}

// S-085: "restricted": the number is nowhere in what leaves but in P-Asserted-Identity,
// whatever the caller wrote and whatever else the route says.
func TestS085_NothingTellsWhoIsWithheld(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", shapedDocument())
	rapid.Check(t, func(rt *rapid.T) {
		m := mustParse(rt, drawCaller(rt))
		route := drawRoute(rt, "a")
		route.Restricted, route.CarrierID = true, "a"
		group := rapid.SampledFrom([]string{"carrier-a", "carrier-plain", "carrier-stranger"}).Draw(rt, "group")
		out, _ := w.shapeInvite(m, attempted{group: group, route: route, ani: rapid.SampledFrom([]string{"", "+13105559234"}).Draw(rt, "ani")})
		sent := mustParse(rt, string(out))
		if from := string(sent.Header(sip.From)); !strings.HasPrefix(from, `"Anonymous" <sip:anonymous@anonymous.invalid>;tag=`) {
			rt.Fatalf("From: %s", from)
		}
		if sent.Count(sip.Privacy) != 1 || !strings.HasSuffix(string(sent.Header(sip.Privacy)), "id") {
			rt.Fatalf("Privacy: %s", sent.Header(sip.Privacy))
		}
		asserted := sent.Count(sip.PAssertedIdentity)
		if group == "carrier-stranger" && asserted > 0 || group != "carrier-stranger" && asserted == 0 && m.Has(sip.PAssertedIdentity) && route.NumberPolicy != "strict" {
			rt.Fatalf("%d identities asserted to %s:\n%s", asserted, group, out)
		}
		sent.Each(func(h sip.Header) bool {
			digits := strings.NewReplacer("-", "", ".", "", " ", "", "(", "", ")", "").Replace(string(h.Value))
			if h.ID != sip.PAssertedIdentity && (strings.Contains(digits, callerDigits) || strings.Contains(digits, "5559234") || strings.Contains(digits, "Bob")) {
				rt.Fatalf("%s: %s tells who calls:\n%s", h.Name, h.Value, out)
			}
			return true
		})
	})
}

// S-082, S-086: "failover reshapes from the ORIGINAL request, never from the previous
// carrier's shape": what the second carrier gets is what it would have got alone.
func TestS082_S086_FailoverShapesAnew(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", shapedDocument())
	rapid.Check(t, func(rt *rapid.T) {
		text := drawCaller(rt)
		first, second := drawRoute(rt, "a"), drawRoute(rt, "b")
		m := mustParse(rt, text)
		raw := bytes.Clone(m.Raw())
		w.shapeInvite(m, attempted{group: "carrier-plain", route: first})
		after, _ := w.shapeInvite(m, attempted{group: "carrier-a", route: second})
		alone, _ := w.shapeInvite(mustParse(rt, text), attempted{group: "carrier-a", route: second})
		if normalised(after) != normalised(alone) {
			rt.Fatalf("after another carrier:\n%s\nalone:\n%s", after, alone)
		}
		if !bytes.Equal(raw, m.Raw()) {
			rt.Fatalf("the caller's request was written to:\n%s", m.Raw())
		}
	})
}

// S-083, C8: the Request-URI is at the carrier's own host unless the route brings a whole
// one, and the tech prefix never reaches To.
func TestS083_C8_RequestURIAndTo(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", shapedDocument())
	rapid.Check(t, func(rt *rapid.T) {
		m, route := mustParse(rt, drawCaller(rt)), drawRoute(rt, "a")
		out, _ := w.shapeInvite(m, attempted{group: "carrier-a", route: route})
		sent := mustParse(rt, string(out))
		uri, err := sip.ParseURI(sent.RequestURI())
		if err != nil {
			rt.Fatalf("%v in\n%s", err, out)
		}
		whole := strings.HasPrefix(route.RURI, "sip:")
		if whole != (string(uri.Host) == "gw.example") || !whole && string(uri.Host) != "192.0.2.10" {
			rt.Fatalf("Request-URI %s for ruri %q", sent.RequestURI(), route.RURI)
		}
		prefix := string(appendEscaped(nil, route.TechPrefix, ""))
		if !strings.HasPrefix(string(uri.User), prefix) || prefix != "" && bytes.Contains(sent.Header(sip.To), []byte(prefix)) {
			rt.Fatalf("prefix %q, Request-URI %s, To %s", prefix, sent.RequestURI(), sent.Header(sip.To))
		}
		if sent.CSeq() != 1 || sent.Count(sip.From) != 1 || bytes.Contains(out, []byte("\r\nX: y")) {
			rt.Fatalf("something was broken:\n%s", out)
		}
	})
}

func mustParse(t rapid.TB, text string) *sip.Message {
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		t.Fatalf("%v in\n%s", fault, text)
	}
	return m
}

// Whatever a decision server and a caller write, the INVITE that leaves is one message that
// parses, with one of each header of the dialog and no line that was smuggled in.
func FuzzShape(f *testing.F) {
	f.Add("1010288", "+13105550100", "+442079460000", "sip:+1@gw.example", "X-Account", "42", `"Bob" <sip:+13105551234@198.51.100.10>`, uint8(0))
	f.Add("#31#", "\">\r\nX: y", "a@b;x=y\x00", "sip:a@b\r\n", "Via\r\nX", "1\r\nX: y", `<tel:+1310>;privacy=full`, uint8(1))
	f.Add("%", "sip:é", "<sip:1>", "tel:+1;ext=2", "l", "9", `Bob <sip:a:b@h?x=y>`, uint8(6))
	w := newWorldOf(f, "dal-1", "dallas", shapedDocument())
	f.Fuzz(func(t *testing.T, prefix, caller, destination, ruri, name, value, identity string, n uint8) {
		if strings.ContainsAny(identity, "\r\n") {
			return
		}
		m, fault := sip.Parse([]byte(callerInvite("<sip:+13105551234@198.51.100.10>", "P-Asserted-Identity: "+identity+"\r\nDiversion: "+identity+"\r\nRemote-Party-ID: "+identity+"\r\n")))
		if fault != nil {
			return
		}
		route := &trunkgroup.CarrierRoute{
			TechPrefix: prefix, CallerID: caller, Destination: destination, RURI: ruri, Headers: headersOf(name, value),
			NumberPolicy: []string{"", "plain", "mixed@2026", "strict"}[n%4], Restricted: n&4 != 0,
		}
		out, _ := w.shapeInvite(m, attempted{group: "carrier-a", route: route})
		sent, fault := sip.Parse(bytes.Clone(out))
		if fault != nil {
			t.Fatalf("%v in\n%q", fault, out)
		}
		if len(sent.Raw()) != len(out) || sent.Count(sip.Via) != 1 || sent.Count(sip.Contact) != 1 || sent.Has(sip.Route) || len(sent.Body()) != 0 {
			t.Fatalf("something was smuggled in:\n%q", out)
		}
		sent.Each(func(h sip.Header) bool {
			if len(h.Name) == 1 && h.ID == sip.Other && name != string(h.Name) {
				t.Fatalf("%s was smuggled in:\n%q", h.Name, out)
			}
			return true
		})
	})
}
