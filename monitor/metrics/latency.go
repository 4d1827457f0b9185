package metrics

import "github.com/tandem-sbc/tandem/monitor/verdict"

var (
	descLatency      = desc("trunk_member_latency_seconds", "How long the member takes to answer probes, newer ones counting more.", "trunk_group", "site", "member")
	descLatencyMax   = desc("trunk_member_latency_max_seconds", "The longest that it took.", "trunk_group", "site", "member")
	descLatencySigma = desc("trunk_member_latency_deviation_seconds", "Standard deviation of what it takes.", "trunk_group", "site", "member")
	descFlaps        = desc("trunk_member_flaps", "How often it stopped getting calls within the last hour.", "trunk_group", "site", "member")
	descRamp         = desc("trunk_member_slow_start_ratio", "Part of its share that the member has while it starts slowly, else 1.", "trunk_group", "site", "member")
)

// latency shows what the probes of a member measured, and its slow start where its group has one (K-29). Of a member by name it is the address
// that is shown first.
func (p page) latency(s *verdict.Status) {
	labels := []string{s.Member.Group.Name, s.Member.Site, s.Member.ID}
	if s.Member.Group.SlowStart > 0 {
		ratio := 1.0
		if s.Ramp > 0 {
			ratio = float64(s.Ramp) / 100
		}
		p.gauge(descRamp, ratio, labels...)
	}
	if len(s.Targets) == 0 {
		return
	}
	flaps := 0
	for i := range s.Targets {
		flaps += s.Targets[i].Flaps
	}
	p.gauge(descFlaps, float64(flaps), labels...)
	if l := &s.Targets[0].Latency; l.Known() {
		p.gauge(descLatency, s.Latency().Seconds(), labels...)
		p.gauge(descLatencyMax, l.Max.Seconds(), labels...)
		p.gauge(descLatencySigma, l.Deviation().Seconds(), labels...)
	}
}
