//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// fieldCase reads a case of those collected from other products' users, which are
// not part of the repository, or skips the test where there are none.
func fieldCase(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "cases", name))
	if err != nil {
		t.Skipf("the field cases are not beside the repository: %v", err)
	}
	return text
}

// raw fills a raw message's place-holders for a call of the ua.
func (d *dialog) raw(message []byte, node netip.AddrPort) string {
	return strings.NewReplacer("[[SBC]]", node.String(), "[[SRC]]", d.ua.local.String(), "[[BR]]", "one"+d.fromTag,
		"[[TAG]]", d.fromTag, "[[CID]]", d.callID).Replace(string(message))
}

// TestFieldCasesInvite sends INVITEs that other products got wrong: each reaches
// the PBX under the right number, its body and its signed headers byte for byte.
func TestFieldCasesInvite(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	for name, called := range map[string]string{
		"NUM-01": "+12025550100", // number portability data behind the number
		"NUM-04": "+12025550123", // trunk group parameters of the caller
		"NUM-05": "+12025550105", // ten digits
		"NUM-08": "+12025550109", // To differs from the Request-URI
		"SDP-05": "+12025550123", // two media lines
		"SDP-08": "+12025550123", // multipart body
		"MED-03": "+12025550123", // SRTP
		"IDN-06": "+12025550123", // two Identity headers, 3.6 kB over UDP
		"PAR-07": "+12025550123", // compact and folded headers
	} {
		t.Run(name, func(t *testing.T) {
			message := fieldCase(t, name+".sip")
			pbx := simPBX(t, lab.PBXDallas, delta1, sim.AnswersAtOnce())
			d := newUA(t, lab.CarrierDallas, pstnHost).dial(called)
			sent := d.raw(message, n.UDP())
			d.ua.send(n.UDP(), sent)
			answer := d.await("INVITE", "one", 200)
			d.ack(n.UDP(), "one", 1, answer)
			d.hangUp(n.UDP(), 2, answer)
			legs := pbx.Legs()
			if len(legs) != 1 {
				t.Fatalf("the PBX got %d calls, want 1", len(legs))
			}
			unchanged(t, []byte(strings.TrimLeft(sent, "\r\n")), legs[0].Invite)
			if r := recordOf(t, n, d.callID); r.Called != called {
				t.Errorf("called %s, want %s", r.Called, called)
			}
			faultless(t, pbx)
		})
	}
}

// unchanged compares the bodies and the Identity headers of two INVITEs.
func unchanged(t testing.TB, sent, got []byte) {
	t.Helper()
	headS, bodyS, _ := bytes.Cut(sent, []byte("\r\n\r\n"))
	headG, bodyG, _ := bytes.Cut(got, []byte("\r\n\r\n"))
	if !bytes.Equal(bodyS, bodyG) {
		t.Errorf("the body changed from %q to %q", bodyS, bodyG)
	}
	identity := func(head []byte) (list []string) {
		for l := range strings.SplitSeq(string(head), "\r\n") {
			if strings.HasPrefix(l, "Identity:") {
				list = append(list, l)
			}
		}
		return list
	}
	if s, g := fmt.Sprint(identity(headS)), fmt.Sprint(identity(headG)); s != g {
		t.Errorf("Identity changed from %s to %s", s, g)
	}
}

// TestFieldCasesRequest sends broken and odd requests outside of calls.
func TestFieldCasesRequest(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas2)
	for _, tc := range []struct {
		name  string
		codes []int
	}{
		{"PAR-01", []int{400}}, // OPTIONS without To
		{"RTX-06", []int{200}}, // OPTIONS with Max-Forwards 0 is for us
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newUA(t, lab.CarrierDallas, pstnHost).dial("x")
			d.ua.send(n.UDP(), d.raw(fieldCase(t, tc.name+".sip"), n.UDP()))
			d.await("OPTIONS", "one", tc.codes...)
		})
	}
}

// TestFieldCasesSIPp plays the PBX's or the caller's part with SIPp's scenario of
// the case, which fails by itself when Tandem does the wrong thing.
func TestFieldCasesSIPp(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	for _, tc := range []struct {
		file   string
		caller peer.Scenario
	}{
		{"CAN-01-uas.xml", peer.Caller("gives-up", peer.Invite(), peer.Ringing(), peer.Cancel())},
		{"RSP-05-uas.xml", peer.Fails(604)},
	} {
		t.Run(tc.file, func(t *testing.T) {
			at := netip.AddrPortFrom(lab.Host4(lab.PBXDallas, delta1), 5060)
			pbx := callee(t, peer.Run{
				Place: lab.PBXDallas, Local: at, Scenario: peer.Written(strings.TrimSuffix(tc.file, ".xml"), fieldCase(t, tc.file)),
				More: []string{"-m", "1", "-nr"},
			})
			ready(t, lab.PBXDallas, at, false)
			r := fromPSTN(n, deltaNumber, tc.caller)
			pstn := startCall(t, r)
			finish(t, pbx)
			finish(t, pstn)
		})
	}
	for _, file := range []string{"RTX-02-uac.xml", "CDR-02-uac.xml"} {
		t.Run(file, func(t *testing.T) {
			deltaPBXs(t, peer.Callee("answers", peer.Ring(500*time.Millisecond), peer.Accept(), peer.UntilBye()), answers())
			r := fromPSTN(n, deltaNumber, peer.Written(strings.TrimSuffix(file, ".xml"), fieldCase(t, file)))
			r.More = []string{"-nr"}
			call(t, r)
		})
	}
}
