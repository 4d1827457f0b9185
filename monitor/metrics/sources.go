package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tandem-sbc/tandem/monitor/cdrindex"
	"github.com/tandem-sbc/tandem/monitor/cdrlog"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Sources are where the state of others is read when the page is asked for. Each may be nil.
type Sources struct {
	Node          func() Node
	Board         func() *verdict.Board // may return nil
	Cluster       func() Cluster
	Keys          func() Keys
	CDR           map[string]func() cdrlog.Stats // by the sink's name
	CDRSinks      func() []CDRSink
	CDRIndex      func() cdrindex.Stats
	Limits        func() []Limit
	Registrations func() Registrations
	Accounts      func() []Account
	Fraud         func() []Fraud
	Charging      func() Charging
	Numbers       func() Numbers
	Decks         func() Decks
	Quality       func() []Quality
	Decisions     func() Decisions
	Tallies       func() Tallies
	Hooks         func() Hooks
	Losses        func() Losses
	Soft          func() Soft
	Doors         func() Doors
	Connections   func() Connections
	Sites         func() []Site
	Handovers     func() []Handover
	Transactions  func() Transactions
	Alarms        func() []string // those that are active, by name
	// MemberCalls tells how many calls of this node are with a member, and how many the cluster
	// may have there; 0 for no limit.
	MemberCalls func(*trunkgroup.Member) (calls, capacity int)
}

// Node is the state of this node.
type Node struct {
	Ready    bool
	Draining bool
	Isolated bool // DEC-12
	Started  time.Time
	// EvidenceLost counts what calls saw of members and nobody could take.
	EvidenceLost uint64
}

// Cluster is what this node knows of the cluster.
type Cluster struct {
	Nodes        map[NodeState]int // how many nodes of each site are in each state
	Peers        []Peer
	RaftState    string // follower, candidate, leader, shutdown; empty for none
	HasLeader    bool
	HasQuorum    bool
	Stale        time.Duration // without quorum
	Term         uint64
	Commit       uint64
	Applied      uint64
	LastContact  time.Duration // with the leader
	Epoch        uint64        // of the configuration log; a recovery raises it
	OtherEpochs  uint64        // messages of the consensus that were refused for another epoch
	Version      trunkgroup.Version
	VersionSince time.Time
	Sum          uint64 // made from the text in force; 0 for none
	Canary       string // site where a canary is tried; empty for none
	// UnknownFrames came from nodes of a later version; DroppedFrames found a
	// full queue.
	UnknownFrames, DroppedFrames uint64
}

// NodeState counts nodes of one site in one state, such as ready, draining, lost.
type NodeState struct{ Site, State string }

// Peer is another node on the interconnect.
type Peer struct {
	Name, Site string
	Up         bool
	RTT        time.Duration
	Since      time.Time     // since when it is up, or away
	Offset     time.Duration // of its clock
}

var (
	descReady        = desc("ready", "1 when the node takes calls.")
	descDraining     = desc("draining", "1 while the node drains.")
	descIsolated     = desc("isolated", "1 while the node believes to have lost the network; its verdicts are suspect.")
	descEvidenceLost = desc("evidence_lost_total", "Observations of calls about members that could not be taken.")

	descMembers     = desc("trunk_group_members", "Members by the state in which calls see them.", "trunk_group", "site", "state")
	descMemberUp    = desc("trunk_member_up", "1 when the member gets calls.", "trunk_group", "site", "member")
	descMemberCode  = desc("trunk_member_last_code", "Code of the last reply to a probe; 0 when it had none.", "trunk_group", "site", "member")
	descTransitions = desc("trunk_member_transitions_total", "Changes of state that the observing node has seen.", "trunk_group", "site", "member")
	descDrained     = desc("site_drained", "1 while an operator sends the calls of the site to its peer sites.", "site")
	descPaused      = desc("probing_paused", "1 while an operator has stopped the probes of the site: states of its members stand still.", "site")
	descPanic       = desc("site_panic", "1 while probe verdicts of the site are ignored because nearly all members went down at once.", "site")

	descNodes       = desc("cluster_nodes", "Nodes as this node sees them.", "site", "state")
	descPeerUp      = desc("interconnect_peer_up", "1 when heartbeats of the peer node arrive.", "peer", "site")
	descPeerRTT     = desc("interconnect_rtt_seconds", "Smoothed round trip to the peer node.", "peer", "site")
	descRaftState   = desc("raft_state", "1 for the state that this node's Raft is in.", "state")
	descRaftLeader  = desc("raft_has_leader", "1 when a leader is known. Calls need none, configuration changes do.")
	descUnknown     = desc("interconnect_unknown_frames_total", "Frames of other nodes that this version does not know, and skipped.")
	descFull        = desc("interconnect_dropped_frames_total", "Frames for other nodes that found the queue of their stream full.")
	descRaftTerm    = desc("raft_term", "Raft's current term.")
	descRaftEpoch   = desc("raft_epoch", "Epoch of the configuration log; a recovery from lost quorum raises it.")
	descRaftRefused = desc("raft_refused_epoch_total", "Messages of the consensus that were refused because they were of another epoch.")
	descRaftCommit  = desc("raft_commit_index", "Raft's commit index.")
	descRaftApplied = desc("raft_applied_index", "Raft's applied index.")
	descRaftContact = desc("raft_last_contact_seconds", "Time since the leader was heard.")
	descRevision    = desc("config_revision", "Revision of the table in force; nodes that differ drift.")
	descGeneration  = desc("config_generation", "Generation of the table in force; restore and recovery raise it.")
	descCanary      = desc("config_canary", "1 while a canary is tried in the site.", "site")
	descConfigSince = desc("config_applied_timestamp_seconds", "When the table in force was put in force.")

	descCDRWritten = desc("cdr_written_total", "Call records on disk.", "sink")
	descCDRBytes   = desc("cdr_written_bytes_total", "Bytes of call records on disk.", "sink")
	descCDRFailed  = desc("cdr_failed_total", "Call records lost: refused with a full backlog, or unusable.", "sink", "reason")
	descCDRErrors  = desc("cdr_errors_total", "Failed tries to write call records; the records are kept and tried again.", "sink")
	descCDRBacklog = desc("cdr_backlog_records", "Call records that wait for the disk.", "sink")
	descCDRFailing = desc("cdr_failing", "1 while writing fails.", "sink")
)

