package b2bua

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The tests named TestAbuseNN are the classes of docs/abuse.md by their numbers:
// what strangers and broken devices send, and what becomes of it here.

// raw gives the shard bytes as a socket would: what the gate does not let in is
// answered, or not, by the gate. It returns the status of the gate's answer, 0
// for silence or for a message that went to the shard, and whether a stream
// would have to close.
func (w *world) raw(addr, text string) (code int, closes bool) {
	w.t.Helper()
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		if fault.Code != 0 && fault.Message == nil {
			w.t.Fatal("an answer without a message to answer")
		}
		return fault.Code, fault.Close
	}
	p := &Packet{Packet: transport.Packet{Message: m, Transport: trunkgroup.UDP, Source: netip.MustParseAddrPort(addr)}}
	w.step(func() { w.s.Receive(w.now, p) })
	return 0, false
}

// strangersCall is an INVITE from nobody that we know.
func strangersCall(lines string) string {
	return invite{called: "+12145550100", host: strangerAddr, callID: "stranger", body: offer, lines: lines}.String()
}

// edit replaces the one place of old in text.
func edit(t testing.TB, text, old, with string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("nothing to edit: %q", old)
	}
	return strings.Replace(text, old, with, 1)
}

// untouched demands that nothing of a call is there: no far end heard of it, no
// record, no state.
func (w *world) untouched() {
	w.t.Helper()
	for _, addr := range []string{carrierAddr, pbx1Addr, pbx2Addr} {
		w.none(addr, "INVITE")
	}
	if st := w.s.Stats(); st.Calls != 0 || st.Dialogs != 0 || st.Transactions != 0 || len(w.records) != 0 {
		w.t.Fatalf("left behind: %+v, %d records", st, len(w.records))
	}
}

// Class 1: a missing mandatory header is named in a 400; without a Via there is
// nobody to answer.
func TestAbuse01_MissingHeader(t *testing.T) {
	for _, name := range []string{"Via", "Max-Forwards", "From", "To", "Call-ID", "CSeq", "Contact"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var kept []string
			for line := range strings.SplitAfterSeq(invite{body: offer}.String(), "\r\n") {
				if !strings.HasPrefix(line, name+":") {
					kept = append(kept, line)
				}
			}
			code, _ := w.raw(carrierAddr, strings.Join(kept, ""))
			switch name {
			case "Via":
				if code != 0 || len(w.sent) != 0 {
					t.Errorf("code %d, sent %s", code, w.trace())
				}
			case "Max-Forwards": // RFC 3261 16.3: optional for those of RFC 2543
			case "Contact":
				w.take(carrierAddr, "SIP/2.0 400")
			default:
				if code != 400 {
					t.Errorf("code %d", code)
				}
			}
			if name != "Max-Forwards" {
				w.untouched()
			}
		})
	}
}

