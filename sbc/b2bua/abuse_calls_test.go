package b2bua

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Class 18: a To tag makes nothing a part of a dialog, whoever minted it: a
// request that has no dialog is 481 before anything is read in it.
func TestAbuse18_ToTagOpensNoDoor(t *testing.T) {
	foreign := newWorldOf(t, "dal-9", "dallas", document())
	for _, tag := range []string{"x", strings.Repeat("a", 64), foreign.s.mint(), foreign.s.mint() + "x"} {
		for _, method := range []string{"INVITE", "BYE", "UPDATE", "INFO", "MESSAGE", "REFER", "SUBSCRIBE", "NOTIFY", "OPTIONS", "PRACK", "REGISTER"} {
			for _, addr := range []string{strangerAddr, carrierAddr} {
				w := newWorldOf(t, "dal-1", "dallas", digestDocument())
				w.raw(addr, outsideRequest(method, "sip:+12145550100@203.0.113.1", "<sip:x@203.0.113.1>;tag="+tag, ""))
				if len(w.sent) != 1 || w.sent[0].m.Status() != 481 {
					// A tag that a node of the cluster minted is that node's to judge.
					if len(w.sent) == 1 && w.sent[0].m.Status() == 500 || method == "BYE" && len(w.sent) == 0 {
						continue
					}
					t.Errorf("%s from %s with tag %.20s: %s", method, addr, tag, w.trace())
				}
				w.sent = nil
				for _, a := range []string{carrierAddr, pbx1Addr} {
					w.none(a, "INVITE")
				}
			}
		}
	}
}

// Class 18, inside a call: whoever does not know both tags is not in the dialog.
func TestAbuse18_OthersAreNotInTheDialog(t *testing.T) {
	w := newWorld(t)
	_, ok := w.answeredCall()
	for _, method := range []string{"BYE", "INVITE", "INFO", "REFER"} {
		text := edit(t, inside(ok, method, 9, "", ""), "tag=caller", "tag=guessed")
		w.raw(strangerAddr, text)
	}
	w.none(pbx1Addr, "BYE")
	w.none(pbx1Addr, "INVITE")
	w.none(pbx1Addr, "INFO")
	if st := w.s.Stats(); st.Calls != 1 {
		t.Errorf("%d calls", st.Calls)
	}
}

// Class 19: nobody's call goes where it says. A digest user hears at once that a
// host or a Route is not ours; a trunk's odd host changes nothing.
func TestAbuse19_OpenRelay(t *testing.T) {
	call := func(host, lines string) (*world, string) {
		w := newWorldOf(t, "dal-1", "dallas", digestDocument())
		text := edit(t, invite{called: "+13105550123", body: offer, host: strangerAddr, lines: lines}.String(), "INVITE sip:+13105550123@203.0.113.1", "INVITE sip:+13105550123@"+host)
		w.raw(strangerAddr, text)
		challenge := w.take(strangerAddr, "SIP/2.0 401") // the same for every host
		text = edit(t, text, "CSeq: 1 ", authorize(t, challenge, "sip:+13105550123@"+host)+"CSeq: 2 ")
		return w, edit(t, text, "z9hG4bKa1", "z9hG4bKa2")
	}
	for host, ours := range map[string]bool{
		"203.0.113.1": true, "203.0.113.1:5070": true, "sip.example.com": true, "SIP.Example.COM": true,
		"evil.example": false, "198.51.100.99": false, "[2001:db8::1]": false, "localhost": false, "127.0.0.1": false,
	} {
		w, text := call(host, "")
		w.raw(strangerAddr, text)
		if ours {
			w.take(carrierAddr, "INVITE")
			continue
		}
		w.take(strangerAddr, "SIP/2.0 403")
		w.untouched()
	}
	for route, ours := range map[string]bool{
		"<sip:203.0.113.1;lr>": true, "<sip:evil.example;lr>": false, "<sip:203.0.113.1;lr>, <sip:evil.example;lr>": false, "<sip:198.51.100.99:5060>": false,
	} {
		w, text := call("203.0.113.1", "Route: "+route+"\r\n")
		w.raw(strangerAddr, text)
		if ours {
			if b := w.take(carrierAddr, "INVITE"); b.Has(sip.Route) {
				t.Error("the Route crossed")
			}
			continue
		}
		w.take(strangerAddr, "SIP/2.0 403")
		w.untouched()
	}
	// A trunk: accepted, and not followed, unless the node is stricter.
	w := newWorld(t)
	text := edit(t, invite{body: offer, lines: "Route: <sip:evil.example;lr>\r\n"}.String(), "INVITE sip:+12145550100@203.0.113.1", "INVITE sip:+12145550100@evil.example")
	w.raw(carrierAddr, text)
	w.take(pbx1Addr, "INVITE")
	for _, x := range w.sent {
		if a := x.dest(); a != carrierAddr && a != pbx1Addr {
			t.Errorf("something went to %s", a)
		}
	}
	w = newWorld(t)
	w.s.cfg.Domains = DomainsOfAll
	w.raw(carrierAddr, text)
	w.take(carrierAddr, "SIP/2.0 403")
	w.untouched()
}

