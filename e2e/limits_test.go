//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/lab/wan"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

const (
	limitCalls = 100
	limitRate  = 20
	// rateJitter is by how much the way from a node to a far end may differ from
	// call to call: a second as the node counts it may look shorter there.
	rateJitter = 50 * time.Millisecond
)

// limitedDocument is the shared document with limits on acme's group.
func limitedDocument() []byte {
	limits := fmt.Sprintf("    limits: {calls: %d, cps: %d}\n", limitCalls, limitRate)
	return []byte(strings.Replace(fill(document), "    numbers: [\"+1214555010*\"]\n", "    numbers: [\"+1214555010*\"]\n"+limits, 1))
}

// limited puts the limits into force until the end of the test and waits until
// all nodes share them out in full.
func (w *world) limited(t testing.TB) {
	t.Helper()
	old, err := revisionOf(w.Nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.restoreDocument(t) })
	if err := apply(w.Nodes[0], limitedDocument()); err != nil {
		t.Fatal(err)
	}
	w.equalTables(t, old)
	w.sharedOut(t, w.SBCs()...)
}

// sharedOut waits until these nodes together hold all of the limit.
func (w *world) sharedOut(t testing.TB, nodes ...*tandem.Node) {
	t.Helper()
	eventually(t, 40*time.Second, "all rights are shared out", func() error {
		share := 0.0
		for _, n := range nodes {
			m, err := n.Metrics()
			if err != nil {
				return err
			}
			share += m.Sum("tandem_limit_share", "scope=group", "name=acme-in", "kind=calls")
		}
		if share != limitCalls {
			return fmt.Errorf("the shares are %v together", share)
		}
		return nil
	})
}

