package b2bua

import (
	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// policed applies the rules of the call's plan to what was decided: which routes stay, and
// in which order (S-014).
func (c *Call) policed(set *trunkgroup.RouteSet) *trunkgroup.RouteSet { return set }

// ruling is what the plan's rules say about a call whose routes have all failed (S-045).
// The zero value leaves it at that.
type ruling struct {
	routes *trunkgroup.RouteSet // try these
	code   int                  // or give the caller this in place of the failure
	reason string
}

// ruled asks the rules.
func (c *Call) ruled(code int, cause string) ruling { return ruling{} }

// tellAttempt tells of an attempt that failed (S-046), once for each.
func (c *Call) tellAttempt(a *hunt.Attempt) {}

// tellAnswer tells that a route answered.
func (c *Call) tellAnswer() {}
