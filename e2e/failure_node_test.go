//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// TestFailureMode10_NodeKilledInACall: what a caller sends in a call whose node was
// killed gets an answer of a survivor that ends the dialog: 481, after 500 with
// Retry-After while the node may still be alive (DEC-09, DEC-22). New calls go on.
func TestFailureMode10_NodeKilledInACall(t *testing.T) {
	w := theWorld(t)
	victim := w.follower(t, lab.Dallas2, lab.Dallas1)
	survivor := w.Node(lab.Dallas1)
	if survivor == victim {
		survivor = w.Node(lab.Dallas2)
	}
	t.Cleanup(func() {
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		w.settled(t)
	})
	simPBX(t, lab.PBXDallas, gammaHost, sim.AnswersAtOnce())
	u := newUA(t, lab.CarrierDallas, pstnHost)
	var up []*dialog
	var answers []peer.Message
	for range 2 {
		d := u.dial(gammaNumber)
		u.send(victim.UDP(), d.request("INVITE", victim.UDP(), "one", 1, "", ""))
		answer := d.await("INVITE", "one", 200)
		d.ack(victim.UDP(), "one", 1, answer)
		up, answers = append(up, d), append(answers, answer)
	}
	begin := time.Now()
	victim.Kill()
	w.seen(t, victim, begin)
	pstnCall(t, survivor, acmeNumber, peer.Complete(0))
	for i, method := range []string{"INVITE", "BYE"} {
		begin = time.Now()
		gone := up[i].gone(survivor, method, answers[i])
		t.Logf("%s: 481 after %v and %d answers 500", method, time.Since(begin).Round(time.Millisecond), gone)
	}
}

// seen waits until all other nodes hold a node for lost, and logs when each did. What
// must hold is tested in virtual time; this is what the machine gave (DEC-22).
func (w *world) seen(t testing.TB, victim *tandem.Node, begin time.Time) {
	t.Helper()
	known := map[string]bool{}
	eventually(t, 20*time.Second, "the loss of "+victim.Name+" is seen by all", func() error {
		for _, n := range w.Nodes {
			if n == victim || known[n.Name] {
				continue
			}
			m, err := n.Metrics()
			if err != nil {
				return err
			}
			if m.Sum("tandem_interconnect_peer_up", "peer="+victim.Name) != 0 {
				return fmt.Errorf("%s holds it to be up", n.Name)
			}
			known[n.Name] = true
			t.Logf("%s sees the loss of %s after %v", n.Name, victim.Name, time.Since(begin).Round(time.Millisecond))
		}
		return nil
	})
}

// gone sends a request inside the dialog until it is answered with 481, and tells
// how often it was 500 with a Retry-After before.
func (d *dialog) gone(n *tandem.Node, method string, answer peer.Message) (doubts int) {
	d.ua.t.Helper()
	for cseq := 2; cseq < 20; cseq++ {
		text := d.dialogRequest(method, answer, cseq)
		branch := fmt.Sprintf("in%d", cseq)
		text = strings.Replace(text, "branch=z9hG4bKin", "branch=z9hG4bK"+branch, 1)
		d.ua.send(n.UDP(), text)
		m := d.await(method, branch, 481, 500)
		if method == "INVITE" {
			d.ack(n.UDP(), branch, cseq, m)
		}
		if m.Code() == 481 {
			return doubts
		}
		if m.Header("Retry-After") == "" {
			d.ua.t.Errorf("500 without Retry-After: %s", m.Text)
		}
		doubts++
		d.ua.pass(time.Second)
	}
	d.ua.t.Errorf("%s is still in doubt", method)
	return doubts
}

