//go:build e2e

package e2e

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
)

// deltaPBXs starts the two PBXs of delta-in: the first is always tried first.
func deltaPBXs(t testing.TB, first, second peer.Scenario) [2]*peer.SIPp {
	t.Helper()
	var list [2]*peer.SIPp
	for i, s := range []peer.Scenario{first, second} {
		at := netip.AddrPortFrom(lab.Host4(lab.PBXDallas, delta1+i), 5060)
		list[i] = callee(t, peer.Run{Place: lab.PBXDallas, Local: at, Scenario: s})
		ready(t, lab.PBXDallas, at, false)
	}
	return list
}

// invited counts the INVITE transactions that a far end received.
func invited(t testing.TB, s *peer.SIPp) int {
	t.Helper()
	return len(peer.Received(messages(t, s), "INVITE"))
}

// got waits until a far end has received a request of the method.
func got(t testing.TB, s *peer.SIPp, method string) {
	t.Helper()
	eventually(t, 20*time.Second, method+" at "+s.Name, func() error {
		list, err := s.Messages()
		if err == nil && len(peer.Received(list, method)) == 0 {
			err = errNotYet
		}
		return err
	})
}

// TestFailureMode08_SlowMembersAreLeftForTheNext: the first PBX is silent, or sends 100 and
// nothing more: it is given up in time and the second one answers (DEC-05). What
// spoke is cancelled, what did not is not (DEC-02).
func TestFailureMode08_SlowMembersAreLeftForTheNext(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	t.Run("100 then silence", func(t *testing.T) {
		p := deltaPBXs(t, peer.Callee("trying", peer.Respond(100), peer.UntilCancel()), answers())
		sent := pstnCall(t, n, deltaNumber, peer.Complete(0))
		got(t, p[0], "CANCEL")
		got(t, p[0], "ACK")
		r := recordOf(t, n, callID(t, sent))
		if len(r.Attempts) != 2 || r.EgressMember != "dal-2" || invited(t, p[1]) != 1 {
			t.Errorf("record: %+v", r)
		}
		if d := setupTime(sent); d < 2*time.Second || d > maxPDD {
			t.Errorf("ringing after %v, want the progress timer of 2 s in between", d)
		}
	})
	t.Run("silence, then a late 180", func(t *testing.T) {
		p := deltaPBXs(t, peer.Callee("late", peer.Wait(1500*time.Millisecond), peer.Respond(180), peer.UntilCancel()), answers())
		pstnCall(t, n, deltaNumber, peer.Complete(time.Second))
		got(t, p[0], "CANCEL")
		got(t, p[0], "ACK")
		if invited(t, p[1]) != 1 {
			t.Error("the second PBX got no call")
		}
	})
}

// TestFailureMode08_RingingMemberIsNotLeft: a PBX that rings and is not answered rings to its
// limit; nobody else is tried, and the caller gets 408 (V8).
func TestFailureMode08_RingingMemberIsNotLeft(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	p := deltaPBXs(t, peer.Callee("ringing", peer.Respond(180), peer.UntilCancel()), answers())
	sent := pstnCall(t, n, deltaNumber, peer.Fails(408))
	got(t, p[0], "ACK")
	if k := invited(t, p[1]); k != 0 {
		t.Errorf("the second PBX got %d INVITEs", k)
	}
	if r := recordOf(t, n, callID(t, sent)); len(r.Attempts) != 1 || r.HandedOff {
		t.Errorf("record: %+v", r)
	}
}

// TestDEC01_EarlyMediaOfTwoAttemptsHasTwoTags: 183 with SDP and 503 from the first
// PBX, 200 with SDP from the second: two To tags on one Call-ID.
func TestDEC01_EarlyMediaOfTwoAttemptsHasTwoTags(t *testing.T) {
	w := theWorld(t)
	deltaPBXs(t, peer.Callee("early", peer.RespondSDP(183), peer.Wait(200*time.Millisecond), peer.Reject(503)), answers())
	tags := map[int]string{}
	for _, m := range peer.Responses(pstnCall(t, w.Node(lab.Dallas1), deltaNumber, peer.Complete(0)), "INVITE") {
		tags[m.Code()] = peer.Tag(m.Header("To"))
	}
	if tags[183] == "" || tags[200] == "" || tags[183] == tags[200] {
		t.Errorf("To tags %v, want two different ones at 183 and 200", tags)
	}
}

