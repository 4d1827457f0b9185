package monitor

import (
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
)

// Receive takes what another node published at a time of this node's clock: what a node hears when it joins may be hours old, and the ages
// in it are as of then. Unknown keys and unreadable payloads are ignored: nodes of another version may send them.
func (m *Monitor) Receive(from, key string, payload []byte, at time.Time) {
	if now := time.Now(); at.After(now) {
		at = now
	}
	var err error
	switch {
	case from == m.cfg.Node:
	case strings.HasPrefix(key, VerdictPrefix):
		err = m.receiveRecord(from, payload, at)
	case strings.HasPrefix(key, KnobPrefix):
		err = m.receiveKnob(payload, at)
	}
	if err != nil {
		m.cfg.Logger.Debug("what another node published cannot be read", "from", from, "key", key, "error", err)
	}
}

func (m *Monitor) receiveRecord(from string, payload []byte, at time.Time) error {
	r, err := verdict.DecodeRecord(payload)
	if err != nil {
		return err
	}
	if r.Node != from {
		return nil // an observer speaks for itself only
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.known(r.Key) {
		return nil
	}
	before := m.store.State(r.Key, r.Node)
	if !m.store.Put(at, r) {
		return nil
	}
	m.inheritLate(r.Key)
	if r.State == before {
		m.stale = true
	} else {
		m.poke()
	}
	return nil
}

func (m *Monitor) receiveKnob(payload []byte, at time.Time) error {
	knob, err := verdict.DecodeKnob(payload, at)
	if err != nil {
		return err
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.knobs.Merge(now, knob) {
		m.cfg.Logger.Info("an operator's word came from another node", "about", knob.Member, "state", knob.State.String(), "weight", knob.Weight,
			"author", knob.Author, "reason", knob.Reason, "said_on", knob.Node)
		m.cfg.OnKnob(knob, "")
		m.unsaved = true
		m.tellProber(knob.Member, knob.State)
		m.lift(now, &knob)
		// It must outlive the node where it was said.
		m.cfg.Publish(KnobPrefix+knob.Member, knob.Append(nil, now))
		m.poke()
	}
	return nil
}