// Class 2: credentials cut off or swollen at every byte end in a fresh challenge,
// never in a fault or a call.
func TestAbuse02_BrokenCredentials(t *testing.T) {
	const whole = `Authorization: Digest username="initech", realm="sip.example.com", nonce="abc\"def", uri="sip:+12145550100@203.0.113.1", ` +
		`response="00000000000000000000000000000000", algorithm=MD5, qop=auth, nc=00000001, cnonce="x", opaque=""`
	values := []string{
		"Authorization: Digest", "Authorization: Digest ,,,,", `Authorization: Digest username="`, "Authorization: Digest =",
		"Authorization: " + strings.Repeat("Digest ", 500), `Authorization: Digest username="` + strings.Repeat(`\`, 4000),
		`Authorization: Digest realm="sip.example.com", nc=` + strings.Repeat("9", 3000), `Authorization: Digest realm=sip.example.com, qop="auth,auth-int"`,
		"Authorization: Basic aGFjazptZQ==", "Authorization:", whole + strings.Repeat(`, x="y"`, 1000),
	}
	for i := len("Authorization: "); i < len(whole); i++ {
		values = append(values, whole[:i])
	}
	w := newWorldOf(t, "dal-1", "dallas", digestDocument())
	for _, v := range values {
		code, _ := w.raw(strangerAddr, strangersCall(v+"\r\n"))
		if code == 0 {
			if got := w.take(strangerAddr, "SIP/2.0 401"); !got.Has(sip.WWWAuthenticate) {
				t.Errorf("%.60q: 401 without a challenge", v)
			}
		} else if code != 400 {
			t.Errorf("%.60q: %d", v, code)
		}
		w.untouched()
	}
}

// Class 3: From, To, Via, Contact and CSeq cut off at every byte: a 400, silence
// or an ordinary answer.
func TestAbuse03_CutParameters(t *testing.T) {
	text := invite{body: offer}.String()
	for _, header := range []string{
		`Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKa1;received="[::1";rport=99999;x`, `From: "B\"ob" <sip:+1@192.0.2.10;x=y?h=v>;tag=caller;a="b;c`,
		`To: <sip:+12145550100@[2001:db8::1]:5060;transport=udp>;x="`, `Contact: "x" <sip:bob@192.0.2.10:70000;a=b?c=d>;q=0.5;expires=1`, `CSeq: 1 INVITE`,
	} {
		name, _, _ := strings.Cut(header, ":")
		at := strings.Index(text, "\r\n"+name+":") + 2
		rest := text[at+strings.Index(text[at:], "\r\n"):]
		for i := len(name) + 1; i <= len(header); i++ {
			w := newWorld(t)
			code, _ := w.raw(carrierAddr, text[:at]+header[:i]+rest)
			if code != 0 && code != 400 {
				t.Errorf("%q: %d", header[:i], code)
			}
			if code == 400 {
				w.untouched()
			}
		}
	}
}

// Class 4: a body is not read, so nothing in it can go wrong here: it crosses as
// it came, within the size of a message.
func TestAbuse04_SDPBomb(t *testing.T) {
	w := newWorld(t)
	bomb := offer + strings.Repeat("m=audio 1 RTP/AVP 0\r\na=x:"+strings.Repeat("y", 30)+"\r\n", 1000)
	w.raw(carrierAddr, invite{body: bomb}.String())
	if got := w.take(pbx1Addr, "INVITE").Body(); string(got) != bomb {
		t.Errorf("the body has changed: %d bytes of %d", len(got), len(bomb))
	}
	w = newWorld(t)
	code, closes := w.raw(carrierAddr, invite{body: strings.Repeat("m", sip.MaxMessage)}.String())
	if code != 513 && code != 0 || code == 513 && !closes {
		t.Errorf("too large: code %d, closes %v", code, closes)
	}
	w.untouched()
}

// Class 5: a multipart body is one body: its parts are nobody's business here,
// whatever its boundary claims.
func TestAbuse05_Multipart(t *testing.T) {
	for _, ct := range []string{"multipart/mixed", `multipart/mixed;boundary=""`, `multipart/mixed;boundary="x`, "multipart/mixed;boundary=" + strings.Repeat("x", 5000)} {
		w := newWorld(t)
		body := strings.Repeat("--x\r\nContent-Type: multipart/mixed;boundary=x\r\n\r\n", 300)
		text := edit(t, invite{body: body}.String(), "Content-Type: application/sdp", "Content-Type: "+ct)
		if code, _ := w.raw(carrierAddr, text); code != 0 {
			if code != 400 {
				t.Errorf("%.40q: %d", ct, code)
			}
			continue
		}
		if got := w.take(pbx1Addr, "INVITE"); string(got.Body()) != body || string(got.Header(sip.ContentType)) != ct {
			t.Errorf("%.40q: the body or its type has changed", ct)
		}
	}
}

// Class 6: URIs of one character and of nothing.
func TestAbuse06_TinyURI(t *testing.T) {
	for _, uri := range []string{"s", ":", "sip", "sip:", "sip:@", "sips:", "tel:", "*", "sip:@h", "sip:a@", "sip:a@:5060", "<", "sip:[", "sip:a@[::1"} {
		w := newWorld(t)
		text := edit(t, invite{body: offer}.String(), "INVITE sip:+12145550100@203.0.113.1 SIP", "INVITE "+uri+" SIP")
		if code, _ := w.raw(carrierAddr, text); code != 400 && code != 416 {
			t.Errorf("%q: %d, %s", uri, code, w.trace())
		}
		w.untouched()
		for _, header := range []string{"From", "To", "Contact"} {
			at := strings.Index(text, header+": ")
			line, _, _ := strings.Cut(text[at:], "\r\n")
			w := newWorld(t)
			w.raw(carrierAddr, edit(t, invite{body: offer}.String(), line, header+": <"+uri+">;tag=1"))
		}
	}
}

// Class 7: two lengths, a negative one, a huge one: a 400 that closes the stream,
// since two elements would frame the rest differently.
func TestAbuse07_ContentLength(t *testing.T) {
	whole := invite{body: offer}.String()
	length := whole[strings.Index(whole, "Content-Length:"):]
	length, _, _ = strings.Cut(length, "\r\n")
	for _, with := range []string{
		length + "\r\n" + length, length + "\r\nl: 0", "Content-Length: -1", "Content-Length: 99999999999999999999", "Content-Length: 0x10", "Content-Length: 1 1",
	} {
		w := newWorld(t)
		if code, closes := w.raw(carrierAddr, edit(t, whole, length, with)); code != 400 || !closes {
			t.Errorf("%q: code %d, closes %v", with, code, closes)
		}
		w.untouched()
	}
}

// Class 8: a blank before the colon hides no header: what is ours to set is
// taken off all the same.
func TestAbuse08_BlankBeforeColon(t *testing.T) {
	w := newWorld(t)
	w.raw(carrierAddr, invite{body: offer, lines: "Proxy-Authorization : Digest x\r\nRoute\t: <sip:evil.example;lr>\r\nReplaces : a;to-tag=b;from-tag=c\r\n"}.String())
	w.take(carrierAddr, "SIP/2.0 481") // Replaces was seen
	w = newWorld(t)
	w.raw(carrierAddr, invite{body: offer, lines: "Proxy-Authorization : Digest x\r\nRoute\t: <sip:evil.example;lr>\r\n"}.String())
	if got := w.take(pbx1Addr, "INVITE"); got.Has(sip.ProxyAuthorization) || got.Has(sip.Route) {
		t.Errorf("it crossed:\n%s", got.Raw())
	}
}

// Classes 9 and 10: control characters, bare line ends and NUL end nothing and
// begin nothing; what is added to a message cannot hold them.
func TestAbuse09_ControlCharacters(t *testing.T) {
	for _, line := range []string{
		"X-\x01: y\r\n", "X-\x80: y\r\n", "X\x00Y: z\r\n", "X-Y: a\x00b\r\n", "X-Y: a\nContact: <sip:evil@x>\r\n", "X-Y: a\rb\r\n", "X-Y: \x1b[2J\r\n", "Subject: a\x7fb\r\n",
	} {
		w := newWorld(t)
		if code, _ := w.raw(carrierAddr, invite{body: offer, lines: line}.String()); code != 400 {
			t.Errorf("%q: %d", line, code)
		}
		w.untouched()
	}
}

func TestAbuse10_NothingOfOursEndsALine(t *testing.T) {
	m, fault := sip.Parse([]byte(invite{body: offer}.String()))
	if fault != nil {
		t.Fatal(fault)
	}
	const evil = "x\r\nEvil: 1\r\n\r\nINVITE\x00"
	out := sip.AppendResponse(nil, m, 480, evil, []byte("t"), netip.AddrPort{}, sip.AppendHeader(nil, "Warning", evil), nil, nil)
	back, fault := sip.Parse(out)
	if fault != nil || bytes.Contains(out, []byte("\nEvil")) || bytes.IndexByte(out, 0) >= 0 || back.Status() != 480 {
		t.Errorf("fault %v in %q", fault, out)
	}
}

// Class 11: what a record holds of a message has no character that a terminal or
// a spreadsheet acts on; the gate lets no control character in.
func TestAbuse11_RecordsAreQuoted(t *testing.T) {
	w := newWorld(t)
	const agent = `=HYPERLINK("http://evil","x");{"call_id":"forged"}`
	w.raw(carrierAddr, invite{body: offer, lines: "User-Agent: " + agent + "\r\n"}.String())
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "INVITE"), 486, "x", ""))
	r := w.records[0]
	line, err := r.AppendJSON(nil)
	if err != nil || bytes.ContainsAny(bytes.TrimSuffix(line, []byte("\n")), "\n\r\x1b\x00") || r.UserAgent != agent {
		t.Errorf("%v: %q", err, line)
	}
	if bytes.Count(line, []byte(`"call_id"`)) != 1 {
		t.Errorf("a forged field: %s", line)
	}
}

