//go:build e2e

package e2e

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// elsewhere are the ways in which one INVITE reaches two nodes: two of a site,
// and one of each site.
func elsewhere(w *world) map[string][2]*tandem.Node {
	return map[string][2]*tandem.Node{
		"same site":  {w.Node(lab.Dallas1), w.Node(lab.Dallas2)},
		"other site": {w.Node(lab.Dallas1), w.Node(lab.Ashburn1)},
	}
}

// t1 is how long a client waits before it repeats a request (RFC 3261 17.1.1.1).
const t1 = 500 * time.Millisecond

// Row 6, DEC-03, first row: the same INVITE, same branch, repeated at another node is
// passed to the owner and answered by nobody else; the PBX rings once.
func TestFailureMode06_DEC03_RepeatedInviteAtAnotherNodeReachesItsOwner(t *testing.T) {
	w := theWorld(t)
	for name, n := range elsewhere(w) {
		t.Run(name, func(t *testing.T) {
			pbx := simPBX(t, lab.PBXDallas, gammaHost, sim.RingsForEver(0))
			spare := simPBX(t, lab.PBXAshburn, gammaHost, sim.RingsForEver(0))
			d := newUA(t, lab.CarrierDallas, pstnHost).dial(gammaNumber)
			invite := d.request("INVITE", n[0].UDP(), "one", 1, "", "")
			d.ua.send(n[0].UDP(), invite)
			tag := d.await("INVITE", "one", 180).Header("To")
			d.ua.pass(t1)
			d.ua.send(n[1].UDP(), invite)
			// The owner repeats its last response; no second dialog appears.
			if again := d.await("INVITE", "one", 180).Header("To"); again != tag {
				t.Errorf("To %q after the repeat, %q before", again, tag)
			}
			d.ua.send(n[0].UDP(), d.request("CANCEL", n[0].UDP(), "one", 1, "", ""))
			d.ack(n[0].UDP(), "one", 1, d.await("INVITE", "one", 487))
			counted(t, pbx, "one leg, cancelled", func(a sim.Account) bool { return a.Invites == 1 && a.Cancels == 1 && a.Ringing == 0 })
			if a := spare.Account(); a.Invites != 0 {
				t.Errorf("the other site's PBX rang: %+v", a)
			}
			faultless(t, pbx)
		})
	}
}

// DEC-03: another branch of the same INVITE is a fork and gets 482: at the owner
// itself at any time, at another node while the call is young or has shown progress.
func TestDEC03_OtherBranchIsMerged(t *testing.T) {
	w := theWorld(t)
	nodes := elsewhere(w)
	nodes["the owner itself"] = [2]*tandem.Node{w.Node(lab.Dallas1), w.Node(lab.Dallas1)}
	for name, n := range nodes {
		t.Run(name, func(t *testing.T) {
			pbx := simPBX(t, lab.PBXDallas, gammaHost, sim.RingsForEver(0))
			d := newUA(t, lab.CarrierDallas, pstnHost).dial(gammaNumber)
			d.ua.send(n[0].UDP(), d.request("INVITE", n[0].UDP(), "one", 1, "", ""))
			d.await("INVITE", "one", 180)
			d.ua.pass(t1)
			d.ua.send(n[1].UDP(), d.request("INVITE", n[1].UDP(), "two", 1, "", ""))
			d.ack(n[1].UDP(), "two", 1, d.await("INVITE", "two", 482))
			d.ua.send(n[0].UDP(), d.request("CANCEL", n[0].UDP(), "one", 1, "", ""))
			d.ack(n[0].UDP(), "one", 1, d.await("INVITE", "one", 487))
			counted(t, pbx, "one leg, cancelled", func(a sim.Account) bool { return a.Invites == 1 && a.Ringing == 0 })
		})
	}
}

