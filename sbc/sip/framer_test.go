package sip

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// framed is what a stream gave: the messages, the pings between them, the fault that ended it.
type framed struct {
	messages []string
	pings    int
	fault    string
}

func (f framed) String() string {
	return fmt.Sprintf("%d messages, %d pings, fault %q\n%s", len(f.messages), f.pings, f.fault, strings.Join(f.messages, "\n--\n"))
}

// frame writes the chunks and takes what comes out.
func frame(chunks ...[]byte) (out framed) {
	var f Framer
	for _, chunk := range chunks {
		f.Write(chunk)
		for {
			msg, fault := f.Next()
			if fault != nil {
				out.fault = fmt.Sprintf("%d %s", fault.Code, fault.Reason)
			}
			if msg == nil {
				break
			}
			out.messages = append(out.messages, string(msg))
		}
		out.pings += f.Pings()
	}
	return out
}

// checkSplits wants the same outcome at every split point and byte by byte.
func checkSplits(t *testing.T, stream []byte) framed {
	t.Helper()
	whole := frame(stream)
	var bytewise [][]byte
	for i := range stream {
		bytewise = append(bytewise, stream[i:i+1])
		if got := frame(stream[:i], stream[i:]); got.String() != whole.String() {
			t.Fatalf("split at %d: %s\nunsplit: %s", i, got, whole)
		}
	}
	if got := frame(bytewise...); got.String() != whole.String() {
		t.Fatalf("byte by byte: %s\nunsplit: %s", got, whole)
	}
	return whole
}

// TestPAR03 splits a stream of two messages with keep-alives around them at every byte: CRLF is a keep-alive between messages only.
func TestPAR03(t *testing.T) {
	stream := "\r\n\r\n\r\n" + invite + "\r\n\r\n\r\n\r\n" + strings.Replace(invite, "Max-Forwards", "Max-Forwards \r\n\t", 1) + "\r\n"
	got := checkSplits(t, []byte(stream))
	if len(got.messages) != 2 || got.pings != 3 || got.fault != "" || got.messages[0] != invite {
		t.Fatalf("got %s", got)
	}
}

// TestFramerCorpus splits every torture message at every byte.
func TestFramerCorpus(t *testing.T) {
	files := corpusFiles(t, "rfc4475", "rfc5118", "rfc5118/fixed", "abuse")
	for name, raw := range files {
		if len(raw) > 2000 {
			continue // quadratic by nature; TestFramerLarge has the long ones
		}
		t.Run(name, func(t *testing.T) { checkSplits(t, raw) })
	}
	for name, want := range map[string]string{
		"mcl01": "400 Repeated Content-Length", "ncl": "400 Bad Content-Length", "a07-two-content-length": "400 Repeated Content-Length",
		"a09-cl-overflow": "400 Bad Content-Length", "inv2543": "400 Missing Content-Length", "clerr": "", "a23-header-64k": "513 Message Too Large",
	} {
		if got := frame(files[name]); got.fault != want || len(got.messages) != 0 {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := frame(files["dblreq"]); len(got.messages) != 2 {
		t.Errorf("dblreq: on a stream the octets behind the first message are the second: %s", got)
	}
}

// TestPAR04: a bare LF hides a second Content-Length. The framer cuts where Parse does, and Parse refuses and closes.
func TestPAR04(t *testing.T) {
	raw := []byte(strings.Replace(strings.Replace(invite, "Content-Length: 89\r\n", "X-Pad: a\nContent-Length: 4\r\nContent-Length: 0\r\n", 1), "v=0", "INVITE", 1))
	got := checkSplits(t, raw)
	if len(got.messages) != 1 || !strings.HasSuffix(got.messages[0], "\r\n\r\n") {
		t.Fatalf("got %s", got)
	}
	if _, fault := Parse([]byte(got.messages[0])); fault == nil || fault.Code != 400 || !fault.Close {
		t.Fatalf("verdict %+v", fault)
	}
}

func TestFramerFaults(t *testing.T) {
	response := strings.Replace(invite, "INVITE sip:+12145550100@sbc.example.com;user=phone SIP/2.0", "SIP/2.0 200 OK", 1)
	for _, c := range []struct{ name, in, want string }{
		{"compact and blanks", strings.Replace(invite, "Content-Length: 89", "l \t:\t 89 ", 1), ""},
		{"folded", strings.Replace(invite, "Content-Length: 89", "Content-Length:\r\n 89", 1), ""},
		{"missing", strings.Replace(invite, "Content-Length: 89\r\n", "", 1), "400 Missing Content-Length"},
		{"missing in a response", strings.Replace(response, "Content-Length: 89\r\n", "", 1), "0 Missing Content-Length"},
		{"missing in an ACK", strings.ReplaceAll(strings.Replace(invite, "Content-Length: 89\r\n", "", 1), "INVITE", "ACK"), "0 Missing Content-Length"},
		{"twice, one compact", strings.Replace(invite, "Content-Length: 89", "l: 89\r\nContent-Length: 89", 1), "400 Repeated Content-Length"},
		{"twice, one with a blank before its colon", strings.Replace(invite, "Content-Length: 89", "l: 89\r\nCONTENT-LENGTH : 1", 1), "400 Repeated Content-Length"},
		{"too long", strings.Replace(invite, "Content-Length: 89", "Content-Length: 65536", 1), "513 Message Too Large"},
		{"absurd", strings.Replace(invite, "Content-Length: 89", "Content-Length: 1"+strings.Repeat("0", 40), 1), "400 Bad Content-Length"},
		{"HTTP", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "0 Missing Content-Length"},
		{"noise", "\x16\x03\x01\x02\r\n\r\n", "0 Missing Content-Length"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := checkSplits(t, []byte(c.in))
			if got.fault != c.want || (c.want == "") != (len(got.messages) == 1) {
				t.Fatalf("got %s", got)
			}
		})
	}
}

// TestFramerBounded: whatever arrives, the framer holds one message at most and says so early.
func TestFramerBounded(t *testing.T) {
	var f Framer
	fed := 0
	for fed < 1<<20 {
		chunk := bytes.Repeat([]byte("A"), 4096)
		f.Write(chunk)
		fed += len(chunk)
		if _, fault := f.Next(); fault != nil {
			break
		}
	}
	if fed > MaxHeaderBlock+4096 {
		t.Errorf("%d bytes without a header end were taken", fed)
	}
	if f.Write([]byte("more")); f.Partial() || f.buf != nil {
		t.Error("bytes are kept after the end")
	}
	var idle Framer
	for range 1000 {
		idle.Write([]byte(invite))
		idle.Next()
	}
	if cap(idle.buf) > 4096 || idle.Partial() {
		t.Errorf("an idle framer holds %d bytes", cap(idle.buf))
	}
}

// TestFramerAbandon: the answer to a message that never ends (RFC 4475 3.1.2.2).
func TestFramerAbandon(t *testing.T) {
	var f Framer
	f.Write([]byte(invite[:len(invite)-1]))
	if msg, fault := f.Next(); msg != nil || fault != nil || !f.Partial() {
		t.Fatalf("%q %v", msg, fault)
	}
	fault := f.Abandon()
	if fault.Code != 400 || !fault.Close || string(fault.Message.CallID()) != "a84b4c76e66710@192.0.2.10" {
		t.Fatalf("%+v", fault)
	}
	var noise Framer
	noise.Write([]byte("INVI"))
	noise.Next()
	if fault := noise.Abandon(); fault.Code != 0 || fault.Message != nil {
		t.Fatalf("%+v", fault)
	}
}
