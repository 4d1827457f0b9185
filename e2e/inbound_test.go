//go:build e2e

package e2e

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

// pstnCall calls a customer's number from the PSTN in a site over UDP and IPv4.
func pstnCall(t testing.TB, n *tandem.Node, number string, s peer.Scenario) []peer.Message {
	t.Helper()
	return call(t, fromPSTN(n, number, s))
}

// fromPSTN is a run of one call from the PSTN of the node's site to the node.
func fromPSTN(n *tandem.Node, number string, s peer.Scenario) peer.Run {
	p := lab.CarrierDallas
	if n.Site == lab.Ashburn {
		p = lab.CarrierAshburn
	}
	return peer.Run{
		Place: p, Local: netip.AddrPortFrom(lab.Host4(p, pstnHost), 0), Scenario: s,
		Remote: n.UDP(), Number: number,
	}
}

// callID is the Call-ID of a run's first call.
func callID(t testing.TB, list []peer.Message) string {
	t.Helper()
	for _, m := range list {
		if m.Sent { // what came may be for another run that had the port before
			return m.Header("Call-ID")
		}
	}
	t.Fatal("no message was sent")
	return ""
}

// TestInboundByTransportAndFamily calls a customer's number in Dallas over UDP
// and TCP, IPv4 and IPv6, and looks at what crossed the SBC.
func TestInboundByTransportAndFamily(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	for _, tc := range []struct {
		number string
		host   func(lab.Place, int) netip.Addr
		node   netip.Addr
		tcp    bool
	}{
		{tcpNumber, lab.Host4, n.IPv4, true},
		{sixNumber, lab.Host6, n.IPv6, false},
		{sixTCP, lab.Host6, n.IPv6, true},
	} {
		t.Run(fmt.Sprintf("%v tcp=%v", tc.node, tc.tcp), func(t *testing.T) {
			at := netip.AddrPortFrom(tc.host(lab.PBXDallas, transportPBX), 5060)
			pbx := callee(t, peer.Run{Place: lab.PBXDallas, Local: at, TCP: tc.tcp, Scenario: answers()})
			ready(t, lab.PBXDallas, at, tc.tcp)
			sent := call(t, peer.Run{
				Place: lab.CarrierDallas, Local: netip.AddrPortFrom(tc.host(lab.CarrierDallas, pstnHost), 0), TCP: tc.tcp,
				Remote: netip.AddrPortFrom(tc.node, tandem.PortSIP), Number: tc.number, Scenario: peer.Complete(100 * time.Millisecond),
			})
			crossed(t, sent, peer.Received(messages(t, pbx), "INVITE"))
			if r := recordOf(t, n, callID(t, sent)); r.SIPCode != 200 || r.Called != tc.number || len(r.Attempts) != 1 {
				t.Errorf("record: %+v", r)
			}
		})
	}
	t.Run("every node, both PBXs", func(t *testing.T) {
		begin := time.Now()
		for _, n := range w.SBCs() {
			for range 2 {
				pstnCall(t, n, acmeNumber, peer.Complete(0))
			}
		}
		for _, m := range []string{"acme-in/dal-1", "acme-in/dal-2", "acme-in/ash-1", "acme-in/ash-2"} {
			if got := w.farEnds[m].since(t, begin); len(got) != 2 {
				t.Errorf("%s got %d INVITEs, want 2: each node takes turns between the two of its site", m, len(got))
			}
		}
	})
}

// crossed compares the caller's INVITE with the one that the PBX got: SDP byte
// for byte, one Max-Forwards less, nothing of the caller's network in it (DEC-23).
func crossed(t testing.TB, sent, got []peer.Message) {
	t.Helper()
	if len(got) != 1 {
		t.Fatalf("the PBX got %d INVITEs, want 1", len(got))
	}
	a, b := sent[0], got[0]
	if strings.TrimSpace(a.Body()) != strings.TrimSpace(b.Body()) {
		t.Errorf("SDP changed: sent %q, got %q", a.Body(), b.Body())
	}
	if mf := b.Header("Max-Forwards"); mf != "69" {
		t.Errorf("Max-Forwards %s, want 69", mf)
	}
	if via := b.Headers("Via"); len(via) != 1 {
		t.Errorf("Via of the B leg: %q, want only Tandem's own", via)
	}
	if len(b.Headers("Record-Route")) != 0 {
		t.Errorf("Record-Route crossed: %q", b.Headers("Record-Route"))
	}
	if a.Header("Call-ID") == b.Header("Call-ID") || peer.Tag(a.Header("From")) == peer.Tag(b.Header("From")) {
		t.Error("the dialog's identifiers crossed")
	}
	caller, _, _ := strings.Cut(strings.TrimPrefix(a.Header("Contact"), "<sip:caller@"), ";")
	for _, h := range append(b.Headers("Contact"), b.Headers("Via")...) {
		if strings.Contains(h, caller) {
			t.Errorf("the caller's address %s crossed in %q", caller, h)
		}
	}
}