// DEC-03: the caller gives up on a node that showed nothing for more than a
// second and asks another one: the owner gives up its hunt, the second node
// takes the call, and it is answered once.
func TestDEC03_CallerFailsOverToAnotherNode(t *testing.T) {
	w := theWorld(t)
	for name, n := range elsewhere(w) {
		t.Run(name, func(t *testing.T) {
			slow := simPBX(t, lab.PBXDallas, gammaHost, sim.TryingOnly())
			other := simPBX(t, lab.PBXAshburn, gammaHost, sim.Answers(0, 100*time.Millisecond))
			d := newUA(t, lab.CarrierDallas, pstnHost).dial(gammaNumber)
			d.ua.send(n[0].UDP(), d.request("INVITE", n[0].UDP(), "one", 1, "", ""))
			d.await("INVITE", "one", 100)
			counted(t, slow, "an INVITE", func(a sim.Account) bool { return a.Invites == 1 })
			// Older than a second, no 18x: as a failover whose responses were lost.
			d.silence("INVITE", "one", 1300*time.Millisecond)
			if n[1].Site == lab.Dallas {
				slow.SetBehaviour(sim.Answers(0, 100*time.Millisecond))
			}
			d.ua.send(n[1].UDP(), d.request("INVITE", n[1].UDP(), "two", 1, "", ""))
			answer := d.await("INVITE", "two", 200)
			d.ack(n[1].UDP(), "two", 1, answer)
			d.hangUp(n[1].UDP(), 2, answer)
			counted(t, slow, "no leg ringing or up", func(a sim.Account) bool { return a.Ringing == 0 && a.Up == 0 && a.Cancels == 1 })
			if up := slow.Account().Answered + other.Account().Answered; up != 1 {
				t.Errorf("the call was answered %d times, want once", up)
			}
			faultless(t, slow)
			faultless(t, other)
		})
	}
}

// DEC-03: an entry that is closed does not stop an ordinary new call with the
// same identifiers, here after our own 503.
func TestDEC03_ClosedEntryIsAnOrdinaryNewCall(t *testing.T) {
	w := theWorld(t)
	for name, n := range elsewhere(w) {
		t.Run(name, func(t *testing.T) {
			d := newUA(t, lab.CarrierDallas, pstnHost).dial(gammaNumber)
			d.ua.send(n[0].UDP(), d.request("INVITE", n[0].UDP(), "one", 1, "", ""))
			d.ack(n[0].UDP(), "one", 1, d.await("INVITE", "one", 503)) // nobody is there
			d.ua.pass(3 * lab.WANDelay)                                // the caller is not in both sites at once
			simPBX(t, lab.PBXDallas, gammaHost, sim.AnswersAtOnce())
			simPBX(t, lab.PBXAshburn, gammaHost, sim.AnswersAtOnce())
			d.ua.send(n[1].UDP(), d.request("INVITE", n[1].UDP(), "two", 1, "", ""))
			answer := d.await("INVITE", "two", 200)
			d.ack(n[1].UDP(), "two", 1, answer)
			d.hangUp(n[1].UDP(), 2, answer)
		})
	}
}

// DEC-03: a CANCEL that reaches another node is passed on to the owner; one that
// matches nothing gets 481.
func TestDEC03_CancelAtAnotherNode(t *testing.T) {
	w := theWorld(t)
	for name, n := range elsewhere(w) {
		t.Run(name, func(t *testing.T) {
			pbx := simPBX(t, lab.PBXDallas, gammaHost, sim.RingsForEver(0))
			d := newUA(t, lab.CarrierDallas, pstnHost).dial(gammaNumber)
			d.ua.send(n[0].UDP(), d.request("INVITE", n[0].UDP(), "one", 1, "", ""))
			d.await("INVITE", "one", 180)
			d.ua.pass(t1)
			d.ua.send(n[1].UDP(), d.request("CANCEL", n[0].UDP(), "one", 1, "", ""))
			d.ack(n[0].UDP(), "one", 1, d.await("INVITE", "one", 487))
			counted(t, pbx, "no leg ringing", func(a sim.Account) bool { return a.Cancels == 1 && a.Ringing == 0 })
			faultless(t, pbx)
		})
	}
	t.Run("no such call", func(t *testing.T) {
		d := newUA(t, lab.CarrierDallas, pstnHost).dial(gammaNumber)
		d.ua.send(w.Node(lab.Dallas1).UDP(), d.request("CANCEL", w.Node(lab.Dallas1).UDP(), "one", 1, "", ""))
		d.await("CANCEL", "one", 481)
	})
}

// DEC-03: with its owner dead, a call that was open there is an ordinary new
// call at another node.
func TestDEC03_OwnerDeadIsAnOrdinaryNewCall(t *testing.T) {
	w := theWorld(t)
	owner, second := w.Node(lab.Dallas2), w.Node(lab.Dallas1)
	t.Cleanup(func() {
		if err := owner.Start(); err != nil {
			t.Fatal(err)
		}
		w.settled(t)
	})
	pbx := simPBX(t, lab.PBXDallas, gammaHost, sim.RingsForEver(0))
	d := newUA(t, lab.CarrierDallas, pstnHost).dial(gammaNumber)
	d.ua.send(owner.UDP(), d.request("INVITE", owner.UDP(), "one", 1, "", ""))
	d.await("INVITE", "one", 180)
	owner.Kill()
	pbx.SetBehaviour(sim.AnswersAtOnce())
	d.ua.send(second.UDP(), d.request("INVITE", second.UDP(), "two", 1, "", ""))
	// Until the survivors know of the death, the entry may still stand as open.
	answer := d.awaitNew(second, "INVITE", 200)
	d.hangUp(second.UDP(), 9, answer)
}

