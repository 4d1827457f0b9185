package trunkgroup

import (
	"slices"
	"time"
)

// Bounds of a quality section.
const (
	minQualitySpan = 10 * time.Second
	maxQualitySpan = 24 * time.Hour
	maxSamples     = 1_000_000
)

// quality checks what a group demands of the calls of its members.
func (v *validator) quality(path string, g *GroupSpec) {
	s := g.Quality
	if s == nil || g.Role == TerminationCustomer {
		return
	}
	if s.MinAnswerRatio == 0 && s.MaxShortCalls == 0 {
		v.faults.add(path, "demands nothing", "write min_answer_ratio or max_short_calls, or take it out")
	}
	v.percentages(path, []percentage{{"min_answer_ratio", s.MinAnswerRatio}, {"max_short_calls", s.MaxShortCalls}})
	if s.ShortCall != 0 && s.MaxShortCalls == 0 {
		v.faults.add(path+".short_call", "means nothing without max_short_calls", "write max_short_calls, or take it out")
	}
	v.samples(path, s.MinSamples)
	v.duration(path+".short_call", s.ShortCall, false)
	v.qualitySpans(path, s.Window, s.Cooldown)
	if q := compileQuality(s); s.ShortCall > 0 && q.ShortCall > q.Window {
		v.faults.addf(path+".short_call", "lower short_call or raise window", "%s is above window, %s", q.ShortCall, q.Window)
	}
	// Far ends that register come and go: who of them answers is no matter of a carrier.
	if slices.ContainsFunc(g.Members, func(m MemberSpec) bool { return m.Registration != nil }) {
		v.faults.add(path, "means nothing for members that register", "take it out, or put them into a group of their own")
	}
}
