package sip

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
)

func source(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// TestResponseVia holds RFC 3261 18.2.1 and RFC 3581 4: received and rport say where the request came from.
func TestResponseVia(t *testing.T) {
	for _, c := range []struct{ name, via, source, want string }{
		{"same address", "SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa", "192.0.2.1:5060", "SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa"},
		{"other address", "SIP/2.0/UDP h.example;branch=z9hG4bKa", "192.0.2.1:9", "SIP/2.0/UDP h.example;branch=z9hG4bKa;received=192.0.2.1"},
		{"rport", "SIP/2.0/UDP 10.1.1.1:4540;rport;branch=z9hG4bKa", "192.0.2.1:9988", "SIP/2.0/UDP 10.1.1.1:4540;branch=z9hG4bKa;received=192.0.2.1;rport=9988"},
		{"rport from the same address", "SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa;rport", "192.0.2.1:9988", "SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa;received=192.0.2.1;rport=9988"},
		{"a value in the request is replaced", "SIP/2.0/UDP 192.0.2.1;rport=99999999;branch=z9hG4bKa", "192.0.2.1:7", "SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa;received=192.0.2.1;rport=7"},
		{"a forged received is replaced", "SIP/2.0/UDP 192.0.2.1;received=203.0.113.1;branch=z9hG4bKa", "192.0.2.1:7", "SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa"},
		{"both, in any order", "SIP/2.0/UDP h;received=203.0.113.1 ; rport = 5;branch=z9hG4bKa", "192.0.2.1:7", "SIP/2.0/UDP h ;branch=z9hG4bKa;received=192.0.2.1;rport=7"},
		{"hops of one line", "SIP/2.0/UDP h;rport;branch=z9hG4bKa , SIP/2.0/TCP i;branch=z9hG4bKb", "192.0.2.1:7", "SIP/2.0/UDP h;branch=z9hG4bKa;received=192.0.2.1;rport=7, SIP/2.0/TCP i;branch=z9hG4bKb"},
		{"IPv6", "SIP/2.0/TCP [2001:DB8:0::9];branch=z9hG4bKa", "[2001:db8::9]:1", "SIP/2.0/TCP [2001:DB8:0::9];branch=z9hG4bKa"},
		{"IPv6 differs", "SIP/2.0/TCP [2001:db8::8];branch=z9hG4bKa", "[2001:db8::9]:1", "SIP/2.0/TCP [2001:db8::8];branch=z9hG4bKa;received=2001:db8::9"},
		{"IPv4-mapped", "SIP/2.0/TCP 192.0.2.1;branch=z9hG4bKa", "[::ffff:192.0.2.1]:1", "SIP/2.0/TCP 192.0.2.1;branch=z9hG4bKa"},
		{"unknown source", "SIP/2.0/UDP h;rport;branch=z9hG4bKa", "", "SIP/2.0/UDP h;rport;branch=z9hG4bKa"},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := mustParse(t, edit(t, "SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK776asdhds;rport", c.via))
			var src netip.AddrPort
			if c.source != "" {
				src = source(c.source)
			}
			raw := AppendResponse(nil, req, 200, "", nil, src, nil, nil, nil)
			line, _, _ := strings.Cut(strings.SplitN(string(raw), "\r\n", 2)[1], "\r\n")
			if got := strings.TrimPrefix(line, "Via: "); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestResponseWhole(t *testing.T) {
	req := mustParse(t, edit(t, "Max-Forwards: 70\r\n", "Max-Forwards: 70\r\nTimestamp: 54\r\nv: SIP/2.0/TCP up;branch=z9hG4bKu\r\n"))
	raw := AppendResponse(nil, req, 183, "", []byte("ours"), source("192.0.2.10:5060"),
		[]byte("Contact: <sip:sbc>\r\n"), []byte("application/sdp"), []byte("v=0\r\n"))
	want := "SIP/2.0 183 Session Progress\r\n" +
		"Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK776asdhds;received=192.0.2.10;rport=5060\r\n" +
		"Via: SIP/2.0/TCP up;branch=z9hG4bKu\r\n" +
		"From: \"Alice\" <sip:+13125550142@192.0.2.10>;tag=1928301774\r\n" +
		"To: <sip:+12145550100@sbc.example.com>;tag=ours\r\n" +
		"Call-ID: a84b4c76e66710@192.0.2.10\r\nCSeq: 314159 INVITE\r\n" +
		"Contact: <sip:sbc>\r\nContent-Type: application/sdp\r\nContent-Length: 5\r\n\r\nv=0\r\n"
	if string(raw) != want {
		t.Errorf("response\n%s\nwant\n%s", raw, want)
	}
	if trying := AppendResponse(nil, req, 100, "", nil, source("192.0.2.10:5060"), nil, nil, nil); !bytes.Contains(trying, []byte("\r\nTimestamp: 54\r\n")) {
		t.Error("a 100 copies Timestamp")
	}
	inDialog := mustParse(t, edit(t, "To: <sip:+12145550100@sbc.example.com>", "To: <sip:+12145550100@sbc.example.com>;tag=known"))
	if r := AppendResponse(nil, inDialog, 200, "", []byte("new"), netip.AddrPort{}, nil, nil, nil); bytes.Contains(r, []byte("new")) {
		t.Error("a second To tag was added")
	}
}

// TestFaultResponses answers every refused message of the corpus: the answer must be well-formed in its framing and hold
// nothing that could end a line.
func TestFaultResponses(t *testing.T) {
	for name, raw := range corpusFiles(t, "rfc4475", "rfc5118", "abuse") {
		_, fault := Parse(bytes.Clone(raw))
		if fault == nil || fault.Code == 0 {
			continue
		}
		answer := AppendResponse(nil, fault.Message, fault.Code, fault.Reason, []byte("t"), source("192.0.2.1:5060"), nil, nil, nil)
		checkFraming(t, name, answer)
	}
}

// checkFraming tells whether a message that we built has whole lines, no stray control that ends one, and ends with its blank line.
func checkFraming(t *testing.T, name string, raw []byte) {
	t.Helper()
	head, _, ok := bytes.Cut(raw, []byte("\r\n\r\n"))
	if !ok {
		t.Errorf("%s: no blank line in\n%s", name, raw)
	}
	for line := range bytes.SplitSeq(head, []byte("\r\n")) {
		if len(line) == 0 || bytes.ContainsAny(line, "\r\n\x00") || isBlank(line[0]) {
			t.Errorf("%s: line %q", name, line)
		}
	}
}

// TestBuildersStrip: no value ends a line, whoever gave it (RELIABILITY class 10).
func TestBuildersStrip(t *testing.T) {
	const evil = "a\r\nX-Evil: 1\n\x00b"
	for name, got := range map[string][]byte{
		"status line": AppendStatusLine(nil, 400, evil),
		"header":      AppendHeader(nil, "Subject", []byte(evil), []byte(evil)),
		"body":        AppendBody(nil, []byte(evil), []byte("x")),
		"response":    AppendResponse(nil, mustParse(t, []byte(invite)), 200, evil, []byte(evil), netip.AddrPort{}, nil, nil, nil),
	} {
		if bytes.Contains(got, []byte("\nX-Evil")) || bytes.Contains(got, []byte("\n\x00")) || bytes.IndexByte(got, 0) >= 0 ||
			bytes.Count(got, []byte("\n")) != bytes.Count(got, []byte("\r\n")) {
			t.Errorf("%s: %q", name, got)
		}
	}
	for in, want := range map[string]string{
		"\"a\\\x00\"": `"a"`, "\"a\\\\\x00\"": `"a\\"`, "plain": "plain", "": "", "\\\r\\\n": "", "x\\\\\\\x00y": `x\\y`,
	} {
		if got := appendClean(nil, in); string(got) != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestBuilders(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{string(AppendHeaderInt(nil, "Expires", 60)), "Expires: 60\r\n"},
		{string(AppendStatusLine(nil, 699, "")), "SIP/2.0 699 Global Failure\r\n"},
		{string(AppendBody(nil, nil, nil)), "Content-Length: 0\r\n\r\n"},
		{ReasonPhrase(486), "Busy Here"},
		{ReasonPhrase(499), "Request Failure"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	m := mustParse(t, edit(t, "Max-Forwards: 70\r\n", "Max-Forwards: 70\r\nRecord-Route: <sip:a;lr>\r\nrecord-route: <sip:b;lr>\r\n"))
	if got := string(AppendEach(nil, m, RecordRoute)); got != "Record-Route: <sip:a;lr>\r\nRecord-Route: <sip:b;lr>\r\n" {
		t.Errorf("AppendEach: %q", got)
	}
}
