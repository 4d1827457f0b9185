package monitor

import (
	"time"

	"github.com/tandem-sbc/tandem/monitor/prober"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// ownTarget is a target that this node probes.
type ownTarget struct {
	group  *ownGroup
	silent time.Time     // since when it gives no reply of any kind
	before *verdict.Held // our record from before the silence; nil when there was none
	last   *verdict.Record
	at     time.Time // of last
	gone   bool      // the last event was that it is down
}

// ownGroup is what this node hears of one group.
type ownGroup struct {
	provider bool
	patience time.Duration // interval and reply timeout
	targets  map[verdict.Key]*ownTarget
	silence  verdict.Silence // of the targets, unless stale
	stale    bool
}

// adopt notes that a target is this node's. The lock is held.
func (m *Monitor) adopt(t prober.Target) {
	key := t.Key()
	g := t.Member.Group
	group := m.groups[g.Name]
	if group == nil {
		group = &ownGroup{targets: make(map[verdict.Key]*ownTarget)}
		m.groups[g.Name] = group
	}
	group.provider = g.Role == trunkgroup.PSTNProvider
	group.patience = g.Monitoring.Interval + g.Monitoring.Timeout
	group.stale = true
	if m.own[key] == nil {
		own := &ownTarget{group: group}
		m.own[key], group.targets[key] = own, own
	}
}

// disown forgets the targets that are this node's no more.
func (m *Monitor) disown(wanted map[verdict.Key]bool) {
	for key, own := range m.own {
		if !wanted[key] {
			delete(m.own, key)
			delete(m.suspect, key)
			delete(own.group.targets, key)
			own.group.stale = true
		}
	}
	for name, g := range m.groups {
		if len(g.targets) == 0 {
			delete(m.groups, name)
		}
	}
}

// update takes what the prober found. It runs on the prober's goroutine.
func (m *Monitor) update(u prober.Update) {
	if u.Probed {
		m.cfg.OnProbe(u)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := u.Target.Key()
	own := m.own[key]
	if own == nil {
		return // it has moved to another node meanwhile
	}
	m.report(own, u)
	state := u.Health.State()
	if u.Discarded || state.Administrative() {
		own.silent, own.last, own.group.stale = time.Time{}, nil, true
		m.store.Discard(key, m.cfg.Node)
		m.poke()
		return
	}
	if u.Probed {
		m.hear(u.At, key, own, u)
	}
	m.seq++
	r := m.record(key, u)
	own.last, own.at = &r, u.At
	if m.Isolated() {
		if own.silent.IsZero() {
			m.store.Put(u.At, r) // true, but nobody is told (DEC-12)
			m.poke()
		}
		return
	}
	m.publish(u.At, r)
	if state == trunkgroup.Active {
		m.release(u)
	}
	if u.Changed {
		m.poke()
	}
	m.stale = true
}

// publish takes a record of our own and tells the others.
func (m *Monitor) publish(now time.Time, r verdict.Record) {
	m.store.Put(now, r)
	m.cfg.Publish(VerdictPrefix+r.Key.String(), r.Append(nil))
}

// record writes down what the prober found.
func (m *Monitor) record(key verdict.Key, u prober.Update) verdict.Record {
	h := &u.Health
	probe, probed := h.LastProbe()
	r := verdict.Record{
		Key: key, Node: m.cfg.Node, Boot: m.cfg.Boot, Seq: m.seq,
		State: h.State(), Age: u.At.Sub(h.Since()), Reason: h.Reason(), Changes: uint64(h.Changes()),
		Kind: probe.Kind, Code: probe.Code, RTT: probe.RTT, Latency: h.Latency(), Flaps: h.Flaps(u.At),
	}
	if !probed.IsZero() {
		r.ProbeAge = u.At.Sub(probed)
	}
	// An age of zero means that there is no such thing.
	if !u.Out.IsZero() {
		r.OutAge = max(time.Millisecond, u.At.Sub(u.Out))
	}
	if good := h.LastGood(); !good.IsZero() {
		r.GoodAge = max(time.Millisecond, u.At.Sub(good))
	}
	return r
}
