package trunkgroup

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// farEnd is a target in virtual time: what it does to a probe sent at a time.
type farEnd func(sent time.Time) ProbeResult

func answers(code int) farEnd {
	return func(time.Time) ProbeResult { return ProbeResult{Kind: Reply, Code: code, RTT: 20 * time.Millisecond} }
}

func silent(timeout time.Duration) farEnd {
	return func(time.Time) ProbeResult { return ProbeResult{Kind: Timeout, RTT: timeout} }
}

func refuses(time.Time) ProbeResult {
	return ProbeResult{Kind: TransportError, RTT: time.Millisecond}
}

// prober steps a Health through virtual time.
type prober struct {
	Health
	now    time.Time
	probes int
	log    []string // "66s down", one per change
}

func newProber(spec MonitoringSpec) *prober {
	m := compileMonitoring(spec)
	m.CallRetryAfterMax = time.Minute
	return &prober{Health: NewHealth(m, epoch), now: epoch}
}

// run probes a far end for d, and notes each change of state.
func (p *prober) run(d time.Duration, end farEnd) {
	stop := p.now.Add(d)
	for {
		next := p.NextProbe()
		if deadline := p.Deadline(); !deadline.IsZero() && (next.IsZero() || deadline.Before(next)) {
			if deadline.After(stop) {
				break
			}
			p.now = deadline
			p.note(p.Expire(p.now))
			continue
		}
		if next.IsZero() || next.After(stop) {
			break
		}
		p.probes++
		r := end(next)
		p.now = next.Add(r.RTT)
		p.note(p.Probe(p.now, r))
	}
	p.now = stop
}

func (p *prober) note(changed bool) {
	if changed {
		p.log = append(p.log, p.now.Sub(epoch).Round(10*time.Millisecond).String()+" "+p.State().String())
	}
}

func (p *prober) changes() string {
	s := strings.Join(p.log, ", ")
	p.log = nil
	return s
}

// DEC-16: "cycle 60 s; on no reply within 2 s the probe is repeated twice at
// once as new transactions; three misses, or 503, 408 or connect failure in all
// three = down. Up after two good in a row, probed every 5 s while down".
func TestDEC16_Peeredge(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "peeredge"})
	p.run(90*time.Second, answers(200))
	if got := p.changes(); got != "20ms active" || p.probes != 2 {
		t.Errorf("%d probes: %s", p.probes, got)
	}
	p.probes = 0
	p.run(90*time.Second, silent(2*time.Second))
	if got := p.changes(); got != "2m2s trying, 2m6s down" {
		t.Errorf("silent: %s", got)
	}
	if p.probes != 3+11 { // three misses, then every 5 s from 2m9s to 2m59s
		t.Errorf("%d probes", p.probes)
	}
	p.run(10*time.Second, answers(200))
	if got := p.changes(); got != "3m4.02s probation, 3m9.02s active" {
		t.Errorf("back: %s", got)
	}
	for _, bad := range []farEnd{answers(503), answers(408), refuses} {
		p.run(2*time.Minute, bad)
		if got := p.changes(); !strings.HasSuffix(got, "down") || p.State() != Down {
			t.Errorf("bad: %s", got)
		}
		p.run(2*time.Minute, answers(503))
		if p.State() != Down {
			t.Error("503 is good while down")
		}
		p.run(2*time.Minute, answers(404)) // "the same test in both directions"
		if p.State() != Active {
			t.Error("404 is bad while down")
		}
		p.changes()
	}
}

// "three misses": one good reply among the three keeps the member up.
func TestDEC16_OneGoodOfThree(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "peeredge"})
	n := 0
	p.run(10*time.Minute, func(sent time.Time) ProbeResult {
		if n++; n%3 == 0 {
			return answers(200)(sent)
		}
		return silent(2 * time.Second)(sent)
	})
	if strings.Contains(p.changes(), "down") {
		t.Error("went down")
	}
}

