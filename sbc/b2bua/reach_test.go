package b2bua

import (
	"bytes"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// registered is a registry that a test fills by hand: bindings of one AOR, and
// why some of them get no call.
type registered struct {
	list   []*trunkgroup.Binding
	causes map[string]string // by ID
}

func (r *registered) Bindings(string) []*trunkgroup.Binding { return r.list }

func (r *registered) Reach(b *trunkgroup.Binding) (site, cause string) { return b.Site, r.causes[b.ID] }

const (
	roomsNumber = "+13035550100"
	natAddr     = "198.51.100.7:31337" // where a PBX behind a NAT is seen
	dal2Public  = "203.0.113.2:5060"
)

var dal2Local = netip.MustParseAddrPort("10.0.0.2:5060")

// natBinding is a PBX behind a NAT that registered at dal-2 over UDP.
func natBinding() *trunkgroup.Binding {
	b := conference("dallas", "nat", natAddr)
	b.Node, b.Reach, b.Contact = "dal-2", trunkgroup.ReachSocket, "sip:conf@10.9.9.9:5060"
	b.Local, b.Advertise = dal2Local, dal2Public
	return b
}

// flowBinding is a PBX that registered over a connection.
func flowBinding(id, node string, flow uint64) *trunkgroup.Binding {
	b := conference("dallas", id, "198.51.100.8:40008")
	b.Node, b.Reach, b.Transport, b.Flow, b.Boot = node, trunkgroup.ReachFlow, trunkgroup.TCP, flow, 1
	b.Contact = "sip:conf@198.51.100.8:5070;transport=tcp"
	b.Local, b.Advertise = dal2Local, dal2Public
	return b
}

func reachWorld(t testing.TB, list ...*trunkgroup.Binding) (*world, *registered) {
	w := newWorldOf(t, "dal-1", "dallas", aorDocument())
	r := &registered{list: list, causes: map[string]string{}}
	w.view.Registry = r
	w.peers = []geo.PeerNode{{Name: "dal-2", Site: "dallas", Fresh: true}}
	return w, r
}

// toRooms is the carrier's call to the number of the PBX that registers.
func toRooms() string { return invite{called: roomsNumber, body: offer}.String() }

// via is the first message through a node whose start line begins so.
func (w *world) via(node, start string) wire {
	w.t.Helper()
	for i, x := range w.sent {
		if x.to.ViaNode == node && strings.HasPrefix(string(x.m.Raw()), start) {
			w.sent = append(w.sent[:i], w.sent[i+1:]...)
			return x
		}
	}
	w.t.Fatalf("no %q through %s; sent:\n%s", start, node, w.trace())
	return wire{}
}

// relayed gives the shard a message that another node passed on.
func (w *world) relayed(node, source string, proto trunkgroup.Transport, flow transport.Flow, text string) {
	w.t.Helper()
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		w.t.Fatalf("test message: %v\n%s", fault, text)
	}
	p := &Packet{Relay: node, Packet: transport.Packet{
		Message: m, Transport: proto, Source: netip.MustParseAddrPort(source), Local: dal2Local, Flow: flow,
	}}
	w.step(func() { w.s.Receive(w.now, p) })
}

