package trunkgroup

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

// Bounds of a policy section.
const (
	maxFailureRules   = 32 // a call remembers which of them it has used, in a word of bits
	maxPolicyFields   = 32
	maxWebhooks       = 8
	minWebhookTimeout = 100 * time.Millisecond
	maxWebhookTimeout = 30 * time.Second
	maxPhrase         = 64
)

// seeNames is where the names stand that rules may use.
const seeNames = "docs/hooks.md lists what a rule may name"

// policy checks the rules of a plan.
func (v *validator) policy(path string, plan *RoutePlanSpec) {
	s := plan.Policy
	if s == nil {
		return
	}
	if plan.Decision == nil && plan.Deck == nil {
		v.faults.add(path, "means nothing in a plan whose rows decide", "add decision or deck, or take it out")
	}
	if s.Keep != "" {
		_, err := policy.CompileFilter(s.Keep)
		v.expression(path+".keep", err)
	}
	if s.OrderBy != "" {
		_, err := policy.CompileOrder(s.OrderBy)
		v.expression(path+".order_by", err)
	}
	v.policyFields(path+".cdr_fields", s.CDRFields)
	if len(s.OnFailure) > maxFailureRules {
		v.faults.addf(path+".on_failure", "use fewer", "has %d rules, more than %d", len(s.OnFailure), maxFailureRules)
	}
	for i := range s.OnFailure {
		v.failureRule(index(path+".on_failure", i), &s.OnFailure[i], plan)
	}
	if len(s.Webhooks) > maxWebhooks {
		v.faults.addf(path+".webhooks", "use fewer", "has %d entries, more than %d", len(s.Webhooks), maxWebhooks)
	}
	for i := range s.Webhooks {
		v.webhook(index(path+".webhooks", i), &s.Webhooks[i])
	}
}

// expression reports what is wrong with an expression, and in which of its columns.
func (v *validator) expression(path string, err error) {
	if err != nil {
		v.faults.add(path, err.Error(), seeNames)
	}
}

func (v *validator) policyFields(path string, fields map[string]string) {
	if len(fields) > maxPolicyFields {
		v.faults.addf(path, "use fewer", "has %d fields, more than %d", len(fields), maxPolicyFields)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v.name(path+"."+name, name)
		_, err := policy.CompileField(fields[name])
		v.expression(path+"."+name, err)
	}
}

func (v *validator) failureRule(path string, r *FailureRuleSpec, plan *RoutePlanSpec) {
	if r.When != "" {
		_, err := policy.CompileCondition(r.When)
		v.expression(path+".when", err)
	}
	said := 0
	for _, is := range [...]bool{len(r.Route) > 0, r.Ask, r.Reject != nil} {
		if is {
			said++
		}
	}
	if said != 1 {
		v.faults.addf(path, "write one of route, ask and reject", "says %d things to do", said)
	}
	seen := make(map[string]int)
	for i, name := range r.Route {
		if at := index(path+".route", i); v.provider(at, name) {
			v.unique(seen, name, i, at, path+".route")
		}
	}
	if r.Ask && plan.Decision == nil {
		v.faults.add(path+".ask", "there is no decision server to ask again", "write route or reject, or add decision to the plan")
	}
	if r.Reject == nil {
		return
	}
	if code := r.Reject.Code; code < 400 || code > 699 || code == 401 || code == 407 {
		v.faults.addf(path+".reject.code", "use 400 to 699, but not 401 and 407, which ask the caller for a password", "%d is no final response that a rule can give", code)
	}
	if reason := r.Reject.Reason; len(reason) > maxPhrase || hasControl(reason) || strings.TrimSpace(reason) != reason {
		v.faults.addf(path+".reject.reason", "write one line of at most 64 octets", "%.80q is no phrase", reason)
	}
}

func (v *validator) webhook(path string, s *WebhookSpec) {
	v.decisionURL(path+".url", s.URL)
	v.secretText(path+".auth_header", s.AuthHeader, `write it like: "Bearer ${HOOK_TOKEN}"`)
	v.secretText(path+".secret", s.Secret, "write it like: ${HOOK_SECRET}")
	for i, kind := range s.Events {
		at := index(path+".events", i)
		switch {
		case !slices.Contains(policy.EventKinds(), kind):
			v.faults.addf(at, Suggest(string(kind), eventNames()), "there is no event %q", kind)
		case slices.Index(s.Events, kind) < i:
			v.faults.addf(at, "take it out", "%s stands twice", kind)
		}
	}
	if v.duration(path+".timeout", s.Timeout, false) && s.Timeout != 0 &&
		(time.Duration(s.Timeout) < minWebhookTimeout || time.Duration(s.Timeout) > maxWebhookTimeout) {
		v.faults.addf(path+".timeout", "use 100ms to 30s", "%s is out of range", s.Timeout)
	}
}

// errBare is a secret that is written out.
var errBare = errors.New("names no variable: documents are kept, compared and shown")

// secretText checks a text that is secret: it must come from the environment.
func (v *validator) secretText(path, text, remedy string) {
	_, err := ExpandEnv(text, knownEnv)
	switch {
	case text == "":
		return
	case len(text) > maxAuthHeader:
		v.faults.addf(path, "use at most 4096 octets", "has %d octets", len(text))
		return
	case err == nil && !strings.Contains(text, "${"):
		err = errBare
	case err == nil && hasControl(text):
		err = errors.New("holds a line end or another control character")
	}
	if err != nil {
		v.faults.add(path, err.Error(), remedy)
	}
}

func eventNames() []string {
	kinds := policy.EventKinds()
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = string(kinds[i])
	}
	return names
}
