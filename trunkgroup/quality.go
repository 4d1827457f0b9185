package trunkgroup

import (
	"fmt"
	"time"
)

// Quality is what the calls of a member, or of a carrier of a plan, must achieve, compiled (D10).
type Quality struct {
	MinAnswerRatio   int // percent; 0 demands nothing
	MaxShortCalls    int // percent; 0 demands nothing
	ShortCall        time.Duration
	Window           time.Duration
	MinSamples       int
	Cooldown         time.Duration
	MinEffectiveness int // percent of attempts that reach the callee; 0 demands nothing
}

// CauseQuality is the cause of a candidate whose calls did worse than its group
// demands.
const CauseQuality = "quality"

// CallTally is what the calls to a member came to within a time.
type CallTally struct {
	Attempts  uint64 // that were dialled and not given up by the caller
	Answered  uint64 // of these
	Delivered uint64 // of these: answered, busy, refused or not answered by the callee
	Short     uint64 // answered calls that ended within Quality.ShortCall
	Ended     uint64 // answered calls that ended
	Seconds   uint64 // that they lasted, together
}

// Add adds another tally.
func (t *CallTally) Add(o CallTally) {
	t.Attempts += o.Attempts
	t.Answered += o.Answered
	t.Delivered += o.Delivered
	t.Short += o.Short
	t.Ended += o.Ended
	t.Seconds += o.Seconds
}

// Judge says which demand a tally does not meet, in words; empty when it meets all,
// or when there were too few calls to tell.
func (q *Quality) Judge(t CallTally) string {
	if q.MinSamples <= 0 {
		return ""
	}
	least := uint64(q.MinSamples)
	if floor := uint64(max(q.MinAnswerRatio, 0)); t.Attempts >= least && 100*t.Answered < floor*t.Attempts {
		return fmt.Sprintf("answer ratio %d %% of %d calls is below %d %%", 100*t.Answered/t.Attempts, t.Attempts, floor)
	}
	if floor := uint64(max(q.MinEffectiveness, 0)); t.Attempts >= least && 100*t.Delivered < floor*t.Attempts {
		return fmt.Sprintf("%d %% of %d calls reached the callee, below %d %%", 100*t.Delivered/t.Attempts, t.Attempts, floor)
	}
	most := uint64(max(q.MaxShortCalls, 0))
	if short := min(t.Short, t.Answered); most > 0 && t.Answered >= least && 100*short > most*t.Answered {
		return fmt.Sprintf("%d %% of %d answered calls were shorter than %s, more than %d %%",
			(100*short+t.Answered-1)/t.Answered, t.Answered, q.ShortCall, most)
	}
	return ""
}

// Bar is that a member gets no calls for a while, since its calls did badly.
type Bar struct {
	Since, Until time.Time
	Reason       string
}

// Defaults of a quality section.
const (
	defaultShortCall   = 6 * time.Second
	defaultQualitySpan = 5 * time.Minute
	defaultMinSamples  = 50
)

func compileQuality(s *QualitySpec) *Quality {
	if s == nil {
		return nil
	}
	q := &Quality{
		MinAnswerRatio: s.MinAnswerRatio, MaxShortCalls: s.MaxShortCalls, ShortCall: s.ShortCall.or(defaultShortCall),
		Window: s.Window.or(defaultQualitySpan), MinSamples: s.MinSamples, Cooldown: s.Cooldown.or(defaultQualitySpan),
	}
	if q.MinSamples == 0 {
		q.MinSamples = defaultMinSamples
	}
	return q
}

// CarrierKey names a carrier of a plan where members are named by their keys: in a View, and
// where nodes tell each other of calls. No member is named like that.
func CarrierKey(plan, carrier string) string { return "@" + plan + "/" + carrier }

// Bar takes a member out of all plans but those of emergency calls, with a cause,
// while the view is being made.
func (v *View) Bar(m *Member, cause string) {
	if v.Barred == nil {
		v.Barred = make([]string, len(v.States))
	}
	v.Barred[m.Index] = cause
}

// ForEmergency returns the view as an emergency call sees it: how other calls did
// keeps it from nobody (DEC-17).
func (v *View) ForEmergency() *View {
	if v == nil || v.Barred == nil && v.BarredCarriers == nil {
		return v
	}
	open := *v
	open.Barred, open.BarredCarriers = nil, nil
	return &open
}
