package b2bua

import (
	"bytes"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// RFC 7118 section 5.2: WS or WSS in Via, "transport=ws" in our Contact for both, and a far end whose contact names no host is reached
// by its own connection, by what begins a call and by what is inside it.
func TestRFC7118_CallToAWebSocket(t *testing.T) {
	for proto, via := range map[trunkgroup.Transport]string{trunkgroup.WS: "SIP/2.0/WS ", trunkgroup.WSS: "SIP/2.0/WSS "} {
		b := flowBinding("f", "dal-1", 77)
		b.Transport, b.Contact = proto, "sip:k3@9f2c.invalid;transport=ws"
		w, _ := reachWorld(t, b)
		w.from(carrierAddr, toRooms())
		x := w.sent[len(w.sent)-1]
		if x.to.Flow != 77 || x.to.Transport != proto || string(x.m.RequestURI()) != b.Contact {
			t.Fatalf("%s to %+v", x.m.RequestURI(), x.to)
		}
		ours := func(m *sip.Message) {
			if v := m.Header(sip.Via); !bytes.HasPrefix(v, []byte(via)) || bytes.Contains(v, []byte("rport")) {
				t.Errorf("Via %s", v)
			}
			if c := m.Header(sip.Contact); m.Method() == sip.INVITE && !bytes.Contains(c, []byte(";transport=ws>")) {
				t.Errorf("Contact %s", c)
			}
		}
		ours(x.m)
		contact := "Contact: <" + b.Contact + ">\r\n"
		w.relayed("", "198.51.100.8:40008", proto, 77, reply(x.m, 200, "callee", answerSDP, contact))
		ok := w.take(carrierAddr, "SIP/2.0 200")
		w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
		w.from(carrierAddr, inside(ok, "INVITE", 2, "", offer))
		again := w.sent[len(w.sent)-1]
		if again.m.Method() != sip.INVITE || again.to.Flow != 77 || string(again.m.RequestURI()) != b.Contact {
			t.Errorf("re-INVITE %s to %+v", again.m.RequestURI(), again.to)
		}
		ours(again.m)
	}
}

// A far end behind an edge proxy may give a WebSocket as its contact: what is said to it goes the way that the dialog came, since
// nobody can open that WebSocket.
func TestRFC7118_NobodyDialsAWebSocket(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 200, "callee", answerSDP, "Contact: <sip:k3@192.0.2.77:51422;transport=ws>\r\n"))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.take(pbx1Addr, "ACK sip:k3@192.0.2.77:51422;transport=ws SIP/2.0")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	w.take(pbx1Addr, "BYE")
}