func TestDEC15_NatBindingIsCalledThroughTheNodeThatTookIt(t *testing.T) {
	w, _ := reachWorld(t, natBinding())
	w.from(carrierAddr, toRooms())
	x := w.via("dal-2", "INVITE sip:conf@10.9.9.9:5060 SIP/2.0")
	b := x.m
	if x.to.Addr.String() != natAddr || x.to.ViaSocket == nil || x.to.ViaSocket.Local != dal2Local {
		t.Fatalf("sent to %+v", x.to)
	}
	if via := b.TopVia(); string(via.Host) != "203.0.113.2" || !via.RPort {
		t.Errorf("Via %s", b.Header(sip.Via))
	}
	if !bytes.Contains(b.Header(sip.Contact), []byte(dal2Public)) || !bytes.Contains(b.Header(sip.To), []byte(roomsNumber+"@sip.local")) {
		t.Errorf("Contact %s, To %s", b.Header(sip.Contact), b.Header(sip.To))
	}
	contact := "Contact: <sip:conf@10.9.9.9:5060>\r\n"
	w.relayed("dal-2", natAddr, trunkgroup.UDP, 0, reply(b, 180, "callee", "", contact))
	w.take(carrierAddr, "SIP/2.0 180")
	w.relayed("dal-2", natAddr, trunkgroup.UDP, 0, reply(b, 200, "callee", answerSDP, contact))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	ack := w.via("dal-2", "ACK sip:conf@10.9.9.9:5060")
	if ack.to.Addr.String() != natAddr {
		t.Errorf("the ACK goes to %s", ack.to.Addr)
	}
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))

	// A request of the PBX comes in at its node, from another port by now.
	const moved = "198.51.100.7:41414"
	w.relayed("dal-2", moved, trunkgroup.UDP, 0, calleeRequest(b, "callee", "INFO", 5, "", ""))
	info := w.take(carrierAddr, "INFO")
	w.from(carrierAddr, reply(info, 200, "", ""))
	w.via("dal-2", "SIP/2.0 200")
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	bye := w.via("dal-2", "BYE")
	if bye.to.Addr.String() != moved || bye.to.ViaSocket == nil || bye.to.ViaSocket.Advertise != dal2Public {
		t.Errorf("the BYE goes to %+v", bye.to)
	}
	w.relayed("dal-2", moved, trunkgroup.UDP, 0, reply(bye.m, 200, "callee", ""))
	w.quiet()
	if r := w.records[0]; r.SIPCode != 200 || r.EgressMember != "conf" || r.EgressGroup != "acme-rooms" || r.Attempts[0].Address != natAddr {
		t.Errorf("record %+v", r)
	}
	if len(w.blame) > 0 {
		t.Errorf("a binding is no probed member: %v", w.blame)
	}
}

func TestDEC15_FlowBindingIsCalledOverItsConnection(t *testing.T) {
	w, _ := reachWorld(t, flowBinding("f", "dal-1", 77))
	w.from(carrierAddr, toRooms())
	x := w.sent[len(w.sent)-1]
	if x.to.Flow != 77 || x.to.ViaNode != "" || x.m.Method() != sip.INVITE {
		t.Fatalf("sent to %+v", x.to)
	}
	w.overTCP(77, "198.51.100.8:40008", reply(x.m, 200, "callee", answerSDP, "Contact: <sip:x@abc.invalid;transport=ws>\r\n"))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	bye := w.sent[len(w.sent)-1]
	if bye.m.Method() != sip.BYE || bye.to.Flow != 77 {
		t.Errorf("BYE to %+v", bye.to)
	}
}

func TestDEC15_DeadConnectionMovesTheCallOnAtOnce(t *testing.T) {
	for _, node := range []string{"dal-1", "dal-2"} {
		w, _ := reachWorld(t, flowBinding("f", node, 77), conference("dallas", "udp", confAddr))
		w.turns["acme-rooms"] = 0
		w.from(carrierAddr, toRooms())
		x := w.sent[len(w.sent)-1]
		if x.to.Flow != 77 {
			t.Fatalf("first to %+v", x.to)
		}
		w.step(func() { w.s.Failed(w.now, x.ref, transport.ErrFlowGone) })
		b := w.take(confAddr, "INVITE")
		w.from(confAddr, reply(b, 486, "x", ""))
		w.take(carrierAddr, "SIP/2.0 486")
		a := w.records[0].Attempts
		if len(a) != 2 || a[0].Dialed || a[0].Cause != trunkgroup.CauseFlowGone || a[1].Code != 486 {
			t.Errorf("%s: attempts %+v", node, a)
		}
	}
}

func TestDEC15_LossOfTheNodeInTheAttempt(t *testing.T) {
	for name, code := range map[string]int{"before a word": 0, "after 100": 100, "ringing": 180} {
		t.Run(name, func(t *testing.T) {
			w, _ := reachWorld(t, natBinding(), conference("dallas", "udp", confAddr))
			w.from(carrierAddr, toRooms())
			x := w.via("dal-2", "INVITE")
			if code != 0 {
				w.relayed("dal-2", natAddr, trunkgroup.UDP, 0, reply(x.m, code, "c", ""))
			}
			w.step(func() { w.s.NodeLost(w.now, "dal-2") })
			b := w.take(confAddr, "INVITE")
			// The node comes back, and the PBX has answered meanwhile.
			w.relayed("dal-2", natAddr, trunkgroup.UDP, 0, reply(x.m, 200, "late", answerSDP))
			w.via("dal-2", "ACK")
			bye := w.via("dal-2", "BYE")
			w.relayed("dal-2", natAddr, trunkgroup.UDP, 0, reply(bye.m, 200, "late", ""))
			w.from(confAddr, reply(b, 486, "x", ""))
			w.take(carrierAddr, "SIP/2.0 486")
			w.quiet()
			if a := w.records[0].Attempts; a[0].Cause != trunkgroup.CauseNodeDown || !a[0].Dialed {
				t.Errorf("attempts %+v", a)
			}
		})
	}
}

