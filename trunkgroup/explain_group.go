package trunkgroup

import "time"

// group says what one group of the route has to say about the call.
func (e *explainer) group(g *Group, d *Draw) GroupLine {
	l := GroupLine{
		Name: g.Name, Role: g.Role.String(), Customer: g.Customer, Method: g.Method.String(), Key: g.keyName(), Affinity: g.AffinityHeader,
		SlowStart: said(g.SlowStart), Turn: d.Turn, MaxAttempts: g.MaxAttempts,
		BTimer: said(g.Timers.BTimer), Progress: said(g.Timers.Progress), Setup: said(g.Timers.Setup),
		AdvanceOn: g.AdvanceOn.Codes(), NeverAdvance: g.NeverAdvance.Codes(),
		MaxCalls: g.Limits.Calls, MaxCPS: g.Limits.CPS,
	}
	if key, ok := g.KeyHash(d.Traits); ok && g.Method.Hashes() {
		l.KeyHash = key
	}
	if q := g.Quality; q != nil {
		l.Quality = &QualityLine{q.MinAnswerRatio, q.MaxShortCalls, said(q.Window), q.MinSamples, said(q.Cooldown)}
	}
	return l
}

// wholeCall says what the group of the customer has to say about the whole call: its
// timers and hand-off rules hold over all attempts (DEC-04, DEC-05).
func wholeCall(g *Group) *PolicyLine {
	return &PolicyLine{
		Group: g.Name, Customer: g.Customer, Ring: said(g.Timers.Ring), MaxPDD: said(g.Timers.MaxPDD),
		HandoffReserve: said(g.Timers.HandoffReserve), HandoffOn: g.HandoffOn.Codes(),
		MaxCalls: g.Limits.Calls, MaxCPS: g.Limits.CPS, MaxDuration: said(g.Limits.MaxDuration),
	}
}

// keyName is what the method hashes, as a document writes it.
func (g *Group) keyName() string {
	if g.Key == KeyHeader {
		return headerKey + g.KeyHeader
	}
	return g.Key.String()
}

// said writes a duration; empty for none.
func said(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}
