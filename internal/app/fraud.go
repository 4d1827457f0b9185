package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/sbc/fraud"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// fraudTick is how often the nodes tell each other what they counted.
	fraudTick = time.Second
	// fraudLife is how long counts are kept: a day and the slot that began it.
	fraudLife = 25 * time.Hour
	// fraudAgain tells everything anew, so that it does not expire while it counts.
	fraudAgain = 10 * time.Minute
	// originsTick is how often the file of the do-not-originate list is looked at.
	originsTick = 5 * time.Second
)

// frauds moves counts of customers' calls between the shards' Watch and the soft
// state, and tells of bounds that are passed.
type frauds struct {
	app   *App
	log   *slog.Logger
	watch *fraud.Watch
	soft  *cluster.Soft

	mu    sync.Mutex
	table *trunkgroup.Table

	told   map[string]time.Time // trips that were logged, by customer, rule and bound
	alone  map[string]bool      // customers whose counts found no room: it is said once
	file   os.FileInfo          // of the do-not-originate list, as last read
	fault  string               // of reading it
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newFrauds(a *App) *frauds {
	return &frauds{
		app: a, log: a.log.With("component", "fraud"), watch: fraud.NewWatch(), soft: a.soft, told: make(map[string]time.Time), alone: make(map[string]bool),
	}
}

// use takes a table before its first call.
func (f *frauds) use(t *trunkgroup.Table) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.table != t {
		f.table = t
		f.watch.SetTable(t)
	}
}

func (f *frauds) current() *trunkgroup.Table {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.table
}

func (f *frauds) start() {
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	f.done.Go(func() { f.run(ctx) })
}

func (f *frauds) stop(context.Context) error {
	if f.cancel != nil {
		f.cancel()
		f.done.Wait()
	}
	return nil
}

func (f *frauds) run(ctx context.Context) {
	tick := time.NewTicker(fraudTick)
	defer tick.Stop()
	var again, origins time.Time
	for {
		now := time.Now()
		if now.Sub(origins) >= originsTick {
			origins = now
			f.readOrigins()
		}
		all := now.Sub(again) >= fraudAgain
		if all {
			again = now
		}
		f.exchange(now.Add(f.app.cfg.ClockOffset), all)
		f.tell(now)
		select {
		case <-ctx.Done():
			f.exchange(time.Now().Add(f.app.cfg.ClockOffset), false)
			return
		case <-tick.C:
		}
	}
}

// exchange puts what changed here and takes what all others have.
func (f *frauds) exchange(now time.Time, all bool) {
	f.soft.Do(func(at time.Time, store *soft.Store) {
		f.watch.Spread(now, all, func(customer string, counts []byte) {
			err := store.Put(at, soft.KindFraud, customer, counts, fraudLife)
			if err != nil && !f.alone[customer] {
				f.log.Warn("counts of a customer's calls stay on this node", "customer", customer, "error", err)
			}
			f.alone[customer] = err != nil
		})
		bad := f.watch.Collect(now, func(fn func(string, []byte)) {
			store.Each(soft.KindFraud, func(e soft.Entry) bool {
				if e.Owner != f.app.cfg.Name || e.Boot != f.app.node.Boot() {
					fn(e.Key, e.Value)
				}
				return true
			})
		})
		if bad > 0 {
			f.log.Debug("counts of another node could not be read", "entries", bad)
		}
	})
}

// tell logs each bound once when calls begin to pass it.
func (f *frauds) tell(now time.Time) {
	t := f.current()
	if t == nil {
		return
	}
	for _, u := range f.watch.Usage(now, t) {
		for _, trip := range u.Trips {
			key := u.Customer + " " + trip.Rule + " " + trip.Bound
			if f.told[key].Equal(trip.Since) {
				continue
			}
			f.told[key] = trip.Since
			f.log.Warn("calls of a customer pass a bound", "customer", u.Customer, "rule", trip.Rule, "bound", trip.Bound,
				"action", trip.Action.String(), "next", "see: tandem fraud list")
		}
	}
}

// readOrigins reads the node's do-not-originate list when its file has changed.
func (f *frauds) readOrigins() {
	path := f.app.cfg.SIP.DoNotOriginate
	if path == "" {
		return
	}
	info, err := os.Stat(path)
	if err == nil && f.file != nil && info.ModTime().Equal(f.file.ModTime()) && info.Size() == f.file.Size() {
		return
	}
	var list *trunkgroup.NumberIndex
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path) // reading a pipe could wait for ever
	}
	if err == nil {
		list, err = loadOrigins(path)
	}
	if err != nil {
		// The list that is in force stays: no list would open the door.
		if text := err.Error(); text != f.fault {
			f.fault = text
			f.log.Error("the do-not-originate list cannot be read; the last one stays in force", "file", path, "error", err)
		}
		return
	}
	f.file, f.fault = info, ""
	f.watch.SetOrigins(list)
	f.log.Info("do-not-originate list", "file", path, "entries", list.Len())
}

// errEmptyList is for a list without entries: somebody writes it just now, or could not.
var errEmptyList = errors.New("it is empty; without a list take sip.do_not_originate out of the node file")

// loadOrigins reads one pattern per line; empty lines and those that begin with #
// say nothing.
func loadOrigins(path string) (*trunkgroup.NumberIndex, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var bad error
	list, err := trunkgroup.BuildNumbers(func(yield func(trunkgroup.Pattern, int) bool) {
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			p, err := trunkgroup.ParsePattern(line)
			if err != nil {
				bad = fmt.Errorf("line %d: %w", n, err)
				return
			}
			if !yield(p, 0) {
				return
			}
		}
	})
	if err = cmp.Or(bad, err); err != nil {
		return nil, err
	}
	if list.Len() == 0 {
		return nil, errEmptyList
	}
	return list, nil
}
