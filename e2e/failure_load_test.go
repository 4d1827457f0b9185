//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/front"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/lab/wan"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// The load of the failure test: most calls are taken in the site where they come
// in, the others by the peer site only.
const (
	localRate   = 40 // calls per second to acme-in, at all nodes
	handoffRate = 10 // calls per second to gamma-in, at the nodes of Dallas
)

// detection is how long a failure may cost calls: the time until the other nodes
// and the balancer know of it, and until a call that was sent before is given up.
const detection = 3 * time.Second

// phase is one piece of the failure test.
type phase struct {
	name  string
	begin int // in fortieths of the whole; it ends where the next one begins
	// lossy says by stream whether calls may be lost in the time of detection;
	// broken that calls of the hand-off stream may be lost all the time, and while
	// the nodes find each other again.
	lossy, broken bool
}

// phases are the failures, each followed by a time to get well.
var phases = []phase{
	{name: "healthy", begin: 0},
	{name: "node killed", begin: 4, lossy: true},
	{name: "node starts again", begin: 8},
	{name: "node paused", begin: 12, lossy: true},
	{name: "node goes on", begin: 16},
	{name: "link cut", begin: 18, broken: true},
	{name: "link healed", begin: 21},
	{name: "link cut one way", begin: 25, broken: true},
	{name: "link healed again", begin: 28},
	{name: "5 % loss, 150 ms", begin: 32},
	{name: "healthy at the end", begin: 38},
}

// TestLoadThroughFailures calls with SIPp through a balancer, 50 times a second,
// while a node is killed, a node is paused, the link is cut, cut one way, and poor.
// Outside the time in which a failure is detected no new call is lost. Calls that
// only the peer site can take are lost while the link is cut, as they must.
func TestLoadThroughFailures(t *testing.T) {
	w := theWorld(t)
	w.simulate(t, sim.Answers(20*time.Millisecond, 80*time.Millisecond))
	simPBX(t, lab.PBXAshburn, gammaHost, sim.Answers(20*time.Millisecond, 80*time.Millisecond))
	calls, rate := loadSize()
	unit := time.Duration(float64(calls) / rate * float64(time.Second) / 40)
	killed, paused := w.follower(t, lab.Dallas2, lab.Dallas1), w.follower(t, lab.Ashburn2, lab.Ashburn1)

	local := frontOf(t, 5041, w.SBCs()...)
	away := frontOf(t, 5042, w.Node(lab.Dallas1), w.Node(lab.Dallas2))
	begin := time.Now()
	callers := []*peer.SIPp{
		loadOf(t, local, acmeNumber, localRate, calls*localRate/(localRate+handoffRate)),
		loadOf(t, away, gammaNumber, handoffRate, calls*handoffRate/(localRate+handoffRate)),
	}
	happened := w.failures(t, begin, unit, killed, paused)
	// A call that was being set up on the killed node had its 100 and waits for ever.
	until(begin.Add(41*unit + 4*time.Second))
	for _, c := range callers {
		c.Stop()
	}
	text := new(strings.Builder)
	lostOutside := 0
	for _, s := range []struct {
		name    string
		calls   []front.Call
		handoff bool
	}{{"taken in the site", local.Calls(), false}, {"taken by the peer site", away.Calls(), true}} {
		fmt.Fprintf(text, "%s: %d new calls\n", s.name, len(s.calls))
		lostOutside += tell(text, s.calls, happened, s.handoff)
	}
	t.Logf("share of new calls that succeed, by phase:\n%s", text)
	if err := os.WriteFile(filepath.Join(run.dir, t.Name()+".txt"), []byte(text.String()), 0o644); err != nil {
		t.Error(err)
	}
	if lostOutside > 0 {
		t.Errorf("%d new calls were lost outside the time of detection", lostOutside)
	}
	w.settled(t)
	w.idle(t)
}