// Class 20: REFER, 3xx and Replaces move no call (premium numbers and volumes are
// the fraud limits' matter).
func TestAbuse20_NothingMovesACall(t *testing.T) {
	w := newWorld(t)
	b, ok := w.answeredCall()
	w.from(carrierAddr, inside(ok, "REFER", 2, "Refer-To: <sip:+19005550100@203.0.113.1>\r\n", ""))
	for _, x := range w.sent {
		if x.m.IsRequest() {
			t.Errorf("a REFER of the caller led to %s", x.m.Method())
		}
	}
	w.sent = nil
	w.from(pbx1Addr, calleeRequest(b, "callee", "REFER", 2, "Refer-To: <sip:+19005550100@203.0.113.1>\r\n", ""))
	for _, x := range w.sent {
		if x.m.IsRequest() {
			t.Errorf("a REFER of the callee led to %s", x.m.Method())
		}
	}
	w = newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "INVITE"), 302, "x", "", "Contact: <sip:+19005550100@evil.example>\r\n"))
	got := w.take(carrierAddr, "SIP/2.0 480")
	if got.Has(sip.Contact) && strings.Contains(string(got.Header(sip.Contact)), "evil") {
		t.Error("the Contact of a 302 went to the caller")
	}
	w = newWorld(t)
	w.from(carrierAddr, invite{body: offer, lines: "Replaces: call-1;to-tag=a;from-tag=b\r\n"}.String())
	w.take(carrierAddr, "SIP/2.0 481")
	w.untouched()
}

