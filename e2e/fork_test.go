//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// belfry is the place of a node whose only group rings all of its PBXs at once; all of
// them are addresses of its loopback.
const belfry lab.Place = "belfry"

const belfryNumber = "+12145550700"

var belfryCarrier = netip.MustParseAddr("127.0.1.1")

func belfryPBX(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 2, byte(1 + i)}), 5060)
}

const belfryDocument = `
cluster: belfry
sites: [{name: dallas}]
trunk_groups:
  - name: bells-in
    role: origination-customer
    numbers: ["+1214555*"]
    distribution: {method: parallel}
    members:
      - {id: pbx-0, site: dallas, address: "127.0.2.1:5060"}
      - {id: pbx-1, site: dallas, address: "127.0.2.2:5060"}
      - {id: pbx-2, site: dallas, address: "127.0.2.3:5060"}
  - name: pstn
    role: pstn-provider
    sources: [{ip: 127.0.1.1}]
    members: [{id: dal, site: dallas, address: "127.0.1.2:5060", disabled: true}]
`

var startBelfry = sync.OnceValues(func() (*tandem.Node, error) { return loneNode("belfry", belfry, belfryDocument, "") })

func theBelfry(t testing.TB) *tandem.Node {
	t.Helper()
	n, err := startBelfry()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestK20_ParallelOnTheWire: three PBXs ring at once; the one that answers has the call, the two
// others get CANCEL, also the one that had only said 100.
func TestK20_ParallelOnTheWire(t *testing.T) {
	n := theBelfry(t)
	var pbxs []*peer.SIPp
	for i, s := range []peer.Scenario{
		peer.Callee("rings", peer.Respond(180), peer.UntilCancel()),
		peer.Callee("answers", peer.Ring(500*time.Millisecond), peer.Accept(), peer.UntilBye()),
		peer.Callee("tries", peer.Respond(100), peer.UntilCancel()),
	} {
		pbxs = append(pbxs, callee(t, peer.Run{Place: belfry, Local: belfryPBX(i), Scenario: s}))
		ready(t, belfry, belfryPBX(i), false)
	}
	sent := call(t, peer.Run{
		Place: belfry, Local: netip.AddrPortFrom(belfryCarrier, 0), Scenario: peer.Complete(200 * time.Millisecond), Remote: n.UDP(), Number: belfryNumber,
	})
	for _, i := range []int{0, 2} {
		got(t, pbxs[i], "CANCEL")
		got(t, pbxs[i], "ACK") // of its 487
		for _, m := range peer.Received(messages(t, pbxs[i]), "CANCEL") {
			if want := `SIP;cause=200;text="Call completed elsewhere"`; m.Header("Reason") != want {
				t.Errorf("the CANCEL at PBX %d says %q", i, m.Header("Reason"))
			}
		}
	}
	got(t, pbxs[1], "BYE")
	if len(peer.Received(messages(t, pbxs[1]), "CANCEL")) > 0 {
		t.Error("the PBX that answered got a CANCEL")
	}
	r := recordOf(t, n, callID(t, sent))
	if r.EgressMember != "pbx-1" || len(r.Attempts) != 3 {
		t.Errorf("record: %+v", r)
	}
	for _, s := range pbxs {
		s.Quit()
	}
}

// TestK20_ParallelAnswersRace: all PBXs answer at once, call after call. Each call is up
// with one of them; the others are hung up, and nobody sees a breach of protocol.
func TestK20_ParallelAnswersRace(t *testing.T) {
	n := theBelfry(t)
	const calls = 200
	var pbxs []*sim.FarEnd
	for i := range 3 {
		err := theLab(t).Namespace(belfry).Do(func() error {
			f, err := sim.StartPBX(fmt.Sprint(i), belfryPBX(i), sim.AnswersAtOnce())
			pbxs = append(pbxs, f)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = pbxs[i].Close() })
	}
	var load *sim.Load
	err := theLab(t).Namespace(belfry).Do(func() (err error) {
		load, err = sim.NewLoad(sim.LoadConfig{
			CallerConfig: sim.CallerConfig{Nodes: []sim.Node{{Addr: n.UDP()}}, Seed: seed(t)}, From: []string{"+19725550100"}, To: []string{belfryNumber},
			Rate: 40, Calls: calls, Hold: 200 * time.Millisecond, Local: []netip.AddrPort{netip.AddrPortFrom(belfryCarrier, 0)}, KeepAll: true,
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := load.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Counts.Failed != 0 || r.Left != 0 {
		t.Errorf("%d of %d calls failed, %d are left: %+v", r.Counts.Failed, r.Counts.Started, r.Left, r.Failures)
	}
	if err := load.Close(); err != nil {
		t.Error(err)
	}
	answered := 0
	for _, f := range pbxs {
		counted(t, f, "all legs ended", func(a sim.Account) bool { return a.Up == 0 && a.Ringing == 0 && a.Invites == calls })
		faultless(t, f)
		answered += f.Account().Answered
	}
	if answered < calls {
		t.Errorf("%d legs were answered in %d calls", answered, calls)
	}
	t.Logf("%d legs were answered in %d calls: %d were hung up", answered, calls, answered-calls)
}