// frontOf starts a balancer in front of nodes, in the PSTN of Dallas.
func frontOf(t testing.TB, port uint16, nodes ...*tandem.Node) *front.Front {
	t.Helper()
	conn := listen(t, theLab(t), lab.CarrierDallas, netip.AddrPortFrom(lab.Host4(lab.CarrierDallas, pstnHost), port))
	var backends []front.Backend
	for _, n := range nodes {
		backends = append(backends, front.Backend{
			Name: n.Name, Addr: n.UDP(), Healthy: func() error { return n.ReadyWithin(400 * time.Millisecond) },
		})
	}
	f := front.Start(conn, 250*time.Millisecond, backends...)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// loadOf starts SIPp through a balancer.
func loadOf(t testing.TB, f *front.Front, number string, rate, calls int) *peer.SIPp {
	t.Helper()
	return startCall(t, peer.Run{
		Place: lab.CarrierDallas, Local: netip.AddrPortFrom(lab.Host4(lab.CarrierDallas, pstnHost), 0),
		Scenario: peer.Complete(time.Second), Remote: f.Addr(), Number: number, Calls: calls, PerSec: rate,
		Ceiling: time.Hour, More: []string{"-l", "5000", "-max_invite_retrans", "6", "-max_non_invite_retrans", "6"},
	})
}

// event is a phase that has taken place.
type event struct {
	phase
	from, to time.Time
}

// failures lets one failure after the other happen and says when each did.
func (w *world) failures(t testing.TB, begin time.Time, unit time.Duration, killed, paused *tandem.Node) []event {
	t.Helper()
	link, there := theLab(t).WAN(lab.Dallas, lab.Ashburn)
	whole := func() {
		link.Heal(wan.Both)
		link.Shape(wan.Both, func(s *wan.Shape) { s.Delay, s.Jitter, s.Loss = lab.WANDelay, 0, 0 })
	}
	t.Cleanup(whole)
	signal := func(s syscall.Signal) {
		if err := syscall.Kill(paused.Pid(), s); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
	}
	t.Cleanup(func() {
		signal(syscall.SIGCONT)
		if err := w.Start(); err != nil {
			t.Error(err)
		}
	})
	actions := map[string]func(){
		"node killed": killed.Kill,
		"node starts again": func() {
			if err := killed.Start(); err != nil {
				t.Error(err)
			}
		},
		"node paused":       func() { signal(syscall.SIGSTOP) },
		"node goes on":      func() { signal(syscall.SIGCONT) },
		"link cut":          func() { link.Cut(wan.Both) },
		"link healed":       whole,
		"link cut one way":  func() { link.Cut(there) },
		"link healed again": whole,
		"5 % loss, 150 ms": func() {
			link.Shape(wan.Both, func(s *wan.Shape) { s.Delay, s.Jitter, s.Loss = 75*time.Millisecond, 5*time.Millisecond, 0.05 })
		},
		"healthy at the end": whole,
	}
	var list []event
	for _, p := range phases {
		until(begin.Add(time.Duration(p.begin) * unit))
		if act := actions[p.name]; act != nil {
			act()
		}
		now := time.Now()
		if len(list) > 0 {
			list[len(list)-1].to = now
		}
		list = append(list, event{phase: p, from: now, to: now.Add(24 * time.Hour)})
	}
	return list
}

// until waits for a moment: the failures happen by the clock.
func until(at time.Time) {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	<-timer.C
}

// tell writes the share of calls that succeeded for each phase and returns how
// many were lost that should not.
func tell(text *strings.Builder, calls []front.Call, happened []event, handoff bool) (lostOutside int) {
	for i, e := range happened {
		begun, ok, outside := 0, 0, 0
		codes := map[int]int{}
		for _, c := range calls {
			if c.Started.Before(e.from) || !c.Started.Before(e.to) {
				continue
			}
			begun++
			if !c.Answered.IsZero() {
				ok++
				continue
			}
			codes[c.Code]++
			if !excused(happened, i, c, handoff) {
				outside++
				fmt.Fprintf(text, "    lost: %s %s after the phase began, at %v, final %d\n",
					c.CallID, c.Started.Sub(e.from).Round(time.Millisecond), c.Nodes, c.Code)
			}
		}
		share := 100 * float64(ok) / float64(max(begun, 1))
		fmt.Fprintf(text, "  %-20s %5d calls, %5d answered, %6.2f %%; lost outside detection %d; finals of the others %v\n",
			e.name, begun, ok, share, outside, codes)
		lostOutside += outside
	}
	return lostOutside
}

// excused says whether a call may be lost: it began in the time of detection of the
// phase, or shortly before it, or needs a link that is cut or was until lately.
func excused(happened []event, i int, c front.Call, handoff bool) bool {
	e := happened[i]
	into := c.Started.Sub(e.from)
	soon := i+1 < len(happened) && happened[i+1].from.Sub(c.Started) < detection
	next := happened[min(i+1, len(happened)-1)]
	switch {
	case e.lossy && into < detection, soon && next.lossy:
		return true
	case handoff && (e.broken || soon && next.broken):
		return true
	case handoff && i > 0 && happened[i-1].broken && into < detection:
		return true
	}
	return false
}