// awaitNew repeats a call under new branches until it is answered with code:
// each refusal with 482 is acknowledged.
func (d *dialog) awaitNew(n *tandem.Node, method string, code int) peer.Message {
	d.ua.t.Helper()
	branch := "two"
	for range 20 {
		m := d.await(method, branch, code, 482)
		d.ack(n.UDP(), branch, 1, m)
		if m.Code() == code {
			return m
		}
		branch += "x"
		d.ua.send(n.UDP(), d.request(method, n.UDP(), branch, 1, "", ""))
	}
	d.ua.t.Fatalf("%s is still refused as merged", method)
	return peer.Message{}
}

// DEC-09: an in-dialog request that reaches another node gets to the owner of
// the call; with the owner's boot gone it gets 481.
func TestDEC09_InDialogRequestAtAnotherNode(t *testing.T) {
	w := theWorld(t)
	for name, n := range elsewhere(w) {
		t.Run(name, func(t *testing.T) {
			pbx := simPBX(t, lab.PBXDallas, gammaHost, sim.AnswersAtOnce())
			d := newUA(t, lab.CarrierDallas, pstnHost).dial(gammaNumber)
			d.ua.send(n[0].UDP(), d.request("INVITE", n[0].UDP(), "one", 1, "", ""))
			answer := d.await("INVITE", "one", 200)
			d.ack(n[0].UDP(), "one", 1, answer)
			d.ua.send(n[1].UDP(), d.dialogRequest("BYE", answer, 2))
			d.await("BYE", "in", 200)
			counted(t, pbx, "the BYE", func(a sim.Account) bool { return a.Byes == 1 && a.Up == 0 })
			faultless(t, pbx)
		})
	}
	t.Run("owner restarted", func(t *testing.T) {
		owner := w.Node(lab.Dallas2)
		simPBX(t, lab.PBXDallas, gammaHost, sim.AnswersAtOnce())
		d := newUA(t, lab.CarrierDallas, pstnHost).dial(gammaNumber)
		d.ua.send(owner.UDP(), d.request("INVITE", owner.UDP(), "one", 1, "", ""))
		answer := d.await("INVITE", "one", 200)
		d.ack(owner.UDP(), "one", 1, answer)
		owner.Kill()
		if err := owner.Start(); err != nil {
			t.Fatal(err)
		}
		w.settled(t)
		d.ua.send(w.Node(lab.Dallas1).UDP(), d.dialogRequest("BYE", answer, 2))
		d.await("BYE", "in", 481)
	})
}

// dialogRequest writes a request inside the dialog that answer made: to its
// Contact, as a dialog's requests go, whatever node they are sent to.
func (d *dialog) dialogRequest(method string, answer peer.Message, cseq int) string {
	text := d.request(method, netip.AddrPort{}, "in", cseq, peer.Tag(answer.Header("To")), "")
	contact, _, _ := strings.Cut(answer.Header("Contact")[1:], ">")
	_, rest, _ := strings.Cut(text, " SIP/2.0\r\n")
	return method + " " + contact + " SIP/2.0\r\n" + rest
}

// DEC-08: a hand-off header from outside is taken off and counted; it opens
// nothing.
func TestDEC08_HandoffHeaderFromOutsideIsStripped(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	pbx := simPBX(t, lab.PBXDallas, gammaHost, sim.AnswersAtOnce())
	d := newUA(t, lab.CarrierDallas, pstnHost).dial(gammaNumber)
	d.ua.send(n.UDP(), d.request("INVITE", n.UDP(), "one", 1, "", "X-Tandem-Handoff: stolen;hop=1\r\n"))
	answer := d.await("INVITE", "one", 200)
	d.ack(n.UDP(), "one", 1, answer)
	d.hangUp(n.UDP(), 2, answer)
	for _, leg := range pbx.Legs() {
		if bytes.Contains(bytes.ToLower(leg.Invite), []byte("x-tandem-handoff")) {
			t.Errorf("the header crossed:\n%s", leg.Invite)
		}
	}
	stranger := newUA(t, lab.Outside, 24).dial(gammaNumber)
	stranger.ua.send(n.UDP(), stranger.request("INVITE", n.UDP(), "one", 1, "", "X-Tandem-Handoff: stolen;hop=1\r\n"))
	stranger.ack(n.UDP(), "one", 1, stranger.await("INVITE", "one", 401))
}