// PRB-01: "Any final response other than 408/503 counts as reachable. Check:
// member active after the configured number of 405 replies; last_code=405, not
// 408. A true timeout still takes it down".
func TestPRB01_405IsAlive(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "peeredge"})
	p.run(time.Second, answers(405))
	if last, at := p.LastProbe(); p.State() != Active || last.Code != 405 || last.String() != "405" || at != p.LastGood() {
		t.Errorf("%s after %v", p.State(), last)
	}
	p.run(2*time.Minute, silent(2*time.Second))
	if last, _ := p.LastProbe(); p.State() != Down || last.Kind != Timeout || last.Code != 0 || last.String() != "no reply" {
		t.Errorf("%s after %v", p.State(), last)
	}
	p.run(6*time.Second, answers(405))
	p.run(6*time.Second, answers(405))
	if p.State() != Active {
		t.Errorf("%s after two 405", p.State())
	}
}

// PRB-03: "time from last good reply to down <= interval*threshold +
// probe_timeout + 0.5 s": SIP timer F does not rule a probe.
func TestPRB03_OwnTimeout(t *testing.T) {
	for _, threshold := range []int{1, 3} {
		repeats := 0
		p := newProber(MonitoringSpec{
			Profile: "peeredge", Interval: Duration(3 * time.Second), Timeout: Duration(time.Second),
			Repeats: &repeats, DownAfter: threshold,
		})
		p.run(time.Minute, answers(200))
		p.run(time.Minute, silent(time.Second))
		if took, bound := p.Since().Sub(p.LastGood()), time.Duration(threshold)*3*time.Second+1500*time.Millisecond; p.State() != Down || took > bound {
			t.Errorf("threshold %d: %s after %s, bound %s", threshold, p.State(), took, bound)
		}
	}
}

// PRB-06: "ok_threshold=3; down 30 s, then answers 200. 1st and 2nd success ->
// probation and no calls; 3rd -> active".
func TestPRB06_Probation(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "kamailio", UpAfter: 3, Interval: Duration(time.Second)})
	p.run(30*time.Second, silent(500*time.Millisecond))
	if p.State() != Down {
		t.Fatal(p.State())
	}
	for i, want := range []State{Probation, Probation, Active} {
		p.run(time.Second, answers(200))
		if p.State() != want || p.State().Selectable() != (want == Active) {
			t.Errorf("after %d good: %s, want %s", i+1, p.State(), want)
		}
	}
	p.run(5*time.Second, silent(500*time.Millisecond))
	p.run(time.Second, answers(200))
	p.run(time.Second, silent(500*time.Millisecond)) // a miss begins anew
	if p.State() != Down {
		t.Errorf("%s after a miss on probation", p.State())
	}
	if p.NextProbe().IsZero() {
		t.Error("only an operator stops probing")
	}
}

// K-23: thresholds 1 and 1, only 200 is good.
func TestK23_ProfileKamailio(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "kamailio"})
	p.run(65*time.Second, answers(200))
	p.run(30*time.Second, answers(404))
	p.run(30*time.Second, answers(200))
	if got := p.changes(); got != "20ms active, 1m30.02s down, 2m0.02s active" {
		t.Error(got)
	}
}

