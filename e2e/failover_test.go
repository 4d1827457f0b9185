//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/lab/wan"
	"github.com/tandem-sbc/tandem/lab/wire"
)

// maxPDD is the longest time that a call may take to ring or fail (DEC-05): the
// default of customers' groups.
const maxPDD = 15 * time.Second

// captures numbers the captures of the run.
var captures atomic.Uint64

// wanTap records the link between the sites.
type wanTap struct {
	capture *wan.Capture
	pcap    bytes.Buffer
}

// tapWAN begins to record the link between Dallas and Ashburn.
func tapWAN(t testing.TB) *wanTap {
	t.Helper()
	link, _ := theLab(t).WAN(lab.Dallas, lab.Ashburn)
	tap := &wanTap{}
	var err error
	if tap.capture, err = link.Capture(&tap.pcap); err != nil {
		t.Fatal(err)
	}
	return tap
}

// invites ends the recording and returns the INVITE transactions from one site
// to the other. The capture stays among the artefacts.
func (w *wanTap) invites(t testing.TB, from, to string) []wire.Invite {
	t.Helper()
	if err := w.capture.Stop(); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("%s-%d.pcap", strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()), captures.Add(1))
	if err := os.WriteFile(filepath.Join(run.dir, name), w.pcap.Bytes(), 0o644); err != nil {
		t.Error(err)
	}
	all, err := wire.Invites(&w.pcap)
	if err != nil {
		t.Fatal(err)
	}
	var list []wire.Invite
	for _, i := range all {
		if lab.SiteOf(i.From.Addr()) == from && lab.SiteOf(i.To.Addr()) == to {
			list = append(list, i)
		} else {
			t.Errorf("an INVITE crossed the WAN the other way: %+v", i)
		}
	}
	return list
}

// reaching is invites from Dallas that went to one node of Ashburn: those to a
// node that is dead count for nothing.
func (w *wanTap) reaching(t testing.TB, n *tandem.Node) []wire.Invite {
	t.Helper()
	var list []wire.Invite
	for _, i := range w.invites(t, lab.Dallas, lab.Ashburn) {
		if i.To.Addr() == n.IPv4 {
			list = append(list, i)
		}
	}
	return list
}

// handedOff checks that a call into n was handed off once and answered in the
// other site by one of the far ends there, and returns its record.
func handedOff(t testing.TB, n *tandem.Node, sent []peer.Message, invites []wire.Invite) tandem.Record {
	t.Helper()
	if len(invites) != 1 {
		t.Errorf("%d INVITE transactions on the WAN, want 1: %+v", len(invites), invites)
	}
	return answeredThere(t, n, sent)
}

// answeredThere checks that a call into n was answered in the other site in time,
// and returns its record.
func answeredThere(t testing.TB, n *tandem.Node, sent []peer.Message) tandem.Record {
	t.Helper()
	r := recordOf(t, n, callID(t, sent))
	if !r.HandedOff || r.SIPCode != 200 || r.EgressSite != other(n.Site) {
		t.Errorf("record: handed off %v to %q with %d, want an answer in %s", r.HandedOff, r.EgressSite, r.SIPCode, other(n.Site))
	}
	if pdd := setupTime(sent); pdd > maxPDD {
		t.Errorf("the first 18x or 200 came after %v, more than %v", pdd, maxPDD)
	}
	return r
}

// other is the peer site.
func other(site string) string {
	if site == lab.Dallas {
		return lab.Ashburn
	}
	return lab.Dallas
}

// setupTime is the time from the caller's INVITE to the first response above 100.
func setupTime(list []peer.Message) time.Duration {
	for _, m := range peer.Responses(list, "INVITE") {
		if m.Code() > 100 {
			return m.At.Sub(list[0].At)
		}
	}
	return 0
}

// attempts lists a record's attempts as "site member code dialed".
func attempts(r tandem.Record, site string) []string {
	var list []string
	for _, a := range r.Attempts {
		if a.Site == site {
			list = append(list, fmt.Sprintf("%s %d dialed=%v %s", a.Member, a.Code, a.Dialed, a.Cause))
		}
	}
	return list
}

// members of acme-in and hosts of beta-in by site.
var (
	acmeMembers = map[string][]string{
		lab.Dallas:  {"acme-in/dal-1", "acme-in/dal-2"},
		lab.Ashburn: {"acme-in/ash-1", "acme-in/ash-2"},
	}
	pbxPlace = map[string]lab.Place{lab.Dallas: lab.PBXDallas, lab.Ashburn: lab.PBXAshburn}
)

