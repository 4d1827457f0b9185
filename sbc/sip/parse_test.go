package sip

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// invite is an ordinary INVITE of a carrier; the benchmarks use it too.
const invite = "INVITE sip:+12145550100@sbc.example.com;user=phone SIP/2.0\r\n" +
	"Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK776asdhds;rport\r\n" +
	"Max-Forwards: 70\r\n" +
	"From: \"Alice\" <sip:+13125550142@192.0.2.10>;tag=1928301774\r\n" +
	"To: <sip:+12145550100@sbc.example.com>\r\n" +
	"Call-ID: a84b4c76e66710@192.0.2.10\r\n" +
	"CSeq: 314159 INVITE\r\n" +
	"Contact: <sip:+13125550142@192.0.2.10:5060>\r\n" +
	"Content-Type: application/sdp\r\n" +
	"Content-Length: 89\r\n" +
	"\r\n" +
	"v=0\r\no=- 1 1 IN IP4 192.0.2.10\r\ns=-\r\nc=IN IP4 192.0.2.10\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n"

// edit returns the invite with one replacement.
func edit(t testing.TB, old, new string) []byte {
	t.Helper()
	if !strings.Contains(invite, old) {
		t.Fatalf("no %q in the invite", old)
	}
	return []byte(strings.Replace(invite, old, new, 1))
}

// mustParse parses a message that has to be good.
func mustParse(t testing.TB, raw []byte) *Message {
	t.Helper()
	m, fault := Parse(bytes.Clone(raw))
	if fault != nil {
		t.Fatalf("refused: %d %s\n%s", fault.Code, fault.Reason, raw)
	}
	return m
}

