//go:build e2e

package e2e

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
)

// TestDeadPooledConnection: the PBX's TCP connection dies with its process; the
// next call opens a new one and reaches the PBX once (CON-01).
func TestDeadPooledConnection(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	at := netip.AddrPortFrom(lab.Host4(lab.PBXDallas, transportPBX), 5060)
	start := func() *peer.SIPp {
		s := callee(t, peer.Run{Place: lab.PBXDallas, Local: at, TCP: true, Scenario: answers()})
		ready(t, lab.PBXDallas, at, true)
		return s
	}
	first := start()
	pstnCall(t, n, tcpNumber, peer.Complete(0))
	first.Kill()
	pstnCall(t, n, tcpNumber, peer.Fails(503))
	second := start()
	sent := pstnCall(t, n, tcpNumber, peer.Complete(0))
	if k := invited(t, second); k != 1 {
		t.Errorf("the PBX got %d INVITEs, want 1", k)
	}
	if d := setupTime(sent); d > 2*time.Second {
		t.Errorf("ringing after %v", d)
	}
}

// TestTLSMemberMustProveItsName: a far end whose certificate bears another name
// gets no INVITE.
func TestTLSMemberMustProveItsName(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas2)
	host := lab.Host4(lab.PBXDallas, edgeHost)
	a, keys := certificate(t, "edge-of-somebody-else") // not even the address
	e := peer.Edge{
		Lab: theLab(t), Place: lab.PBXDallas, Keys: keys, Authority: a, Outside: n.TLS(),
		TLS: netip.AddrPortFrom(host, 5061), Plain: netip.AddrPortFrom(host, 5060), Inside: netip.AddrPortFrom(host, 5080),
	}
	proc, err := peer.StartEdge(e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proc.Stop)
	ready(t, lab.PBXDallas, e.TLS, true)
	c := callee(t, peer.Run{Place: lab.PBXDallas, Local: e.Inside, Scenario: answers()})
	ready(t, lab.PBXDallas, e.Inside, false)
	sent := pstnCall(t, n, tlsNumber, peer.Fails(503))
	if k := invited(t, c); k != 0 {
		t.Errorf("the wrong far end got %d INVITEs", k)
	}
	if r := recordOf(t, n, callID(t, sent)); len(r.Attempts) == 0 || r.Attempts[0].Dialed {
		t.Errorf("attempts %+v, want one that was not dialed", r.Attempts)
	}
}

// TestIdleConnectionsDoNotStopCalls: a stranger who opens many connections and
// says nothing, or a byte now and then, harms no caller (CON-08).
func TestIdleConnectionsDoNotStopCalls(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	l := theLab(t)
	for i := range 300 {
		var c net.Conn
		err := l.Namespace(lab.Outside).Do(func() (err error) {
			c, err = net.DialTimeout("tcp", n.UDP().String(), 5*time.Second)
			return err
		})
		if err != nil {
			break // the node's limit for one source: just as good
		}
		defer c.Close()
		if i%2 == 0 {
			if _, err := c.Write([]byte("I")); err != nil {
				continue
			}
		}
	}
	at := netip.AddrPortFrom(lab.Host4(lab.PBXDallas, transportPBX), 5060)
	callee(t, peer.Run{Place: lab.PBXDallas, Local: at, TCP: true, Scenario: answers()})
	ready(t, lab.PBXDallas, at, true)
	r := fromPSTN(n, tcpNumber, peer.Complete(0))
	r.TCP = true
	if d := setupTime(call(t, r)); d > 2*time.Second {
		t.Errorf("ringing after %v", d)
	}
}
