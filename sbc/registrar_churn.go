package sbc

import "time"

const (
	// churnBurst is how many new bindings an AOR may have at once, beside as many
	// as it may have contacts; churnEvery is how often it earns one more, for each
	// contact that it may have.
	churnBurst = 30
	churnEvery = time.Minute
	// churnSweep is the number of AORs at which those that have been quiet are
	// forgotten.
	churnSweep = 4096
)

// churn bounds how often the bindings of an AOR are new ones. What is removed is
// remembered for hours at every node (DEC-15): a far end that comes under another
// name each second would fill the memory that all share.
type churn struct {
	used  map[string]churnUse
	sweep int
}

// churnUse is a leaky bucket: how full it was, and when.
type churnUse struct {
	level float64
	at    time.Time
}

func newChurn() *churn { return &churn{used: make(map[string]churnUse), sweep: churnSweep} }

// take counts n new bindings of an AOR that may have so many contacts; false when
// these are too many.
func (c *churn) take(now time.Time, aor string, n, contacts int) bool {
	if n == 0 {
		return true
	}
	u := c.used[aor]
	u.level = max(0, u.level-leaked(now.Sub(u.at), contacts)) + float64(n)
	if u.level > float64(churnBurst+contacts) {
		return false
	}
	u.at = now
	c.used[aor] = u
	if len(c.used) > c.sweep {
		c.forget(now)
	}
	return true
}

func leaked(d time.Duration, contacts int) float64 {
	return d.Seconds() / churnEvery.Seconds() * float64(max(1, contacts))
}

// forget drops the AORs whose buckets are empty by now, whatever they may have.
func (c *churn) forget(now time.Time) {
	for aor, u := range c.used {
		if u.level <= leaked(now.Sub(u.at), 1) {
			delete(c.used, aor)
		}
	}
	c.sweep = max(churnSweep, 2*len(c.used))
}
