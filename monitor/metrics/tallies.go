package metrics

// Tallies are what calls to carriers, trunk groups, sites and destinations came to, over all
// nodes.
type Tallies struct {
	Rows []Tally
	Lost uint64 // events that could not be counted
}

// Tally is what calls to one of them came to within a window. A ratio is nil when there is
// nothing to divide by.
type Tally struct {
	Scope, Name, Window string
	Attempts            uint64
	ASR, NER            *float64 // 0 to 1
	ACD, PDD            *float64 // seconds
}

var (
	descTrafficAttempts = desc("traffic_attempts", "Attempts within the window over all nodes that were dialled and not given up by the caller.", "scope", "name", "window")
	descTrafficASR      = desc("traffic_answer_ratio", "Answered attempts by all within the window (ASR).", "scope", "name", "window")
	descTrafficNER      = desc("traffic_effectiveness_ratio", "Attempts within the window that reached the callee by all (NER).", "scope", "name", "window")
	descTrafficACD      = desc("traffic_call_duration_seconds", "Mean length of the answered calls that ended within the window (ACD).", "scope", "name", "window")
	descTrafficPDD      = desc("traffic_post_dial_delay_seconds", "Mean wait from an attempt's INVITE to its first ringing or answer within the window (PDD).", "scope", "name", "window")
	descTrafficLost     = desc("traffic_uncounted_total", "What calls reported and nobody could count, for too much waited.")
)

func (p page) tallies(t *Tallies) {
	p.counter(descTrafficLost, t.Lost)
	for i := range t.Rows {
		r := &t.Rows[i]
		p.gauge(descTrafficAttempts, float64(r.Attempts), r.Scope, r.Name, r.Window)
		if r.ASR != nil {
			p.gauge(descTrafficASR, *r.ASR, r.Scope, r.Name, r.Window)
		}
		if r.NER != nil {
			p.gauge(descTrafficNER, *r.NER, r.Scope, r.Name, r.Window)
		}
		if r.ACD != nil {
			p.gauge(descTrafficACD, *r.ACD, r.Scope, r.Name, r.Window)
		}
		if r.PDD != nil {
			p.gauge(descTrafficPDD, *r.PDD, r.Scope, r.Name, r.Window)
		}
	}
}
