package trunkgroup

import "time"

// Monitoring says how the members of a group are probed with OPTIONS, with the
// profile's values filled in. When it is not Enabled every member is active
// (P-08).
type Monitoring struct {
	Enabled      bool
	Profile      string
	Interval     time.Duration // from probe to probe of a member that gets calls
	DownInterval time.Duration // from probe to probe of a member that gets none
	Timeout      time.Duration // wait for one reply; SIP timer F does not rule it
	Repeats      int           // further probes at once, each a new transaction, before a cycle has failed
	DownAfter    int           // failed cycles in a row to be down
	UpAfter      int           // good replies in a row to be active again
	// EvidenceAfter is how many calls in a row must fail without any response
	// before a probe is asked for (DEC-11).
	EvidenceAfter int
	Good          CauseSet // when not empty: only these replies are good
	Bad           CauseSet // when Good is empty: all replies but these are good
	// AnyRetryAfter: a Retry-After in any reply means a pause (siphon, G-03).
	// Otherwise only in a reply that is not good (RFC 3261 section 21.5.4).
	AnyRetryAfter     bool
	RetryAfterMax     time.Duration // the most that a probe's Retry-After counts
	CallRetryAfterMax time.Duration // the most that a call's Retry-After counts (DEC-11)
}

// GoodReply reports whether a final reply to a probe counts as alive.
func (m *Monitoring) GoodReply(code int) bool {
	if !m.Good.Empty() {
		return m.Good.Has(code)
	}
	return !m.Bad.Has(code)
}

// probeRetryAfterMax caps what a probe's Retry-After may ask for (DEC-11).
const probeRetryAfterMax = 300 * time.Second

// ProfileNames lists the monitoring profiles as a document names them.
func ProfileNames() []string { return []string{"peeredge", "kamailio", "siphon", "off"} }

// profile returns a named profile. A DownInterval of zero means the interval.
func profile(name string) (Monitoring, bool) {
	m := Monitoring{
		Enabled: true, Profile: name, EvidenceAfter: 1,
		RetryAfterMax: probeRetryAfterMax,
	}
	switch name {
	case "peeredge": // DEC-16, P-20 to P-22
		m.Interval, m.DownInterval, m.Timeout = 60*time.Second, 5*time.Second, 2*time.Second
		m.Repeats, m.DownAfter, m.UpAfter = 2, 1, 2
		m.Bad = Causes(408, 503)
	case "kamailio": // K-23: thresholds 1 and 1, only 200 is good
		m.Interval, m.Timeout = 30*time.Second, 2*time.Second
		m.DownAfter, m.UpAfter = 1, 1
		m.Good = Causes(200)
	case "siphon": // G-01, G-03, G-04
		m.Interval, m.Timeout = 30*time.Second, 5*time.Second
		m.DownAfter, m.UpAfter = 3, 1
		m.Bad = Causes(503)
		m.AnyRetryAfter = true
	case "", "off":
		return Monitoring{}, true
	default:
		return Monitoring{}, false
	}
	return m, true
}

// compileMonitoring fills a profile in. Where the document shortens the
// interval and says nothing of the timeout, the timeout is at most half of it.
func compileMonitoring(s MonitoringSpec) Monitoring {
	m, _ := profile(s.Profile)
	if !m.Enabled {
		return m
	}
	m.Interval = s.Interval.or(m.Interval)
	if m.DownInterval == 0 {
		m.DownInterval = m.Interval
	}
	m.DownInterval = s.DownInterval.or(min(m.DownInterval, m.Interval))
	m.Timeout = s.Timeout.or(min(m.Timeout, m.Interval/2, m.DownInterval))
	if s.Repeats != nil {
		m.Repeats = *s.Repeats
	}
	m.DownAfter = orInt(s.DownAfter, m.DownAfter)
	m.UpAfter = orInt(s.UpAfter, m.UpAfter)
	m.EvidenceAfter = orInt(s.EvidenceAfter, m.EvidenceAfter)
	if len(s.GoodCodes) > 0 {
		m.Good, m.Bad = Causes(s.GoodCodes...), CauseSet{}
	}
	if len(s.BadCodes) > 0 {
		m.Good, m.Bad = CauseSet{}, Causes(s.BadCodes...)
	}
	return m
}

func orInt(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}
