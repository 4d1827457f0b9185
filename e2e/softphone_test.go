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
)

// baresip starts baresip with TLS on port 5061 of an address; name is the name
// in its certificate, user the one that it answers for.
func baresip(t testing.TB, name, user string, p lab.Place, host netip.Addr, outbound netip.AddrPort) *peer.Softphone {
	t.Helper()
	a, keys := certificate(t, name, host)
	local := netip.AddrPortFrom(host, 5061)
	s, err := peer.StartBaresip(peer.Phone{
		Lab: theLab(t), Place: p, Local: local, Outbound: outbound, Username: user, Keys: keys, Authority: a,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	ready(t, p, local, true)
	return s
}

// prints waits until the softphone has printed text.
func prints(t testing.TB, s *peer.Softphone, text string) {
	t.Helper()
	eventually(t, 30*time.Second, s.Name, func() error {
		out, err := s.Output()
		if err == nil && !strings.Contains(out, text) {
			err = fmt.Errorf("%q is not in its output, see %s", text, s.Log)
		}
		return err
	})
}

// TestBaresipCallsAndAnswersOverTLS proves the softphone against the TLS edge.
func TestBaresipCallsAndAnswersOverTLS(t *testing.T) {
	far, near := lab.Host4(lab.PBXAshburn, 46), lab.Host4(lab.Outside, 46)
	edge(t, "edge-phone", lab.PBXAshburn, far, netip.AddrPortFrom(near, 5061))
	c := callee(t, peer.Run{
		Place: lab.PBXAshburn, Local: netip.AddrPortFrom(far, 5080),
		Scenario: peer.Callee("hangs-up", peer.Accept(), peer.Wait(100*time.Millisecond), peer.HangUp()),
	})
	ready(t, lab.PBXAshburn, netip.AddrPortFrom(far, 5080), false)
	phone := baresip(t, "baresip-outside", "phone", lab.Outside, near, netip.AddrPortFrom(far, 5061))
	t.Run("calls", func(t *testing.T) {
		if err := phone.Type("/dial sip:+12145550100@" + far.String()); err != nil {
			t.Fatal(err)
		}
		prints(t, phone, "session closed")
		if n := len(peer.Received(messages(t, c), "INVITE")); n != 1 {
			t.Errorf("the callee got %d INVITEs, want 1", n)
		}
	})
	t.Run("answers", func(t *testing.T) {
		call(t, peer.Run{
			Place: lab.PBXAshburn, Local: netip.AddrPortFrom(far, 5090), Remote: netip.AddrPortFrom(far, 5060),
			Number: "phone", Scenario: peer.Complete(100 * time.Millisecond),
		})
	})
}

// TestLinphonecCalls proves the softphone against SIPp.
func TestLinphonecCalls(t *testing.T) {
	far, near := netip.AddrPortFrom(lab.Host4(lab.PBXAshburn, 47), 5060), netip.AddrPortFrom(lab.Host4(lab.Outside, 47), 5060)
	c := callee(t, peer.Run{
		Place: lab.PBXAshburn, Local: far,
		Scenario: peer.Callee("hangs-up", peer.Accept(), peer.Wait(100*time.Millisecond), peer.HangUp()),
	})
	ready(t, lab.PBXAshburn, far, false)
	phone := linphonec(t, lab.Outside, near)
	if err := phone.Type("call sip:+12145550100@" + far.String()); err != nil {
		t.Fatal(err)
	}
	prints(t, phone, "ended (")
	if n := len(peer.Received(messages(t, c), "INVITE")); n != 1 {
		t.Errorf("the callee got %d INVITEs, want 1", n)
	}
}

// linphonec starts linphonec with the credentials of the digest customer.
func linphonec(t testing.TB, p lab.Place, local netip.AddrPort) *peer.Softphone {
	t.Helper()
	s, err := peer.StartLinphone(peer.Phone{
		Lab: theLab(t), Place: p, Local: local,
		Username: digestUser, Password: digestPassword, Realm: digestRealm,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	ready(t, p, local, false)
	if err := s.Type("soundcard use files"); err != nil {
		t.Fatal(err)
	}
	return s
}

// the credentials of the customer that is known by digest.
const (
	digestUser     = "delta"
	digestPassword = "a-secret-of-the-laboratory"
	digestRealm    = "sip.example.net"
)