// TestInboundTLS sends calls over TLS with Kamailio as the edge in front of SIPp
// on both sides, IPv4 and IPv6.
func TestInboundTLS(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	for _, tc := range []struct {
		name, number string
		host         func(lab.Place, int) netip.Addr
		node         netip.Addr
	}{
		{"four", tlsNumber, lab.Host4, n.IPv4},
		{"six", sixTLS, lab.Host6, n.IPv6},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pbx, pstn := tc.host(lab.PBXDallas, edgeHost), tc.host(lab.CarrierDallas, pstnHost)
			tls := netip.AddrPortFrom(tc.node, tandem.PortTLS)
			edge(t, "edge-"+tc.name, lab.PBXDallas, pbx, tls)
			edge(t, "edge-pstn-"+tc.name, lab.CarrierDallas, pstn, tls)
			inside := netip.AddrPortFrom(pbx, 5080)
			c := callee(t, peer.Run{Place: lab.PBXDallas, Local: inside, Scenario: answers()})
			ready(t, lab.PBXDallas, inside, false)
			sent := call(t, peer.Run{
				Place: lab.CarrierDallas, Local: netip.AddrPortFrom(pstn, 5090), Remote: netip.AddrPortFrom(pstn, 5060),
				Number: tc.number, Scenario: peer.Complete(100 * time.Millisecond),
			})
			got := peer.Received(messages(t, c), "INVITE")
			if len(got) != 1 {
				t.Fatalf("the PBX got %d INVITEs, want 1", len(got))
			}
			if via := got[0].Headers("Via"); len(via) != 2 {
				t.Errorf("Via at the PBX: %q, want its edge's and Tandem's", via)
			}
			if r := recordOf(t, n, callID(t, sent)); r.SIPCode != 200 || r.EgressMember != "dal-1" {
				t.Errorf("record: %+v", r)
			}
		})
	}
}

// TestInboundTLSToBaresip lets the softphone answer, and lets it call.
func TestInboundTLSToBaresip(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas2)
	baresip(t, "baresip-dallas", phoneNumber, lab.PBXDallas, lab.Host4(lab.PBXDallas, phoneHost), n.TLS())
	t.Run("answers", func(t *testing.T) {
		pstnCall(t, n, phoneNumber, peer.Complete(200*time.Millisecond))
	})
	t.Run("calls", func(t *testing.T) {
		w.play(t, peer.Callee("hangs-up", peer.Accept(), peer.Wait(200*time.Millisecond), peer.HangUp()), "acme-in/dal-1", "acme-in/dal-2")
		caller := baresip(t, "baresip-pstn", "+12145559999", lab.CarrierDallas, lab.Host4(lab.CarrierDallas, pstnHost), n.TLS())
		if err := caller.Type("/dial sip:" + acmeNumber + "@" + n.IPv4.String()); err != nil {
			t.Fatal(err)
		}
		prints(t, caller, "Call established")
		prints(t, caller, "session closed")
	})
}

// TestUnknownNumberGets404 calls a number that no group owns (DEC-04).
func TestUnknownNumberGets404(t *testing.T) {
	w := theWorld(t)
	pstnCall(t, w.Node(lab.Dallas1), "+12145550999", peer.Fails(404))
}

// TestOptionsFromSipsak pings every node over UDP and TCP as a load balancer does.
func TestOptionsFromSipsak(t *testing.T) {
	w := theWorld(t)
	for _, n := range w.SBCs() {
		for _, transport := range []string{"udp", "tcp"} {
			out, err := theLab(t).Namespace(lab.Outside).Command("sipsak", "-E", transport, "-s", "sip:"+n.UDP().String()).CombinedOutput()
			if err != nil {
				t.Errorf("%s over %s: %v\n%s", n.Name, transport, err, out)
			}
		}
	}
}
