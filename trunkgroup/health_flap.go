package trunkgroup

import "time"

// Bounds on the hold-down of a target that comes and goes.
const (
	// flapIntervals is how many intervals a target must stay up for its history to
	// be forgotten.
	flapIntervals = 10
	// freeFlaps is how many returns in a row cost nothing more than UpAfter.
	freeFlaps = 2
	// mostDoublings bounds the hold-down at 16 times UpAfter.
	mostDoublings = 4
)

// flap follows the comings and goings: a target that goes down within flapIntervals
// of its return flaps.
func (h *Health) flap(next State, now time.Time) {
	switch {
	case next == Active && (h.state == Down || h.state == Probation):
		h.back = now
	case next != Down || !h.state.Selectable():
	case h.back.IsZero() || now.Sub(h.back) >= flapIntervals*max(h.m.Interval, h.m.DownInterval):
		h.flaps = 0
	default:
		h.flaps++
	}
}

// upAfter is how many good probes in a row bring the target back: UpAfter, doubled
// for each flap beyond the second. Calls that go to a target which is about to die
// again are lost time; the others take them meanwhile.
func (h *Health) upAfter() int {
	return h.m.UpAfter << min(max(h.flaps-freeFlaps, 0), mostDoublings)
}
