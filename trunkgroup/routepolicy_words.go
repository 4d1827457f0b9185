package trunkgroup

import (
	"fmt"
	"strconv"
	"strings"
)

// Words say what the rules of a plan made of the routes that were decided on: which rule
// took which out, and what the others were ordered by.
func (o *Policing) Words(p *RoutePolicy, decided *RouteSet) (lines []string) {
	for _, at := range o.Gone {
		lines = append(lines, fmt.Sprintf("%s is left out: keep is false, %s", routeName(decided, at), p.Keep))
	}
	if len(o.Keys) > 0 {
		parts := make([]string, len(o.Order))
		for i, at := range o.Order {
			parts[i] = fmt.Sprintf("%s (%s)", routeName(decided, at), strconv.FormatFloat(o.Keys[i], 'g', -1, 64))
		}
		lines = append(lines, fmt.Sprintf("order_by %s: %s", p.Order, strings.Join(parts, ", ")))
	}
	return append(lines, FaultWords(o.Faults)...)
}

// FaultWords say which rules could not be evaluated.
func FaultWords(faults []RuleFault) (lines []string) {
	for _, f := range faults {
		lines = append(lines, fmt.Sprintf("%s cannot be evaluated, and is passed over: %v", f.Rule, f.Err))
	}
	return lines
}

func routeName(set *RouteSet, at int) string {
	return fmt.Sprintf("route %d, %s", at+1, set.Routes[at].CarrierID)
}

// Words say what a rule does with a call.
func (r *FailureRule) Words() string {
	switch {
	case r.Ask:
		return "the decision server is asked again"
	case r.Routes != nil:
		return "tries " + strings.Join(r.Groups(), ", ")
	case r.Reject.Reason == "":
		return fmt.Sprintf("the caller gets %d", r.Reject.Code)
	}
	return fmt.Sprintf("the caller gets %d %s", r.Reject.Code, r.Reject.Reason)
}

// Groups are the groups that the rule has tried, in order.
func (r *FailureRule) Groups() (names []string) {
	if r.Routes == nil {
		return nil
	}
	for i := range r.Routes.Routes {
		names = append(names, r.Routes.Routes[i].GatewayGroup)
	}
	return names
}
