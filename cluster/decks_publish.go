package cluster

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// decksOffer is an edition of the rate decks, as the state machine has it.
type decksOffer struct {
	list    []fsm.Deck
	version trunkgroup.Version // Revision is the edition
	// record says who changed what; nil when only the outcome is known.
	record *fsm.DecksRecord
}

// deckKeeper makes the rate decks of the log the running ones: on disk first, then told. It
// has a goroutine of its own, since whoever is told reads millions of rows.
type deckKeeper struct {
	cluster string
	disk    *deckDisk
	alarms  *alarms
	log     *slog.Logger
	tell    []func(Decks, []fsm.DecksRecord)

	wake    chan struct{}
	stop    chan struct{}
	done    chan struct{}
	started bool
	unsaved bool // what runs is not on disk; of the goroutine, after start

	mu      sync.Mutex
	offered *decksOffer // the newest
	records []fsm.DecksRecord
	anew    bool // the next edition is published whatever its version
	partial bool // what was read from disk is not all of its edition
	running Decks
	changed chan struct{}
}

// maxWaitingRecords bounds what is told of who changed what.
const maxWaitingRecords = 64

func newDeckKeeper(cfg *Config, v *vault, a *alarms) *deckKeeper {
	return &deckKeeper{
		cluster: cfg.Cluster, disk: newDeckDisk(cfg.DataDir, v), alarms: a, log: cfg.Logger,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{}),
	}
}

// load reads the rate decks that this node had last. What cannot be read is an alarm.
func (k *deckKeeper) load() error {
	list, v, err := k.disk.load()
	if err != nil {
		k.log.Error("rate decks on disk cannot be read", "error", err)
		k.alarms.raise(AlarmDecksSave, fmt.Sprintf("%v; calls go on with the others of edition %s; the nodes of the cluster bring the rest", err, v))
	}
	if v.Revision == 0 {
		return nil
	}
	if v.Cluster != k.cluster {
		return fmt.Errorf("cluster: %s belongs to the cluster %q, this node to %q", k.disk.dir, v.Cluster, k.cluster)
	}
	k.partial = err != nil
	k.running = Decks{List: list, Version: v, Source: SourceDisk, At: time.Now()}
	return nil
}

// start tells the watchers of the decks that load found, and begins to work.
func (k *deckKeeper) start() {
	if d := k.state(); d.Version.Revision > 0 {
		k.announce(d, nil)
	}
	k.started = true
	go k.loop()
}

// offer takes an edition; of several that wait only the newest is published.
func (k *deckKeeper) offer(o decksOffer) {
	k.mu.Lock()
	if o.record != nil && len(k.records) < maxWaitingRecords {
		k.records = append(k.records, *o.record)
	}
	k.offered = &o
	k.mu.Unlock()
	k.poke()
}

func (k *deckKeeper) loop() {
	defer close(k.done)
	for {
		select {
		case <-k.stop:
			return
		case <-k.wake:
			k.take()
		}
	}
}

// take publishes the newest edition that was offered, after it is on disk (DEC-14).
func (k *deckKeeper) take() {
	k.mu.Lock()
	o, records, base := k.offered, k.records, k.running.Version
	k.offered, k.records = nil, nil
	if base.Revision == 0 {
		base = trunkgroup.Version{Cluster: k.cluster, Generation: 1} // none, as the cluster begins
	}
	if k.anew && o != nil {
		k.anew, base = false, trunkgroup.Version{}
	}
	running, partial := k.running, k.partial
	k.mu.Unlock()
	if o == nil {
		if k.unsaved {
			k.save(running.List, running.Version)
		}
		return
	}
	switch what := decide(k.cluster, base, o.version); {
	case what == refuseForeign:
		k.alarms.raise(AlarmForeign, "refused rate decks of "+o.version.String())
	case what == refuseLower:
		k.mu.Lock()
		k.running.Lower++
		k.mu.Unlock()
	case what == publishIt, what == alreadyRuns && partial:
		k.run(o, records)
	case o.version.Revision > 0:
		k.confirm(o, running.List)
	}
}

// confirm takes the news that the cluster's rate decks have the version that runs.
func (k *deckKeeper) confirm(o *decksOffer, running []fsm.Deck) {
	same := slices.EqualFunc(o.list, running, func(a, b fsm.Deck) bool { return a.Name == b.Name && a.DeckKind == b.DeckKind })
	k.mu.Lock()
	if same {
		k.running.Source = SourceRaft
	} else {
		k.running.Lower++
	}
	k.mu.Unlock()
	if !same {
		k.alarms.raise(AlarmDecksLower, o.version.String()+": this node has other rate decks of the same edition; restart it when those of the cluster are the right ones")
	}
}

func (k *deckKeeper) run(o *decksOffer, records []fsm.DecksRecord) {
	k.save(o.list, o.version)
	k.mu.Lock()
	d := Decks{List: o.list, Version: o.version, Source: SourceRaft, At: time.Now(), Lower: k.running.Lower}
	k.mu.Unlock()
	k.announce(d, records)
	k.mu.Lock()
	k.running, k.partial = d, false
	close(k.changed)
	k.changed = make(chan struct{})
	k.mu.Unlock()
	k.log.Info("rate decks are running", "version", o.version.String(), "decks", len(o.list))
}

// save writes the decks; a disk that fails does not keep them from running.
func (k *deckKeeper) save(list []fsm.Deck, v trunkgroup.Version) {
	err := k.disk.keep(list, v)
	k.unsaved = err != nil
	if err != nil {
		k.log.Error("rate decks cannot be saved", "error", err)
		k.alarms.raise(AlarmDecksSave, fmt.Sprintf("%v; calls go on with edition %s; free the disk: it is tried again", err, v))
		return
	}
	k.alarms.clear(AlarmDecksSave)
}

func (k *deckKeeper) announce(d Decks, records []fsm.DecksRecord) {
	for _, f := range k.tell {
		f(d, records)
	}
}

// state returns the decks that run; Uploads is empty.
func (k *deckKeeper) state() Decks {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running
}

// now returns the version that runs, and a channel that is closed when it changes.
func (k *deckKeeper) now() (trunkgroup.Version, <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running.Version, k.changed
}

// forget makes the next edition that is offered run whatever its version, as that of the
// publisher.
func (k *deckKeeper) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.anew, k.offered, k.records = true, nil, nil
}

// poke makes the loop look again, also for what could not be written.
func (k *deckKeeper) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// close ends loop, if it was started, and waits for it.
func (k *deckKeeper) close() {
	close(k.stop)
	if k.started {
		<-k.done
	}
}