// Class 28: only who sent an INVITE cancels it.
func TestAbuse28_CancelOfAThirdParty(t *testing.T) {
	udp := transport.Packet{Source: netip.MustParseAddrPort(carrierAddr), Transport: trunkgroup.UDP}
	tcp := func(port uint16, flow transport.Flow) transport.Packet {
		return transport.Packet{Source: netip.AddrPortFrom(netip.MustParseAddr("203.0.113.77"), port), Transport: trunkgroup.TCP, Flow: flow}
	}
	digestCall := func(w *world) string {
		call := invite{called: "+13105550123", body: offer, host: strangerAddr}
		w.packetVia(tcp(40000, 7), "", call.String())
		challenge := w.take("203.0.113.77:40000", "SIP/2.0 401")
		call.lines, call.seq, call.branch = authorize(t, challenge, "sip:+13105550123@203.0.113.1"), 2, "z9hG4bKa2"
		w.packetVia(tcp(40000, 7), "", call.String())
		return call.String()
	}
	trunkCall := func(w *world) string {
		text := invite{called: "+12145550100", body: offer}.String()
		w.packetVia(udp, "", text)
		return text
	}
	for name, c := range map[string]struct {
		call  func(*world) string
		by    transport.Packet
		relay string
		ends  bool
	}{
		"a trunk itself":                      {trunkCall, udp, "", true},
		"a trunk from another port":           {trunkCall, transport.Packet{Source: netip.MustParseAddrPort("192.0.2.10:9"), Transport: trunkgroup.UDP}, "", true},
		"a trunk by another node":             {trunkCall, udp, "dal-2", true},
		"a stranger who saw it":               {trunkCall, transport.Packet{Source: netip.MustParseAddrPort(strangerAddr), Transport: trunkgroup.UDP}, "", false},
		"a stranger by another node":          {trunkCall, transport.Packet{Source: netip.MustParseAddrPort(strangerAddr), Transport: trunkgroup.UDP}, "dal-2", false},
		"the trunk's address over TCP":        {trunkCall, transport.Packet{Source: netip.MustParseAddrPort(carrierAddr), Transport: trunkgroup.TCP, Flow: 9}, "", false},
		"a user by his connection":            {digestCall, tcp(40000, 7), "", true},
		"his neighbour behind the NAT":        {digestCall, tcp(40001, 8), "", false},
		"his neighbour, at another node":      {digestCall, tcp(40001, 7), "dal-2", false},
		"a datagram with the user's address":  {digestCall, transport.Packet{Source: netip.MustParseAddrPort(strangerAddr), Transport: trunkgroup.UDP}, "", false},
		"a stranger by a connection of his":   {digestCall, transport.Packet{Source: netip.MustParseAddrPort("203.0.113.78:1"), Transport: trunkgroup.TCP, Flow: 9}, "", false},
		"a peer node that claims a hand-off":  {trunkCall, transport.Packet{Source: netip.MustParseAddrPort(carrierAddr), Transport: trunkgroup.Interconnect}, "", false},
		"the user's connection, another host": {digestCall, transport.Packet{Source: netip.MustParseAddrPort("203.0.113.78:1"), Transport: trunkgroup.TCP, Flow: 7}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(t, "dal-1", "dallas", digestDocument())
			text := c.call(w)
			w.sent = slices.DeleteFunc(w.sent, func(x wire) bool { return x.m.Method() != sip.INVITE || !x.m.IsRequest() })
			w.packetVia(c.by, c.relay, cancelOf(text, "INVITE"))
			want := 481
			if c.ends {
				want = 200
			}
			found := 0
			for _, x := range w.sent {
				if x.m.Status() == want && x.m.CSeqMethod() == sip.CANCEL {
					found++
				}
			}
			if found != 1 {
				t.Errorf("want %d: %s", want, w.trace())
			}
			if ended := w.s.Stats().Calls == 0; ended != c.ends {
				t.Errorf("the call ended: %v", ended)
			}
		})
	}
}

// Class 29: an Identity is a header like any other: it crosses as it is, nothing
// is fetched for it, and its size is that of a header block.
func TestAbuse29_Identity(t *testing.T) {
	w := newWorld(t)
	identity := strings.Repeat("a", 4000) + `.b.c;info=<http://169.254.169.254/latest>;alg=none;ppt=shaken`
	w.raw(carrierAddr, invite{body: offer, lines: "Identity: " + identity + "\r\n"}.String())
	if got := w.take(pbx1Addr, "INVITE"); string(got.Header(sip.Identity)) != identity {
		t.Error("the Identity has changed")
	}
	w = newWorld(t)
	code, _ := w.raw(carrierAddr, invite{body: offer, lines: "Identity: " + strings.Repeat("a", sip.MaxHeaderBlock) + "\r\n"}.String())
	if code != 513 && code != 400 {
		t.Errorf("code %d", code)
	}
	w.untouched()
}

