package sip

import (
	"bytes"
	"net/netip"
	"os"
	"testing"
)

// seedMessages gives the corpus to a fuzz target when it is there, and messages of our own in any case.
func seedMessages(f *testing.F) {
	f.Add([]byte(invite))
	f.Add([]byte("SIP/2.0 200 OK\r\nv:SIP/2.0/UDP h;branch=z9hG4bKx\r\nf:sip:a@b;tag=1\r\nt:sip:c@d\r\ni:x\r\nCSeq:1 BYE\r\n\r\n"))
	if _, err := os.Stat("../../../shared/corpus"); err != nil {
		return
	}
	for _, raw := range corpusFiles(f, "rfc4475", "rfc5118", "abuse") {
		if len(raw) < 4096 {
			f.Add(raw)
		}
	}
}

// FuzzParse: no panic; a good message is a fixed point of parse and print unless it holds what is never printed; an answerable one
// gets an answer that frames well and parses, since it goes to strangers.
func FuzzParse(f *testing.F) {
	seedMessages(f)
	src := netip.MustParseAddrPort("[2001:db8::1]:5060")
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, fault := Parse(bytes.Clone(raw))
		if fault != nil {
			if m != nil || (fault.Code == 0) != (fault.Message == nil) {
				t.Fatalf("fault %+v with message %v", fault, m != nil)
			}
			if fault.Code != 0 {
				checkFraming(t, "answer", AppendResponse(nil, fault.Message, fault.Code, fault.Reason, []byte("t"), src, nil, nil, nil))
			}
			return
		}
		m.Each(func(h Header) bool {
			if bytes.ContainsAny(h.Value, "\r\n") || len(h.Name) == 0 {
				t.Fatalf("header %q: %q", h.Name, h.Value)
			}
			return true
		})
		for id := Via; id < headerCount; id++ {
			m.EachOf(id, func([]byte) bool { return true })
		}
		if bytes.IndexByte(m.Raw()[:len(m.Raw())-len(m.Body())], 0) < 0 {
			checkFixedPoint(t, m)
		}
		if !m.IsRequest() {
			return
		}
		answer := AppendResponse(nil, m, 200, "", []byte("t"), src, nil, nil, m.Body())
		checkFraming(t, "answer", answer)
		if bytes.IndexByte(answer, 0) < 0 && m.Count(Via) == 1 && m.via.end == m.fields[0].value.end {
			mustParse(t, answer)
		}
	})
}

// FuzzFramer: every split gives the same, and what the framer cuts Parse takes as one message of that very length.
func FuzzFramer(f *testing.F) {
	f.Add([]byte("\r\n\r\n"+invite+"\r\n"+invite), 100)
	f.Add([]byte("X: a\nl: 4\r\nl: 0\r\n\r\nabcd"), 5)
	f.Fuzz(func(t *testing.T, stream []byte, at int) {
		if at < 0 || at > len(stream) {
			at = len(stream) / 2
		}
		whole := frame(stream)
		if got := frame(stream[:at], stream[at:]); got.String() != whole.String() {
			t.Fatalf("split at %d: %s\nunsplit: %s", at, got, whole)
		}
		for _, raw := range whole.messages {
			m, fault := Parse([]byte(raw))
			if fault == nil && len(m.Raw()) != len(raw) || fault != nil && fault.Reason == "Content-Length Beyond Message" {
				t.Fatalf("framer and parser disagree on the length of %q", raw)
			}
		}
	})
}

// FuzzURI: a URI that parses is its parts put together again.
func FuzzURI(f *testing.F) {
	for _, s := range []string{"sip:u:p@h:5060;a=b?c=d", "sips:[::1]", "tel:+1-2;ext=3", "soap.beep://x", "sip:a%20b@h"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		u, err := ParseURI(raw)
		if err != nil {
			return
		}
		if bytes.ContainsAny(raw, " <>\"\r\n\t\x00") {
			t.Fatalf("%q accepted", raw)
		}
		n := len(u.Scheme) + 1 + len(u.User) + len(u.Password) + len(u.Host) + len(u.Params) + len(u.Headers)
		if n > len(raw) || u.Scheme != "tel" && len(u.Host) == 0 || len(u.Number()) > len(u.User) {
			t.Fatalf("%q: %+v", raw, u)
		}
		u.Param("transport")
	})
}

// FuzzNameAddr: an address that parses has its parts inside the input, and its parameters can be read.
func FuzzNameAddr(f *testing.F) {
	for _, s := range []string{`"A \"B" <sip:a@b;lr>;tag=1;x="y"`, `A B <sip:a@b>`, `sip:a@b;tag=1`, `*`, `<urn:x>`} {
		f.Add([]byte(s), "tag")
	}
	f.Fuzz(func(t *testing.T, raw []byte, name string) {
		EachValue(raw, func(v []byte) bool { _, _ = ParseNameAddr(v); return true })
		a, err := ParseNameAddr(raw)
		if err != nil {
			return
		}
		if len(a.URI) == 0 || bytes.ContainsAny(a.URI, "<>\" ") {
			t.Fatalf("%q: URI %q", raw, a.URI)
		}
		Param(a.Params, name)
	})
}

// FuzzVia: a Via that parses again from what a response writes of it.
func FuzzVia(f *testing.F) {
	for _, s := range []string{"SIP/2.0/UDP h:5060;branch=z9hG4bKx;rport", "SIP / 2.0 / TCP [::1] ; received = ::2 , SIP/2.0/UDP b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		hop, rest, err := parseVia(raw)
		if err != nil {
			return
		}
		if len(hop.Host) == 0 || len(hop.Transport) == 0 || len(rest) >= len(raw) {
			t.Fatalf("%q: %+v", raw, hop)
		}
	})
}

// parseVia parses the first value of a Via header line; rest is what follows its comma.
func parseVia(v []byte) (hop ViaHop, rest []byte, err error) {
	if len(v) > MaxMessage {
		return ViaHop{}, nil, ErrVia
	}
	var x viaIndex
	next, ok := x.scan(v, 0)
	if !ok {
		return ViaHop{}, nil, ErrVia
	}
	if next < len(v) {
		rest = v[next+1:]
	}
	return x.hop(v), rest, nil
}
