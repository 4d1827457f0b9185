//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// explain asks a node where a call would go.
func explain(t testing.TB, n *tandem.Node, args ...string) (e trunkgroup.Explanation) {
	t.Helper()
	if err := json.Unmarshal([]byte(command(t, n, append([]string{"route", "explain", "-o", "json"}, args...)...)), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// foretold lists the members that explain has in its order here, then in that of the
// peer site where a hand-off may go; so many of them are dialled.
func foretold(e *trunkgroup.Explanation, dialled int) (list []string) {
	add := func(order []trunkgroup.OrderLine) {
		for i := range order {
			if o := &order[i]; o.Dialable && len(list) < dialled {
				list = append(list, fmt.Sprint(o.Group, "/", o.Member, " in ", o.Site))
			}
		}
	}
	add(e.Order)
	for i := range e.Sites {
		if e.Sites[i].Handoff {
			add(e.Sites[i].Order)
		}
	}
	return list
}

// ending finds what the caller gets in a case.
func ending(t testing.TB, e *trunkgroup.Explanation, when string) trunkgroup.Ending {
	t.Helper()
	i := slices.IndexFunc(e.Endings, func(x trunkgroup.Ending) bool { return x.When == when })
	if i < 0 {
		t.Fatalf("no ending %q in %+v", when, e.Endings)
	}
	return e.Endings[i]
}

// cameTrue compares what explain had said with the record of the call.
func cameTrue(t testing.TB, e *trunkgroup.Explanation, r *tandem.Record, code int, handed bool) {
	t.Helper()
	var dialled []string
	for _, a := range r.Attempts {
		if a.Dialed {
			dialled = append(dialled, fmt.Sprint(a.Group, "/", a.Member, " in ", a.Site))
		}
	}
	if want := foretold(e, len(dialled)); !slices.Equal(dialled, want) {
		t.Errorf("%v were dialled, explain said %v", dialled, want)
	}
	if r.Direction != e.Direction || r.IngressGroup != e.Ingress || r.Called != e.Called || r.SIPCode != code || r.HandedOff != handed || e.Policy == nil || r.Customer != e.Policy.Group {
		t.Errorf("explain said %s from %s to %s, policy %+v, final %d, handed off %v; record: %+v", e.Direction, e.Ingress, e.Called, e.Policy, code, handed, r)
	}
}

// TestD07_ExplainComesTrue asks nodes of both sites where calls would go, places them and
// reads their records: inbound, outbound, by digest and handed over.
func TestD07_ExplainComesTrue(t *testing.T) {
	w := theWorld(t)
	dallas, ashburn := w.Node(lab.Dallas1), w.Node(lab.Ashburn1)
	pstn := func(n *tandem.Node) string {
		return netip.AddrPortFrom(fromPSTN(n, "", peer.Scenario{}).Local.Addr(), 5060).String()
	}
	for _, n := range []*tandem.Node{dallas, ashburn} {
		t.Run("inbound at "+n.Site, func(t *testing.T) {
			for range 2 { // whose turn it is, too
				e := explain(t, n, "--from", pstn(n), "--called", acmeNumber)
				r := recordOf(t, n, callID(t, pstnCall(t, n, acmeNumber, peer.Complete(0))))
				cameTrue(t, &e, &r, 200, false)
			}
		})
	}
	t.Run("outbound", func(t *testing.T) {
		run := fromAcme(dallas, peer.Complete(0))
		e := explain(t, dallas, "--from", run.Local.String(), "--called", pstnNumber)
		r := recordOf(t, dallas, callID(t, call(t, run)))
		cameTrue(t, &e, &r, 200, false)
		if len(e.Groups) != 2 || e.Groups[0].Name != r.EgressGroup {
			t.Errorf("groups %+v, record: %+v", e.Groups, r)
		}
	})
	t.Run("digest", func(t *testing.T) {
		run := fromOutside(t, ashburn, peer.Caller("digest", peer.InviteDigest(digestUser, digestPassword), peer.Answered(2), peer.Bye(3)))
		from := netip.AddrPortFrom(run.Local.Addr(), 5060).String()
		if e := explain(t, ashburn, "--from", from, "--called", pstnNumber); e.Code != 401 {
			t.Errorf("without the user: %d", e.Code)
		}
		e := explain(t, ashburn, "--from", from, "--username", digestUser, "--realm", digestRealm, "--called", pstnNumber)
		r := recordOf(t, ashburn, callID(t, call(t, run)))
		cameTrue(t, &e, &r, 200, false)
	})
	t.Run("all refuse, here and over the peer site", func(t *testing.T) {
		pbxs := deltaPBXs(t, rejects(503), rejects(503))
		for _, n := range []*tandem.Node{dallas, ashburn} {
			e := explain(t, n, "--from", pstn(n), "--called", deltaNumber)
			end := ending(t, &e, "all say 503")
			r := recordOf(t, n, callID(t, pstnCall(t, n, deltaNumber, peer.Fails(end.Code))))
			cameTrue(t, &e, &r, end.Code, end.HandedOff)
			if len(r.Attempts) != 2 || r.HandedOff != (n == ashburn) {
				t.Errorf("record: %+v", r)
			}
		}
		for _, s := range pbxs {
			s.Stop()
		}
	})
	t.Run("a test call over the peer site", func(t *testing.T) { testOverThePeer(t, w, ashburn, pstn(ashburn)) })
}

// testOverThePeer places a test call whose members are all in the peer site: explain
// comes true, the PBX has its call, and the records of both sites say test.
func testOverThePeer(t *testing.T, w *world, n *tandem.Node, from string) {
	pbxs := deltaPBXs(t, answers(), answers())
	e := explain(t, n, "--from", from, "--called", deltaNumber)
	var placed struct {
		CallID    string `json:"call_id"`
		Code      int
		Answered  bool
		HandedOff bool `json:"handed_off"`
		Attempts  []struct{ Group, Member, Site string }
	}
	out := command(t, n, "route", "test", "-o", "json", "--from", from, "--called", deltaNumber, "--answer-limit", "200ms", "--reason", "e2e")
	if err := json.Unmarshal([]byte(out), &placed); err != nil {
		t.Fatal(err)
	}
	want := foretold(&e, 1)
	if len(placed.Attempts) != 1 || !placed.Answered || !placed.HandedOff || placed.Code != 200 ||
		fmt.Sprint(placed.Attempts[0].Group, "/", placed.Attempts[0].Member, " in ", placed.Attempts[0].Site) != want[0] {
		t.Errorf("test call: %s\nexplain: %v", out, want)
	}
	if invited(t, pbxs[0]) != 1 || invited(t, pbxs[1]) != 0 {
		t.Error("the first PBX did not get the one call")
	}
	kinds := map[string]string{}
	eventually(t, 20*time.Second, "the records of both sites", func() error {
		for _, n := range w.SBCs() {
			list, err := n.Records()
			if err != nil {
				return err
			}
			for _, r := range list {
				if r.CallID == placed.CallID {
					kinds[r.Kind] = fmt.Sprint(n.Site, " ", r.Test)
				}
			}
		}
		if len(kinds) < 2 {
			return fmt.Errorf("%v", kinds)
		}
		return nil
	})
	if kinds["call"] != "ashburn true" || kinds["handoff"] != "dallas true" {
		t.Errorf("records of the test call: %v", kinds)
	}
}
