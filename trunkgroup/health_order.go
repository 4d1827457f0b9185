package trunkgroup

import "time"

// order carries out what an operator says once and what the target then leaves by
// itself: AdminInactive is as if probes had failed, AdminTrying as if one had, with
// none counted. Other words are taken back. Of a target that is not monitored it
// only does that: no probe would ever end it.
func (h *Health) order(a AdminState, now time.Time) {
	was := h.State()
	h.admin = AdminUp
	if h.m.Enabled {
		h.restart(now)
		h.state = Trying
		if a == AdminInactive {
			h.state, h.next = Down, now.Add(h.m.DownInterval)
		}
	}
	h.reason = "set by operator"
	if h.State() != was {
		h.changed(now)
	}
}
