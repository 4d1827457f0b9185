package app

import (
	"context"
	"time"

	"github.com/tandem-sbc/tandem/cluster/lease"
	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// factsOf is what the board knows of a member beside its state (C5).
func factsOf(s *verdict.Status, v *trunkgroup.View) admin.MemberFacts {
	m := s.Member
	f := admin.MemberFacts{
		Until: when(s.Until), Direction: m.Direction.String(), Priority: m.Priority, LastResort: m.LastResort,
		Weight: m.Weight, Share: 100, LatencyMillis: millis(s.Latency()),
	}
	if v.Weights != nil && v.Weights[m.Index] > 0 {
		f.Weight = v.Weights[m.Index]
	}
	if s.Weight.Weight > 0 {
		k := knobOf(s.Weight)
		f.WeightKnob = &k
	}
	if s.Ramp > 0 {
		f.Share = int(s.Ramp)
	}
	var probed, good time.Time
	for i := range s.Targets {
		t := &s.Targets[i]
		f.Flaps += t.Flaps
		probed, good = later(probed, t.Probed), later(good, t.Good)
	}
	f.LastProbe, f.LastGood = when(probed), when(good)
	return f
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// latencyOf is nothing for a target that has not answered yet.
func latencyOf(l *trunkgroup.RoundTrips) *admin.Latency {
	if !l.Known() && l.Timeouts == 0 {
		return nil
	}
	return &admin.Latency{
		EstimateMillis: millis(l.Estimate), AverageMillis: millis(l.Average), DeviationMillis: millis(l.Deviation()), MaxMillis: millis(l.Max),
		Replies: l.Replies, Timeouts: l.Timeouts,
	}
}

// memberCalls counts the calls at each member, by its key. Every member is counted, whether it has a limit or not. What cannot be had in time is
// not shown.
func (d *desk) memberCalls(ctx context.Context) map[string]lease.Status {
	ctx, cancel := context.WithTimeout(ctx, limitPatience)
	defer cancel()
	list, err := d.app.limits.status(ctx)
	if err != nil {
		return nil
	}
	calls := make(map[string]lease.Status)
	for _, s := range list {
		if s.Key.Scope == limit.Member && s.Key.Kind == limit.Calls {
			calls[s.Key.Name] = s
		}
	}
	return calls
}
