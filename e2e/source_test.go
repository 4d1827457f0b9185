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

// connections tells where the connections to an address come from.
func connections(t testing.TB, p lab.Place, at netip.AddrPort) <-chan netip.Addr {
	t.Helper()
	var l net.Listener
	err := theLab(t).Namespace(p).Do(func() (err error) {
		l, err = net.Listen("tcp", at.String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	from := make(chan netip.Addr, 16)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			from <- c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
			c.Close()
		}
	}()
	return from
}

// cameFrom waits for a connection and compares where it came from.
func cameFrom(t testing.TB, from <-chan netip.Addr, want netip.Addr) {
	t.Helper()
	select {
	case got := <-from:
		if got != want {
			t.Errorf("the connection came from %v, want %v", got, want)
		}
	case <-time.After(20 * time.Second):
		t.Error("no connection came")
	}
}

// TestRigFarEndsSendFromTheirOwnAddresses: Tandem knows customers by source, so
// each program must open its connections from the address that a test means.
func TestRigFarEndsSendFromTheirOwnAddresses(t *testing.T) {
	const sippHost, edgeAt = 33, 34
	for name, addr := range map[string]struct {
		node netip.Addr
		host func(lab.Place, int) netip.Addr
	}{
		"four": {lab.Node4(lab.Dallas1), lab.Host4},
		"six":  {lab.Node6(lab.Dallas1), lab.Host6},
	} {
		at := netip.AddrPortFrom(addr.node, 7060)
		t.Run("sipp "+name, func(t *testing.T) {
			from := connections(t, lab.Dallas1, at)
			startCall(t, peer.Run{
				Place: lab.PBXDallas, Local: netip.AddrPortFrom(addr.host(lab.PBXDallas, sippHost), 0), TCP: true,
				Scenario: peer.Complete(0), Remote: at, Number: "1",
			})
			cameFrom(t, from, addr.host(lab.PBXDallas, sippHost))
		})
		t.Run("kamailio "+name, func(t *testing.T) {
			from := connections(t, lab.Dallas1, at)
			host := addr.host(lab.PBXDallas, edgeAt)
			edge(t, "edge-source-"+name, lab.PBXDallas, host, at)
			startCall(t, peer.Run{
				Place: lab.PBXDallas, Local: netip.AddrPortFrom(host, 5090),
				Scenario: peer.Complete(0), Remote: netip.AddrPortFrom(host, 5060), Number: "1",
			})
			cameFrom(t, from, host)
		})
	}
	t.Run("baresip", func(t *testing.T) {
		at := netip.AddrPortFrom(lab.Node4(lab.Dallas1), 7061)
		from := connections(t, lab.Dallas1, at)
		phone := baresip(t, "baresip-source", "phone", lab.CarrierDallas, lab.Host4(lab.CarrierDallas, lab.DefaultHost), at)
		if err := phone.Type("/dial sip:1@" + at.Addr().String()); err != nil {
			t.Fatal(err)
		}
		cameFrom(t, from, lab.Host4(lab.CarrierDallas, lab.DefaultHost))
	})
}
