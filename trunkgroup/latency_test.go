package trunkgroup

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// K-29: "LATENCY{AVG,STD,EST,MAX,TIMEOUT} per destination".
func TestK29_Latency(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "kamailio", Interval: Duration(time.Second)})
	if l := p.Latency(); l.Known() || l.Estimate != 0 || l.Deviation() != 0 {
		t.Errorf("before the first probe: %+v", l)
	}
	rtt := []time.Duration{20 * time.Millisecond, 30 * time.Millisecond, 10 * time.Millisecond, 0, 60 * time.Millisecond}
	for _, d := range rtt {
		r := ProbeResult{Kind: Reply, Code: 200, RTT: d}
		if d == 0 {
			r = ProbeResult{Kind: Timeout, RTT: time.Second}
		}
		p.now = p.now.Add(time.Second)
		p.Probe(p.now, r)
	}
	p.Probe(p.now, ProbeResult{Kind: TransportError, RTT: time.Hour})
	l := p.Latency()
	if l.Average != 30*time.Millisecond || l.Max != 60*time.Millisecond || l.Timeouts != 1 || l.Replies != 4 {
		t.Errorf("%+v", l)
	}
	if got := l.Estimate.Round(10 * time.Microsecond); got != 23910*time.Microsecond { // 20, 21, 19.9, 23.91
		t.Errorf("estimate %s", got)
	}
	if got := l.Deviation().Round(100 * time.Microsecond); got != 18700*time.Microsecond {
		t.Errorf("deviation %s", got)
	}
}

// A target that becomes slow is seen to be slow within 30 probes, and the estimate
// lies between the fastest and the slowest reply whatever comes.
func TestK29_EstimateFollows(t *testing.T) {
	var l RoundTrips
	for range 100_000 {
		l.Note(ProbeResult{Kind: Reply, Code: 200, RTT: 5 * time.Millisecond})
	}
	for range 30 {
		l.Note(ProbeResult{Kind: Reply, Code: 200, RTT: 200 * time.Millisecond})
	}
	if l.Estimate < 180*time.Millisecond {
		t.Errorf("after 30 slow replies it is %s", l.Estimate)
	}
	rapid.Check(t, func(t *rapid.T) {
		var l RoundTrips
		lo, hi := time.Duration(math.MaxInt64), time.Duration(0)
		for _, ns := range rapid.SliceOfN(rapid.Int64Range(1, int64(time.Minute)), 1, 200).Draw(t, "rtt") {
			d := time.Duration(ns)
			lo, hi = min(lo, d), max(hi, d)
			l.Note(ProbeResult{Kind: Reply, RTT: d})
		}
		if l.Estimate < lo || l.Estimate > hi || l.Average < lo || l.Average > hi || l.Max != hi || l.Deviation() > hi-lo {
			t.Fatalf("%+v deviates by %s; replies lay between %s and %s", l, l.Deviation(), lo, hi)
		}
	})
}

// Outages are counted for an hour, and an operator's word is none.
func TestC05_FlapsOfTheLastHour(t *testing.T) {
	p := newProber(MonitoringSpec{Profile: "kamailio", Interval: Duration(time.Second), DownInterval: Duration(time.Second)})
	for range 5 {
		p.run(20*time.Second, answers(200))
		p.run(20*time.Second, answers(503))
	}
	p.SetAdmin(AdminDisabled, p.now)
	p.SetAdmin(AdminUp, p.now)
	if n := p.Flaps(p.now); n != 5 {
		t.Errorf("%d outages, want 5", n)
	}
	if n := p.Flaps(p.now.Add(54 * time.Minute)); n != 5 {
		t.Errorf("%d outages after 54 minutes", n)
	}
	if n := p.Flaps(p.now.Add(66 * time.Minute)); n != 0 {
		t.Errorf("%d outages after 66 minutes", n)
	}
	if n := p.Flaps(p.now.Add(1000 * time.Hour)); n != 0 {
		t.Errorf("%d outages after weeks", n)
	}
}
