//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/wan"
	"github.com/tandem-sbc/tandem/lab/wire"
)

// listen opens a UDP socket at an address of a place.
func listen(t testing.TB, l *lab.Lab, p lab.Place, at netip.AddrPort) *net.UDPConn {
	t.Helper()
	var c *net.UDPConn
	err := l.Namespace(p).Do(func() (err error) {
		c, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// echo answers every datagram with itself.
func echo(t testing.TB, l *lab.Lab, p lab.Place, at netip.AddrPort) {
	c := listen(t, l, p, at)
	go func() {
		buf := make([]byte, 2048)
		for {
			n, from, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			if _, err := c.WriteToUDPAddrPort(buf[:n], from); err != nil {
				return
			}
		}
	}()
}

// roundTrip sends one datagram and waits for its echo.
func roundTrip(c *net.UDPConn, to netip.AddrPort, wait time.Duration) (time.Duration, error) {
	begin := time.Now()
	if _, err := c.WriteToUDPAddrPort([]byte("ping"), to); err != nil {
		return 0, err
	}
	if err := c.SetReadDeadline(begin.Add(wait)); err != nil {
		return 0, err
	}
	_, _, err := c.ReadFromUDPAddrPort(make([]byte, 64))
	return time.Since(begin), err
}

func TestRigCarriesBothFamiliesBetweenAllPlaces(t *testing.T) {
	l := theLab(t)
	const port = 7007
	for _, p := range []lab.Place{lab.Dallas1, lab.Ashburn2, lab.Witness1} {
		echo(t, l, p, netip.AddrPortFrom(lab.Node4(p), port))
		echo(t, l, p, netip.AddrPortFrom(lab.Node6(p), port))
	}
	from := map[string]*net.UDPConn{
		"dallas-2 v4":   listen(t, l, lab.Dallas2, netip.AddrPortFrom(lab.Node4(lab.Dallas2), 0)),
		"dallas-2 v6":   listen(t, l, lab.Dallas2, netip.AddrPortFrom(lab.Node6(lab.Dallas2), 0)),
		"pbx-dallas v4": listen(t, l, lab.PBXDallas, netip.AddrPortFrom(lab.Host4(lab.PBXDallas, 10), 0)),
		"pbx-dallas v6": listen(t, l, lab.PBXDallas, netip.AddrPortFrom(lab.Host6(lab.PBXDallas, 49), 0)),
		"outside v4":    listen(t, l, lab.Outside, netip.AddrPortFrom(lab.Host4(lab.Outside, 20), 0)),
		"outside v6":    listen(t, l, lab.Outside, netip.AddrPortFrom(lab.Host6(lab.Outside, 20), 0)),
	}
	for name, c := range from {
		for _, p := range []lab.Place{lab.Dallas1, lab.Ashburn2, lab.Witness1} {
			to := lab.Node4(p)
			if strings.HasSuffix(name, "v6") {
				to = lab.Node6(p)
			}
			if _, err := roundTrip(c, netip.AddrPortFrom(to, port), 5*time.Second); err != nil {
				t.Errorf("%s to %s: %v", name, p, err)
			}
		}
	}
}

func TestRigDelaysAndCutsTheWANOnly(t *testing.T) {
	l := theLab(t)
	to := netip.AddrPortFrom(lab.Node4(lab.Ashburn1), 7008)
	echo(t, l, lab.Ashburn1, to)
	c := listen(t, l, lab.Dallas1, netip.AddrPortFrom(lab.Node4(lab.Dallas1), 0))
	pbx := listen(t, l, lab.PBXDallas, netip.AddrPortFrom(lab.Host4(lab.PBXDallas, 11), 0))
	if rtt, err := roundTrip(c, to, 5*time.Second); err != nil || rtt < 2*lab.WANDelay {
		t.Fatalf("round trip %v, %v; want at least %v", rtt, err, 2*lab.WANDelay)
	}
	link, there := l.WAN(lab.Dallas, lab.Ashburn)
	link.Cut(there)
	if _, err := roundTrip(c, to, 300*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("one way cut: %v, want no answer", err)
	}
	if _, err := roundTrip(pbx, to, 5*time.Second); err != nil {
		t.Errorf("a PBX during the cut: %v", err)
	}
	link.Heal(wan.Both)
	l.CutSite(lab.Ashburn)
	if _, err := roundTrip(c, to, 300*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("site cut: %v, want no answer", err)
	}
	l.HealSite(lab.Ashburn)
	if _, err := roundTrip(c, to, 5*time.Second); err != nil {
		t.Errorf("after the heal: %v", err)
	}
}

func TestRigDeadHostsRefuseAndBlackHolesSwallow(t *testing.T) {
	l := theLab(t)
	for _, addr := range []netip.Addr{lab.Host4(lab.PBXDallas, 30), lab.Host6(lab.PBXDallas, 30)} {
		var c *net.UDPConn
		err := l.Namespace(lab.Dallas1).Do(func() (err error) {
			c, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 5060)))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		refused := func(wait time.Duration) error {
			if _, err := c.Write([]byte("x")); err != nil {
				return err
			}
			if err := c.SetReadDeadline(time.Now().Add(wait)); err != nil {
				return err
			}
			_, err := c.Read(make([]byte, 16))
			return err
		}
		for range 3 { // no rate limit on the ICMP answers
			if err := refused(5 * time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("%v: %v, want connection refused", addr, err)
			}
		}
		if err := l.BlackHole(lab.PBXDallas, addr.String()); err != nil {
			t.Fatal(err)
		}
		if err := refused(300 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%v as a black hole: %v, want silence", addr, err)
		}
		if err := l.Restore(lab.PBXDallas, addr.String()); err != nil {
			t.Fatal(err)
		}
		if err := refused(5 * time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%v restored: %v, want connection refused", addr, err)
		}
	}
}

func TestRigCountsInviteTransactionsOnTheWAN(t *testing.T) {
	l := theLab(t)
	link, _ := l.WAN(lab.Dallas, lab.Ashburn)
	var pcap bytes.Buffer
	tap, err := link.Capture(&pcap)
	if err != nil {
		t.Fatal(err)
	}
	to := netip.AddrPortFrom(lab.Node6(lab.Ashburn1), 7009)
	echo(t, l, lab.Ashburn1, to)
	c := listen(t, l, lab.Dallas1, netip.AddrPortFrom(lab.Node6(lab.Dallas1), 0))
	for _, branch := range []string{"a", "b", "a"} {
		text := fmt.Sprintf("INVITE sip:1@x SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=%s\r\nCall-ID: 1\r\nCSeq: 1 INVITE\r\n\r\n", branch)
		if _, err := c.WriteToUDPAddrPort([]byte(text), to); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, _, err := c.ReadFromUDPAddrPort(make([]byte, 2048)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tap.Stop(); err != nil {
		t.Fatal(err)
	}
	got, err := wire.Invites(&pcap)
	if err != nil {
		t.Fatal(err)
	}
	there := 0
	for _, inv := range got {
		if inv.To == to {
			there++
		}
	}
	if there != 2 {
		t.Fatalf("%d INVITE transactions towards Ashburn, want 2: %+v", there, got)
	}
}

func TestRigEndsProcessesWithTheirChildren(t *testing.T) {
	l, err := lab.New(t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	// A child that left its parent's process group must not survive either.
	p, err := l.Start(lab.Program{
		Place: lab.Outside, Name: "parent",
		Args: []string{"sh", "-c", "setsid sleep 300 & sleep 300 & wait"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ns := l.Namespace(lab.Outside)
	eventually(t, 10*time.Second, "children", func() error {
		pids, err := ns.Pids()
		if err == nil && len(pids) < 3 {
			err = fmt.Errorf("processes %v", pids)
		}
		return err
	})
	pids, err := ns.Pids()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if p.Running() {
		t.Error("the process outlives the laboratory")
	}
	for _, pid := range pids {
		eventually(t, 10*time.Second, "end of a child", func() error {
			if err := syscall.Kill(pid, 0); err == nil {
				return fmt.Errorf("process %d lives", pid)
			}
			return nil
		})
	}
	out, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), l.Prefix) {
		t.Errorf("namespaces left: %s", out)
	}
}