func TestDEC15_LossOfTheNodeInTheCall(t *testing.T) {
	w, _ := reachWorld(t, flowBinding("f", "dal-2", 77))
	w.from(carrierAddr, toRooms())
	x := w.via("dal-2", "INVITE")
	const source = "198.51.100.8:40008"
	contact := "Contact: <sip:conf@198.51.100.8:5070;transport=tcp>\r\n"
	w.relayed("dal-2", source, trunkgroup.TCP, 77, reply(x.m, 200, "callee", answerSDP, contact))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.via("dal-2", "ACK")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	w.step(func() { w.s.NodeLost(w.now, "dal-2") })

	// What still has to be said goes from here to where the PBX says it is.
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	bye := w.via("dal-2", "BYE")
	w.step(func() { w.s.Failed(w.now, bye.ref, ErrNodeDown) })
	w.take("198.51.100.8:5070", "BYE")
	w.quiet() // timer F ends what nobody answers
	if len(w.records) != 1 || w.records[0].SIPCode != 200 {
		t.Errorf("records %+v", w.records)
	}
}

func TestDEC15_FarEndThatConnectsAnewIsFollowed(t *testing.T) {
	w, _ := reachWorld(t, flowBinding("f", "dal-2", 77))
	w.peers = append(w.peers, geo.PeerNode{Name: "dal-3", Site: "dallas", Fresh: true})
	w.from(carrierAddr, toRooms())
	x := w.via("dal-2", "INVITE")
	const source = "198.51.100.8:40008"
	w.relayed("dal-2", source, trunkgroup.TCP, 77, reply(x.m, 200, "callee", answerSDP, "Contact: <sip:x@abc.invalid;transport=ws>\r\n"))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	w.relayed("dal-3", "198.51.100.8:40010", trunkgroup.TCP, 5, calleeRequest(x.m, "callee", "INFO", 5, "", ""))
	w.take(carrierAddr, "INFO")
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	if bye := w.via("dal-3", "BYE"); bye.to.Flow != 5 || bye.to.Addr.String() != "198.51.100.8:40010" {
		t.Errorf("the BYE goes to %+v", bye.to)
	}
}

// TestDEC15_WhatComesInElsewhereGoesToItsNode is the part of the node that has
// the socket: it knows nothing of the call.
func TestDEC15_WhatComesInElsewhereGoesToItsNode(t *testing.T) {
	w, _ := reachWorld(t, natBinding())
	w.from(carrierAddr, toRooms())
	inv := w.via("dal-2", "INVITE").m

	other := newWorldOf(t, "dal-2", "dallas", aorDocument())
	other.peers = []geo.PeerNode{{Name: "dal-1", Site: "dallas", Fresh: true}}
	for _, code := range []int{100, 180, 200, 486} {
		other.from(natAddr, reply(inv, code, "callee", ""))
	}
	other.from(natAddr, calleeRequest(inv, "callee", "INVITE", 7, "Contact: <sip:conf@10.9.9.9>\r\n", offer))
	other.from(natAddr, calleeRequest(inv, "callee", "CANCEL", 7, "", ""))
	other.from(natAddr, calleeRequest(inv, "callee", "ACK", 7, "", ""))
	other.from(natAddr, calleeRequest(inv, "callee", "BYE", 8, "", ""))
	if len(other.passed) != 8 || len(other.sent) != 0 {
		t.Fatalf("passed %v, sent\n%s", other.forward, other.trace())
	}

	other.passed = nil
	stray := strings.Replace(reply(inv, 200, "x", ""), ";tag=t", ";tag=u", 1)
	other.from(natAddr, stray)
	other.relayed("dal-1", natAddr, trunkgroup.UDP, 0, reply(inv, 200, "x", ""))
	other.boots = map[string]uint32{"dal-1": 2}
	other.from(natAddr, reply(inv, 200, "x", ""))
	other.boots, other.down = nil, map[string]bool{"dal-1": true}
	other.from(natAddr, reply(inv, 200, "x", ""))
	if len(other.passed) != 0 {
		t.Errorf("forged, passed twice, of an earlier boot or to a dead node: passed %v", other.passed)
	}
}