// TestBothPBXsOfASiteKnownDead calls when monitoring has seen both PBXs of the
// site die, refused by ICMP or silent: no member is dialled, one hand-off.
func TestBothPBXsOfASiteKnownDead(t *testing.T) {
	w := theWorld(t)
	for _, place := range []lab.Place{lab.Dallas1, lab.Ashburn1} {
		n := w.Node(place)
		for name, die := range map[string]func(testing.TB, ...string){"refused": w.kill, "black hole": w.blackHole} {
			t.Run(n.Site+" "+name, func(t *testing.T) {
				t.Cleanup(func() { w.settled(t) })
				die(t, acmeMembers[n.Site]...)
				w.everywhere(t, "down", acmeMembers[n.Site]...)
				tap := tapWAN(t)
				sent := pstnCall(t, n, acmeNumber, peer.Complete(100*time.Millisecond))
				r := handedOff(t, n, sent, tap.invites(t, n.Site, other(n.Site)))
				local := attempts(r, n.Site)
				if len(local) != 2 || strings.Contains(strings.Join(local, ";"), "dialed=true") {
					t.Errorf("local attempts %q, want both members skipped without an INVITE", local)
				}
				if d := setupTime(sent); d > 2*time.Second {
					t.Errorf("ringing after %v although the members were known dead", d)
				}
			})
		}
	}
}

// betaPBXs starts the PBXs of beta-in in a site.
func betaPBXs(t testing.TB, site string, s peer.Scenario) []*peer.SIPp {
	t.Helper()
	var list []*peer.SIPp
	for _, host := range []int{beta1, beta2} {
		at := netip.AddrPortFrom(lab.Host4(pbxPlace[site], host), 5060)
		list = append(list, callee(t, peer.Run{Place: pbxPlace[site], Local: at, Scenario: s}))
		ready(t, pbxPlace[site], at, false)
	}
	return list
}

// TestBothPBXsOfASiteDeadUnknown calls members that nobody watches: both are
// tried, refused or silent, and the call still completes inside max_pdd (DEC-05).
func TestBothPBXsOfASiteDeadUnknown(t *testing.T) {
	w := theWorld(t)
	for _, place := range []lab.Place{lab.Dallas2, lab.Ashburn2} {
		n := w.Node(place)
		for _, silent := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s silent=%v", n.Site, silent), func(t *testing.T) {
				if silent {
					swallow(t, pbxPlace[n.Site], lab.Host4(pbxPlace[n.Site], beta1))
					swallow(t, pbxPlace[n.Site], lab.Host4(pbxPlace[n.Site], beta2))
				}
				far := betaPBXs(t, other(n.Site), answers())
				tap := tapWAN(t)
				sent := pstnCall(t, n, betaNumber, peer.Complete(100*time.Millisecond))
				r := handedOff(t, n, sent, tap.invites(t, n.Site, other(n.Site)))
				local := attempts(r, n.Site)
				if len(local) != 2 || strings.Contains(strings.Join(local, ";"), "dialed=false") {
					t.Errorf("local attempts %q, want both members tried", local)
				}
				if got := len(peer.Received(messages(t, far[0]), "INVITE")) + len(peer.Received(messages(t, far[1]), "INVITE")); got != 1 {
					t.Errorf("the other site's PBXs got %d INVITEs, want 1", got)
				}
			})
		}
	}
}

// TestFailureMode02_NobodyTakesTheCall has nobody who takes the call (V21): one own 503, every
// member tried at most once, one hand-off, and none back.
func TestFailureMode02_NobodyTakesTheCall(t *testing.T) {
	w := theWorld(t)
	for _, place := range []lab.Place{lab.Dallas1, lab.Ashburn1} {
		n := w.Node(place)
		t.Run("refusing with 503 from "+n.Site, func(t *testing.T) {
			pbxs := append(betaPBXs(t, lab.Dallas, rejects(503)), betaPBXs(t, lab.Ashburn, rejects(503))...)
			exhausted(t, n)
			for _, p := range pbxs {
				if got := len(peer.Received(messages(t, p), "INVITE")); got != 1 {
					t.Errorf("%s got %d INVITEs, want 1", p.Name, got)
				}
			}
		})
		t.Run("refused by ICMP from "+n.Site, func(t *testing.T) { exhausted(t, n) })
		t.Run("silent from "+n.Site, func(t *testing.T) {
			for _, p := range pbxPlace {
				swallow(t, p, lab.Host4(p, beta1))
				swallow(t, p, lab.Host4(p, beta2))
			}
			exhausted(t, n)
		})
	}
}

// exhausted calls beta-in at n and expects the one 503.
func exhausted(t testing.TB, n *tandem.Node) {
	t.Helper()
	tap := tapWAN(t)
	sent := pstnCall(t, n, betaNumber, peer.Fails(503))
	if got := tap.invites(t, n.Site, other(n.Site)); len(got) != 1 {
		t.Errorf("%d INVITE transactions on the WAN, want 1: %+v", len(got), got)
	}
	oneFinal(t, sent)
	r := recordOf(t, n, callID(t, sent))
	tried := map[string]int{}
	for _, a := range r.Attempts {
		tried[a.Site+"/"+a.Member]++
	}
	if len(tried) != 4 || len(r.Attempts) != 4 {
		t.Errorf("attempts %+v, want each of the four members once", r.Attempts)
	}
}
