package b2bua

import (
	"slices"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// DEC-11: the node that gave us a call goes before a member could speak. That says
// nothing about the member.
func TestDEC11_LossOfANodeIsNoEvidence(t *testing.T) {
	p := newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	p.ash.take(ashPBX, "INVITE")
	p.lose(p.ash, "dal-1")
	if len(p.ash.blame) != 0 {
		t.Errorf("evidence %v", p.ash.blame)
	}
}

// DEC-11: a member that has the last moments of a setup time, and is silent in them,
// is no evidence; one that had its time is.
func TestDEC11_SetupTimeLeavesHardlyAnyTime(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", vendors(func(a, _ *trunkgroup.GroupSpec) {
		a.Timers.BTimer, a.Timers.Setup = trunkgroup.Duration(4*time.Second), trunkgroup.Duration(4500*time.Millisecond)
	}))
	w.from(customerAddr, vendorCall())
	w.take(vendorA1, "INVITE")
	w.advance(4 * time.Second)
	w.take(vendorA2, "INVITE")
	w.advance(500 * time.Millisecond)
	b := w.take(vendorB1, "INVITE")
	w.from(vendorB1, reply(b, 486, "far", ""))
	w.take(customerAddr, "SIP/2.0 486")
	if want := []string{"vendor-a/a1 no_response"}; !slices.Equal(w.blame, want) {
		t.Errorf("evidence %v, want %v", w.blame, want)
	}
}

// CDR-05: an attempt that is given up while it waits for a share of its member's limit
// was not dialled, and the record says so.
func TestCDR05_GivenUpBeforeItsInviteLeft(t *testing.T) {
	for name, parallel := range map[string]bool{"alone": false, "fork": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(t, "dal-1", "dallas", pbxs(func(g *trunkgroup.GroupSpec) {
				g.Distribution.Method = trunkgroup.Failover
				if parallel {
					g.Distribution.Method = trunkgroup.Parallel
				}
			}))
			w.limits.Meter(limit.Key{Kind: limit.Calls, Scope: limit.Member, Name: "acme-in/p1"}).SetShare(0)
			w.from(carrierAddr, invite{body: offer}.String())
			w.none(pbx1Addr, "INVITE")
			want := "cancelled"
			if parallel {
				m := w.take(pbx2Addr, "INVITE")
				w.from(pbx2Addr, w.phone(pbx2Addr, m, 200, "far", answers(pbx2Addr)))
				want = "answered_elsewhere"
				ok := w.take(carrierAddr, "SIP/2.0 200")
				w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
				w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
				bye := w.take(pbx2Addr, "BYE")
				w.from(pbx2Addr, reply(bye, 200, "far", ""))
			} else {
				w.from(carrierAddr, cancelOf(invite{body: offer}.String(), "INVITE"))
				w.take(carrierAddr, "SIP/2.0 487")
			}
			if len(w.records) != 1 {
				t.Fatalf("%d records", len(w.records))
			}
			if a := w.records[0].Attempts[0]; a.Dialed || a.Member != "p1" || a.Cause != want {
				t.Errorf("the record says %+v", a)
			}
		})
	}
}

// A node that stops while far ends ring: the record says of each that it was given up
// for that, and after how long.
func TestDEC19_RecordOfAttemptsThatAStopEnds(t *testing.T) {
	w, inv := newFork(t, offer, nil)
	w.from(pbx1Addr, w.phone(pbx1Addr, inv[pbx1Addr], 180, "far", ""))
	w.advance(2 * time.Second)
	w.s.Shutdown(w.now)
	w.take(carrierAddr, "SIP/2.0 503")
	w.take(pbx1Addr, "CANCEL")
	for _, a := range w.records[0].Attempts {
		if a.Cause != causeShutdown || a.Elapsed != 2*time.Second || a.Code != 0 {
			t.Errorf("%+v", a)
		}
	}
	if len(w.blame) != 0 {
		t.Errorf("evidence %v", w.blame)
	}
}