// sourceCollector shows what the sources say.
type sourceCollector struct {
	s   Sources
	max int // members that are shown one by one
}

// Describe implements prometheus.Collector. It describes nothing, which makes the collector unchecked: what there is depends on the sources.
func (c *sourceCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *sourceCollector) Collect(ch chan<- prometheus.Metric) {
	p := page{ch}
	if c.s.Node != nil {
		n := c.s.Node()
		p.flag(descReady, n.Ready)
		p.flag(descDraining, n.Draining)
		p.flag(descIsolated, n.Isolated)
		p.counter(descEvidenceLost, n.EvidenceLost)
		p.instant(descStarted, n.Started)
	}
	var sites []Site
	if c.s.Sites != nil {
		sites = c.s.Sites()
	}
	if c.s.Board != nil {
		if b := c.s.Board(); b != nil {
			p.board(b, c.max, c.s.MemberCalls, sites)
		}
	}
	if c.s.Cluster != nil {
		p.cluster(c.s.Cluster())
	}
	p.sites(sites)
	if c.s.Handovers != nil {
		p.handovers(c.s.Handovers())
	}
	if c.s.Transactions != nil {
		p.transactions(c.s.Transactions())
	}
	if c.s.Alarms != nil {
		for _, name := range c.s.Alarms() {
			p.flag(descAlarm, true, name)
		}
	}
	if c.s.Limits != nil {
		p.limits(c.s.Limits())
	}
	if c.s.Registrations != nil {
		p.registrations(c.s.Registrations())
	}
	if c.s.Tallies != nil {
		t := c.s.Tallies()
		p.tallies(&t)
	}
	if c.s.Hooks != nil {
		p.hooks(c.s.Hooks())
	}
	if c.s.Quality != nil {
		p.quality(c.s.Quality())
	}
	if c.s.Decisions != nil {
		d := c.s.Decisions()
		p.decisions(&d)
	}
	if c.s.Accounts != nil {
		p.accounts(c.s.Accounts())
	}
	if c.s.Losses != nil {
		p.losses(c.s.Losses())
	}
	if c.s.Decks != nil {
		d := c.s.Decks()
		p.decks(&d)
	}
	if c.s.Numbers != nil {
		p.numbers(c.s.Numbers())
	}
	if c.s.Charging != nil {
		x := c.s.Charging()
		p.charging(&x)
	}
	if c.s.Fraud != nil {
		p.fraud(c.s.Fraud())
	}
	if c.s.Doors != nil {
		p.doors(c.s.Doors())
	}
	if c.s.Connections != nil {
		p.connections(c.s.Connections())
	}
	if c.s.Soft != nil {
		p.soft(c.s.Soft())
	}
	if c.s.Keys != nil {
		p.keys(c.s.Keys())
	}
	if c.s.CDRSinks != nil {
		p.sinks(c.s.CDRSinks())
	}
	if c.s.CDRIndex != nil {
		p.index(c.s.CDRIndex())
	}
	for sink, read := range c.s.CDR {
		p.cdr(sink, read())
	}
}

// page writes metrics to a scrape.
type page struct{ ch chan<- prometheus.Metric }

