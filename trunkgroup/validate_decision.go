package trunkgroup

import (
	"net/url"
	"strings"
	"time"
)

// Bounds of a decision section.
const (
	minDecisionTimeout = 50 * time.Millisecond
	maxDecisionTimeout = 30 * time.Second
	maxDecisionTTL     = 24 * time.Hour
	maxDecisionPending = 100_000
	maxBreakAfter      = 10_000
	maxBreakFor        = time.Hour
	maxDecisionURL     = 2048
	maxAuthHeader      = 4096
	maxRing            = time.Hour
	maxMaxMembers      = 100
)

// decided checks what a plan says of those who decide, and of how their routes are
// tried.
func (v *validator) decided(path string, plan *RoutePlanSpec) {
	if plan.Decision != nil && plan.Deck != nil {
		v.faults.add(path+".deck", "stands beside decision, and only one can decide", "take one of them out")
	}
	if plan.Decision != nil || plan.Deck != nil {
		who := "deck"
		if plan.Decision != nil {
			who = "decision"
		}
		for i := range plan.Routes {
			if plan.Routes[i].Prefix == "*" {
				v.faults.addf(index(path+".routes", i)+".prefix", "take the row out, or "+who,
					`"*" covers all numbers, and rows come first: %s would never be asked`, who)
			}
		}
	}
	v.codes(path+".reroute_causes", plan.RerouteCauses, false)
	if v.duration(path+".ring", plan.Ring, true) && time.Duration(plan.Ring) > maxRing {
		v.faults.addf(path+".ring", "use at most 1h, or off", "%s is out of range", plan.Ring)
	}
	v.count(path+".max_members", plan.MaxMembers, maxMaxMembers)
	if plan.Decision != nil {
		v.decision(path+".decision", plan.Decision)
	}
}

func (v *validator) decision(path string, s *DecisionSpec) {
	v.decisionURL(path+".url", s.URL)
	if len(s.AuthHeader) > maxAuthHeader {
		v.faults.addf(path+".auth_header", "use at most 4096 octets", "has %d octets", len(s.AuthHeader))
	} else if _, err := ExpandEnv(s.AuthHeader, knownEnv); err != nil {
		v.faults.add(path+".auth_header", err.Error(), `write it like: "Bearer ${LCR_TOKEN}"`)
	} else if strings.ContainsFunc(s.AuthHeader, isControl) {
		v.faults.add(path+".auth_header", "holds a line end or another control character", "write one line")
	}
	if v.duration(path+".timeout", s.Timeout, false) && s.Timeout != 0 &&
		(time.Duration(s.Timeout) < minDecisionTimeout || time.Duration(s.Timeout) > maxDecisionTimeout) {
		v.faults.addf(path+".timeout", "use 50ms to 30s: a caller waits for it", "%s is out of range", s.Timeout)
	}
	if v.duration(path+".cache_ttl", s.CacheTTL, true) && s.CacheTTL > 0 &&
		(time.Duration(s.CacheTTL) < time.Second || time.Duration(s.CacheTTL) > maxDecisionTTL) {
		v.faults.addf(path+".cache_ttl", "use 1s to 24h, or off", "%s is out of range", s.CacheTTL)
	}
	if v.duration(path+".break_for", s.BreakFor, false) && time.Duration(s.BreakFor) > maxBreakFor {
		v.faults.addf(path+".break_for", "use at most 1h", "%s is out of range", s.BreakFor)
	}
	v.count(path+".max_pending", s.MaxPending, maxDecisionPending)
	v.count(path+".break_after", s.BreakAfter, maxBreakAfter)
	if s.FallbackGroup != "" {
		v.provider(path+".fallback_group", s.FallbackGroup)
	}
}

// decisionURL checks an address as far as variables let it be read: where one of them
// has no default, only a node knows.
func (v *validator) decisionURL(path, text string) {
	const example = "write it like: http://127.0.0.1:8080/route"
	switch {
	case text == "":
		v.faults.add(path, "is missing", example)
		return
	case len(text) > maxDecisionURL:
		v.faults.addf(path, "use at most 2048 octets", "has %d octets", len(text))
		return
	}
	open := false // a variable without a default
	expanded, err := ExpandEnv(text, func(name string) (string, bool) {
		open = open || !strings.Contains(text, "${"+name+":-")
		return knownEnv(name)
	})
	switch {
	case err != nil:
		v.faults.add(path, err.Error(), "write a variable as ${NAME} or ${NAME:-default}")
	case !open:
		if why := URLFault(expanded); why != "" {
			v.faults.add(path, why, example)
		}
	}
}

// URLFault says why an address is none that a node asks over HTTP; empty for a good
// one. It does not repeat the address.
func URLFault(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "is not a URL"
	case u.Scheme != "http" && u.Scheme != "https":
		return "is not a URL of http or https"
	case u.Hostname() == "":
		return "names no host"
	case u.User != nil:
		return "holds a user or a password, which would stand in logs: auth_header is for them"
	case u.Fragment != "":
		return "has a fragment, which is never sent"
	}
	return ""
}

// knownEnv stands in for the environment of a node when a document is checked: each
// variable is there, and empty.
func knownEnv(string) (string, bool) { return "", true }

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// count checks a number that is not given or from 1 to most.
func (v *validator) count(path string, n, most int) {
	if n < 0 || n > most {
		v.faults.addf(path, "use a number in this range", "%d is not 1 to %d", n, most)
	}
}

// provider checks the name of a group that is dialled.
func (v *validator) provider(path, name string) bool {
	role, ok := v.providers[name]
	switch {
	case !ok:
		v.faults.addf(path, v.look.suggest(name, v.providerNames, "name a group of role pstn-provider"), "there is no trunk group %q", name)
	case role != PSTNProvider:
		v.faults.addf(path, "name a group of role pstn-provider", "trunk group %q has role %q", name, role)
	default:
		return true
	}
	return false
}
