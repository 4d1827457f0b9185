//go:build e2e

package e2e

import (
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
)

// authority is the run's certificate authority.
var authority = sync.OnceValues(func() (*peer.Authority, error) {
	dir := filepath.Join(run.dir, "certs")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	return peer.NewAuthority(dir)
})

// certificate issues a certificate of the run's authority.
func certificate(t testing.TB, name string, addresses ...netip.Addr) (*peer.Authority, peer.KeyPair) {
	t.Helper()
	a, err := authority()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := a.Issue(name, addresses...)
	if err != nil {
		t.Fatal(err)
	}
	return a, pair
}

// edge starts Kamailio as a TLS edge at a host of a place: TLS on 5061, plain on
// 5060, the callee behind it on 5080. name is the name in its certificate.
func edge(t testing.TB, name string, p lab.Place, host netip.Addr, outside netip.AddrPort) {
	t.Helper()
	a, keys := certificate(t, name, host)
	e := peer.Edge{
		Lab: theLab(t), Place: p, Keys: keys, Authority: a, Outside: outside,
		TLS: netip.AddrPortFrom(host, 5061), Plain: netip.AddrPortFrom(host, 5060), Inside: netip.AddrPortFrom(host, 5080),
	}
	proc, err := peer.StartEdge(e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proc.Stop)
	ready(t, p, e.TLS, true)
	ready(t, p, e.Plain, false)
}

// TestTLSEdgesWorkAgainstEachOther sends a call from SIPp over two Kamailio
// edges, TLS between them, to SIPp: the rig's TLS works before Tandem is in it.
func TestTLSEdgesWorkAgainstEachOther(t *testing.T) {
	for _, addr := range []func(lab.Place, int) netip.Addr{lab.Host4, lab.Host6} {
		far, near := addr(lab.PBXAshburn, 45), addr(lab.Outside, 45)
		t.Run(far.String(), func(t *testing.T) {
			edge(t, "edge-far", lab.PBXAshburn, far, netip.AddrPortFrom(near, 5061))
			edge(t, "edge-near", lab.Outside, near, netip.AddrPortFrom(far, 5061))
			c := callee(t, peer.Run{
				Place: lab.PBXAshburn, Local: netip.AddrPortFrom(far, 5080),
				Scenario: peer.Callee("answer", peer.Ring(50*time.Millisecond), peer.Accept(), peer.UntilBye()),
			})
			ready(t, lab.PBXAshburn, netip.AddrPortFrom(far, 5080), false)
			call(t, peer.Run{
				Place: lab.Outside, Local: netip.AddrPortFrom(near, 5090), Remote: netip.AddrPortFrom(near, 5060),
				Number: "+12145550100", Scenario: peer.Complete(50 * time.Millisecond),
			})
			got := peer.Received(messages(t, c), "INVITE")
			if len(got) != 1 {
				t.Fatalf("the callee got %d INVITEs, want 1", len(got))
			}
			if n := len(got[0].Headers("Record-Route")); n != 4 {
				t.Errorf("%d Record-Route values, want two of each edge: %v", n, got[0].Headers("Record-Route"))
			}
		})
	}
}