func (p page) gauge(d *prometheus.Desc, v float64, labels ...string) {
	p.ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (p page) counter(d *prometheus.Desc, v uint64, labels ...string) {
	p.ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
}

// instant shows when something was, as Unix time; nothing for the zero time.
func (p page) instant(d *prometheus.Desc, t time.Time, labels ...string) {
	if !t.IsZero() {
		p.gauge(d, float64(t.UnixMilli())/1000, labels...)
	}
}

// seconds counts time.
func (p page) seconds(d *prometheus.Desc, v time.Duration, labels ...string) {
	p.ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v.Seconds(), labels...)
}

func (p page) flag(d *prometheus.Desc, v bool, labels ...string) {
	n := 0.0
	if v {
		n = 1
	}
	p.gauge(d, n, labels...)
}

// unheard tells whether a site is another one that this node does not hear.
func unheard(sites []Site, name string) bool {
	return slices.ContainsFunc(sites, func(s Site) bool { return s.Name == name && !s.Up })
}

// board shows members. A member of a site that is not heard gets no calls from here, whatever was heard of it last. Every state of every group and site has a series, so that an alert on "none active" sees a zero and not a gap.
func (p page) board(b *verdict.Board, most int, calls func(*trunkgroup.Member) (int, int), sites []Site) {
	type slot struct {
		group, site string
		state       trunkgroup.State
	}
	count := make(map[slot]int)
	for i := range b.Members {
		s := &b.Members[i]
		group, site := s.Member.Group.Name, s.Member.Site
		for _, state := range trunkgroup.States() {
			count[slot{group, site, state}] += 0
		}
		count[slot{group, site, s.State}]++
		if i >= most {
			continue
		}
		p.flag(descMemberUp, s.State.Selectable() && !unheard(sites, site), group, site, s.Member.ID)
		code, changes := 0, uint64(0)
		for j := range s.Targets {
			code = s.Targets[j].Code
			changes += s.Targets[j].Changes
		}
		if len(s.Targets) > 0 {
			p.gauge(descMemberCode, float64(code), group, site, s.Member.ID)
			p.counter(descTransitions, changes, group, site, s.Member.ID)
		}
		p.latency(s)
		p.carried(s, calls)
	}
	for s, n := range count {
		p.gauge(descMembers, float64(n), s.group, s.site, s.state.String())
	}
	for _, site := range b.Table.Sites() {
		p.flag(descPanic, b.View.Panic[site], site)
		_, drained := b.Drained[site]
		p.flag(descDrained, drained, site)
		_, paused := b.Paused[site]
		p.flag(descPaused, paused, site)
	}
}

func (p page) cluster(c Cluster) {
	for s, n := range c.Nodes {
		p.gauge(descNodes, float64(n), s.Site, s.State)
	}
	for _, peer := range c.Peers {
		p.flag(descPeerUp, peer.Up, peer.Name, peer.Site)
		p.gauge(descPeerRTT, peer.RTT.Seconds(), peer.Name, peer.Site)
		p.instant(descPeerSince, peer.Since, peer.Name, peer.Site)
		p.gauge(descOffset, peer.Offset.Seconds(), peer.Name, peer.Site)
	}
	if c.RaftState != "" {
		for _, state := range []string{"follower", "candidate", "leader", "shutdown"} {
			p.flag(descRaftState, c.RaftState == state, state)
		}
		p.flag(descRaftLeader, c.HasLeader)
		p.flag(descQuorum, c.HasQuorum)
		p.gauge(descStale, c.Stale.Seconds())
		p.counter(descUnknown, c.UnknownFrames)
		p.counter(descFull, c.DroppedFrames)
		p.gauge(descRaftTerm, float64(c.Term))
		p.gauge(descRaftEpoch, float64(c.Epoch))
		p.counter(descRaftRefused, c.OtherEpochs)
		p.gauge(descRaftCommit, float64(c.Commit))
		p.gauge(descRaftApplied, float64(c.Applied))
		p.gauge(descRaftContact, c.LastContact.Seconds())
	}
	p.gauge(descRevision, float64(c.Version.Revision))
	p.gauge(descGeneration, float64(c.Version.Generation))
	if c.Canary != "" {
		p.flag(descCanary, true, c.Canary)
	}
	if c.Sum != 0 {
		p.gauge(descSum, float64(c.Sum))
	}
	p.instant(descConfigSince, c.VersionSince)
}

func (p page) cdr(sink string, s cdrlog.Stats) {
	p.counter(descCDRWritten, s.Written, sink)
	p.counter(descCDRBytes, s.Bytes, sink)
	p.counter(descCDRFailed, s.Refused, sink, "refused")
	p.counter(descCDRFailed, s.Unusable, sink, "unusable")
	p.counter(descCDRErrors, s.Errors, sink)
	p.gauge(descCDRBacklog, float64(s.Backlog), sink)
	p.flag(descCDRFailing, s.Failing, sink)
}