// TestFailureMode11_PausedNode stops a node's process, as a hypervisor does. The
// others take over its part meanwhile: calls and probes. When it goes on, it probes
// before it tells its old verdicts (DEC-13), and the call that it held is still its
// own: one BYE ends it, and there is one record.
func TestFailureMode11_PausedNode(t *testing.T) {
	w := theWorld(t)
	const victim = "acme-in/dal-1"
	paused := w.Node(lab.Place(proberOf(t, w.Node(lab.Dallas1), victim)))
	other := w.Node(lab.Dallas1)
	if paused == other {
		other = w.Node(lab.Dallas2)
	}
	t.Cleanup(func() { w.settled(t) })
	pbx := simPBX(t, lab.PBXDallas, gammaHost, sim.AnswersAtOnce())
	d := newUA(t, lab.CarrierDallas, pstnHost).dial(gammaNumber)
	d.ua.send(paused.UDP(), d.request("INVITE", paused.UDP(), "one", 1, "", ""))
	answer := d.await("INVITE", "one", 200)
	d.ack(paused.UDP(), "one", 1, answer)

	pid := paused.Pid()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	goOn := func() {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(goOn)
	sees(t, other, false, paused)
	w.kill(t, victim) // the paused node believes it to live
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); {
		pstnCall(t, other, acmeNumber, peer.Complete(200*time.Millisecond))
	}
	eventually(t, 20*time.Second, "the survivor finds the member down", func() error {
		states, err := other.Members()
		if err == nil && states[victim] != "down" {
			err = fmt.Errorf("%s", states[victim])
		}
		return err
	})
	history := w.watch(t, victim)
	goOn()
	sees(t, other, true, paused)
	eventually(t, 20*time.Second, "the paused node is ready", paused.Ready)
	w.everywhere(t, "down", victim)
	for node, states := range history() {
		if node != paused.Name && states["active"] > 0 {
			t.Errorf("%s believed what the paused node knew from before: %v", node, states)
		}
	}
	d.hangUp(paused.UDP(), 2, answer)
	counted(t, pbx, "the BYE", func(a sim.Account) bool { return a.Byes == 1 && a.Up == 0 })
	faultless(t, pbx)
	records := 0
	for _, n := range w.SBCs() {
		list, err := n.Records()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if r.SIPCallID == d.callID {
				records++
			}
		}
	}
	if r := recordOf(t, paused, d.callID); records > 1 || r.SIPCode != 200 {
		t.Errorf("%d records besides the one of %s: %+v", records, paused.Name, r)
	}
}

// TestFailureMode14_ClockSkew: clocks that lie within the bound of five minutes of
// each other change nothing: the challenge of one site is answered at the other,
// both ways. Beyond it the answer is stale, and the fresh challenge is answered.
func TestFailureMode14_ClockSkew(t *testing.T) {
	w := theWorld(t)
	first, second := w.Node(lab.Dallas2), w.Node(lab.Ashburn1)
	skew := func(n *tandem.Node, d time.Duration) {
		t.Helper()
		n.Stop()
		n.ClockOffset = d
		if err := n.Write(); err != nil {
			t.Fatal(err)
		}
		if err := n.Start(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		skew(first, 0)
		skew(second, 0)
		w.settled(t)
	})
	skew(first, 150*time.Second)
	skew(second, -140*time.Second)
	w.settled(t)
	alarmed(t, w.Node(lab.Dallas1), "clock_offset")
	for _, way := range [][2]*tandem.Node{{first, second}, {second, first}} {
		d, auth := challenged(t, way[0], way[1])
		d.ua.send(way[1].UDP(), d.request("INVITE", way[1].UDP(), "two", 2, "", auth))
		answer := d.await("INVITE", "two", 200)
		d.ack(way[1].UDP(), "two", 2, answer)
		d.hangUp(way[1].UDP(), 3, answer)
	}
	skew(second, -20*time.Minute)
	w.settled(t)
	d, auth := challenged(t, first, second)
	d.ua.send(second.UDP(), d.request("INVITE", second.UDP(), "two", 2, "", auth))
	stale := d.await("INVITE", "two", 401)
	d.ack(second.UDP(), "two", 2, stale)
	if !strings.Contains(strings.ToLower(stale.Header("WWW-Authenticate")), "stale=true") {
		t.Errorf("beyond the bound: %q, want stale=true", stale.Header("WWW-Authenticate"))
	}
	auth = d.answered(stale, second)
	d.ua.send(second.UDP(), d.request("INVITE", second.UDP(), "three", 3, "", auth))
	answer := d.await("INVITE", "three", 200)
	d.ack(second.UDP(), "three", 3, answer)
	d.hangUp(second.UDP(), 4, answer)
}

// challenged gets a challenge of one node and answers it for another one.
func challenged(t testing.TB, from, to *tandem.Node) (*dialog, string) {
	t.Helper()
	d := newUA(t, lab.Outside, 23).dial(pstnNumber)
	d.ua.send(from.UDP(), d.request("INVITE", from.UDP(), "one", 1, "", ""))
	challenge := d.await("INVITE", "one", 401)
	d.ack(from.UDP(), "one", 1, challenge)
	return d, d.answered(challenge, to)
}

// md5Challenge is the challenge by MD5 of a 401. It is the last one, and to a
// short datagram the only one.
func md5Challenge(m peer.Message) string {
	list := m.Headers("WWW-Authenticate")
	return list[len(list)-1]
}

// answered answers a challenge by MD5 for an INVITE to a node.
func (d *dialog) answered(challenge peer.Message, to *tandem.Node) string {
	uri := fmt.Sprintf("sip:%s@%s", d.number, to.UDP())
	return d.authorization(md5Challenge(challenge), "INVITE", uri, digestUser, digestPassword)
}