// G-01, G-03, G-04: interval 30 s, failure threshold 3, 503 and silence fail,
// up after one; "any reply with Retry-After = immediately down for at least that
// long even if later probes succeed (longer extends, shorter never shrinks;
// manual mark_up clears)".
func TestG01_G03_G04_ProfileSiphon(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "siphon"})
	p.run(20*time.Second, answers(500))
	p.run(2*time.Minute, silent(5*time.Second))
	p.run(30*time.Second, answers(500))
	if got := p.changes(); got != "20ms active, 35s trying, 1m35s down, 2m30.02s active" {
		t.Error(got)
	}
	retry := func(code int, after time.Duration) farEnd {
		return func(time.Time) ProbeResult { return ProbeResult{Kind: Reply, Code: code, RetryAfter: after} }
	}
	p.run(30*time.Second, retry(200, 100*time.Second))
	if p.State() != Cooldown {
		t.Fatal(p.State())
	}
	until := p.Deadline()
	p.run(30*time.Second, retry(200, 10*time.Second))
	if p.Deadline() != until {
		t.Error("a shorter pause shrinks a longer one")
	}
	p.run(30*time.Second, retry(200, 90*time.Second))
	if !p.Deadline().After(until) {
		t.Error("a longer pause does not extend")
	}
	p.changes()
	p.run(5*time.Minute, answers(200))
	if got := p.changes(); !strings.HasSuffix(got, "active") || strings.Contains(got, ",") {
		t.Errorf("after the pause: %s", got)
	}
	p.run(30*time.Second, retry(503, 24*time.Hour))
	if pause := p.Deadline().Sub(p.now); pause > 300*time.Second {
		t.Errorf("a pause of %s is a self-made outage (DEC-11)", pause)
	}
	p.SetAdmin(AdminUp, p.now)
	if p.State() != Unknown || p.NextProbe() != p.now {
		t.Errorf("an operator's up gives %s", p.State())
	}
}

// DEC-11: "From calls, only transport errors and attempts with no response at
// all count, consecutive, reset by any response; they move a member to trying
// and trigger an immediate probe, which decides".
func TestDEC11_Evidence(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "peeredge"})
	p.run(10*time.Second, answers(200))
	if !p.Evidence(p.now, false, "connection refused") || p.State() != Trying || p.NextProbe() != p.now {
		t.Fatalf("%s, next probe %s", p.State(), p.NextProbe())
	}
	if p.Evidence(p.now, false, "connection refused") {
		t.Error("a second probe while the first is under way")
	}
	p.run(time.Second, answers(200))
	if p.State() != Active {
		t.Errorf("a good probe gives %s", p.State())
	}
	p.run(10*time.Second, answers(200))
	p.Evidence(p.now, false, "no response")
	p.Evidence(p.now, true, "")
	if p.State() != Active {
		t.Errorf("a response gives %s", p.State())
	}
	p.run(10*time.Second, answers(200))
	p.Evidence(p.now, false, "no response")
	start := p.now
	p.run(10*time.Second, silent(2*time.Second))
	if p.State() != Down || p.Since().Sub(start) != 6*time.Second {
		t.Errorf("%s after %s", p.State(), p.Since().Sub(start))
	}
	if p.Evidence(p.now, false, "no response") || p.State() != Down {
		t.Error("evidence against a member that is down")
	}
}

// "a probe, which decides": with three cycles to be down, they follow each
// other at once when calls fail, and do not wait for the interval.
func TestDEC11_EvidenceDecidesAtOnce(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "siphon", EvidenceAfter: 2})
	p.run(10*time.Second, answers(200))
	if p.Evidence(p.now, false, "refused") || p.State() != Active {
		t.Error("one failed call counts though two are asked for")
	}
	if !p.Evidence(p.now, false, "refused") {
		t.Error("two failed calls do not count")
	}
	start := p.now
	p.run(time.Second, refuses)
	if p.State() != Down || p.Since().Sub(start) > 10*time.Millisecond {
		t.Errorf("%s after %s", p.State(), p.Since().Sub(start))
	}
	for range 5 { // calls fail, probes are good: no storm of probes
		p.run(40*time.Second, answers(200))
		p.probes = 0
		for range 100 {
			p.Evidence(p.now, false, "refused")
			p.run(10*time.Millisecond, answers(200))
		}
		if p.probes > 3 {
			t.Fatalf("%d probes in a second", p.probes)
		}
	}
}

// DEC-11: "Retry-After from a call with 503 lowers only that member, capped at
// retry_after_max".
func TestDEC11_RetryAfterOfCall(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "peeredge"})
	p.run(10*time.Second, answers(200))
	p.changes()
	if !p.RetryAfter(p.now, 24*time.Hour) || p.State() != Cooldown {
		t.Fatal(p.State())
	}
	if pause := p.Deadline().Sub(p.now); pause != time.Minute {
		t.Errorf("a pause of %s", pause)
	}
	p.run(2*time.Minute, answers(200))
	if got := p.changes(); got != "1m10s active" {
		t.Errorf("a member that answers probes: %s", got)
	}
	p.RetryAfter(p.now, 30*time.Second)
	p.run(time.Minute, silent(2*time.Second)) // one of the probes falls into the pause
	if p.State() != Down && p.State() != Trying {
		t.Errorf("a member that is silent: %s", p.State())
	}
}

