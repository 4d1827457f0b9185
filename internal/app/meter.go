package app

import (
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/monitor/cdrlog"
	"github.com/tandem-sbc/tandem/monitor/metrics"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// meter translates what the engine counts into metrics.
type meter struct {
	all     *metrics.Metrics
	sip     *metrics.SIP // what shards report as events
	handles atomic.Pointer[metrics.Handles]
	last    atomic.Pointer[trunkgroup.Table]
	// imports of numbers that were asked of this node, and those that were refused
	imports, refusedImports atomic.Uint64
	// emergencies watches how many emergency calls the trunks make.
	emergencies emergencies
	// faults writes down what of decided routes is not carried out.
	faults routeFaults
	// handovers knows which groups' calls go to other sites.
	handovers *handovers
}

func newMeter(a *App, build string) *meter {
	role := "node"
	if a.cfg.Witness {
		role = "witness"
	}
	m := &meter{handovers: newHandovers(a.cfg.Site), all: metrics.New(
		metrics.Info{
			Version: build, Go: runtime.Version(), Cluster: a.cfg.Cluster.ID, Site: a.cfg.Site, Node: a.cfg.Name, Role: role,
			MaxMembers: a.cfg.Metrics.MaxMembers,
		},
		sources(a),
	)}
	m.sip = m.all.NewSIP()
	m.emergencies.count = m.all.Emergency
	m.faults.log, m.faults.counted = a.log, m.all.RouteFault
	m.handles.Store(m.all.ForTable(&trunkgroup.Table{}))
	a.node.OnApplied(m.all.ConfigApplied)
	return m
}

// sources says where the state of the parts is read at a scrape.
func sources(a *App) metrics.Sources {
	s := metrics.Sources{
		Node: func() metrics.Node {
			n := metrics.Node{Ready: a.desk.ready() == "", Draining: a.drainer.draining(), Started: a.started}
			if a.watch.monitor != nil {
				n.Isolated, n.EvidenceLost = a.watch.monitor.Isolated(), a.watch.monitor.EvidenceLost()
			}
			return n
		},
		Cluster: func() metrics.Cluster { return clusterState(a) },
		Keys:    func() metrics.Keys { return keyMetrics(a) },
		Sites:   func() []metrics.Site { return siteMetrics(a) },
		Alarms:  func() []string { return alarmNames(a) },
	}
	if a.watch.monitor != nil {
		s.Board = func() *verdict.Board { return a.watch.monitor.Board() }
		s.Soft = a.watch.book.metrics
		s.Handovers = func() []metrics.Handover { return a.watch.meter.handovers.list() }
		s.MemberCalls = a.memberCalls
		s.Transactions = func() metrics.Transactions {
			st := a.server.Stats()
			return metrics.Transactions{Client: st.Transactions - st.Requests, Server: st.Requests}
		}
		s.Doors = func() metrics.Doors { return a.doors.metrics() }
		s.Connections = func() metrics.Connections { return connections(a.server.Transport()) }
		s.Limits = func() []metrics.Limit { return a.limits.metrics() }
		s.Registrations = a.registrationMetrics
		s.Accounts = func() []metrics.Account { return a.accounts.metrics() }
		s.Losses = func() metrics.Losses {
			return metrics.Losses{QueueFull: a.server.Dropped(), Surge: a.server.Surged(), Panics: a.server.Panics()}
		}
		s.Numbers = func() metrics.Numbers { return numberMetrics(a) }
		s.Decks = func() metrics.Decks { return a.decks.metrics() }
		s.Fraud = func() []metrics.Fraud { return a.frauds.metrics() }
		s.Quality = a.quality.metrics
		s.Charging = func() metrics.Charging { return a.charging.metrics() }
		s.Decisions = func() metrics.Decisions { return a.routes.metrics() }
		s.Hooks = a.hooks.metrics
		s.Tallies = func() metrics.Tallies { return a.tallies.metrics() }
		s.CDRSinks = func() []metrics.CDRSink { return sinkMetrics(time.Now(), a.watch.sinks.Status()) }
		if a.finder.index != nil {
			s.CDRIndex = a.finder.index.Stats
		}
		s.CDR = map[string]func() cdrlog.Stats{"jsonl": a.watch.records.Stats}
	}
	return s
}

func clusterState(a *App) metrics.Cluster {
	st := a.node.Status()
	c := metrics.Cluster{
		Nodes:     map[metrics.NodeState]int{{Site: st.Site, State: st.State}: 1},
		RaftState: strings.ToLower(st.Raft.State), HasLeader: st.Raft.Leader != "", HasQuorum: st.Raft.Quorum, Stale: st.StaleFor, Term: st.Raft.Term,
		Commit: st.Raft.Commit, Applied: st.Raft.Applied, Epoch: st.Raft.Epoch.Number, OtherEpochs: st.Raft.Refused,
		Version: st.Running, VersionSince: st.PublishedAt, Sum: st.Sum,
		UnknownFrames: st.Interconnect.Unknown, DroppedFrames: st.Interconnect.DroppedFull,
	}
	if k, ok := a.node.Canary(); ok {
		c.Canary = k.Site
	}
	states := map[string]string{}
	for _, m := range st.Members {
		states[m.Name] = m.Meta.State
	}
	for _, p := range st.Peers {
		state := states[p.Name]
		if !p.Up {
			state = "lost"
		} else if state == "" {
			state = cluster.StateStarting
		}
		c.Nodes[metrics.NodeState{Site: p.Site, State: state}]++
		c.Peers = append(c.Peers, metrics.Peer{Name: p.Name, Site: p.Site, Up: p.Up, RTT: p.RTT, Since: p.Since, Offset: p.ClockOffset})
	}
	return c
}

// traffic counts the messages of one shard.
type traffic struct {
	counters *metrics.SIP
	canary   *canaryWatch
}

func way(out bool) metrics.Way {
	if out {
		return metrics.Out
	}
	return metrics.In
}

// Request implements sbc.Traffic.
func (t traffic) Request(out bool, method string, proto trunkgroup.Transport) {
	t.counters.Request(way(out), method, proto)
}

// Response implements sbc.Traffic.
func (t traffic) Response(out bool, method string, code int) {
	t.counters.Response(way(out), method, code)
	if out && method == "INVITE" {
		t.canary.answered(code)
	}
}

// Transaction implements sbc.Traffic.
func (t traffic) Transaction(asked bool, method string, d time.Duration) {
	t.counters.Transaction(asked, method, d)
}

// Refused implements sbc.Traffic.
func (t traffic) Refused(proto trunkgroup.Transport, code int) { t.counters.ParseError(proto, code) }

// table makes the counters of a new table before calls are routed by it.
func (m *meter) table(t *trunkgroup.Table) {
	if m.last.Swap(t) != t {
		m.handles.Store(m.all.ForTable(t))
	}
}

// count takes one event. It is on the call path: no lock, no lookup by label.
func (m *meter) count(e *b2bua.Event) {
	h := m.handles.Load()
	d := metrics.ParseDirection(e.Direction)
	switch e.Kind {
	case b2bua.EventCallStarted:
		h.Group(e.Group).Started(d)
	case b2bua.EventCallEnded:
		r := metrics.ResultOf(e.Answered, e.Code == 487, e.Code)
		h.Group(e.Group).Ended(d, r, seconds(e.Value))
	case b2bua.EventPDD:
		h.Group(e.Group).PDD(d, seconds(e.Value))
		if e.Result != "" {
			m.all.FailoverDelay(e.Result, e.To, e.Wait)
		}
	case b2bua.EventAttempt:
		if e.Member == nil {
			return // the next hop of a route has no name to be counted under
		}
		m := h.Member(e.Member)
		m.Attempt(attemptClass(e))
		m.Fault(attemptFault(e))
		if e.Final {
			h.Group(e.Member.Group).Answer(e.Code)
		}
	case b2bua.EventHandoff:
		m.all.Handoff(metrics.Handoff{From: e.From, To: e.To, Direction: d, Reason: e.Reason, Result: e.Result})
	case b2bua.EventFailover:
		m.failover(e, d)
	case b2bua.EventReject:
		m.all.Reject(e.Reason)
	case b2bua.EventAuthFailure:
		m.all.AuthFailure(e.Reason)
	case b2bua.EventEmergency:
		m.emergencies.taken(time.Now(), e.Group)
	case b2bua.EventRouteFault:
		m.faults.taken(time.Now(), e)
	case b2bua.EventAccount:
		m.all.AccountEvent(e.Group.Name, e.Result)
	case b2bua.EventRegister:
		m.all.Register(e.Result)
	case b2bua.EventPassed:
		m.all.Passed(e.To)
	case b2bua.EventLoop:
		m.all.LoopPrevented()
	case b2bua.EventHandoffHeader:
		m.all.HandoffHeaderStripped()
	case b2bua.EventRetransmission:
		m.sip.Retransmission(metrics.In, e.Method)
	}
}

func attemptClass(e *b2bua.Event) metrics.Class {
	switch {
	case !e.Dialed:
		return metrics.NotDialed
	case e.Final:
		return metrics.ClassOf(e.Code)
	case e.Code == 503:
		return metrics.TransportError
	case e.Code == 0:
		return metrics.Abandoned
	}
	return metrics.NoResponse
}

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
