package b2bua

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const callerTCP = "192.0.2.10:40001"

// overTCP gives the shard a message from the carrier over a connection.
func (w *world) overTCP(flow transport.Flow, source, text string) {
	w.t.Helper()
	text = strings.Replace(text, "SIP/2.0/UDP", "SIP/2.0/TCP", 1)
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		w.t.Fatalf("test message: %v\n%s", fault, text)
	}
	w.s.Receive(w.now, &Packet{Packet: transport.Packet{
		Message: m, Transport: trunkgroup.TCP, Listener: 1, Source: netip.MustParseAddrPort(source), Flow: flow,
	}})
	w.settle()
}

// tcpDocument lets the carrier come over TCP.
func tcpDocument() *trunkgroup.Document {
	doc := document()
	doc.TrunkGroups[2].Sources = []trunkgroup.SourceSpec{{IP: "192.0.2.10", Transport: trunkgroup.TCP}, {IP: "192.0.2.10"}}
	return doc
}

// tcpCall sets a call up whose caller came over connection 7.
func tcpCall(t *testing.T, lines string) (w *world, b, ok *sip.Message) {
	t.Helper()
	w = newWorldOf(t, "dal-1", "dallas", tcpDocument())
	text := strings.Replace(invite{body: offer, lines: lines}.String(), "Contact: <sip:bob@192.0.2.10:5060>", "Contact: <sip:bob@192.0.2.10:5062;transport=tcp>", 1)
	w.overTCP(7, callerTCP, text)
	b = w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 200, "callee", answerSDP))
	ok = w.take(callerTCP, "SIP/2.0 200")
	w.overTCP(7, callerTCP, ackFor(ok, "z9hG4bKack", ""))
	w.sent = nil
	return w, b, ok
}

// fail reports what was sent over a connection as not sent.
func (w *world) fail(flow transport.Flow, method string) {
	w.t.Helper()
	for _, x := range w.sent {
		if x.to.Flow == flow && x.m.Method() == method && x.ref != 0 {
			w.s.Failed(w.now, x.ref, errors.New("connection reset"))
			return
		}
	}
	w.t.Fatalf("no %s was sent over connection %d:\n%s", method, flow, w.trace())
}

// DLG-01: a request inside the dialog may come over another connection; what
// goes to that side from then on takes it.
func TestDLG01_InDialogRequestsOverANewConnection(t *testing.T) {
	w, b, ok := tcpCall(t, "")
	w.overTCP(8, "192.0.2.10:40002", inside(ok, "INFO", 2, "", ""))
	info := w.take(pbx1Addr, "INFO")
	w.from(pbx1Addr, reply(info, 200, "callee", ""))
	for _, x := range w.sent {
		if x.m.Status() == 200 && x.to.Flow != 8 {
			t.Errorf("the answer went over connection %d", x.to.Flow)
		}
	}
	w.sent = nil
	w.from(pbx1Addr, calleeRequest(b, "callee", "BYE", 7, "", ""))
	for _, x := range w.sent {
		if x.m.Method() == sip.BYE && x.to.Flow != 8 {
			t.Errorf("the BYE went over connection %d", x.to.Flow)
		}
	}
}

// CON-01 inside a dialog: the connection has gone, the Contact has not.
func TestCON01_RequestsGoToTheContactWhenTheConnectionHasGone(t *testing.T) {
	for _, method := range []string{"INVITE", "UPDATE", "INFO", "BYE"} {
		w, b, _ := tcpCall(t, "")
		w.from(pbx1Addr, calleeRequest(b, "callee", method, 7, "", offer))
		w.fail(7, method)
		w.take("192.0.2.10:5062", method)
		w.none(pbx1Addr, "SIP/2.0 408")
		w.none(pbx1Addr, "BYE")
	}
	// What follows goes there at once.
	w, b, _ := tcpCall(t, "")
	w.from(pbx1Addr, calleeRequest(b, "callee", "INVITE", 7, "", offer))
	w.fail(7, "INVITE")
	re := w.take("192.0.2.10:5062", "INVITE")
	w.overTCP(9, "192.0.2.10:5062", reply(re, 200, "caller", answerSDP, "Contact: <sip:bob@192.0.2.10:5062;transport=tcp>\r\n"))
	w.take("192.0.2.10:5062", "ACK")
	w.take(pbx1Addr, "SIP/2.0 200")
}

// RFC 5923: a proxy that opened a connection to us and stands in the route set
// is asked over that connection, not over one to a port that it may not serve.
func TestRFC5923_RouteOverTheConnectionOfTheProxy(t *testing.T) {
	w, b, _ := tcpCall(t, "Record-Route: <sip:192.0.2.10:5061;transport=tcp;lr>\r\n")
	w.from(pbx1Addr, calleeRequest(b, "callee", "BYE", 7, "", ""))
	for _, x := range w.sent {
		if x.m.Method() == sip.BYE && x.to.Flow != 7 {
			t.Errorf("the BYE went to %s, connection %d", x.to.Addr, x.to.Flow)
		}
	}
	w.fail(7, "BYE")
	w.take("192.0.2.10:5061", "BYE")
	w, b, _ = tcpCall(t, "Record-Route: <sip:192.0.2.99:5061;transport=tcp;lr>\r\n")
	w.from(pbx1Addr, calleeRequest(b, "callee", "BYE", 7, "", ""))
	w.take("192.0.2.99:5061", "BYE")
}

func TestRFC3261_18_2_2_ResponsesKnowThePortOfSentBy(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", tcpDocument())
	w.overTCP(7, callerTCP, invite{body: offer}.String())
	for _, x := range w.sent {
		if !x.m.IsRequest() && (x.to.Flow != 7 || x.to.ReturnPort != 5060) {
			t.Errorf("response to %+v", x.to)
		}
	}
}

func TestDEC03_OpenInvitesOfOthersAreSwept(t *testing.T) {
	w := newWorld(t)
	for i := range 1000 {
		w.s.Shared(w.now, "dal-2", Open{Key: uint64(i), State: OpenBegun})
	}
	w.advance(openTTL + time.Second)
	w.s.Shared(w.now, "dal-2", Open{Key: 5000, State: OpenBegun})
	if st := w.s.Stats(); st.Open != 1 {
		t.Errorf("%d entries are kept", st.Open)
	}
}
