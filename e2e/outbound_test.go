//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

// carriers lists a carrier's members or all carriers' members of a site.
func carriers(site string) []string {
	short := map[string]string{lab.Dallas: "dal", lab.Ashburn: "ash"}[site]
	return []string{"carrier-a/" + short, "carrier-b/" + short}
}

// fromAcme is a run of one call from acme's PBX that is known by IP and port.
func fromAcme(n *tandem.Node, s peer.Scenario) peer.Run {
	return peer.Run{
		Place: lab.PBXDallas, Local: netip.AddrPortFrom(lab.Host4(lab.PBXDallas, acmeUDP), 5060),
		Scenario: s, Remote: n.UDP(), Number: pstnNumber,
	}
}

// TestOutboundBySource calls the PSTN as the customer that is known by source IP
// and port over UDP, and by IP over TCP and TLS.
func TestOutboundBySource(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	check := func(t *testing.T, sent []peer.Message) {
		t.Helper()
		r := recordOf(t, n, callID(t, sent))
		if r.Direction != "outbound" || r.Customer != "acme-out" || r.EgressGroup != "carrier-a" || r.EgressMember != "dal" || r.SIPCode != 200 {
			t.Errorf("record: %+v", r)
		}
	}
	t.Run("udp", func(t *testing.T) { check(t, call(t, fromAcme(n, peer.Complete(0)))) })
	t.Run("tcp", func(t *testing.T) {
		r := fromAcme(n, peer.Complete(0))
		r.TCP, r.Local = true, netip.AddrPortFrom(lab.Host4(lab.PBXDallas, acmeTCP), 0)
		check(t, call(t, r))
	})
	t.Run("tls", func(t *testing.T) {
		host := lab.Host4(lab.PBXDallas, acmeTLS)
		edge(t, "edge-acme", lab.PBXDallas, host, n.TLS())
		r := fromAcme(n, peer.Complete(0))
		r.Local, r.Remote = netip.AddrPortFrom(host, 5090), netip.AddrPortFrom(host, 5060)
		check(t, call(t, r))
	})
}

// TestOutboundUnknownSourceIsChallenged: another port of a known address over
// UDP, and a stranger, get 401: over TCP with SHA-256 first and MD5 second (RFC
// 8760 2.4), over UDP, where the source may be forged, with what makes the answer
// no larger than the request, MD5 at least.
func TestOutboundUnknownSourceIsChallenged(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	other := fromAcme(n, peer.Fails(401))
	other.Local = netip.AddrPortFrom(other.Local.Addr(), 5070)
	stranger := other
	stranger.Place, stranger.Local = lab.Outside, netip.AddrPortFrom(lab.Host4(lab.Outside, 20), 5060)
	stream := stranger
	stream.TCP = true
	for name, c := range map[string]struct {
		run  peer.Run
		want []string
	}{
		"other port": {other, []string{"MD5"}}, "stranger": {stranger, []string{"MD5"}}, "stranger over tcp": {stream, []string{"SHA-256", "MD5"}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := 0
			for _, m := range peer.Responses(call(t, c.run), "INVITE") {
				if m.Code() != 401 {
					continue
				}
				seen++
				got := m.Headers("WWW-Authenticate")
				if len(got) != len(c.want) {
					t.Fatalf("challenges: %q", got)
				}
				for i, algorithm := range c.want {
					if !strings.HasSuffix(got[i], "algorithm="+algorithm) {
						t.Errorf("challenge %d: %q", i+1, got[i])
					}
				}
			}
			if seen == 0 {
				t.Error("no 401")
			}
		})
	}
}

// legacyHost is where legacy stands, outside.
const legacyHost = 26

