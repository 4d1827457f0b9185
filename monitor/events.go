package monitor

import (
	"github.com/tandem-sbc/tandem/monitor/prober"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The events of a member's address (K-26), as the messages of their log lines. The node that probes it writes one line each.
const (
	eventDown  = "member is down"
	eventUp    = "member is up"
	eventState = "member changed state"
)

// report writes one line for each change of state: an event when the target begins or ceases to get calls by what probes and calls say. The
// lock is held.
func (m *Monitor) report(own *ownTarget, u prober.Update) {
	if !u.Changed {
		return
	}
	state := u.Health.State()
	probe, _ := u.Health.LastProbe()
	log := m.cfg.Logger.With("group", u.Target.Member.Group.Name, "member", u.Target.Member.ID, "site", u.Target.Member.Site,
		"address", u.Target.Addr.String(), "state", state.String(), "reason", u.Health.Reason(), "flaps", u.Health.Flaps(u.At),
		"last_probe", probe.String(), "rtt_ms", probe.RTT.Milliseconds())
	switch {
	case own.gone && state.Selectable() && !u.Discarded:
		own.gone = false
		log.Info(eventUp)
	case !own.gone && !state.Selectable() && !state.Administrative() && state != trunkgroup.Probation:
		own.gone = true
		log.Info(eventDown)
	default:
		log.Info(eventState)
	}
}
