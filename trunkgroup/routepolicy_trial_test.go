package trunkgroup

import (
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

// S-014, S-045: a trial does what calls do.
func TestS014_S045_Trial(t *testing.T) {
	p := policed(t, PolicySpec{
		Keep: "route.rate <= 0.02", OrderBy: "route.rate", CDRFields: map[string]string{"n": "len(attempts)", "x": "attempts[3].status"},
		OnFailure: []FailureRuleSpec{{When: "failure.dialed == 1", Ask: true}},
	})
	attempts := []policy.Attempt{{CarrierID: "c", Status: 503, Dialed: true}}
	trial := p.Try(policy.Call{}, threeRoutes(), &policy.Failure{Code: 500, Dialed: 1}, attempts)
	if r := trial.Routes; len(r) != 3 || r[0].Place != 2 || r[1].Kept || r[1].Key != nil || r[2].Place != 1 || *r[2].Key != 0.005 {
		t.Errorf("routes: %+v", r)
	}
	if trial.Answer != "c" || len(trial.Fields) != 1 || trial.Fields[0] != (FieldTrial{"n", "1"}) {
		t.Errorf("fields: %q %+v", trial.Answer, trial.Fields)
	}
	if f := trial.Failed; f == nil || f.Rule != 1 || f.Does != "the decision server is asked again" {
		t.Errorf("failure: %+v", f)
	}
	if len(trial.Faults) != 1 || !strings.HasPrefix(trial.Faults[0], "cdr_fields.x ") {
		t.Errorf("faults: %q", trial.Faults)
	}
	if trial = p.Try(policy.Call{}, &RouteSet{}, nil, nil); trial.Failed != nil || trial.Answer != "" {
		t.Errorf("of nothing: %+v", trial)
	}
}