func TestDEC15_NobodyToReachIs480(t *testing.T) {
	down, gone := natBinding(), flowBinding("f", "dal-1", 0)
	for name, list := range map[string][]*trunkgroup.Binding{"none": nil, "node down": {down}, "flow gone": {gone}, "both": {down, gone}} {
		t.Run(name, func(t *testing.T) {
			w, r := reachWorld(t, list...)
			r.causes["nat"], r.causes["f"] = trunkgroup.CauseNodeDown, trunkgroup.CauseFlowGone
			w.from(carrierAddr, toRooms())
			got := w.take(carrierAddr, "SIP/2.0 480")
			if reason := string(got.Header(sip.Reason)); !strings.Contains(reason, "cause=20") {
				t.Errorf("Reason %q", reason)
			}
			w.from(carrierAddr, ackFor(got, "z9hG4bKa1", ""))
			w.quiet()
			if w.records[0].HangupCause != causeUnregistered {
				t.Errorf("cause %s", w.records[0].HangupCause)
			}
		})
	}
}

func TestDEC15_BesideAMemberByAddressItIsNot480(t *testing.T) {
	doc := aorDocument()
	rooms := &doc.TrunkGroups[3]
	rooms.Members = append(rooms.Members, trunkgroup.MemberSpec{ID: "fixed", Site: "dallas", Address: "198.51.100.44:5060"})
	w := newWorldOf(t, "dal-1", "dallas", doc)
	w.view.Registry = &registered{}
	w.from(carrierAddr, toRooms())
	b := w.take("198.51.100.44:5060", "INVITE")
	w.from("198.51.100.44:5060", reply(b, 503, "x", ""))
	w.take(carrierAddr, "SIP/2.0 500") // the best of both (S-038)
}

func TestDEC15_BindingOfTheOtherSiteTakesTheCallThere(t *testing.T) {
	p := newTwoSites(t)
	p.dal, p.ash = newWorldOf(t, "dal-1", "dallas", aorDocument()), newWorldOf(t, "ash-1", "ashburn", aorDocument())
	p.dal.peers = []geo.PeerNode{{Name: "ash-1", Site: "ashburn", Fresh: true, RTT: 30 * time.Millisecond}}
	p.ash.peers = []geo.PeerNode{{Name: "dal-1", Site: "dallas", Fresh: true, RTT: 30 * time.Millisecond}}
	p.ash.random = 99
	b := conference("ashburn", "1", confAddr)
	for _, w := range []*world{p.dal, p.ash} {
		w.view.Registry = &registered{list: []*trunkgroup.Binding{b}}
	}
	p.dal.from(carrierAddr, toRooms())
	p.exchange()
	inv := p.ash.take(confAddr, "INVITE sip:conf@"+confAddr)
	p.ash.from(confAddr, reply(inv, 480, "x", ""))
	p.exchange()
	p.dal.take(carrierAddr, "SIP/2.0 480")
	if p.dal.records[0].HangupCause == causeUnregistered {
		t.Error("the PBX itself said 480")
	}

	// It is gone: one hand-off, never back, and 480.
	for _, w := range []*world{p.dal, p.ash} {
		w.view.Registry = &registered{}
	}
	p.crossed = nil
	p.dal.from(carrierAddr, invite{called: roomsNumber, body: offer, callID: "call-2", branch: "z9hG4bKb"}.String())
	p.exchange()
	p.dal.take(carrierAddr, "SIP/2.0 480")
	if n := p.invitesCrossed(); n != 1 {
		t.Errorf("%d INVITEs crossed: %v", n, p.crossed)
	}
	if r := p.dal.records[1]; r.HangupCause != causeUnregistered || len(r.Attempts) != 2 {
		t.Errorf("record %+v", r)
	}
}

