package prober

import (
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// setTargets replaces the set of targets.
func (l *loop) setTargets(now time.Time, list []Assignment) {
	wanted := make(map[verdict.Key]bool, len(list))
	for _, a := range list {
		key := a.Key()
		wanted[key] = true
		t := l.targets[key]
		if t != nil && !sameFarEnd(t.Target, a.Target) {
			l.remove(key, t)
			t = nil
			a.Inherit = trunkgroup.Unknown // whoever it is about, it is not this far end
		}
		if t == nil {
			l.add(now, key, a)
			continue
		}
		if was := t.Member.Group.Monitoring; was != a.Member.Group.Monitoring {
			t.health.Configure(a.Member.Group.Monitoring, now)
		}
		t.Target = a.Target
		l.setAdmin(now, t, a.Admin, false)
		l.schedule.place(t)
	}
	for key, t := range l.targets {
		if !wanted[key] {
			l.remove(key, t)
		}
	}
}

// sameFarEnd says whether a member of a new table is reached as before.
func sameFarEnd(a, b Target) bool {
	return a.Addr == b.Addr && a.Member.Transport == b.Member.Transport && a.Member.ServerName == b.Member.ServerName
}

// add begins to watch a target.
func (l *loop) add(now time.Time, key verdict.Key, a Assignment) {
	t := &target{Target: a.Target, index: -1, notBefore: l.first(now, a.Member), paused: l.paused}
	t.health = trunkgroup.NewHealth(a.Member.Group.Monitoring, now)
	t.told = t.health.State()
	t.inherit(now, a)
	if a.Admin == trunkgroup.AdminDisabled {
		t.health.SetAdmin(a.Admin, now)
		t.told = t.health.State()
	}
	l.targets[key] = t
	l.schedule.place(t)
}

// inherit takes over what another node found.
func (t *target) inherit(now time.Time, a Assignment) {
	if a.Inherit == trunkgroup.Unknown {
		return
	}
	t.health.Inherit(a.Inherit, a.Reason, a.Since)
	t.health.InheritLatency(a.Latency)
	t.told, t.out = t.health.State(), a.Out
	t.note(now, nil)
}

// first draws the time of a first probe.
func (l *loop) first(now time.Time, m *trunkgroup.Member) time.Time {
	spread := min(l.p.cfg.Spread, m.Group.Monitoring.Interval)
	if spread <= 0 {
		return now
	}
	return now.Add(time.Duration(l.p.cfg.Random.Int64N(int64(spread))))
}

// remove forgets a target.
func (l *loop) remove(key verdict.Key, t *target) {
	t.gone = true
	if t.cancel != nil {
		t.cancel()
	}
	l.schedule.place(t)
	delete(l.targets, key)
}

// setAdmin takes an operator's word; spoken is false when it is merely what holds anyway. Draining is no matter of probes: the state machine
// goes on and the board puts the word above it.
func (l *loop) setAdmin(now time.Time, t *target, a trunkgroup.AdminState, spoken bool) {
	switch {
	case a == trunkgroup.AdminDraining:
		a, spoken = trunkgroup.AdminUp, false
	case spoken: // what is said once is no state to be in
	case a == trunkgroup.AdminInactive, a == trunkgroup.AdminTrying:
		a = trunkgroup.AdminUp
	}
	if a == t.health.Admin() && (!spoken || a != trunkgroup.AdminUp) {
		return
	}
	was := t.health.State()
	t.health.SetAdmin(a, now)
	if a == trunkgroup.AdminDisabled && t.cancel != nil {
		t.cancel()
	}
	t.notBefore, t.silent = now, time.Time{}
	t.note(now, nil)
	if t.health.State() != was {
		l.tell(now, t, false)
	}
	l.schedule.place(t)
}