func TestParseFacts(t *testing.T) {
	m := mustParse(t, []byte(invite))
	via := m.TopVia()
	for _, c := range []struct{ name, got, want string }{
		{"method", m.Method(), INVITE},
		{"uri", string(m.RequestURI()), "sip:+12145550100@sbc.example.com;user=phone"},
		{"call-id", string(m.CallID()), "a84b4c76e66710@192.0.2.10"},
		{"from tag", string(m.FromTag()), "1928301774"},
		{"to tag", string(m.ToTag()), ""},
		{"cseq", fmt.Sprint(m.CSeq(), " ", m.CSeqMethod()), "314159 INVITE"},
		{"branch", string(m.Branch()), "z9hG4bK776asdhds"},
		{"via", fmt.Sprintf("%s %s %d %v", via.Transport, via.Host, via.Port, via.RPort), "UDP 192.0.2.10 5060 true"},
		{"max-forwards", fmt.Sprint(m.MaxForwards()), "70"},
		{"contact", string(m.Header(Contact)), "<sip:+13125550142@192.0.2.10:5060>"},
		{"body", fmt.Sprint(len(m.Body())), "89"},
		{"headers", fmt.Sprint(len(m.fields)), "9"},
		{"absent", fmt.Sprint(m.Header(Route) == nil, m.Has(Route), m.Count(Via)), "true false 1"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
	if !bytes.Equal(m.Raw(), []byte(invite)) {
		t.Error("raw bytes changed")
	}
}

func TestParseResponse(t *testing.T) {
	raw := "SIP/2.0 180 Ringing now\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKx\r\nf: <sip:a@b>;tag=1\r\nt: <sip:c@d>;tag=2\r\ni: x\r\n" +
		"CSeq: 7 INVITE\r\nl: 0\r\n\r\n"
	m := mustParse(t, []byte(raw))
	if m.IsRequest() || m.Status() != 180 || string(m.Reason()) != "Ringing now" || m.Method() != "" || m.RequestURI() != nil {
		t.Fatalf("status line: %d %q %q", m.Status(), m.Reason(), m.Method())
	}
	if m.CSeqMethod() != INVITE || string(m.ToTag()) != "2" || m.MaxForwards() != -1 {
		t.Fatalf("facts: %q %q %d", m.CSeqMethod(), m.ToTag(), m.MaxForwards())
	}
}

// TestGate has one row per rule: what is changed in a good INVITE, and the verdict. Code -1 = accepted.
func TestGate(t *testing.T) {
	const good = -1
	rows := []struct {
		rule, old, new string
		code           int
		close          bool
	}{
		{"extension methods keep their case", "INVITE", "invite", 501, false}, // CSeq still says INVITE
		{"method is a token", "INVITE sip", "INV@ITE sip", 0, false},
		{"tel Request-URI", "sip:+12145550100@sbc.example.com;user=phone", "tel:+1-214-555-0100;phone-context=x", good, false},
		{"unknown scheme", "sip:+12145550100@sbc.example.com;user=phone", "im:bob@example.com", 416, false},
		{"upper-case scheme", "sip:+12145550100@s", "SIP:+12145550100@s", good, false},
		{"no scheme", "sip:+12145550100@sbc.example.com;user=phone", "bob", 400, false},
		{"lower-case version", "SIP/2.0\r\nVia", "sip/2.0\r\nVia", good, false},
		{"version", "SIP/2.0\r\nVia", "SIP/3.0\r\nVia", 505, false},
		{"not SIP", "SIP/2.0\r\nVia", "HTTP/1.1\r\nVia", 400, false},
		{"two blanks", "INVITE sip", "INVITE  sip", 400, false},
		{"blank in Request-URI", ";user=phone SIP", "; user=phone SIP", 400, false},
		{"trailing blank", "SIP/2.0\r\nVia", "SIP/2.0 \r\nVia", 400, false},
		{"tab in request line", "INVITE sip", "INVITE\tsip", 0, true},
		{"no CRLF behind start line", "SIP/2.0\r\nVia", "SIP/2.0\nVia", 400, true},
		{"Via missing", "Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK776asdhds;rport\r\n", "", 0, false},
		{"From missing", "From: \"Alice\" <sip:+13125550142@192.0.2.10>;tag=1928301774\r\n", "", 400, false},
		{"Max-Forwards is optional", "Max-Forwards: 70\r\n", "", good, false},
		{"Max-Forwards not a number", "Max-Forwards: 70", "Max-Forwards: 7x", 400, false},
		{"Max-Forwards limit", "Max-Forwards: 70", "Max-Forwards: 255", good, false},
		{"Max-Forwards over limit", "Max-Forwards: 70", "Max-Forwards: 256", 400, false},
		{"CSeq limit", "CSeq: 314159", "CSeq: 2147483647", good, false},
		{"CSeq over limit", "CSeq: 314159", "CSeq: 2147483648", 400, false},
		{"CSeq negative", "CSeq: 314159", "CSeq: -1", 400, false},
		{"CSeq method", "314159 INVITE", "314159 BYE", 400, false},
		{"CSeq method case", "314159 INVITE", "314159 Invite", 400, false},
		{"CSeq without blank", "314159 INVITE", "314159INVITE", 400, false},
		{"Content-Length absent on UDP", "Content-Length: 89\r\n", "", good, false},
		{"Content-Length too long", "Content-Length: 89", "Content-Length: 90", 400, true},
		{"Content-Length too short", "Content-Length: 89", "Content-Length: 88", good, false},
		{"Content-Length sign", "Content-Length: 89", "Content-Length: +89", 400, true},
		{"Content-Length hex", "Content-Length: 89", "Content-Length: 0x59", 400, true},
		{"Content-Length empty", "Content-Length: 89", "Content-Length:", 400, true},
		{"Content-Length twice, equal", "Content-Length: 89\r\n", "Content-Length: 89\r\nl: 89\r\n", 400, true},
		{"singleton twice", "Max-Forwards: 70\r\n", "Max-Forwards: 70\r\nmax-forwards : 69\r\n", 400, false},
		{"Call-ID with blank", "a84b4c76e66710@", "a84b4c 76e66710@", 400, false},
		{"Call-ID empty", "Call-ID: a84b4c76e66710@192.0.2.10", "Call-ID:  ", 400, false},
		{"header without colon", "Max-Forwards: 70", "Max-Forwards 70", 400, false},
		{"header name with control", "Max-Forwards: 70\r\n", "Max-Forwards: 70\r\nX\x01Y: 1\r\n", 400, false},
		{"header name not a token", "Max-Forwards: 70\r\n", "Max-Forwards: 70\r\nX Y: 1\r\n", 400, false},
		{"bare CR", "Max-Forwards: 70\r\n", "Max-Forwards: 70\r\nX: a\rb\r\n", 400, true},
		{"bare LF", "Max-Forwards: 70\r\n", "Max-Forwards: 70\r\nX: a\nb: 1\r\n", 400, true},
		{"NUL", "Max-Forwards: 70\r\n", "Max-Forwards: 70\r\nX: a\x00b\r\n", 400, false},
		{"DEL", "Max-Forwards: 70\r\n", "Max-Forwards: 70\r\nX: a\x7fb\r\n", 400, false},
		{"tab is white space", "Max-Forwards: 70\r\n", "Max-Forwards:\t70\r\nX: a\tb\r\n", good, false},
		{"quoted-pair of a control", "\"Alice\"", "\"Al\\\x07ice\"", good, false},
		{"control in quotes", "\"Alice\"", "\"Al\x07ice\"", 400, false},
		{"quoted-pair of CR", "\"Alice\"", "\"Al\\\rice\"", 400, true},
		{"UTF-8", "\"Alice\"", "Älice", good, false},
		{"fold", "Max-Forwards: 70\r\n", "Max-Forwards:\r\n 70\r\nSubject: a\r\n\tb\r\n", good, false},
		{"fold before any header", "SIP/2.0\r\nVia", "SIP/2.0\r\n Via", 0, false},
		{"blank line missing", "\r\n\r\nv=0", "\r\nv=0", 400, true},
		{"ACK is never answered", "INVITE sip:+12145550100@sbc", "ACK sip:+12145550100@s bc", 0, false},
		{"Request-URI with headers", ";user=phone SIP", "?Subject=x SIP", 400, false},
		{"Request-URI port", "sbc.example.com;user=phone", "sbc.example.com:70000", 400, false},
		{"Via port", "192.0.2.10:5060;branch", "192.0.2.10:70000;branch", 400, false},
		{"Via branch twice", ";rport", ";branch=z9hG4bKz", 400, false},
		{"Via version", "SIP/2.0/UDP", "SIP/3.0/UDP", 400, false},
		{"Via transport missing", "SIP/2.0/UDP", "SIP/2.0/", 400, false},
		{"Via host missing", "UDP 192.0.2.10:5060;", "UDP ;", 400, false},
		{"Via empty parameter", ";rport", ";;rport", 400, false},
		{"From tag twice", ";tag=1928301774", ";tag=1928301774;tag=2", 400, false},
		{"From tag empty", ";tag=1928301774", ";tag=", 400, false},
		{"From tag absent", ";tag=1928301774", "", good, false},
		{"From is no list", ";tag=1928301774", ";tag=1, <sip:b@c>", 400, false},
		{"From quote open", "\"Alice\"", "\"Alice", 400, false},
		{"From URI with blank", "<sip:+13125550142@192.0.2.10>;tag", "< sip:+13125550142@192.0.2.10>;tag", 400, false},
		{"From absolute URI", "<sip:+13125550142@192.0.2.10>;tag", "<http://example.com>;tag", good, false},
		{"Contact empty parameters", "0.2.10:5060>\r\n", "0.2.10:5060>;;\r\n", 400, false},
		{"Contact list", "0.2.10:5060>\r\n", "0.2.10:5060>;q=1, \"a,b\" <sip:x@y>\r\n", good, false},
		{"Contact list with hole", "0.2.10:5060>\r\n", "0.2.10:5060>, , <sip:x@y>\r\n", 400, false},
		{"Contact star", "<sip:+13125550142@192.0.2.10:5060>", "*", 400, false},
		{"malformed escape in URI", "sip:+12145550100@sbc.example.com;user=phone", "sip:%zz@h", 400, false},
		{"IPv6 host", "sip:+12145550100@sbc.example.com", "sip:+12145550100@[2001:db8::1]:5061", good, false},
	}
	for _, r := range rows {
		t.Run(r.rule, func(t *testing.T) {
			m, fault := Parse(edit(t, r.old, r.new))
			switch {
			case r.code == good && fault != nil:
				t.Fatalf("refused: %d %s", fault.Code, fault.Reason)
			case r.code == good:
			case fault == nil:
				t.Fatalf("accepted, want %d", r.code)
			case m != nil, fault.Code != r.code, fault.Close != r.close, (fault.Message == nil) != (fault.Code == 0):
				t.Fatalf("verdict %d %s close=%v message=%v, want %d close=%v",
					fault.Code, fault.Reason, fault.Close, fault.Message != nil, r.code, r.close)
			}
		})
	}
}

func TestGateCounts(t *testing.T) {
	for n, want := range map[int]bool{MaxHeaders - 9: true, MaxHeaders - 8: false} {
		raw := edit(t, "Max-Forwards: 70\r\n", "Max-Forwards: 70\r\n"+strings.Repeat("X-Pad: y\r\n", n))
		m, fault := Parse(raw)
		if (fault == nil) != want {
			t.Errorf("%d more headers: %v", n, fault)
		}
		if want && m.Count(Other) != n {
			t.Errorf("%d of %d headers found", m.Count(Other), n)
		}
	}
	for n, want := range map[int]int{MaxHeaderBlock - 600: 0, MaxHeaderBlock: 513, MaxMessage: 0} {
		_, fault := Parse(edit(t, "Max-Forwards: 70\r\n", "Max-Forwards: 70\r\nX: "+strings.Repeat("y", n)+"\r\n"))
		if code := verdictCode(fault); code != want {
			t.Errorf("header of %d bytes: %d, want %d", n, code, want)
		}
	}
}

func verdictCode(f *Fault) int {
	if f == nil {
		return 0
	}
	return f.Code
}

// TestWSINV holds the facts of RFC 4475 3.1.1.1, the message that bends every white space rule.
func TestWSINV(t *testing.T) {
	m := mustParse(t, corpusFiles(t, "rfc4475")["wsinv"])
	via := m.TopVia()
	for _, c := range []struct{ name, got, want string }{
		{"to tag", string(m.ToTag()), "1918181833n"},
		{"from tag", string(m.FromTag()), "98asjd8"},
		{"max-forwards", fmt.Sprint(m.MaxForwards()), "68"},
		{"cseq", fmt.Sprint(m.CSeq()), "9"},
		{"via", fmt.Sprintf("%s %s %s", via.Transport, via.Host, via.Branch), "UDP 192.0.2.2 390skdjuw"},
		{"subject", string(m.Header(Subject)), ""},
		{"body", fmt.Sprint(len(m.Body())), "150"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
	var hops []string
	m.EachOf(Via, func(v []byte) bool {
		hop, rest, err := parseVia(v)
		if err != nil || rest != nil {
			t.Errorf("via %q: %v, rest %q", v, err, rest)
		}
		hops = append(hops, fmt.Sprintf("%s %s %s", hop.Transport, hop.Host, hop.Branch))
		return true
	})
	if got := strings.Join(hops, "; "); got != "UDP 192.0.2.2 390skdjuw; TCP spindle.example.com z9hG4bK9ikj8; UDP 192.168.255.111 z9hG4bK30239" {
		t.Errorf("hops: %s", got)
	}
	a, err := ParseNameAddr(m.Header(Contact))
	if q, ok := Param(a.Params, "Q"); err != nil || string(q) != "0.33" || !ok || string(a.URI) != "sip:jdrosen@example.com" {
		t.Errorf("contact: %+v %v", a, err)
	}
	m.EachNamed("newFangledHeader", func(v []byte) bool {
		if strings.Join(strings.Fields(string(v)), " ") != "newfangled value continued newfangled value" {
			t.Errorf("folded value %q", v)
		}
		return true
	})
}

// TestRFC4475Facts holds what other torture messages say beyond a verdict.
func TestRFC4475Facts(t *testing.T) {
	files := corpusFiles(t, "rfc4475", "rfc5118", "abuse")
	m := mustParse(t, files["intmeth"])
	if m.Method() != "!interesting-Method0123456789_*+`.%indeed'~" || m.CSeqMethod() != m.Method() {
		t.Errorf("intmeth: method %q", m.Method())
	}
	if m = mustParse(t, files["esc02"]); m.Method() != "RE%47IST%45R" {
		t.Errorf("esc02: method %q", m.Method())
	}
	if u, err := ParseURI(mustParse(t, files["esc01"]).RequestURI()); err != nil || string(u.User) != "sips%3Auser%40example.com" {
		t.Errorf("esc01: %q %v", u.User, err)
	}
	u, err := ParseURI(mustParse(t, files["semiuri"]).RequestURI())
	if err != nil || string(u.User) != "user;par=u%40example.net" || string(u.Number()) != "user" || string(u.Host) != "example.com" {
		t.Errorf("semiuri: %q %v", u.User, err)
	}
	if m = mustParse(t, files["dblreq"]); m.Method() != REGISTER || len(m.Body()) != 0 || bytes.Contains(m.Raw(), []byte("INVITE")) {
		t.Error("dblreq: octets behind the message were kept")
	}
	if m = mustParse(t, files["mpart01"]); len(m.Body()) != 553 {
		t.Errorf("mpart01: body of %d bytes", len(m.Body()))
	}
	via := mustParse(t, files["badbranch"]).TopVia()
	if via.IsRFC3261() {
		t.Error("badbranch: the bare cookie is no branch")
	}
	if m = mustParse(t, files["a15-space-before-colon"]); string(m.Header(PAssertedIdentity)) != "<sip:admin@x>" {
		t.Error("a15: the blank before the colon hid the header")
	}
	for name, want := range map[string]string{
		"via-received-param-with-delim": "[2001:db8::9:255]", "via-received-param-no-delim": "2001:db8::9:255",
	} {
		if via := mustParse(t, files[name]).TopVia(); string(via.Received) != want {
			t.Errorf("%s: received %q", name, via.Received)
		}
	}
	u, err = ParseURI(mustParse(t, files["port-ambiguous"]).RequestURI())
	if err != nil || string(u.Host) != "[2001:db8::10:5070]" || u.Port != 0 {
		t.Errorf("port-ambiguous: %s %d %v", u.Host, u.Port, err)
	}
}