// Class 22: an answer goes to the packet's source and nowhere that the message
// names; a Via of ours answers nobody else.
func TestAbuse22_ViaReflection(t *testing.T) {
	for _, via := range []string{
		"198.51.100.99:5060;branch=z9hG4bKv", "198.51.100.99:5060;branch=z9hG4bKv;rport", "198.51.100.99;branch=z9hG4bKv;maddr=198.51.100.99;ttl=255",
		"198.51.100.99:5060;branch=z9hG4bKv;received=198.51.100.99;rport=99999", "203.0.113.1:5060;branch=z9hG4bKv", "victim.example:5060;branch=z9hG4bKv",
	} {
		w := newWorldOf(t, "dal-1", "dallas", digestDocument())
		text := edit(t, strangersCall(""), "Via: SIP/2.0/UDP "+strangerAddr+";branch=z9hG4bKa1", "Via: SIP/2.0/UDP "+via)
		w.raw(strangerAddr, text)
		for _, x := range w.sent {
			if x.to.Addr.Addr() != netip.MustParseAddrPort(strangerAddr).Addr() {
				t.Errorf("%s: an answer went to %v", via, x.to.Addr)
			}
		}
		if len(w.sent) != 1 {
			t.Errorf("%s: %d answers", via, len(w.sent))
		}
	}
}