func TestR27_AddressedByContactNumberAndPath(t *testing.T) {
	doc := aorDocument()
	doc.TrunkGroups[3].Members[0].Registration.RequestURI = "number"
	b := conference("dallas", "1", confAddr)
	b.Path = []string{"<sip:198.51.100.99;lr>", "<sip:198.51.100.98;lr>"}
	b.Contact = "sip:conf@pbx.local:5070;x=y"
	w := newWorldOf(t, "dal-1", "dallas", doc)
	w.view.Registry = &registered{list: []*trunkgroup.Binding{b}}
	w.from(carrierAddr, toRooms())
	inv := w.take(confAddr, "INVITE sip:"+roomsNumber+"@pbx.local:5070;x=y SIP/2.0")
	routes := func(m *sip.Message) (list []string) {
		m.EachOf(sip.Route, func(v []byte) bool { list = append(list, string(v)); return true })
		return list
	}
	if got := strings.Join(routes(inv), ","); got != strings.Join(b.Path, ",") {
		t.Errorf("Route %s", got)
	}
	w.from(confAddr, reply(inv, 180, "x", ""))
	w.from(carrierAddr, strings.Replace(invite{called: roomsNumber}.String(), "INVITE", "CANCEL", 2))
	cancel := w.take(confAddr, "CANCEL sip:"+roomsNumber+"@pbx.local:5070;x=y SIP/2.0")
	if got := strings.Join(routes(cancel), ","); got != strings.Join(b.Path, ",") {
		t.Errorf("Route of the CANCEL %s", got)
	}
}

func TestRFC6140_BulkContactGetsTheNumber(t *testing.T) {
	for contact, want := range map[string]string{
		"sip:198.51.100.3:5070;bnc":                "sip:" + roomsNumber + "@198.51.100.3:5070",
		"sip:pbx.example.com;transport=tcp;bnc":    "sip:" + roomsNumber + "@pbx.example.com;transport=tcp",
		"sips:u@[2001:db8::1]:5061;x=1;BNC;y=2":    "sips:" + roomsNumber + "@[2001:db8::1]:5061;x=1;y=2",
		"tel:+1":                                   "tel:+1",
		"sip:old;p=1@198.51.100.3;transport=\"@\"": "sip:old;p=1@198.51.100.3;transport=\"@\"",
	} {
		if got := withUser(contact, roomsNumber); got != want {
			t.Errorf("%s became %s, want %s", contact, got, want)
		}
	}
}

func FuzzWithUser(f *testing.F) {
	f.Add("sip:a@b;bnc")
	f.Add("sip:[::1]:5060;bnc;x")
	f.Fuzz(func(t *testing.T, uri string) {
		before, err := sip.ParseURI([]byte(uri))
		if err != nil || before.Scheme == "tel" {
			return
		}
		after, err := sip.ParseURI([]byte(withUser(uri, roomsNumber)))
		if err != nil || string(after.User) != roomsNumber || string(after.Host) != string(before.Host) || after.Port != before.Port {
			t.Fatalf("%q became %q: %v", uri, withUser(uri, roomsNumber), err)
		}
	})
}

// digestCall is the INVITE of a digest user from behind a NAT; it returns where
// that is seen.
func digestCall(w *world, proto, contact string, flow transport.Flow) string {
	const source, uri = "198.51.100.200:41000", "sip:+442079460000@sip.example.com"
	text := "INVITE " + uri + " SIP/2.0\r\nVia: SIP/2.0/" + proto + " 10.1.1.1:5060;branch=z9hG4bKn%s;rport\r\n" +
		"Max-Forwards: 70\r\nFrom: <sip:initech@sip.example.com>;tag=caller\r\nTo: <sip:+442079460000@sip.example.com>\r\n" +
		"Call-ID: nat-1\r\nCSeq: %s INVITE\r\nContact: <" + contact + ">\r\n%s" +
		"Content-Type: application/sdp\r\nContent-Length: " + strconv.Itoa(len(offer)) + "\r\n\r\n" + offer
	w.packetBy(proto, source, flow, fmt.Sprintf(text, "1", "1", ""))
	c := w.take(source, "SIP/2.0 401")
	w.packetBy(proto, source, flow, fmt.Sprintf(text, "2", "2", authorize(w.t, c, uri)))
	return source
}

// packetBy gives the shard a message by a transport; a draining node, if any, has
// passed it on.
func (w *world) packetBy(proto, source string, flow transport.Flow, text string) {
	w.t.Helper()
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		w.t.Fatalf("test message: %v\n%s", fault, text)
	}
	t := map[string]trunkgroup.Transport{"UDP": trunkgroup.UDP, "TCP": trunkgroup.TCP, "WS": trunkgroup.WS}[proto]
	w.step(func() {
		w.s.Receive(w.now, &Packet{Packet: transport.Packet{Message: m, Transport: t, Source: netip.MustParseAddrPort(source), Flow: flow}, Relay: w.passedBy})
	})
}