// P-08: without monitoring a member is active for ever.
func TestP08_NotMonitored(t *testing.T) {
	h := NewHealth(Monitoring{}, epoch)
	h.Probe(epoch, ProbeResult{Kind: Timeout})
	h.Evidence(epoch, false, "refused")
	h.RetryAfter(epoch, time.Hour)
	if h.State() != Active || !h.NextProbe().IsZero() || !h.Deadline().IsZero() {
		t.Errorf("%s, next %s", h.State(), h.NextProbe())
	}
	h.SetAdmin(AdminDisabled, epoch)
	if h.State() != Disabled {
		t.Error("an operator's word does not hold")
	}
	h.SetAdmin(AdminUp, epoch)
	if h.State() != Active || !h.NextProbe().IsZero() {
		t.Errorf("%s, next %s", h.State(), h.NextProbe())
	}
}

func TestAdminStates(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "peeredge"})
	p.run(10*time.Second, answers(200))
	p.SetAdmin(AdminDraining, p.now)
	if p.State() != Draining || p.Reason() != "set by operator" || p.Since() != p.now || p.Admin() != AdminDraining {
		t.Errorf("%s since %s: %s", p.State(), p.Since(), p.Reason())
	}
	p.probes = 0
	p.run(2*time.Minute, silent(2*time.Second))
	if p.State() != Draining || p.probes == 0 {
		t.Error("a draining member is probed, and stays draining")
	}
	p.SetAdmin(AdminDisabled, p.now)
	p.probes = 0
	p.run(2*time.Minute, answers(200))
	if p.State() != Disabled || p.probes != 0 || p.Probe(p.now, answers(200)(p.now)) {
		t.Error("a disabled member is not probed")
	}
	p.SetAdmin(AdminUp, p.now)
	if p.State() != Unknown || p.NextProbe() != p.now {
		t.Errorf("%s, next %s", p.State(), p.NextProbe())
	}
	if p.Changes() == 0 {
		t.Error("changes are not counted")
	}
}

// DEC-13: "Newcomers inherit the old record until their first own result".
func TestDEC13_Inherit(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "peeredge"})
	p.Inherit(Down, "as node dal-2 saw it", p.now)
	if p.State() != Down || p.NextProbe() != p.now {
		t.Errorf("%s, next %s", p.State(), p.NextProbe())
	}
	p.run(time.Second, answers(200))
	if p.State() != Probation {
		t.Errorf("first own result gives %s", p.State())
	}
	p.Inherit(Active, "late", p.now)
	if p.State() != Probation {
		t.Error("inherited after an own result")
	}
}

// A reload keeps the state of a member, and follows the new interval at once.
func TestConfigure(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "peeredge"})
	p.run(time.Second, answers(200))
	p.RetryAfter(p.now, 30*time.Second)
	quick := compileMonitoring(MonitoringSpec{Profile: "peeredge", Interval: Duration(10 * time.Second)})
	p.Configure(quick, p.now)
	if p.State() != Cooldown || p.Deadline().IsZero() || p.NextProbe() != p.now.Add(10*time.Second) {
		t.Errorf("%s, next probe %s", p.State(), p.NextProbe().Sub(p.now))
	}
	p.SetAdmin(AdminDisabled, p.now)
	p.Configure(Monitoring{}, p.now)
	if p.State() != Disabled || !p.NextProbe().IsZero() {
		t.Errorf("monitoring off: %s", p.State())
	}
	p.Configure(quick, p.now)
	if p.State() != Disabled || !p.NextProbe().IsZero() {
		t.Errorf("monitoring on again: %s, next probe %s", p.State(), p.NextProbe())
	}
	p.SetAdmin(AdminUp, p.now)
	if p.State() != Unknown || p.NextProbe() != p.now {
		t.Errorf("up again: %s", p.State())
	}
}

