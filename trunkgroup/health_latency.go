package trunkgroup

import "time"

// Latency returns how long the target takes to answer probes (K-29).
func (h *Health) Latency() RoundTrips { return h.latency }

// InheritLatency takes over what another observer measured, as Inherit does its
// state.
func (h *Health) InheritLatency(l RoundTrips) {
	if h.lastAt.IsZero() {
		h.latency = l
	}
}

// Outages of the last hour are counted in slots, so that a target that comes and
// goes for years needs no more room than one that stays.
const (
	outageSlots = 12
	outageSlot  = time.Hour / outageSlots
)

// outages counts how often a target stopped getting calls, by five minutes.
type outages struct {
	slot  int64 // the newest, in slots since 1970
	count [outageSlots]uint16
}

// roll empties the slots whose time has come again.
func (o *outages) roll(now time.Time) {
	slot := now.UnixNano() / int64(outageSlot)
	if slot-o.slot >= outageSlots || slot < o.slot {
		*o = outages{slot: slot}
		return
	}
	for o.slot < slot {
		o.slot++
		o.count[o.slot%outageSlots] = 0
	}
}

func (o *outages) note(now time.Time) {
	o.roll(now)
	if n := &o.count[o.slot%outageSlots]; *n < 1<<16-1 {
		*n++
	}
}

// Flaps returns how often in the last hour the target stopped getting calls by what
// probes and calls said, to five minutes.
func (h *Health) Flaps(now time.Time) (n int) {
	o := h.outages
	o.roll(now)
	for _, c := range o.count {
		n += int(c)
	}
	return n
}
