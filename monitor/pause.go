package monitor

import (
	"fmt"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// PauseProbes stops the probes of this node's site, at all of its nodes, or lets them go on (K-27 ping_active). Verdicts stand still meanwhile.
func (m *Monitor) PauseProbes(site string, pause bool, author, reason string) (verdict.Knob, error) {
	return m.turn(func(now time.Time) (verdict.Knob, error) {
		if m.table == nil || !slices.Contains(m.table.Sites(), site) {
			return verdict.Knob{}, fmt.Errorf("%q: %w", site, ErrNoSite)
		}
		if site != m.cfg.Site {
			return verdict.Knob{}, fmt.Errorf("site %s %w", site, ErrOtherSite)
		}
		state := trunkgroup.AdminUp
		if pause {
			state = trunkgroup.AdminDisabled
		}
		return m.knobs.Set(now, verdict.PauseOf(site), state, author, reason, m.cfg.Node, m.cfg.KnobLife), nil
	})
}

// resumePause goes on with a pause that was in force when the node ended.
func (m *Monitor) resumePause(now time.Time) {
	if _, paused := m.knobs.Of(now, verdict.PauseOf(m.cfg.Site)); paused {
		m.prober.Pause(true)
	}
}