// Whatever happens: a member that no operator has disabled is always probed
// again within its interval; a cooldown always has its deadline, and no other
// state has one; changes are counted exactly; a disabled member never is due.
func TestHealthProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newProber(MonitoringSpec{Profile: rapid.SampledFrom([]string{"peeredge", "kamailio", "siphon"}).Draw(t, "profile")})
		p.m.UpAfter = rapid.IntRange(1, 3).Draw(t, "up")
		state, changes := p.State(), 0
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			p.now = p.now.Add(time.Duration(rapid.IntRange(0, 90000).Draw(t, "ms")) * time.Millisecond)
			switch rapid.IntRange(0, 6).Draw(t, "event") {
			case 0:
				p.Evidence(p.now, rapid.Bool().Draw(t, "ok"), "refused")
			case 1:
				p.RetryAfter(p.now, time.Duration(rapid.IntRange(0, 100).Draw(t, "s"))*time.Second)
			case 2:
				p.SetAdmin(rapid.SampledFrom([]AdminState{AdminUp, AdminDraining, AdminDisabled}).Draw(t, "admin"), p.now)
			case 3:
				p.Expire(p.now)
			default:
				p.Probe(p.now, ProbeResult{
					Kind:       rapid.SampledFrom([]ProbeKind{Reply, Timeout, TransportError}).Draw(t, "kind"),
					Code:       rapid.SampledFrom([]int{200, 404, 408, 503}).Draw(t, "code"),
					RetryAfter: time.Duration(rapid.SampledFrom([]int{0, 0, 0, 7}).Draw(t, "after")) * time.Second,
				})
			}
			if p.State() != state {
				state, changes = p.State(), changes+1
				if p.Since() != p.now && p.Since().Before(p.now) {
					t.Fatalf("since %s at %s", p.Since(), p.now)
				}
			}
			switch next := p.NextProbe(); {
			case p.Admin() == AdminDisabled && !next.IsZero():
				t.Fatal("a disabled member is due")
			case p.Admin() != AdminDisabled && (next.IsZero() || next.After(p.now.Add(p.m.Interval))):
				t.Fatalf("%s: next probe at %s, now %s", p.State(), next, p.now)
			case (p.Health.state == Cooldown) == p.Deadline().IsZero():
				t.Fatalf("%s with deadline %s", p.Health.state, p.Deadline())
			}
		}
		if p.Changes() < changes {
			t.Fatalf("%d changes seen, %d counted", changes, p.Changes())
		}
	})
}

// A target that comes and goes is held down for longer each time, up to a bound,
// and forgiven once it stays (failure mode 18).
func TestFlappingTargetIsHeldDown(t *testing.T) {
	mon := Monitoring{Enabled: true, Interval: 10 * time.Second, DownInterval: time.Second, Timeout: time.Second, DownAfter: 1, UpAfter: 2}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := NewHealth(mon, now)
	good := func() { now = now.Add(time.Second); h.Probe(now, ProbeResult{Kind: Reply, Code: 200}) }
	bad := func() { now = now.Add(time.Second); h.Probe(now, ProbeResult{Kind: Timeout}) }
	back := func() (probes int) {
		for h.State() != Active {
			good()
			probes++
		}
		return probes
	}
	good()
	var needed []int
	for range 8 {
		bad()
		if h.State() != Down {
			t.Fatalf("%s after a failed cycle", h.State())
		}
		needed = append(needed, back())
	}
	if want := []int{2, 2, 2, 4, 8, 16, 32, 32}; !slices.Equal(needed, want) {
		t.Errorf("good probes needed: %v, want %v", needed, want)
	}
	now = now.Add(flapIntervals * mon.Interval)
	bad()
	if n := back(); n != 2 {
		t.Errorf("%d good probes needed after it had stayed up, want 2", n)
	}
}