// legacy relays datagrams between SIPp and a node and takes the SHA-256 challenge
// off: SIPp only looks at the first challenge, and knows no SHA-256. It returns
// the address to call in place of the node's.
func legacy(t testing.TB, host int, n *tandem.Node) netip.AddrPort {
	t.Helper()
	l := theLab(t)
	near := listen(t, l, lab.Outside, netip.AddrPortFrom(lab.Host4(lab.Outside, host), 5060))
	far := listen(t, l, lab.Outside, netip.AddrPortFrom(lab.Host4(lab.Outside, host), 5062))
	var caller atomic.Pointer[netip.AddrPort]
	pass := func(from *net.UDPConn, send func([]byte, netip.AddrPort)) {
		buf := make([]byte, 65535)
		for {
			k, source, err := from.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			send(buf[:k], source)
		}
	}
	go pass(near, func(b []byte, source netip.AddrPort) {
		caller.Store(&source)
		_, _ = far.WriteToUDPAddrPort(b, n.UDP())
	})
	go pass(far, func(b []byte, _ netip.AddrPort) {
		_, _ = near.WriteToUDPAddrPort(strongChallenge.ReplaceAll(b, nil), *caller.Load())
	})
	return near.LocalAddr().(*net.UDPAddr).AddrPort()
}

var strongChallenge = regexp.MustCompile(`(?m)^WWW-Authenticate:.*SHA-256.*\r\n`)

// fromOutside is a run of one call from an unknown address.
func fromOutside(t testing.TB, n *tandem.Node, s peer.Scenario) peer.Run {
	return peer.Run{
		Place: lab.Outside, Local: netip.AddrPortFrom(lab.Host4(lab.Outside, 21), 0),
		Scenario: s, Remote: legacy(t, legacyHost, n), Number: pstnNumber,
	}
}

// TestOutboundDigest: SIPp answers the challenge by MD5, linphonec by SHA-256.
func TestOutboundDigest(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	t.Run("md5", func(t *testing.T) {
		sent := call(t, fromOutside(t, n, peer.Caller("digest", peer.InviteDigest(digestUser, digestPassword), peer.Answered(2), peer.Bye(3))))
		if r := recordOf(t, n, callID(t, sent)); r.Customer != "delta-out" || r.AuthUser != digestUser || r.SIPCode != 200 {
			t.Errorf("record: %+v", r)
		}
	})
	t.Run("sha-256", func(t *testing.T) {
		w.play(t, peer.Callee("hangs-up", peer.Accept(), peer.Wait(100*time.Millisecond), peer.HangUp()), "carrier-a/dal")
		begin := time.Now()
		phone := linphonec(t, lab.Outside, netip.AddrPortFrom(lab.Host4(lab.Outside, 22), 5060))
		if err := phone.Type("call sip:" + pstnNumber + "@" + n.UDP().String()); err != nil {
			t.Fatal(err)
		}
		prints(t, phone, "ended (")
		if got := w.farEnds["carrier-a/dal"].since(t, begin); len(got) != 1 {
			t.Errorf("the carrier got %d INVITEs, want 1", len(got))
		}
	})
}

// TestOutboundDigestTellsNothing: a wrong secret of a real user and a user that
// does not exist get the same answer.
func TestOutboundDigestTellsNothing(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	var answers []string
	r := fromOutside(t, n, peer.Scenario{})
	for _, c := range [][2]string{{digestUser, "wrong"}, {"nobody", digestPassword}} {
		r.Scenario = peer.Caller("wrong", peer.InviteDigest(c[0], c[1]), peer.Refused(401, 2))
		sent := call(t, r)
		list := peer.Responses(sent, "INVITE")
		last := list[len(list)-1]
		var names []string
		for l := range strings.SplitSeq(last.Text, "\n") {
			name, _, _ := strings.Cut(l, ":")
			names = append(names, name)
		}
		if strings.Contains(strings.ToLower(last.Text), "stale=true") {
			t.Errorf("stale for %s: %s", c[0], last.Text)
		}
		answers = append(answers, fmt.Sprint(last.Code(), names))
	}
	if answers[0] != answers[1] {
		t.Errorf("a wrong secret gets %s, an unknown user %s", answers[0], answers[1])
	}
}

