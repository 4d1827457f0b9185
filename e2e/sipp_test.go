//go:build e2e

package e2e

import (
	"net/netip"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
)

// callee starts SIPp as a far end and stops it with the test, when its calls are
// over: what is left of them must not reach the next one at its address.
func callee(t testing.TB, r peer.Run) *peer.SIPp {
	t.Helper()
	r.Lab = theLab(t)
	s, err := peer.StartCallee(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Quit)
	return s
}

// call runs SIPp as a caller until its calls are over and returns its messages.
// A call that does not follow the scenario fails the test.
func call(t testing.TB, r peer.Run) []peer.Message {
	t.Helper()
	s := startCall(t, r)
	return finish(t, s)
}

// startCall starts SIPp as a caller.
func startCall(t testing.TB, r peer.Run) *peer.SIPp {
	t.Helper()
	r.Lab = theLab(t)
	s, err := peer.StartCaller(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// finish waits for a caller and returns its messages.
func finish(t testing.TB, s *peer.SIPp) []peer.Message {
	t.Helper()
	ended(t, 2*time.Minute, s)
	list := messages(t, s)
	if code := s.ExitCode(); code != 0 {
		t.Errorf("%s ended with code %d after %d messages; see %s", s.Name, code, len(list), s.MessageLog)
	}
	return list
}

// messages returns what SIPp sent and received until now.
func messages(t testing.TB, s *peer.SIPp) []peer.Message {
	t.Helper()
	list, err := s.Messages()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestSIPpScenariosWorkAgainstEachOther proves the scenarios without Tandem, so
// that a failure elsewhere is Tandem's.
func TestSIPpScenariosWorkAgainstEachOther(t *testing.T) {
	for i, tc := range []struct {
		callee peer.Scenario
		caller peer.Scenario
		code   int
	}{
		{peer.Callee("answer", peer.Ring(50*time.Millisecond), peer.Accept(), peer.UntilBye()), peer.Complete(50 * time.Millisecond), 200},
		{peer.Callee("busy", peer.Reject(486)), peer.Fails(486), 486},
		{peer.Callee("early-media-503", peer.RespondSDP(183), peer.Reject(503)), peer.Fails(503), 503},
		{peer.Callee("cancelled", peer.Respond(180), peer.UntilCancel()), peer.Caller("cancel", peer.Invite(), peer.Ringing(), peer.Cancel()), 487},
		{peer.Callee("hangs-up", peer.Accept(), peer.HangUp()), peer.Caller("until-bye", peer.Invite(), peer.Answered(1), peer.TakeBye()), 200},
	} {
		for _, tcp := range []bool{false, true} {
			for _, addr := range []func(lab.Place, int) netip.Addr{lab.Host4, lab.Host6} {
				at := netip.AddrPortFrom(addr(lab.PBXDallas, 40+i), 5060)
				name := tc.callee.Name + map[bool]string{false: " udp ", true: " tcp "}[tcp] + at.Addr().String()
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					c := callee(t, peer.Run{Place: lab.PBXDallas, Local: at, TCP: tcp, Scenario: tc.callee})
					ready(t, lab.PBXDallas, at, tcp)
					got := call(t, peer.Run{
						Place: lab.Outside, Local: netip.AddrPortFrom(addr(lab.Outside, 40), 0), TCP: tcp,
						Scenario: tc.caller, Remote: at, Number: "+12145550100",
					})
					final := 0
					for _, m := range peer.Responses(got, "INVITE") {
						final = m.Code()
					}
					if final != tc.code {
						t.Errorf("final response %d, want %d", final, tc.code)
					}
					if n := len(peer.Received(messages(t, c), "INVITE")); n != 1 {
						t.Errorf("the callee got %d INVITEs, want 1", n)
					}
				})
			}
		}
	}
}
