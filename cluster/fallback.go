package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// canaryFile says that the last known good document is a canary, or that this node
// went back from one: a restart must not take it again.
const canaryFile = "canary.json"

// canaryMark is the content of the file.
type canaryMark struct {
	Version  trunkgroup.Version `json:"version"`
	FellBack bool               `json:"fell_back"`
	Reason   string             `json:"reason,omitempty"`
	At       time.Time          `json:"at"`
}

// breach asks the publishing goroutine to go back from the canary.
type breach struct {
	back   fsm.Entry // what the cluster runs; zero when it is not known
	reason string
	done   chan error
}

// breach goes back from the canary that runs, to the given document or, when that
// is not known, to what ran before.
func (p *publisher) breach(back fsm.Entry, reason string) error {
	b := breach{back: back, reason: reason, done: make(chan error, 1)}
	select {
	case p.breaches <- b:
		return <-b.done
	case <-p.stop:
		return ErrNoCanary
	}
}

// fallBack runs on the publishing goroutine.
func (p *publisher) fallBack(b breach) error {
	running, _, _, _ := p.state()
	if !p.canary {
		return ErrNoCanary
	}
	back := b.back
	if back.Version.Revision == 0 || !running.Version.Newer(back.Version) {
		back = p.previous
	}
	if back.Version.Revision == 0 {
		return fmt.Errorf("cluster: the revision before the canary is not known here: %w", ErrNoCanary)
	}
	table, err := p.compile(back.Document, back.Version)
	if err != nil {
		return fmt.Errorf("cluster: the revision before the canary: %w", err)
	}
	f := &Fallback{Version: running.Version, Reason: b.reason, At: time.Now()}
	p.mark(canaryMark{Version: f.Version, FellBack: true, Reason: f.Reason, At: f.At})
	p.save(&back)
	p.setFallen(f)
	p.tries(false)
	table = p.join(table)
	p.publish(table)
	p.run(back, table, SourceRaft)
	p.alarmFallen(f)
	return nil
}

// alarmFallen asks a human to decide.
func (p *publisher) alarmFallen(f *Fallback) {
	p.alarms.raise(AlarmCanary, fmt.Sprintf("canary %s was left at %s: %s; promote or abandon it", f.Version, f.At.UTC().Format(time.RFC3339), f.Reason))
}

// tryCanary notes on disk, before a canary runs, that it is one; what is no canary
// takes all that back.
func (p *publisher) tryCanary(canary bool, v trunkgroup.Version) {
	was := p.canary || p.fallback() != nil
	p.tries(canary)
	switch {
	case canary:
		p.mark(canaryMark{Version: v, At: time.Now()})
	case was:
		p.setFallen(nil)
		p.alarms.clear(AlarmCanary)
		if err := os.Remove(filepath.Join(p.dir, canaryFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.log.Warn("the mark of a canary that is over stays on disk", "error", err)
		}
	}
}

// tries notes whether what runs is a canary. What ran before one is of use only while
// it is tried.
func (p *publisher) tries(canary bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.canary = canary
	if !canary {
		p.previous = fsm.Entry{}
	}
}

// before returns what ran before that version when it is a canary that this node tries;
// false when it is none, or what was before it is not known.
func (p *publisher) before(v trunkgroup.Version) (fsm.Entry, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.previous, p.canary && p.running.Version == v && p.previous.Version.Revision > 0
}

func (p *publisher) mark(m canaryMark) {
	b, err := json.Marshal(m)
	if err == nil {
		err = writeDurable(filepath.Join(p.dir, canaryFile), append(b, '\n'))
	}
	if err != nil {
		// The node runs on; only a restart before the end of the canary would forget.
		p.log.Error("the state of the canary cannot be saved", "error", err)
	}
}

// loadCanary reads the mark when the last known good document was loaded.
func (p *publisher) loadCanary(running trunkgroup.Version) {
	b, err := os.ReadFile(filepath.Join(p.dir, canaryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var m canaryMark
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	switch {
	case err != nil:
		p.log.Error("the state of the canary cannot be read", "error", err)
	case m.FellBack && m.Version.Newer(running):
		f := &Fallback{Version: m.Version, Reason: m.Reason, At: m.At}
		p.setFallen(f)
		p.alarmFallen(f)
	case !m.FellBack && m.Version == running:
		p.canary = true
		if before, err := loadFile(filepath.Join(p.dir, lkgPrevious), p.vault); err == nil && running.Newer(before.Version) {
			p.previous = before
		}
	}
}

// fellFrom reports whether this node left that canary.
func (p *publisher) fellFrom(v trunkgroup.Version) bool {
	f := p.fallback()
	return f != nil && f.Version == v
}

// fallback returns the canary that this node left; nil when none.
func (p *publisher) fallback() *Fallback {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fallen
}

func (p *publisher) setFallen(f *Fallback) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fallen = f
}
