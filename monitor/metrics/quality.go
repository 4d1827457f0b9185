package metrics

import "time"

// Quality is what became of the calls to one member within the window of its group's
// quality section, over all nodes.
type Quality struct {
	Group, Site, Member string
	Barred              bool
	Attempts            uint64 // that were dialled and not given up by the caller
	Answered, Delivered uint64 // of these
	Short               uint64 // of the answered
	Ended               uint64 // answered calls that ended
	Talk                time.Duration
}

var (
	descQualityBarred   = desc("quality_barred", "1 while the member ought to get no calls for what its calls came to.", "trunk_group", "site", "member")
	descQualityAttempts = desc("quality_attempts", "Attempts at the member within the window that the caller did not give up.", "trunk_group", "site", "member")
	descQualityASR      = desc("quality_answer_ratio", "Answered attempts by all within the window (ASR).", "trunk_group", "site", "member")
	descQualityNER      = desc("quality_effectiveness_ratio", "Attempts within the window that reached the callee: answered, busy, refused or not picked up (NER).",
		"trunk_group", "site", "member")
	descQualityShort = desc("quality_short_ratio", "Answered calls within the window that ended at once.", "trunk_group", "site", "member")
	descQualityACD   = desc("quality_call_duration_seconds", "Mean length of the answered calls that ended within the window (ACD).", "trunk_group", "site", "member")
)

// quality shows ratios where there is something to divide by.
func (p page) quality(list []Quality) {
	for i := range list {
		q := &list[i]
		p.flag(descQualityBarred, q.Barred, q.Group, q.Site, q.Member)
		p.gauge(descQualityAttempts, float64(q.Attempts), q.Group, q.Site, q.Member)
		if n := float64(q.Attempts); n > 0 {
			p.gauge(descQualityASR, float64(q.Answered)/n, q.Group, q.Site, q.Member)
			p.gauge(descQualityNER, float64(q.Delivered)/n, q.Group, q.Site, q.Member)
		}
		if n := float64(q.Answered); n > 0 {
			p.gauge(descQualityShort, float64(q.Short)/n, q.Group, q.Site, q.Member)
		}
		if n := float64(q.Ended); n > 0 {
			p.gauge(descQualityACD, q.Talk.Seconds()/n, q.Group, q.Site, q.Member)
		}
	}
}
