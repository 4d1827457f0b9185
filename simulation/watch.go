package simulation

import (
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// watch is a node's part in knowing which members live: what it probes itself,
// what it has heard, and the board made of both.
type watch struct {
	store    *verdict.Store
	knobs    *verdict.Knobs
	own      []*target // in the order of the table
	flying   map[uint64]*target
	failed   map[verdict.Key]bool // evidence of failure that was told and not taken back
	board    *verdict.Board
	seq      uint64
	stale    bool // something came that changes no state
	deadline time.Time
}

// target is a member that this node probes.
type target struct {
	member *trunkgroup.Member
	health trunkgroup.Health
	flying uint64 // token of the probe on its way; 0 = none
	out    time.Time
	told   trunkgroup.State
}

func newWatch() watch {
	return watch{store: verdict.NewStore(), knobs: verdict.NewKnobs(), flying: make(map[uint64]*target), failed: make(map[verdict.Key]bool)}
}

// live are the nodes that this node can reach, itself included.
func (n *node) live() []verdict.Node {
	var list []verdict.Node
	for i, x := range n.w.nodes {
		if !x.witness && (x == n || n.peers[i].up) {
			list = append(list, verdict.Node{Name: x.name, Site: x.site})
		}
	}
	return list
}

// assign works out what this node probes. Members that stay keep their health.
func (n *node) assign() {
	if n.table == nil || n.witness {
		return
	}
	now, live := n.now(), n.live()
	old := n.watch.own
	n.watch.own = nil
	for _, m := range n.table.Members() {
		if !m.Group.Monitoring.Enabled || m.Disabled || m.Site != n.site || verdict.Owner(live, m.Site, m.Key) != n.name {
			continue
		}
		t := targetOf(old, m.Key)
		if t == nil {
			t = &target{member: m, health: trunkgroup.NewHealth(m.Group.Monitoring, now)}
			if h, _ := n.watch.store.Choose(now, verdict.KeyOf(m, m.Addr), "", &m.Group.Monitoring); h != nil {
				t.health.Inherit(h.State, h.Reason, h.Since())
				if h.OutAge > 0 {
					t.out = h.Received.Add(-h.OutAge)
				}
			}
			t.told = t.health.State()
		}
		t.member = m
		n.watch.own = append(n.watch.own, t)
	}
}

func targetOf(list []*target, key string) *target {
	for _, t := range list {
		if t.member.Key == key {
			return t
		}
	}
	return nil
}

func (n *node) nodesChanged() {
	n.assign()
	n.rebuild()
	n.tellDrain()
}

// rebuild makes the board anew.
func (n *node) rebuild() {
	if n.table == nil || n.witness {
		return
	}
	n.watch.board = verdict.Build(verdict.Input{
		Now: n.now(), Table: n.table, Nodes: n.live(), Store: n.watch.store, Knobs: n.watch.knobs,
	})
	n.view, n.watch.stale = n.watch.board.View, false
	n.rewatch()
}

// rewatch works out when watching needs the node next.
func (n *node) rewatch() {
	next := n.watch.board.Until
	for _, t := range n.watch.own {
		next = earlier(next, t.health.Deadline())
		if t.flying == 0 {
			next = earlier(next, t.health.NextProbe())
		}
	}
	n.watch.deadline = next
}

// watchDue probes what is due.
func (n *node) watchDue(now time.Time) {
	if n.watch.deadline.IsZero() || now.Before(n.watch.deadline) || n.watch.board == nil {
		return
	}
	for _, t := range n.watch.own {
		if d := t.health.Deadline(); !d.IsZero() && !now.Before(d) {
			t.health.Expire(now)
			n.tell(now, t, false)
		}
		if d := t.health.NextProbe(); t.flying == 0 && !d.IsZero() && !now.Before(d) {
			n.pings++
			t.flying = n.pings
			n.watch.flying[t.flying] = t
			n.shards[n.pings%uint64(len(n.shards))].Ping(now, b2bua.PingOrder{
				Token:     t.flying,
				Candidate: trunkgroup.Candidate{Member: t.member, Addr: t.member.Addr, Dialable: true},
				Until:     now.Add(t.member.Group.Monitoring.Timeout),
			})
		}
	}
	if u := n.watch.board.Until; !u.IsZero() && !now.Before(u) {
		n.rebuild()
		return
	}
	n.rewatch()
}

// pinged takes the outcome of a probe.
func (n *node) pinged(token uint64, r b2bua.PingResult) {
	t := n.watch.flying[token]
	delete(n.watch.flying, token)
	if t == nil || t.flying != token {
		return
	}
	t.flying = 0
	if targetOf(n.watch.own, t.member.Key) != t {
		return
	}
	got := trunkgroup.ProbeResult{Kind: trunkgroup.Reply, Code: r.Code, RTT: r.RTT, RetryAfter: r.RetryAfter}
	switch {
	case r.Err != nil:
		got = trunkgroup.ProbeResult{Kind: trunkgroup.TransportError, RTT: r.RTT, Detail: r.Err.Error()}
	case r.Code == 0:
		got = trunkgroup.ProbeResult{Kind: trunkgroup.Timeout, RTT: r.RTT}
	}
	now := n.now()
	t.health.Probe(now, got)
	n.tell(now, t, true)
}

// tell publishes what became of a target.
func (n *node) tell(now time.Time, t *target, probed bool) {
	h := &t.health
	changed := h.State() != t.told
	t.told = h.State()
	switch {
	case h.State().Selectable():
		t.out = time.Time{}
	case t.out.IsZero():
		t.out = now
	}
	n.watch.seq++
	probe, at := h.LastProbe()
	r := verdict.Record{
		Key: verdict.KeyOf(t.member, t.member.Addr), Node: n.name, Boot: uint64(n.boot), Seq: n.watch.seq,
		State: h.State(), Age: now.Sub(h.Since()), Reason: h.Reason(), Changes: uint64(h.Changes()), Kind: probe.Kind, Code: probe.Code,
	}
	if !at.IsZero() {
		r.ProbeAge = now.Sub(at)
	}
	if !t.out.IsZero() {
		r.OutAge = max(time.Millisecond, now.Sub(t.out))
	}
	if changed {
		n.w.say("%s finds %s %s", n.name, t.member.Key, h.State())
	}
	if probed || changed {
		n.watch.store.Put(now, r)
		n.publish("verdict/"+r.Key.String(), r.Append(nil))
	}
	if changed {
		n.rebuild()
		return
	}
	n.rewatch()
}

// hearRecord takes another observer's record.
func (n *node) hearRecord(now time.Time, r verdict.Record) {
	if n.table == nil || n.witness || n.table.Member(r.Key.Member) == nil {
		return
	}
	before := n.watch.store.State(r.Key, r.Node)
	if n.watch.store.Put(now, r) && before != r.State {
		n.rebuild()
	}
}

// evidence carries what a call saw of a member to the node that probes it.
func (n *node) evidence(m *trunkgroup.Member, addr netip.AddrPort, ok bool, cause string) {
	key := verdict.KeyOf(m, addr)
	if !m.Group.Monitoring.Enabled || ok && !n.watch.failed[key] {
		return
	}
	n.watch.failed[key] = !ok
	n.carryEvidence(m, verdict.Evidence{Key: key, OK: ok, Cause: cause})
}

// pauseAsked carries the Retry-After of a call's 503.
func (n *node) pauseAsked(m *trunkgroup.Member, addr netip.AddrPort, d time.Duration) {
	if m.Group.Monitoring.Enabled && d > 0 {
		n.carryEvidence(m, verdict.Evidence{Key: verdict.KeyOf(m, addr), RetryAfter: d})
	}
}

func (n *node) carryEvidence(m *trunkgroup.Member, e verdict.Evidence) {
	owner := verdict.Owner(n.live(), m.Site, m.Key)
	if owner == n.name {
		n.takeEvidence(e)
		return
	}
	if x := n.w.nodeNamed(owner); x != nil {
		n.frame(x, nil, func() { x.takeEvidence(e) })
	}
}

func (n *node) takeEvidence(e verdict.Evidence) {
	t := targetOf(n.watch.own, e.Key.Member)
	if t == nil {
		return
	}
	now := n.now()
	if e.RetryAfter > 0 {
		t.health.RetryAfter(now, e.RetryAfter)
	} else {
		t.health.Evidence(now, e.OK, e.Cause)
	}
	n.tell(now, t, false)
}

// doubt is what a node does that was paused: what it believes is old (DEC-13).
func (n *node) doubt() {
	now := n.now()
	for _, t := range n.watch.own {
		t.health = trunkgroup.NewHealth(t.member.Group.Monitoring, now)
		t.flying, t.out, t.told = 0, time.Time{}, trunkgroup.Unknown
		n.watch.store.Discard(verdict.KeyOf(t.member, t.member.Addr), n.name)
	}
	n.rebuild()
}
