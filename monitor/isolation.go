package monitor

import (
	"time"

	"github.com/tandem-sbc/tandem/monitor/prober"
	"github.com/tandem-sbc/tandem/monitor/verdict"
)

// hear follows which targets give no reply of any kind. The lock is held.
func (m *Monitor) hear(now time.Time, key verdict.Key, own *ownTarget, u prober.Update) {
	if own.silent.Equal(u.Silent) {
		return
	}
	if !u.Silent.IsZero() && own.silent.IsZero() {
		own.before = nil
		if own.last != nil {
			own.before = &verdict.Held{Record: *own.last, Received: own.at}
		}
	}
	own.silent, own.group.stale = u.Silent, true
	if u.Silent.IsZero() {
		delete(m.suspect, key)
	}
	m.judgeIsolation(now)
}

// judgeIsolation applies DEC-12 and acts when its answer changes. The lock is held.
func (m *Monitor) judgeIsolation(now time.Time) {
	isolated := m.lostNetwork()
	if isolated == m.Isolated() {
		return
	}
	var since *time.Time
	if isolated {
		since = &now
	}
	m.isolated.Store(since)
	m.cfg.OnIsolated(isolated)
	if isolated {
		m.cfg.Logger.Error("this node has lost the network: last verdicts are kept as suspect, none is published", "targets", len(m.own))
		m.suspect = make(map[verdict.Key]verdict.Held)
		for key, own := range m.own {
			if held := own.lastBelieved(now); held != nil {
				m.suspect[key] = *held
			}
		}
		m.poke()
		return
	}
	m.cfg.Logger.Info("the network is back: verdicts are believed and published again")
	m.suspect = nil
	for _, own := range m.own {
		if own.last == nil {
			continue
		}
		r := *own.last
		m.seq++
		r.Seq = m.seq
		m.publish(now, r)
	}
	m.poke()
}

// lastBelieved is the verdict on a silent target that stands while this node is isolated: the one from before its silence, unless the silence
// is older than what isolates the node.
func (own *ownTarget) lastBelieved(now time.Time) *verdict.Held {
	switch {
	case own.silent.IsZero():
		return nil
	case own.before != nil && now.Sub(own.silent) <= own.group.patience:
		return own.before
	case own.last != nil:
		return &verdict.Held{Record: *own.last, Received: own.at}
	}
	return nil
}

// lostNetwork asks the rule about all groups that this node probes.
func (m *Monitor) lostNetwork() bool {
	list := make([]verdict.Silence, 0, len(m.groups))
	var patience time.Duration
	for _, g := range m.groups {
		patience = max(patience, g.patience)
		list = append(list, g.listen())
	}
	return verdict.Isolated(list, m.peersUp, patience)
}

// listen sums up the targets of a group; only the group of the target that changed is gone through again.
func (g *ownGroup) listen() verdict.Silence {
	if !g.stale {
		return g.silence
	}
	s := verdict.Silence{Provider: g.provider, Targets: len(g.targets)}
	for _, own := range g.targets {
		if own.silent.IsZero() {
			continue
		}
		s.Silent++
		if s.First.IsZero() || own.silent.Before(s.First) {
			s.First = own.silent
		}
		if own.silent.After(s.Last) {
			s.Last = own.silent
		}
	}
	g.silence, g.stale = s, false
	return s
}
