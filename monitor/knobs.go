package monitor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// expireKnobs ends words whose time is over. The lock is held.
func (m *Monitor) expireKnobs(now time.Time) {
	for _, subject := range m.knobs.Expire(now) {
		m.cfg.Logger.Warn("an operator's word has expired", "about", subject)
		m.cfg.OnKnob(verdict.Knob{Member: subject}, "expired")
		m.tellProber(subject, trunkgroup.AdminUp)
		m.unsaved = true
		m.poke()
	}
}

// spreadKnobs publishes all words again.
func (m *Monitor) spreadKnobs(now time.Time) {
	for _, knob := range m.knobs.All() {
		m.cfg.Publish(KnobPrefix+knob.Member, knob.Append(nil, now))
	}
}

// knobFile is the form on disk.
type knobFile struct {
	Version int         `json:"version"`
	Knobs   []savedKnob `json:"knobs"`
}

type savedKnob struct {
	Member  string    `json:"member"`
	State   string    `json:"state"`
	Order   string    `json:"order,omitempty"` // what State is the nearest to, of words that an older build does not know
	Weight  int       `json:"weight,omitempty"`
	Author  string    `json:"author,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Number  uint64    `json:"number"`
	Node    string    `json:"node"`
	Set     time.Time `json:"set"`
	Expires time.Time `json:"expires"`
}

// saveKnobs writes the words to disk when they changed. A disk that fails does not keep an operator from taking a member out.
func (m *Monitor) saveKnobs() {
	m.saving.Lock()
	defer m.saving.Unlock()
	m.mu.Lock()
	unsaved, list := m.unsaved, m.knobs.All()
	m.unsaved = false
	m.mu.Unlock()
	if !unsaved || m.cfg.KnobFile == "" {
		return
	}
	f := knobFile{Version: 1, Knobs: make([]savedKnob, 0, len(list))}
	for _, k := range list {
		state, order := verdict.Saved(k.State)
		f.Knobs = append(f.Knobs, savedKnob{k.Member, state, order, k.Weight, k.Author, k.Reason, k.Version, k.Node, k.Set, k.Expires})
	}
	err := writeFile(m.cfg.KnobFile, f)
	if err != nil {
		m.mu.Lock()
		m.unsaved = true
		m.mu.Unlock()
	}
	if failed := err != nil; failed != m.unkept {
		m.unkept = failed
		if failed {
			m.cfg.Logger.Error("operators' words are not on disk", "file", m.cfg.KnobFile, "error", err)
		}
		if m.cfg.OnKnobsKept != nil {
			m.cfg.OnKnobsKept(err)
		}
	}
}

// loadKnobs reads them back. A file that cannot be understood is put aside: the node must start, and the other nodes know the words too.
func (m *Monitor) loadKnobs(now time.Time) error {
	if m.cfg.KnobFile == "" {
		return nil
	}
	text, err := os.ReadFile(m.cfg.KnobFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := parseKnobs(text)
	if err != nil {
		aside := m.cfg.KnobFile + ".damaged"
		m.cfg.Logger.Error("operators' words are lost on this node", "file", m.cfg.KnobFile, "kept_as", aside, "error", err)
		return os.Rename(m.cfg.KnobFile, aside)
	}
	for _, knob := range list {
		m.knobs.Merge(now, knob)
	}
	return nil
}

func parseKnobs(text []byte) ([]verdict.Knob, error) {
	var f knobFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	if f.Version != 1 {
		return nil, fmt.Errorf("unknown version %d", f.Version)
	}
	list := make([]verdict.Knob, 0, len(f.Knobs))
	for _, s := range f.Knobs {
		state, ok := trunkgroup.ParseAdminState(s.State)
		if order, known := trunkgroup.ParseAdminState(s.Order); known {
			state = order
		}
		if !ok {
			return nil, fmt.Errorf("member %s: unknown state %q", s.Member, s.State)
		}
		list = append(list, verdict.Knob{
			Member: s.Member, State: state, Weight: s.Weight, Author: s.Author, Reason: s.Reason, Version: s.Number, Node: s.Node, Set: s.Set, Expires: s.Expires,
		})
	}
	return list, nil
}

// writeFile replaces a file in one step that a crash cannot tear.
func writeFile(path string, v any) (err error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
