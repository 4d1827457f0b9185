package monitor

import (
	"fmt"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// maxBulk bounds the members of one order: each of them is a record that all nodes keep. A whole site is drained by one.
const maxBulk = 2000

// SetStates takes an operator's word about all members of this node's site, of one group or with an empty name of all groups, as SetState takes
// one (K-27 all). Those that cannot take the word are left out; it is an error when that leaves none.
func (m *Monitor) SetStates(group string, state trunkgroup.AdminState, author, reason string) ([]verdict.Knob, error) {
	return m.turnAll(func(now time.Time) ([]verdict.Knob, error) {
		members, err := m.ownMembers(group, state)
		if err != nil {
			return nil, err
		}
		list := make([]verdict.Knob, 0, len(members))
		for _, who := range members {
			list = append(list, m.knobs.Set(now, who.Key, state, author, reason, m.cfg.Node, m.cfg.KnobLife))
		}
		return list, nil
	})
}

// ownMembers lists the members of this node's site that an order is about. The lock is held.
func (m *Monitor) ownMembers(group string, state trunkgroup.AdminState) (list []*trunkgroup.Member, err error) {
	if m.table == nil || group != "" && m.table.Group(group) == nil {
		return nil, fmt.Errorf("group %q: %w", group, ErrNoMember)
	}
	for _, who := range m.table.Members() {
		if group != "" && who.Group.Name != group || who.Site != m.cfg.Site && who.Registration == nil {
			continue
		}
		if refused := takes(who, state); refused != nil {
			err = refused
			continue
		}
		list = append(list, who)
	}
	switch {
	case len(list) > maxBulk:
		return nil, fmt.Errorf("%w: %d, and at most %d", ErrTooMany, len(list), maxBulk)
	case len(list) > 0:
		return list, nil
	case err != nil:
		return nil, err
	}
	return nil, fmt.Errorf("group %s has none in site %s: %w", group, m.cfg.Site, ErrNoMember)
}

// takes says why a member cannot be put into a state.
func takes(who *trunkgroup.Member, state trunkgroup.AdminState) error {
	probes := state == trunkgroup.AdminInactive || state == trunkgroup.AdminTrying
	if probes && (!who.Group.Monitoring.Enabled || who.Registration != nil || who.Direction == trunkgroup.DirectionIn) {
		return fmt.Errorf("member %s %w, so no probe would end the state %s", who.Key, ErrNotProbed, state)
	}
	return nil
}
