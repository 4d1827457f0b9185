package trunkgroup

import "github.com/tandem-sbc/tandem/trunkgroup/policy"

// PolicyTrial is what the rules of a plan make of a made-up call.
type PolicyTrial struct {
	Routes []RouteTrial  `json:"routes"`           // as decided
	Fields []FieldTrial  `json:"fields,omitempty"` // of the record, when Answered answers
	Answer string        `json:"answered,omitempty"`
	Failed *FailureTrial `json:"failure,omitempty"`
	Faults []string      `json:"faults,omitempty"` // rules that could not be evaluated
}

// RouteTrial is what became of one route.
type RouteTrial struct {
	Carrier string   `json:"carrier"`
	Kept    bool     `json:"kept"`
	Place   int      `json:"place,omitempty"` // in the order in which they are tried, from 1
	Key     *float64 `json:"order_key,omitempty"`
}

// FieldTrial is one field of the record.
type FieldTrial struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// FailureTrial is what becomes of a call whose routes have all failed.
type FailureTrial struct {
	Code int    `json:"code"`
	Rule int    `json:"rule"` // from 1; 0: none holds
	Does string `json:"does"`
}

// Try evaluates the rules on what was decided, on an answer by the first route that
// remains, and on a failure when there is one. It does what calls do.
func (p *RoutePolicy) Try(call policy.Call, set *RouteSet, failure *policy.Failure, attempts []policy.Attempt) PolicyTrial {
	var m policy.Machine
	out := p.Police(&m, &call, set)
	t := PolicyTrial{Routes: make([]RouteTrial, len(set.Routes)), Faults: FaultWords(out.Faults)}
	for i := range set.Routes {
		t.Routes[i] = RouteTrial{Carrier: set.Routes[i].CarrierID, Kept: true, Place: i + 1}
	}
	for _, at := range out.Gone {
		t.Routes[at].Kept, t.Routes[at].Place = false, 0
	}
	for place, at := range out.Order {
		t.Routes[at].Place = place + 1
		if out.Keys != nil {
			t.Routes[at].Key = &out.Keys[place]
		}
	}
	if len(out.Set.Routes) > 0 && len(p.Fields) > 0 {
		var route policy.Route
		FillRoute(&route, &out.Set.Routes[0], 1)
		fields, faults := p.FieldTexts(&m, &call, &route, attempts)
		t.Answer = route.CarrierID
		for _, f := range fields {
			t.Fields = append(t.Fields, FieldTrial(f))
		}
		t.Faults = append(t.Faults, FaultWords(faults)...)
	}
	if failure != nil {
		at, faults := p.Rule(&m, 0, &call, failure, attempts)
		t.Failed = &FailureTrial{Code: failure.Code, Rule: at + 1, Does: "the caller gets the failure"}
		if at >= 0 {
			t.Failed.Does = p.Failures[at].Words()
		}
		t.Faults = append(t.Faults, FaultWords(faults)...)
	}
	return t
}