// flood offers calls to all nodes in turn for some time; each node's refusal is
// final. The report comes when all calls have ended.
func (w *world) flood(t testing.TB, rate float64, hold, during time.Duration) <-chan *sim.Report {
	t.Helper()
	load := newLoad(t, w, sim.LoadConfig{
		CallerConfig: sim.CallerConfig{Seed: seed(t), Stay: true, SetupTimeout: 12 * time.Second},
		To:           []string{acmeNumber}, Rate: rate, Hold: hold, Duration: during, KeepAll: true,
	})
	done := make(chan *sim.Report, 1)
	go func() {
		r, err := load.Run(context.Background())
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	return done
}

// seen is when calls were open at the far ends: from the INVITE's arrival to the
// end of the leg there.
type seen struct {
	began []time.Time
	steps []step
}

type step struct {
	at time.Time
	by int
}

// legsOf gathers what the far ends saw since a moment.
func legsOf(farEnds []*sim.FarEnd, since time.Time) seen {
	var s seen
	for _, f := range farEnds {
		for _, l := range f.Legs() {
			if l.Invited.Before(since) {
				continue
			}
			s.began = append(s.began, l.Invited)
			s.steps = append(s.steps, step{l.Invited, 1})
			if !l.Ended.IsZero() {
				s.steps = append(s.steps, step{l.Ended, -1})
			}
		}
	}
	slices.SortFunc(s.began, time.Time.Compare)
	slices.SortStableFunc(s.steps, func(a, b step) int { return a.at.Compare(b.at) })
	return s
}

// open returns the most calls that were open at one time, and the mean between
// two moments.
func (s *seen) open(from, to time.Time) (most int, mean float64) {
	now, last := 0, from
	area := 0.0
	for _, x := range s.steps {
		if x.at.After(from) && last.Before(to) {
			until := x.at
			if until.After(to) {
				until = to
			}
			area += float64(now) * until.Sub(last).Seconds()
			last = until
		}
		now += x.by
		most = max(most, now)
	}
	return most, area / to.Sub(from).Seconds()
}

// within returns the most calls that began within any span of time.
func (s *seen) within(span time.Duration) (most int) {
	most, _ = s.densest(span)
	return most
}

// densest is within with when the span began.
func (s *seen) densest(span time.Duration) (most int, at time.Time) {
	for i, j := 0, 0; j < len(s.began); j++ {
		for s.began[j].Sub(s.began[i]) >= span {
			i++
		}
		if j-i+1 > most {
			most, at = j-i+1, s.began[i]
		}
	}
	return most, at
}

// rateKept checks the calls per second at the far ends. That no single second has
// more is shown in virtual time; here the way of an INVITE through a loaded machine
// is up to a quarter of a second shorter or longer than that of the one before it.
func (s *seen) rateKept(t testing.TB) {
	t.Helper()
	const seconds = 5
	span := seconds*time.Second - 200*time.Millisecond
	if n, at := s.densest(span); n > seconds*limitRate {
		t.Errorf("%d calls began within %v from %v on, limit %d per second", n, span, at, limitRate)
	}
}

// between returns how many calls began between two moments.
func (s *seen) between(from, to time.Time) (n int) {
	for _, at := range s.began {
		if !at.Before(from) && at.Before(to) {
			n++
		}
	}
	return n
}

// sleepUntil waits for a moment of the test's own plan.
func sleepUntil(at time.Time) { <-time.After(time.Until(at)) }

// TestLimits offers three times what a group may carry to four nodes in two sites,
// and counts at the far ends (DEC-10).
func TestLimits(t *testing.T) {
	w := theWorld(t)
	w.limited(t)
	t.Run("kept and used", w.limitsAreKeptAndUsed)
	t.Run("in a partition", w.limitsInAPartition)
	t.Run("after a kill", w.limitsAfterAKill)
}

// limitsAreKeptAndUsed: never more than the limit, and above 95 % of it used.
func (w *world) limitsAreKeptAndUsed(t *testing.T) {
	pbxs := w.simulate(t, sim.Answers(0, 20*time.Millisecond))
	t.Run("calls", func(t *testing.T) {
		began := time.Now()
		done := w.flood(t, 50, 6*time.Second, 24*time.Second)
		r := <-done
		s := legsOf(pbxs, began)
		most, mean := s.open(began.Add(10*time.Second), began.Add(23*time.Second))
		t.Logf("%d calls offered, %d taken; open at the far ends: at most %d, %.1f in the mean; at most %d began within %v",
			r.Counts.Started, len(s.began), most, mean, s.within(time.Second-rateJitter), time.Second-rateJitter)
		if most > limitCalls {
			t.Errorf("%d calls were open at one time, limit %d", most, limitCalls)
		}
		if mean < 0.95*limitCalls {
			t.Errorf("%.1f calls were open in the mean, want above 95 %% of %d", mean, limitCalls)
		}
		refusedRight(t, r)
	})
	w.drained(t, pbxs)
	t.Run("calls per second", func(t *testing.T) {
		began := time.Now()
		done := w.flood(t, 60, 1500*time.Millisecond, 14*time.Second)
		r := <-done
		s := legsOf(pbxs, began)
		rate := float64(s.between(began.Add(3*time.Second), began.Add(13*time.Second))) / 10
		most, _ := s.open(began, began.Add(14*time.Second))
		t.Logf("%d calls offered, %.2f taken per second; at most %d began within any second and %d within any %v; at most %d open",
			r.Counts.Started, rate, s.within(time.Second), s.within(time.Second-rateJitter), time.Second-rateJitter, most)
		s.rateKept(t)
		if rate < 0.95*limitRate {
			t.Errorf("%.2f calls per second were taken, want above 95 %% of %d", rate, limitRate)
		}
		refusedRight(t, r)
	})
}

// refusedRight checks what callers heard of a full group.
func refusedRight(t testing.TB, r *sim.Report) {
	t.Helper()
	refused := 0
	for _, c := range r.Calls {
		if !c.Failed() {
			continue
		}
		if c.Code != 503 || c.Reason != "Trunk Group Capacity Exceeded" {
			t.Errorf("a call ended otherwise: %d %s %s %s", c.Code, c.Reason, c.Result, c.Why)
			continue
		}
		refused++
	}
	if refused == 0 {
		t.Error("no call was refused")
	}
}

// drained waits until no call is left at the far ends.
func (w *world) drained(t testing.TB, farEnds []*sim.FarEnd) {
	t.Helper()
	for _, f := range farEnds {
		counted(t, f, "no leg left", func(a sim.Account) bool { return a.Ringing+a.Up == 0 })
	}
}

// limitsInAPartition cuts the link between the sites at full load: the total
// over both sites is never above the limit, during the cut and after it.
func (w *world) limitsInAPartition(t *testing.T) {
	link, _ := theLab(t).WAN(lab.Dallas, lab.Ashburn)
	pbxs := w.simulate(t, sim.Answers(0, 20*time.Millisecond))
	t.Cleanup(func() {
		link.Heal(wan.Both)
		w.settled(t)
	})
	began := time.Now()
	done := w.flood(t, 50, 6*time.Second, 48*time.Second)
	sleepUntil(began.Add(15 * time.Second))
	link.Cut(wan.Both)
	sleepUntil(began.Add(33 * time.Second))
	link.Heal(wan.Both)
	r := <-done
	s := legsOf(pbxs, began)
	most, mean := s.open(began.Add(10*time.Second), began.Add(15*time.Second))
	_, cut := s.open(began.Add(20*time.Second), began.Add(33*time.Second))
	_, after := s.open(began.Add(38*time.Second), began.Add(48*time.Second))
	t.Logf("%d calls offered, %d taken; open at the far ends: at most %d; in the mean %.1f before the cut, %.1f during it, %.1f after it; at most %d began within %v",
		r.Counts.Started, len(s.began), most, mean, cut, after, s.within(time.Second-rateJitter), time.Second-rateJitter)
	if most > limitCalls {
		t.Errorf("%d calls were open at one time, limit %d", most, limitCalls)
	}
	s.rateKept(t)
	if after < 0.95*limitCalls {
		t.Errorf("%.1f calls were open after the cut, want above 95 %% of %d", after, limitCalls)
	}
}

// limitsAfterAKill kills a node at full load: its calls are gone from the
// counts of the others once its leases have ended, and never too early.
func (w *world) limitsAfterAKill(t *testing.T) {
	w.simulate(t, sim.Answers(0, 20*time.Millisecond))
	victim := w.follower(t, lab.Dallas1, lab.Dallas2)
	began := time.Now()
	done := w.flood(t, 40, 5*time.Second, 15*time.Second)
	sleepUntil(began.Add(10 * time.Second))
	victim.Kill()
	t.Cleanup(func() {
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		w.settled(t)
	})
	<-done
	var rest []*tandem.Node
	for _, n := range w.SBCs() {
		if n != victim {
			rest = append(rest, n)
		}
	}
	w.sharedOut(t, rest...)
}
