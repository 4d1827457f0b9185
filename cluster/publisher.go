package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// decision is what the publisher does with a document (DEC-14).
type decision uint8

const (
	publishIt     decision = iota // newer than what runs
	alreadyRuns                   // the same version
	refuseLower                   // a lower pair: replay, or a cluster that lost its memory
	refuseForeign                 // of another cluster
)

// decide is the rule of DEC-14: "The shell publishes a table only if (generation,
// revision) > the running one. A different cluster id or a lower pair is refused".
func decide(cluster string, running, offered trunkgroup.Version) decision {
	switch {
	case offered.Cluster != cluster:
		return refuseForeign
	case offered.Newer(running):
		return publishIt
	case running.Newer(offered):
		return refuseLower
	}
	return alreadyRuns
}

// Where the running table came from.
const (
	SourceNone = "none"
	SourceDisk = "last-known-good"
	SourceRaft = "raft"
)

// publisher turns documents into running tables. Documents are offered by the
// state machine, which must not wait; one goroutine compiles, saves and publishes
// the newest.
type publisher struct {
	cluster string
	dir     string
	vault   *vault
	compile func([]byte, trunkgroup.Version) (*trunkgroup.Table, error) // nil, nil on a witness
	tell    []func(*trunkgroup.Table)
	applied func(time.Duration) // of each document of the cluster that came into force
	alarms  *alarms
	log     *slog.Logger

	wake    chan struct{}
	stop    chan struct{}
	done    chan struct{}
	started bool

	breaches chan breach

	unwritten bool // what runs is not on disk; of the goroutine that publishes, after start
	disk      *numberDisk
	onNumbers []func(fsm.NumbersRecord)

	mu sync.Mutex
	// The goroutine that publishes alone changes these two, after start.
	canary   bool      // what runs is a canary
	previous fsm.Entry // what ran before it; zero when that is not known

	anew    bool // the next document is published whatever its version
	offered *offer
	fallen  *Fallback // the canary that this node does not run any more
	running fsm.Entry // zero before the first
	table   *trunkgroup.Table
	source  string
	at      time.Time // when it was published
	sum     uint64    // of its text
	changed chan struct{}
	lower   uint64 // documents refused for a lower pair
	foreign uint64 // documents refused for another cluster
	failed  uint64 // documents that did not compile
	unsaved uint64 // tables that could not be written
	numbers numbersState
}

func newPublisher(cfg *Config, v *vault, a *alarms) *publisher {
	return &publisher{
		cluster: cfg.Cluster, dir: cfg.DataDir, vault: v, compile: cfg.table, alarms: a, log: cfg.Logger,
		source: SourceNone, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		applied: func(time.Duration) {}, changed: make(chan struct{}), breaches: make(chan breach), disk: newNumberDisk(cfg.DataDir, cfg.Cluster, v),
	}
}

// load publishes the last known good document at once, before anything else runs.
func (p *publisher) load() error {
	if err := p.loadNumbers(); err != nil {
		return err
	}
	e, ok, err := loadLKG(p.dir, p.vault)
	if err != nil {
		p.log.Error("last known good document cannot be read", "error", err)
	}
	if !ok {
		return nil
	}
	if e.Version.Cluster != p.cluster {
		return fmt.Errorf("cluster: %s belongs to the cluster %q, this node to %q", p.dir, e.Version.Cluster, p.cluster)
	}
	table, err := p.compile(e.Document, e.Version)
	if err != nil {
		p.refuseFaulty(&e, err)
		return nil
	}
	p.run(e, p.join(table), SourceDisk)
	p.loadCanary(e.Version)
	return nil
}

// start tells the watchers of the table that load found, and begins to work.
func (p *publisher) start() {
	_, table, _, _ := p.state()
	p.publish(table)
	p.started = true
	go p.loop()
}

// offer takes a document; of several that wait only the newest is published.
func (p *publisher) offer(o offer) {
	o.since = time.Now()
	p.mu.Lock()
	if p.offered == nil || !p.offered.Version.Newer(o.Version) {
		p.offered = &o
	}
	p.mu.Unlock()
	p.poke()
}