// Class 25: a call to a sips address comes by TLS and goes by TLS, or not at all.
func TestAbuse25_SIPSKeepsTLS(t *testing.T) {
	doc := document()
	doc.TrunkGroups[2].Sources = []trunkgroup.SourceSpec{{IP: "192.0.2.10", Transport: trunkgroup.TLS}, {IP: "192.0.2.10"}}
	text := edit(t, invite{body: offer}.String(), "INVITE sip:", "INVITE sips:")
	by := func(w *world, proto trunkgroup.Transport) {
		p := transport.Packet{Source: netip.MustParseAddrPort(carrierAddr), Transport: proto}
		if proto.Reliable() {
			p.Flow = 7
		}
		w.packetVia(p, "", text)
	}
	w := newWorldOf(t, "dal-1", "dallas", doc)
	by(w, trunkgroup.UDP)
	w.take(carrierAddr, "SIP/2.0 403")
	w.untouched()
	w = newWorldOf(t, "dal-1", "dallas", doc)
	by(w, trunkgroup.TLS)
	w.none(pbx1Addr, "INVITE")
	w.none(pbx2Addr, "INVITE")
	if r := w.records; len(r) != 1 || len(r[0].Attempts) == 0 || r[0].Attempts[0].Cause != trunkgroup.CauseInsecure {
		t.Errorf("records %+v", r)
	}
	doc.TrunkGroups[0].Members[1].Transport = trunkgroup.TLS
	doc.TrunkGroups[0].Members[1].ServerName = "pbx2.example"
	w = newWorldOf(t, "dal-1", "dallas", doc)
	w.s.cfg.Listeners = append(w.s.cfg.Listeners, Listener{Transport: trunkgroup.TLS, Advertise: "203.0.113.1:5061"})
	by(w, trunkgroup.TLS)
	w.none(pbx1Addr, "INVITE")
	w.take(pbx2Addr, "INVITE")
}

// A stranger who hangs up before his answer is not called back, at the port that his
// Via names: what we dial is ours, and he would have it without having come in.
func TestAbuse22_StrangersAreNotCalledBack(t *testing.T) {
	tcp := transport.Packet{Source: netip.MustParseAddrPort("203.0.113.77:40000"), Transport: trunkgroup.TCP, Flow: 9}
	for _, method := range []string{"INVITE", "REGISTER", "OPTIONS", "MESSAGE", "SUBSCRIBE", "BYE", "CANCEL", "NOSUCH"} {
		w := newWorld(t)
		w.packetVia(tcp, "", outsideRequest(method, "sip:x@sip.example.com", "<sip:x@sip.example.com>", ""))
		if len(w.sent) != 1 || w.sent[0].to.ReturnPort != 0 || w.sent[0].to.Flow != 9 {
			t.Errorf("%s: %s", method, w.trace())
		}
	}
}

// A far end has us send where its Contact says, but not to ourselves, nor to many.
func TestAbuse22_ContactsThatNobodyMayName(t *testing.T) {
	for _, c := range []struct {
		ip, from string
		may      bool
	}{
		{"198.51.100.7", "203.0.113.1", true},
		{"10.0.0.7", "203.0.113.1", true}, // behind a VPN of ours, say
		{"2001:db8::7", "2001:db8::1", true},
		{"127.0.0.1", "203.0.113.1", false},
		{"::1", "2001:db8::1", false},
		{"::ffff:127.0.0.1", "203.0.113.1", false},
		{"127.0.0.1", "127.0.0.2", true}, // a PBX on the same machine
		{"0.0.0.0", "127.0.0.2", false},
		{"::", "203.0.113.1", false},
		{"255.255.255.255", "203.0.113.1", false},
		{"224.0.0.5", "203.0.113.1", false},
		{"ff02::1", "2001:db8::1", false},
	} {
		w := newWorld(t)
		base := transport.Target{Transport: trunkgroup.UDP, Addr: netip.AddrPortFrom(netip.MustParseAddr(c.from), 5060)}
		host := HostOf(netip.MustParseAddr(c.ip))
		if strings.HasPrefix(c.ip, "::ffff") {
			host = "[" + c.ip + "]"
		}
		to := w.s.nextHop("sip:x@"+host+":8080", base, false)
		if may := to.Addr.Port() == 8080; may != c.may {
			t.Errorf("%s of %s: goes to %s", c.ip, c.from, to.Addr)
		}
	}
}