// TestOutboundNonceHoldsAtEveryNode: the challenge of one node is answered at
// another one, of the other site (DEC-25); the same answer again is refused.
func TestOutboundNonceHoldsAtEveryNode(t *testing.T) {
	w := theWorld(t)
	first, second := w.Node(lab.Dallas2), w.Node(lab.Ashburn1)
	d := newUA(t, lab.Outside, 23).dial(pstnNumber)
	d.ua.send(first.UDP(), d.request("INVITE", first.UDP(), "one", 1, "", ""))
	challenge := d.await("INVITE", "one", 401)
	d.ack(first.UDP(), "one", 1, challenge)
	md5 := md5Challenge(challenge)
	uri := fmt.Sprintf("sip:%s@%s", pstnNumber, second.UDP())
	auth := d.authorization(md5, "INVITE", uri, digestUser, digestPassword)
	d.ua.send(second.UDP(), d.request("INVITE", second.UDP(), "two", 2, "", auth))
	answer := d.await("INVITE", "two", 200)
	d.ack(second.UDP(), "two", 2, answer)
	d.hangUp(second.UDP(), 3, answer)
	replay := d.ua.dial(pstnNumber)
	replay.ua.send(second.UDP(), replay.request("INVITE", second.UDP(), "three", 1, "", auth))
	refused := replay.await("INVITE", "three", 401)
	replay.ack(second.UDP(), "three", 1, refused)
	if !strings.Contains(strings.ToLower(refused.Header("WWW-Authenticate")), "stale=true") {
		t.Errorf("a repeated nonce count gets %q, want stale=true", refused.Header("WWW-Authenticate"))
	}
}

// TestOutboundCarrierFailover: all carriers of the site dead, known or not, sends
// the call to the peer site's; a carrier's 503 sends it to the next carrier.
func TestOutboundCarrierFailover(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	for _, known := range []bool{true, false} {
		t.Run(fmt.Sprintf("all of the site dead known=%v", known), func(t *testing.T) {
			t.Cleanup(func() { w.settled(t) })
			w.kill(t, carriers(lab.Dallas)...)
			if known {
				w.everywhere(t, "down", carriers(lab.Dallas)...)
			}
			tap := tapWAN(t)
			sent := call(t, fromAcme(n, peer.Complete(100*time.Millisecond)))
			r := handedOff(t, n, sent, tap.invites(t, lab.Dallas, lab.Ashburn))
			if r.EgressGroup != "carrier-a" || r.EgressMember != "ash" {
				t.Errorf("answered by %s/%s, want carrier-a/ash", r.EgressGroup, r.EgressMember)
			}
		})
	}
	t.Run("503 goes to the next carrier", func(t *testing.T) {
		t.Cleanup(func() { w.settled(t) })
		w.play(t, rejects(503), "carrier-a/dal")
		begin := time.Now()
		r := recordOf(t, n, callID(t, call(t, fromAcme(n, peer.Complete(0)))))
		if r.EgressGroup != "carrier-b" || r.HandedOff || len(r.Attempts) != 2 || r.Attempts[0].Code != 503 {
			t.Errorf("record: %+v", r)
		}
		if got := w.farEnds["carrier-a/dal"].since(t, begin); len(got) != 1 {
			t.Errorf("the refusing carrier got %d INVITEs, want 1", len(got))
		}
	})
}

// TestOutboundDefinitiveRefusalsPass: busy and decline reach the caller as they
// are, and nobody else is tried.
func TestOutboundDefinitiveRefusalsPass(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	for _, code := range []int{486, 603} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Cleanup(func() { w.settled(t) })
			w.play(t, rejects(code), "carrier-a/dal")
			tap := tapWAN(t)
			r := recordOf(t, n, callID(t, call(t, fromAcme(n, peer.Fails(code)))))
			if got := tap.invites(t, lab.Dallas, lab.Ashburn); len(got) != 0 {
				t.Errorf("INVITEs on the WAN: %+v", got)
			}
			if len(r.Attempts) != 1 || r.SIPCode != code || r.HandedOff {
				t.Errorf("record: %+v", r)
			}
		})
	}
}
