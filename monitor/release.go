package monitor

import (
	"github.com/tandem-sbc/tandem/monitor/prober"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// release takes an operator's AdminInactive back when the member has become good since: this node probes it, so it is the one to know. The
// lock is held.
func (m *Monitor) release(u prober.Update) {
	member := u.Target.Member.Key
	knob, ok := m.knobs.Of(u.At, member)
	if !ok || knob.State != trunkgroup.AdminInactive || !u.Health.Since().After(knob.Set) {
		return
	}
	knob = m.knobs.Set(u.At, member, trunkgroup.AdminUp, knob.Author, "answers probes again", m.cfg.Node, m.cfg.KnobLife)
	m.cfg.Logger.Info("an operator's word has done its work", "about", member, "said", trunkgroup.AdminInactive.String(), "reason", u.Health.Reason())
	m.cfg.OnKnob(knob, "answers probes again")
	m.unsaved = true
	m.cfg.Publish(KnobPrefix+member, knob.Append(nil, u.At))
	m.poke()
}