// Class 23: loops end. A merged request is 482, a spiral that comes back under a
// new Call-ID is counted down by Max-Forwards.
func TestAbuse23_LoopsEnd(t *testing.T) {
	for forwards, want := range map[string]string{"0": "SIP/2.0 483", "1": "", "70": ""} {
		w := newWorld(t)
		w.raw(carrierAddr, edit(t, invite{body: offer}.String(), "Max-Forwards: 70", "Max-Forwards: "+forwards))
		if want != "" {
			w.take(carrierAddr, want)
			w.none(pbx1Addr, "INVITE")
			continue
		}
		if got := w.take(pbx1Addr, "INVITE"); fmt.Sprint(got.MaxForwards()+1) != forwards {
			t.Errorf("Max-Forwards %s became %d", forwards, got.MaxForwards())
		}
	}
	for _, forwards := range []string{"256", "-1", "x"} {
		w := newWorld(t)
		if code, _ := w.raw(carrierAddr, edit(t, invite{body: offer}.String(), "Max-Forwards: 70", "Max-Forwards: "+forwards)); code != 400 {
			t.Errorf("Max-Forwards %s: %d", forwards, code)
		}
	}
	w := newWorld(t)
	w.raw(carrierAddr, invite{body: offer}.String())
	w.raw(carrierAddr, invite{body: offer, branch: "z9hG4bKfork"}.String())
	w.take(carrierAddr, "SIP/2.0 482")
}
