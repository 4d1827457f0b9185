package monitor

import (
	"maps"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// tick is how often the monitor looks for work that is not urgent.
	tick = time.Second
	// buildPause is the least time between two boards, so that a thousand members that go down together cost a few boards, not a thousand.
	buildPause = 10 * time.Millisecond
	// recordLife is how long a record is kept at all; it stops to count long before.
	recordLife = time.Hour
	// respreadEvery is how often the operators' words are published again, for nodes that came late or missed one.
	respreadEvery = time.Minute
)

// poke asks for a new board soon.
func (m *Monitor) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// run builds boards when something changed or time alone changes one.
func (m *Monitor) run() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	respread := time.Now()
	for {
		due := false
		select {
		case <-m.ctx.Done():
			return
		case <-m.wake:
			due = true
		case <-ticker.C:
		}
		now := time.Now()
		m.mu.Lock()
		m.expireKnobs(now)
		if due || m.stale || m.board != nil && !m.board.Until.IsZero() && !now.Before(m.board.Until) {
			m.build(now)
		}
		if now.Sub(respread) >= respreadEvery {
			respread = now
			m.spreadKnobs(now)
			m.store.Prune(now.Add(-recordLife), m.known)
		}
		m.mu.Unlock()
		m.saveKnobs()
		if !m.pause(buildPause) {
			return
		}
	}
}

// pause waits; it is false when the monitor stops.
func (m *Monitor) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-m.ctx.Done():
		return false
	}
}

func (m *Monitor) input(now time.Time) verdict.Input {
	return verdict.Input{
		Now: now, Table: m.table, Nodes: m.nodes, Store: m.store, Knobs: m.knobs, Addrs: m.cfg.Resolve,
		Carriers: m.cfg.Carriers, Lapsed: m.cfg.Lapsed, Bars: m.cfg.Bars, Registry: m.cfg.Registry, Sessions: m.cfg.Sessions,
		Suspect: m.suspect, PanicShare: m.cfg.PanicShare, Ramps: m.ramps,
	}
}

// build makes the board and publishes it when calls would be planned otherwise. The lock is held.
func (m *Monitor) build(now time.Time) {
	m.stale = false
	if m.table == nil {
		return
	}
	old := m.board
	m.board = verdict.Build(m.input(now))
	if m.cfg.BarredCarriers != nil {
		m.board.View.BarredCarriers = m.cfg.BarredCarriers(now)
	}
	m.ramps.Follow(now, m.board)
	for _, site := range m.table.Sites() {
		was := old != nil && old.View.Panic[site]
		if is := m.board.View.Panic[site]; is != was {
			if is {
				m.cfg.Logger.Warn("panic rule: probe verdicts of a site are ignored", "members_of", site)
			} else {
				m.cfg.Logger.Warn("panic rule: probe verdicts of a site are believed again", "members_of", site)
			}
		}
	}
	if s := m.shown; s == nil || s.Table != m.table || !sameView(s.View, m.board.View) || !sameLatency(s.View, m.board.View, m.table) ||
		!maps.Equal(s.Drained, m.board.Drained) || !maps.Equal(s.Paused, m.board.Paused) {
		m.shown = m.board
		m.cfg.OnBoard(m.board)
	}
}

// sameView says whether two views of one table plan calls alike.
func sameView(a, b *trunkgroup.View) bool {
	return slices.Equal(a.States, b.States) && slices.Equal(a.Weights, b.Weights) && maps.Equal(a.Panic, b.Panic) &&
		slices.Equal(a.Lapsed, b.Lapsed) && slices.Equal(a.Barred, b.Barred) && slices.Equal(a.Ramps, b.Ramps) && maps.Equal(a.BarredCarriers, b.BarredCarriers) &&
		slices.EqualFunc(a.Addrs, b.Addrs, slices.Equal) && slices.EqualFunc(a.Carriers, b.Carriers, slices.Equal)
}
