package geo

import "time"

// SiteState is what this node thinks of another site.
type SiteState uint8

const (
	// SiteDown: no node of the site is heard, or it has not been good for long enough.
	SiteDown SiteState = iota
	// SiteUp: some node of the site is heard and has been for a while.
	SiteUp
)

// String returns the state in lower case.
func (s SiteState) String() string {
	if s == SiteUp {
		return "up"
	}
	return "down"
}

// SiteHealthConfig says how a site comes back. Zero fields take the defaults.
type SiteHealthConfig struct {
	// Healthy is how long every sample must have been good before the site is up; default 15 s.
	Healthy time.Duration
	// Samples is how many samples there must be in that time: too few are not healthy; default 10.
	Samples int
	// MaxRTT is the longest round trip of a good sample, and half of it the longest mean; default 1 s.
	MaxRTT time.Duration
	// Longest bounds what flapping makes of Healthy; default 5 min.
	Longest time.Duration
}

func (c SiteHealthConfig) withDefaults() SiteHealthConfig {
	if c.Healthy <= 0 {
		c.Healthy = 15 * time.Second
	}
	if c.Samples <= 0 {
		c.Samples = 10
	}
	if c.MaxRTT <= 0 {
		c.MaxRTT = time.Second
	}
	if c.Longest <= 0 {
		c.Longest = 5 * time.Minute
	}
	return c
}

// freeFlaps is how many times a site may go down before each further time doubles the wait.
const freeFlaps = 2

// SiteHealth fails over fast and back slowly: a site is down with the first sample in which none of its
// nodes is heard, and up again when mean and maximum of the round trips have been good for a while. A
// site that flaps has to be good for longer. The state orders sites and shows in metrics; it never
// forbids a hand-off. It belongs to one goroutine.
type SiteHealth struct {
	cfg    SiteHealthConfig
	state  SiteState
	since  time.Time // of the state
	good   time.Time // begin of the unbroken good samples; zero = none
	count  int       // of them
	sum    time.Duration
	flaps  int
	inPast [2]time.Duration // time in each state before since
}

// NewSiteHealth returns a site that is down until it has shown otherwise.
func NewSiteHealth(cfg SiteHealthConfig, now time.Time) *SiteHealth {
	return &SiteHealth{cfg: cfg.withDefaults(), since: now}
}

// Observe takes a sample: how many nodes of the site are heard, and the best round trip among them. It
// reports whether the state changed.
func (h *SiteHealth) Observe(now time.Time, heard int, rtt time.Duration) (changed bool) {
	if heard == 0 {
		h.good, h.count, h.sum = time.Time{}, 0, 0
		if h.state == SiteDown {
			return false
		}
		h.flaps++
		h.enter(now, SiteDown)
		return true
	}
	if rtt > h.cfg.MaxRTT { // reachable, and not good: no reason to go down, none to come up
		h.good, h.count, h.sum = time.Time{}, 0, 0
		return false
	}
	if h.good.IsZero() {
		h.good = now
	}
	h.count++
	h.sum += rtt
	if h.state == SiteUp {
		if now.Sub(h.since) >= h.cfg.Longest {
			h.flaps = 0
		}
		return false
	}
	mean := h.sum / time.Duration(h.count)
	if now.Sub(h.good) < h.Wait() || h.count < h.cfg.Samples || mean > h.cfg.MaxRTT/2 {
		return false
	}
	h.enter(now, SiteUp)
	return true
}

// Wait is how long the site must be good before it is up: Healthy, doubled for every time that it went
// down beyond the first two, up to Longest. Flaps are forgiven after the site was up for Longest.
func (h *SiteHealth) Wait() time.Duration {
	wait := h.cfg.Healthy
	for range h.flaps - freeFlaps {
		if wait *= 2; wait >= h.cfg.Longest {
			return h.cfg.Longest
		}
	}
	return wait
}

// State returns the state and since when it holds.
func (h *SiteHealth) State() (SiteState, time.Time) { return h.state, h.since }

// TimeIn is how long the site has been in a state altogether.
func (h *SiteHealth) TimeIn(s SiteState, now time.Time) time.Duration {
	total := h.inPast[s]
	if s == h.state {
		total += now.Sub(h.since)
	}
	return total
}

func (h *SiteHealth) enter(now time.Time, s SiteState) {
	h.inPast[h.state] += now.Sub(h.since)
	h.state, h.since = s, now
}
