package verdict

import (
	"cmp"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// inactive applies an operator's AdminInactive: the member is down until the node that probes it has heard good replies and takes the word
// back. Is its site drained, that is the word to show: then rest is true, and the word about the site.
func (s *Status) inactive(knob *Knob, drained map[string]Knob) (rest bool) {
	if site, ok := drained[s.Member.Site]; ok {
		*knob = site
		return true
	}
	s.Knob = *knob
	if s.State.Selectable() || s.State == trunkgroup.Cooldown {
		s.State, s.Since = trunkgroup.Down, knob.Set // the probing node has not heard of it yet
	}
	s.Until = knob.Expires
	s.Reason = "by an operator, until it answers probes: " + cmp.Or(knob.Reason, "no reason given")
	return false
}

// planned is the state that calls are planned with. An operator's word holds in panic too (DEC-12), when what is down by probes is tried.
func (s *Status) planned(panicking bool) trunkgroup.State {
	if panicking && s.Knob.State == trunkgroup.AdminInactive && s.Knob.Member != "" && !s.State.Administrative() {
		return trunkgroup.Draining
	}
	return s.State
}