// TestDefinitiveRefusalEndsTheCall: busy and decline of a PBX reach the caller,
// and nobody else rings.
func TestDefinitiveRefusalEndsTheCall(t *testing.T) {
	w := theWorld(t)
	for _, code := range []int{486, 603} {
		p := deltaPBXs(t, peer.Callee("refuses", peer.Respond(180), peer.Reject(code)), answers())
		pstnCall(t, w.Node(lab.Dallas2), deltaNumber, peer.Fails(code))
		if k := invited(t, p[1]); k != 0 {
			t.Errorf("after %d the second PBX got %d INVITEs", code, k)
		}
		for _, s := range p {
			s.Stop()
		}
	}
}

// TestFailureMode07_LateAnswers: a PBX that answers as the CANCEL arrives, or after
// another one has answered, gets ACK and BYE; the caller sees one final.
func TestFailureMode07_LateAnswers(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	t.Run("crosses the CANCEL", func(t *testing.T) {
		p := deltaPBXs(t, peer.Callee("crossing", peer.Respond(180), peer.Cancelled(), peer.AcceptLate()), answers())
		sent := pstnCall(t, n, deltaNumber, peer.Caller("gives-up", peer.Invite(), peer.Ringing(), peer.Cancel()))
		got(t, p[0], "ACK")
		got(t, p[0], "BYE")
		r := recordOf(t, n, callID(t, sent))
		if r.SIPCode != 487 || r.Billed != 0 || invited(t, p[1]) != 0 {
			t.Errorf("record: %+v", r)
		}
		oneFinal(t, sent)
	})
	t.Run("after another answer", func(t *testing.T) {
		p := deltaPBXs(t, peer.Callee("late", peer.Wait(1500*time.Millisecond), peer.Accept(), peer.UntilBye()), answers())
		sent := pstnCall(t, n, deltaNumber, peer.Complete(time.Second))
		got(t, p[0], "ACK")
		got(t, p[0], "BYE")
		if invited(t, p[1]) != 1 {
			t.Error("the second PBX got no call")
		}
		oneFinal(t, sent)
	})
}

// oneFinal checks that the caller's INVITE got one final response.
func oneFinal(t testing.TB, sent []peer.Message) {
	t.Helper()
	finals := 0
	for _, m := range peer.Responses(sent, "INVITE") {
		if m.Code() >= 200 {
			finals++
		}
	}
	if finals != 1 {
		t.Errorf("the caller got %d finals, want 1", finals)
	}
}

// TestAnsweredCalls goes through what happens in a call: the callee hangs up, the
// offer comes late, the session changes, an answer is lost.
func TestAnsweredCalls(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	for _, tc := range []struct {
		name           string
		callee, caller peer.Scenario
	}{
		{
			"callee hangs up", peer.Callee("hangs-up", peer.Accept(), peer.Wait(100*time.Millisecond), peer.HangUp()),
			peer.Caller("until-bye", peer.Invite(), peer.Answered(1), peer.TakeBye()),
		},
		{"offer in the answer", answers(), peer.Caller("late-offer", peer.InviteLate(), peer.AnsweredLate(), peer.Bye(2))},
		{
			"changed session", peer.Callee("reinvited", peer.Accept(), peer.Reinvited(), peer.UntilBye()),
			peer.Caller("reinvites", peer.Invite(), peer.Answered(1), peer.Reinvite(2), peer.Bye(3)),
		},
		{
			"answer lost once", answers(),
			peer.Caller("deaf", peer.Invite(), peer.IgnoreAnswer(), peer.Answered(1), peer.Bye(2)),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := deltaPBXs(t, tc.callee, answers())
			r := fromPSTN(n, deltaNumber, tc.caller)
			r.More = []string{"-nr"} // SIPp's own recognition of repeats would take the second 200 away
			sent := call(t, r)
			if rec := recordOf(t, n, callID(t, sent)); rec.SIPCode != 200 || len(rec.Attempts) != 1 {
				t.Errorf("record: %+v", rec)
			}
			if strings.Contains(tc.name, "offer") {
				lateOffer(t, p[0])
			}
		})
	}
}

// lateOffer checks that the PBX's offer was answered in its ACK, and that the
// INVITE to it had no body (DEC-23).
func lateOffer(t testing.TB, s *peer.SIPp) {
	t.Helper()
	list := messages(t, s)
	if invite := peer.Received(list, "INVITE")[0]; strings.TrimSpace(invite.Body()) != "" {
		t.Errorf("an offer was made up: %s", invite.Body())
	}
	if ack := peer.Received(list, "ACK")[0]; !strings.Contains(ack.Body(), "m=audio") {
		t.Errorf("the ACK brought no answer: %s", ack.Text)
	}
}
