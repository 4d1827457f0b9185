package monitor

import (
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// freshWord is how old an operator's word may be to be news: a node that starts hears
// words of hours ago.
const freshWord = time.Minute

// lift tells that an operator has just now taken a member up again. The lock is held.
func (m *Monitor) lift(now time.Time, knob *verdict.Knob) {
	member, _, weight := verdict.Subject(knob.Member)
	if m.cfg.OnUp != nil && member != "" && !weight && knob.State == trunkgroup.AdminUp && now.Sub(knob.Set) < freshWord {
		m.cfg.OnUp(member)
	}
}

// Rejudge says that the bars of members have changed: a new board is built soon.
func (m *Monitor) Rejudge() { m.poke() }