func TestR27_CallerBehindANatIsAskedWhereItCameFrom(t *testing.T) {
	for _, x := range []struct {
		proto, contact string
		flow           transport.Flow
		by             string
	}{
		{"UDP", "sip:initech@10.1.1.1:5060", 0, ""},
		{"TCP", "sip:initech@10.1.1.1:5060;transport=tcp", 9, ""},
		{"WS", "sip:initech@df7jal23ls0d.invalid;transport=ws", 9, ""},
		{"UDP", "sip:initech@10.1.1.1:5060", 0, "dal-2"},
		{"WS", "sip:initech@df7jal23ls0d.invalid;transport=ws", 9, "dal-2"},
	} {
		t.Run(x.proto+x.by, func(t *testing.T) {
			w := newWorldOf(t, "dal-1", "dallas", aorDocument())
			w.passedBy = x.by
			w.s.cfg.Listeners = append(w.s.cfg.Listeners, Listener{Transport: trunkgroup.WS, Advertise: "203.0.113.1:80"})
			source := digestCall(w, x.proto, x.contact, x.flow)
			b := w.take(carrierAddr, "INVITE")
			w.from(carrierAddr, reply(b, 200, "callee", answerSDP, "Contact: <sip:c@192.0.2.10>\r\n"))
			ok := w.take(source, "SIP/2.0 200")
			w.packetBy(x.proto, source, x.flow, ackFor(ok, "z9hG4bKack", ""))
			w.from(carrierAddr, calleeRequest(b, "callee", "INFO", 5, "", ""))
			info := w.sent[len(w.sent)-1]
			if info.m.Method() != sip.INFO || info.to.Addr.String() != source || info.to.Flow != x.flow || info.to.ViaNode != x.by {
				t.Errorf("%s to %+v", info.m.Method(), info.to)
			}
		})
	}
}

func TestDEC15_ReinviteThroughItsNodeIsCancelled(t *testing.T) {
	w, _ := reachWorld(t, natBinding())
	w.from(carrierAddr, toRooms())
	inv := w.via("dal-2", "INVITE").m
	w.relayed("dal-2", natAddr, trunkgroup.UDP, 0, reply(inv, 200, "callee", answerSDP))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	re := calleeRequest(inv, "callee", "INVITE", 7, "Contact: <sip:conf@10.9.9.9>\r\n", offer)
	w.relayed("dal-2", natAddr, trunkgroup.UDP, 0, re)
	out := w.take(carrierAddr, "INVITE")
	w.from(carrierAddr, reply(out, 180, "caller", ""))
	ringing := w.via("dal-2", "SIP/2.0 180")
	if contact := string(ringing.m.Header(sip.Contact)); !strings.Contains(contact, dal2Public) {
		t.Errorf("our Contact to a far end that knows dal-2 alone is %s", contact)
	}
	cancel := calleeRequest(inv, "callee", "CANCEL", 7, "", "")
	cancel = strings.Replace(cancel, "z9hG4bKcalleeCANCEL7", "z9hG4bKcalleeINVITE7", 1)
	w.relayed("dal-2", natAddr, trunkgroup.UDP, 0, cancel)
	w.via("dal-2", "SIP/2.0 200")
	w.take(carrierAddr, "CANCEL")
}

// BenchmarkBindingHop is what a call to a binding costs beside one to a member by
// address: the way there, and the Request-URI.
func BenchmarkBindingHop(b *testing.B) {
	for name, binding := range map[string]*trunkgroup.Binding{
		"any": conference("dallas", "1", confAddr), "flow": flowBinding("f", "dal-1", 77), "other node": natBinding(),
	} {
		b.Run(name, func(b *testing.B) {
			w, _ := reachWorld(b, binding)
			c := &Call{s: w.s, called: roomsNumber}
			m := w.table.Member("acme-rooms/conf")
			b.ReportAllocs()
			for b.Loop() {
				if _, cause := w.s.bindingHop(binding); cause != "" || c.bindingURI(m, binding) == "" {
					b.Fatal(cause)
				}
			}
		})
	}
}
