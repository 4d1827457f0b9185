package sip

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
)

// The tests here hold faults that SIP stacks in the field have, by the row of our list of them.

// TestB10QuotedParameters: a quoted parameter with blanks and commas is relayed as it came.
func TestB10QuotedParameters(t *testing.T) {
	const contact = `<sip:a@b>;methods="INVITE, BYE";+sip.instance="<urn:uuid:0 0>"`
	m := mustParse(t, edit(t, "<sip:+13125550142@192.0.2.10:5060>", contact))
	if got := string(m.Header(Contact)); got != contact {
		t.Errorf("contact %q", got)
	}
	const via = `SIP/2.0/UDP h;branch=z9hG4bKx;note="a, b;c"`
	m = mustParse(t, edit(t, "SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK776asdhds;rport", via))
	response := AppendResponse(nil, m, 200, "", nil, netip.AddrPort{}, nil, nil, nil)
	if !bytes.Contains(response, []byte("Via: "+via+"\r\n")) || string(m.Branch()) != "z9hG4bKx" {
		t.Errorf("response %s", response)
	}
}

// TestB11WhiteSpaceAndCase: white space around ';', '=' and '/', parameter names in any case, several Via of one line.
func TestB11WhiteSpaceAndCase(t *testing.T) {
	raw := edit(t, "SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK776asdhds;rport",
		"sip / 2.0 / udp h : 5070 ; BRANCH = z9hG4bKA ; RPort , SIP/2.0/TCP i")
	raw = bytes.Replace(raw, []byte(";tag=1928301774"), []byte(" ; TAG\t= 99"), 1)
	raw = bytes.Replace(raw, []byte("To: <sip:+12145550100@sbc.example.com>"), []byte("To: <sip:a@b> ; x = \"y;tag=no\" ; Tag = 7"), 1)
	m := mustParse(t, raw)
	via := m.TopVia()
	if string(via.Branch) != "z9hG4bKA" || !via.RPort || via.Port != 5070 || string(via.Host) != "h" || string(via.Transport) != "udp" {
		t.Errorf("via %+v", via)
	}
	if string(m.FromTag()) != "99" || string(m.ToTag()) != "7" {
		t.Errorf("tags %q %q", m.FromTag(), m.ToTag())
	}
	n := 0
	m.EachOf(Via, func([]byte) bool { n++; return true })
	if n != 2 {
		t.Errorf("%d Via values", n)
	}
	if cookie := mustParse(t, edit(t, "branch=z9hG4bK", "branch=Z9HG4BK")).TopVia(); !cookie.IsRFC3261() {
		t.Error("the cookie compares without case")
	}
}

// TestB12MissingEach: each mandatory header alone is missed and named, in a request and in a response, without a crash.
func TestB12MissingEach(t *testing.T) {
	for _, name := range []string{"Via", "From", "To", "Call-ID", "CSeq"} {
		var kept []string
		for _, line := range strings.SplitAfter(invite, "\r\n") {
			if !strings.HasPrefix(line, name+":") {
				kept = append(kept, line)
			}
		}
		_, fault := Parse([]byte(strings.Join(kept, "")))
		want := 400
		if name == "Via" {
			want = 0 // nobody to answer
		}
		if fault == nil || fault.Reason != "Missing "+name || fault.Code != want {
			t.Errorf("%s: %+v", name, fault)
		}
		kept[0] = "SIP/2.0 200 OK\r\n"
		if _, fault := Parse([]byte(strings.Join(kept, ""))); fault == nil || fault.Code != 0 || fault.Message != nil {
			t.Errorf("response without %s: %+v", name, fault)
		}
	}
}

// TestB14Immutable: what is built from a message never changes it.
func TestB14Immutable(t *testing.T) {
	raw := []byte(invite)
	m, fault := Parse(raw)
	if fault != nil {
		t.Fatal(fault)
	}
	_ = append(m.Header(Contact), "overwritten"...)
	_ = append(m.CallID(), "overwritten"...)
	_ = append(m.RequestURI(), "overwritten"...)
	_ = append(m.Raw(), "overwritten"...)
	AppendResponse(nil, m, 200, "", []byte("t"), netip.MustParseAddrPort("192.0.2.1:1"), nil, nil, nil)
	if string(m.Raw()) != invite {
		t.Error("the message changed")
	}
}

// TestParseAllocatesOnce: a Message is one allocation, folds and long header lists included up to the inline size.
func TestParseAllocatesOnce(t *testing.T) {
	raw := []byte(strings.Replace(invite, "Max-Forwards: 70", "Max-Forwards:\r\n  70\r\nSubject: a\r\n b", 1))
	if n := testing.AllocsPerRun(100, func() {
		if _, fault := Parse(raw); fault != nil {
			t.Fatal(fault)
		}
	}); n != 1 {
		t.Errorf("%v allocations", n)
	}
	m := mustParse(t, raw)
	dst := make([]byte, 0, 2048)
	src, tag := netip.MustParseAddrPort("[2001:db8::1]:5060"), []byte("tag")
	if n := testing.AllocsPerRun(100, func() { dst = AppendResponse(dst[:0], m, 180, "", tag, src, nil, nil, nil) }); n != 0 {
		t.Errorf("%v allocations in a response", n)
	}
}