// loop works until close.
func (p *publisher) loop() {
	defer close(p.done)
	for {
		select {
		case <-p.stop:
			return
		case b := <-p.breaches:
			b.done <- p.fallBack(b)
			continue
		case <-p.wake:
		}
		p.mu.Lock()
		o, running, base := p.offered, p.running, p.running.Version
		p.offered = nil
		if p.anew && o != nil {
			p.anew, base = false, trunkgroup.Version{}
		}
		p.mu.Unlock()
		if o != nil {
			p.consider(o, base)
		} else if p.unwritten {
			p.save(&running)
		}
		p.takeNumbers()
	}
}

func (p *publisher) consider(o *offer, running trunkgroup.Version) {
	e := &o.Entry
	if o.canary && p.fellFrom(e.Version) {
		return
	}
	switch decide(p.cluster, running, e.Version) {
	case refuseForeign:
		p.count(&p.foreign)
		p.alarms.raise(AlarmForeign, "refused "+e.Version.String())
	case refuseLower:
		// During the replay this is the rule; the node raises the alarm when the
		// replay is over.
		p.count(&p.lower)
	case alreadyRuns:
		p.confirm(e)
		p.tryCanary(o.canary, e.Version)
	case publishIt:
		table, err := p.compile(e.Document, e.Version)
		if err != nil {
			p.refuseFaulty(e, err)
			return
		}
		p.alarms.clear(AlarmCompile)
		if o.canary && !p.canary {
			p.mu.Lock()
			p.previous = p.running
			p.mu.Unlock()
		}
		p.tryCanary(o.canary, e.Version)
		p.save(e)
		table = p.join(table)
		p.publish(table)
		p.run(*e, table, SourceRaft)
		p.applied(time.Since(o.since))
	}
}

// confirm takes the news that the cluster's document has the version that runs.
func (p *publisher) confirm(e *fsm.Entry) {
	p.mu.Lock()
	same := bytes.Equal(p.running.Document, e.Document)
	if same {
		p.source = SourceRaft
	} else {
		p.lower++
	}
	p.mu.Unlock()
	if !same {
		p.alarms.raise(AlarmLower, otherHistory(e.Version))
	}
}

// refuseFaulty keeps what runs: the document was valid to the build that proposed it.
func (p *publisher) refuseFaulty(e *fsm.Entry, err error) {
	p.count(&p.failed)
	p.log.Error("the cluster's document does not compile here", "version", e.Version.String(), "error", err)
	p.alarms.raise(AlarmCompile, fmt.Sprintf("%s: %v", e.Version, err))
}

// save writes the document; a disk that fails does not keep a table from running.
func (p *publisher) save(e *fsm.Entry) {
	err := saveLKG(p.dir, p.vault, e)
	p.unwritten = err != nil
	if err != nil {
		p.count(&p.unsaved)
		p.log.Error("last known good document cannot be saved", "error", err)
		p.alarms.raise(AlarmSave, err.Error())
		return
	}
	p.alarms.clear(AlarmSave)
}

// run makes the document the running one.
func (p *publisher) run(e fsm.Entry, table *trunkgroup.Table, source string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running, p.table, p.source, p.at, p.sum = e, table, source, time.Now(), textSum(e.Document)
	close(p.changed)
	p.changed = make(chan struct{})
	p.log.Info("table is running", "version", e.Version.String(), "source", source)
}

// textSum makes a number of a document's text that a floating-point number holds whole.
func textSum(document []byte) uint64 {
	if len(document) == 0 {
		return 0
	}
	sum := sha256.Sum256(document)
	return binary.BigEndian.Uint64(sum[:8]) >> 12
}

func (p *publisher) publish(table *trunkgroup.Table) {
	if table == nil {
		return
	}
	for _, f := range p.tell {
		f(table)
	}
}

// state returns the running document and a channel that is closed when it changes.
func (p *publisher) state() (fsm.Entry, *trunkgroup.Table, string, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running, p.table, p.source, p.changed
}

func (p *publisher) count(c *uint64) {
	p.mu.Lock()
	*c++
	p.mu.Unlock()
}

// forget makes the next document that is offered run whatever its version: this node
// changed over to another life of the log, on an operator's order.
func (p *publisher) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.anew, p.offered = true, nil
	p.numbers.anew, p.numbers.waiting = true, nil
}

// poke makes the loop try again what could not be written.
func (p *publisher) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// close ends loop, if it was started, and waits for it.
func (p *publisher) close() {
	close(p.stop)
	if p.started {
		<-p.done
	}
	p.disk.close()
}
