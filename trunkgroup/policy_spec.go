package trunkgroup

import "github.com/tandem-sbc/tandem/trunkgroup/policy"

// PolicySpec holds the rules of a plan that asks others: it filters and orders the routes
// that were decided on (S-014), adds to the record of a call that was answered (S-015),
// says what happens when all routes have failed (S-045), and names who is told (S-046).
// What its expressions may name is in package policy.
type PolicySpec struct {
	Keep      string            `yaml:"keep,omitempty" json:"keep,omitempty"`             // which routes stay: true or false, of call and route
	OrderBy   string            `yaml:"order_by,omitempty" json:"order_by,omitempty"`     // a number, of call and route: the lowest is tried first
	CDRFields map[string]string `yaml:"cdr_fields,omitempty" json:"cdr_fields,omitempty"` // fields of the record by name, of call, route and attempts
	OnFailure []FailureRuleSpec `yaml:"on_failure,omitempty" json:"on_failure,omitempty"` // the first whose when holds is carried out, each at most once in a call
	Webhooks  []WebhookSpec     `yaml:"webhooks,omitempty" json:"webhooks,omitempty"`
}

// FailureRuleSpec is one rule for calls whose routes have all failed. It says one of
// route, ask and reject.
type FailureRuleSpec struct {
	When   string      `yaml:"when,omitempty" json:"when,omitempty"`     // true or false, of call, failure and attempts; none: always
	Route  []string    `yaml:"route,omitempty" json:"route,omitempty"`   // groups of role pstn-provider that are tried, in order
	Ask    bool        `yaml:"ask,omitempty" json:"ask,omitempty"`       // ask the decision server again, and tell it of the failure
	Reject *RejectSpec `yaml:"reject,omitempty" json:"reject,omitempty"` // what the caller gets in place of the failure
}

// RejectSpec is a final response.
type RejectSpec struct {
	Code   int    `yaml:"code" json:"code"`
	Reason string `yaml:"reason,omitempty" json:"reason,omitempty"` // default: the code's own phrase
}

// WebhookSpec is somebody who is told over HTTP what becomes of calls. No call waits for
// him.
type WebhookSpec struct {
	URL string `yaml:"url" json:"url"`
	// AuthHeader is the value of Authorization, Secret the key of the signature. Both are
	// variables of each node's environment, like ${HOOK_SECRET}: a document is no place
	// for a secret.
	AuthHeader string             `yaml:"auth_header,omitempty" json:"auth_header,omitempty"`
	Secret     string             `yaml:"secret,omitempty" json:"secret,omitempty"`
	Events     []policy.EventKind `yaml:"events,omitempty" json:"events,omitempty"`   // on_answer, on_route_failure, on_failure; default all
	Timeout    Duration           `yaml:"timeout,omitempty" json:"timeout,omitempty"` // of one request; default 5s
}
