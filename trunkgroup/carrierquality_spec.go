package trunkgroup

import (
	"cmp"
	"time"
)

// CarrierQualitySpec leaves carriers out of a plan for a while whose calls do badly. Zero
// means not said.
type CarrierQualitySpec struct {
	MinASR        int      `yaml:"min_asr,omitempty" json:"min_asr,omitempty"`                 // percent of attempts that must be answered
	MinNER        int      `yaml:"min_ner,omitempty" json:"min_ner,omitempty"`                 // percent that must reach the callee
	MaxShortCalls int      `yaml:"max_short_calls,omitempty" json:"max_short_calls,omitempty"` // percent of answered calls that may be short
	ShortCall     Duration `yaml:"short_call,omitempty" json:"short_call,omitempty"`           // what is short; default 6s
	Window        Duration `yaml:"window,omitempty" json:"window,omitempty"`                   // how far back calls count; default 5m
	MinSamples    int      `yaml:"min_samples,omitempty" json:"min_samples,omitempty"`         // fewer say nothing; default 50
	Cooldown      Duration `yaml:"cooldown,omitempty" json:"cooldown,omitempty"`               // for how long it is left out; default 5m
}

func compileCarrierQuality(s *CarrierQualitySpec) *Quality {
	if s == nil {
		return nil
	}
	return &Quality{
		MinAnswerRatio: s.MinASR, MinEffectiveness: s.MinNER, MaxShortCalls: s.MaxShortCalls,
		ShortCall: s.ShortCall.or(defaultShortCall), Window: s.Window.or(defaultQualitySpan),
		MinSamples: cmp.Or(s.MinSamples, defaultMinSamples), Cooldown: s.Cooldown.or(defaultQualitySpan),
	}
}

// carrierQuality checks what a plan demands of the calls of its carriers.
func (v *validator) carrierQuality(path string, plan *RoutePlanSpec) {
	s := plan.CarrierQuality
	if s == nil {
		return
	}
	if plan.Decision == nil && plan.Deck == nil {
		v.faults.add(path, "means nothing in a plan of rows alone", "write quality into the groups of the carriers, or take it out")
	}
	if s.MinASR == 0 && s.MinNER == 0 && s.MaxShortCalls == 0 {
		v.faults.add(path, "demands nothing", "write min_asr, min_ner or max_short_calls, or take it out")
	}
	v.percentages(path, []percentage{{"min_asr", s.MinASR}, {"min_ner", s.MinNER}, {"max_short_calls", s.MaxShortCalls}})
	if s.ShortCall != 0 && s.MaxShortCalls == 0 {
		v.faults.add(path+".short_call", "means nothing without max_short_calls", "write max_short_calls, or take it out")
	}
	v.samples(path, s.MinSamples)
	v.duration(path+".short_call", s.ShortCall, false)
	v.qualitySpans(path, s.Window, s.Cooldown)
	if q := compileCarrierQuality(s); s.ShortCall > 0 && q.ShortCall > q.Window {
		v.faults.addf(path+".short_call", "lower short_call or raise window", "%s is above window, %s", q.ShortCall, q.Window)
	}
}

// percentage is a key that holds one.
type percentage struct {
	key string
	n   int
}

func (v *validator) percentages(path string, list []percentage) {
	for _, p := range list {
		if p.n < 0 || p.n > 99 {
			v.faults.addf(path+"."+p.key, "use 1 to 99", "%d is not a percentage that some calls meet and others do not", p.n)
		}
	}
}

func (v *validator) samples(path string, n int) {
	if n < 0 || n > maxSamples {
		v.faults.addf(path+".min_samples", "use 1 to 1000000; some dozens say something", "%d is out of range", n)
	}
}

func (v *validator) qualitySpans(path string, window, cooldown Duration) {
	for _, d := range [...]struct {
		key string
		d   Duration
	}{{"window", window}, {"cooldown", cooldown}} {
		if v.duration(path+"."+d.key, d.d, false) && d.d != 0 && (time.Duration(d.d) < minQualitySpan || time.Duration(d.d) > maxQualitySpan) {
			v.faults.addf(path+"."+d.key, "use 10s to 24h", "%s is out of range", d.d)
		}
	}
}
