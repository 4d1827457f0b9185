package simulation

import "time"

// epoch is when every simulation begins, by a clock that is right.
const epoch = 1_767_225_600 // 2026-01-01T00:00:00Z

// clock is a node's idea of time: it is off by some seconds and too fast or too
// slow by some thousandths. True time is a Duration since the epoch.
type clock struct {
	offset time.Duration
	drift  int64 // millionths
}

// local is what the clock shows at a true time.
func (c clock) local(t time.Duration) time.Time {
	d := int64(t)
	return time.Unix(epoch, 0).UTC().Add(c.offset + time.Duration(d+d/1e6*c.drift))
}

// global is the earliest true time at which the clock shows at.
func (c clock) global(at time.Time) time.Duration {
	d := int64(at.Sub(time.Unix(epoch, 0)) - c.offset)
	t := d - d/(1e6+c.drift)*c.drift
	for c.local(time.Duration(t)).Before(at) {
		t += 1e3
	}
	return time.Duration(t)
}
