package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

var (
	descMemberSince    = desc("trunk_member_since_timestamp_seconds", "Since when the member is in its state, as Unix time.", "trunk_group", "site", "member")
	descMemberCalls    = desc("trunk_member_calls", "Calls of this node that are with the member, ringing ones included.", "trunk_group", "site", "member")
	descMemberCapacity = desc("trunk_member_capacity", "Calls that the cluster may have with the member at once.", "trunk_group", "site", "member")

	descStarted   = desc("start_time_seconds", "When the node started, as Unix time.")
	descAlarm     = desc("alarm_active", "1 for each alarm of this node.", "alarm")
	descPeerSince = desc("interconnect_peer_since_timestamp_seconds", "Since when the peer node is up, or away, as Unix time.", "peer", "site")
	descOffset    = desc("clock_offset_seconds", "How far the clock of the peer node is ahead of this node's.", "peer", "site")
	descQuorum    = desc("raft_has_quorum", "1 while more than half of the voters answer, as this node knows.")
	descStale     = desc("raft_stale_seconds", "For how long there has been no quorum; 0 while there is one.")
	descSum       = desc("config_fingerprint", "A number made from the text of the document in force: nodes that have one revision and two of these have two texts.")
)

// carried shows since when a member is as it is, and what it carries.
func (p page) carried(s *verdict.Status, calls func(*trunkgroup.Member) (int, int)) {
	m := s.Member
	labels := []string{m.Group.Name, m.Site, m.ID}
	p.instant(descMemberSince, s.Since, labels...)
	if calls == nil {
		return
	}
	now, capacity := calls(m)
	p.gauge(descMemberCalls, float64(now), labels...)
	if capacity > 0 {
		p.gauge(descMemberCapacity, float64(capacity), labels...)
	}
}

func newApplies(r prometheus.Registerer) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: namespace, Name: "config_apply_seconds", Help: "From when the node has a document until calls go by it.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	})
	r.MustRegister(h)
	return h
}

// ConfigApplied takes how long a document took from when the node had it until calls went by it.
func (m *Metrics) ConfigApplied(d time.Duration) { m.applies.Observe(d.Seconds()) }
