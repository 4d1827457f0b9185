package app

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/internal/pushlist"
	"github.com/tandem-sbc/tandem/monitor/metrics"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/quality"
	"github.com/tandem-sbc/tandem/sbc/tally"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// tallyTick is how often what calls reported is counted.
	tallyTick = 250 * time.Millisecond
	// tallyTell is how often the nodes tell each other their sums.
	tallyTell = 5 * time.Second
	// tallyBacklog bounds what waits to be counted.
	tallyBacklog = 200_000
)

// tallies counts what calls to carriers, groups, sites and destinations came to. Calls
// only push what they saw.
type tallies struct {
	site    string
	log     *slog.Logger
	soft    *cluster.Soft
	quality *quality.Watch
	list    pushlist.List[tallied]
	waiting atomic.Int64
	lost    atomic.Uint64 // events beyond the backlog
	full    bool          // the soft state had no room

	mu    sync.Mutex
	board *tally.Board
	// asked is what decision servers are told of carriers, see attributes.
	asked atomic.Pointer[[]trunkgroup.NameValue]

	cancel context.CancelFunc
	done   sync.WaitGroup
}

// tallied is one event of a call.
type tallied struct {
	tally.Attempt
	plan    string
	outcome quality.Outcome
	final   bool
	ended   bool
	lasted  time.Duration
}

func newTallies(a *App) *tallies {
	t := &tallies{site: a.cfg.Site, log: a.log.With("component", "quality"), soft: a.soft, quality: a.quality.Watch, board: tally.New(tally.Config{})}
	a.soft.OnChange(t.changed)
	return t
}

// count takes one event. It is on the path of calls: it takes no lock, and one allocation
// of what is pushed.
func (t *tallies) count(e *b2bua.Event) {
	switch {
	case t == nil, e.Member == nil && e.Carrier == "":
		return
	case e.Kind == b2bua.EventAttempt:
		o := quality.OutcomeOf(e.Dialed, e.Final, e.Code, e.Reason)
		if !quality.Counts(o, e.Final) {
			return
		}
		x := tallied{Attempt: t.attempt(e), plan: e.Plan, outcome: o, final: e.Final}
		x.Answered, x.Delivered = o == quality.Answered, o == quality.Callee
		x.Rang, x.Wait = e.Rang, e.Wait
		t.push(x)
	case e.Kind == b2bua.EventCallEnded && e.Answered:
		t.push(tallied{Attempt: t.attempt(e), plan: e.Plan, ended: true, lasted: seconds(e.Value)})
	}
}

func (t *tallies) attempt(e *b2bua.Event) tally.Attempt {
	a := tally.Attempt{Carrier: e.Carrier, Site: t.site, Called: e.Called}
	if e.Member != nil {
		a.Group = e.Member.Group.Name
	}
	return a
}

func (t *tallies) push(x tallied) {
	if t.waiting.Add(1) > tallyBacklog {
		t.waiting.Add(-1)
		t.lost.Add(1)
		return
	}
	t.list.Push(x)
}

func (t *tallies) start() {
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	t.done.Go(func() { t.run(ctx) })
}

func (t *tallies) stop(context.Context) error {
	if t.cancel != nil {
		t.cancel()
		t.done.Wait()
	}
	return nil
}

func (t *tallies) run(ctx context.Context) {
	tick := time.NewTicker(tallyTick)
	defer tick.Stop()
	told, summed := time.Now(), time.Time{}
	var batch []tallied
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			batch = t.work(now, batch[:0])
			if now.Sub(summed) >= time.Second {
				summed = now
				t.sum()
			}
			if now.Sub(told) >= tallyTell {
				told = now
				t.tell()
			}
		}
	}
}

// work counts what waits.
func (t *tallies) work(now time.Time, batch []tallied) []tallied {
	batch = t.list.Take(batch)
	if len(batch) == 0 {
		return batch
	}
	t.waiting.Add(-int64(len(batch)))
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range batch {
		x := &batch[i]
		judged := x.plan != "" && x.Carrier != ""
		switch {
		case x.ended:
			t.board.Ended(now, &x.Attempt, x.lasted)
			if judged {
				t.quality.CarrierEnded(now, x.plan, x.Carrier, x.lasted)
			}
		default:
			t.board.Attempt(now, &x.Attempt)
			if judged {
				t.quality.CarrierAttempt(now, x.plan, x.Carrier, x.outcome, x.final)
			}
		}
	}
	clear(batch)
	return batch
}

// tell puts this node's sums into the soft state.
func (t *tallies) tell() {
	untold := 0
	t.soft.Do(func(now time.Time, store *soft.Store) {
		t.mu.Lock()
		defer t.mu.Unlock()
		untold = t.board.Spread(now, func(key string, value []byte) error {
			if value == nil {
				store.Delete(now, soft.KindCounter, key)
				return nil
			}
			return store.Put(now, soft.KindCounter, key, value, 0)
		})
	})
	if full := untold > 0; full != t.full {
		if t.full = full; full {
			t.log.Warn("the other nodes do not know what became of calls to carriers: the soft state is full; raise soft_state", "keys", untold)
		}
	}
}

// changed takes news of other nodes. When a node is gone its counts are too.
func (t *tallies) changed(changes []soft.Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range changes {
		e := &changes[i]
		if e.Kind != soft.KindCounter {
			continue
		}
		value := e.Value
		if e.Reason != soft.Put {
			value = nil
		}
		if err := t.board.Heard(e.Owner+"/"+strconv.FormatUint(e.Boot, 10), e.Key, value); err != nil {
			t.log.Debug("counts of another node are of no use", "peer", e.Owner, "error", err)
		}
	}
}

// Sum is what all nodes have counted of a key.
func (t *tallies) Sum(k tally.Key, w tally.Window) tally.Sum {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.board.Sum(time.Now(), k, w)
}

// maxAsked bounds the carriers that a decision server is told of.
const maxAsked = 64

// sum makes what decision servers are told, so that a question only takes it.
func (t *tallies) sum() {
	var list []trunkgroup.NameValue
	add := func(name string, v float64, ok bool, format byte, digits int) {
		if ok {
			list = append(list, trunkgroup.NameValue{Name: name, Value: strconv.FormatFloat(v, format, digits, 64)})
		}
	}
	carriers := 0
	for _, r := range t.rows(tally.Hour) {
		if r.Scope != tally.Carrier || carriers == maxAsked {
			continue
		}
		carriers++
		add("quality."+r.Name+".attempts", float64(r.Attempts), true, 'f', 0)
		v, ok := r.ASR()
		add("quality."+r.Name+".asr", v, ok, 'f', 4)
		v, ok = r.NER()
		add("quality."+r.Name+".ner", v, ok, 'f', 4)
		v, ok = r.ACD()
		add("quality."+r.Name+".acd_seconds", v, ok, 'f', 1)
		v, ok = r.PDD()
		add("quality."+r.Name+".pdd_seconds", v, ok, 'f', 3)
	}
	t.asked.Store(&list)
}

// attributes is what a decision server is told of the carriers' last hour.
func (t *tallies) attributes(*b2bua.RouteQuery) []trunkgroup.NameValue {
	if list := t.asked.Load(); list != nil {
		return slices.Clip(*list) // who appends to it copies it
	}
	return nil
}

// rows lists what a window has something of.
func (t *tallies) rows(w tally.Window) []tally.Row {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.board.Rows(time.Now(), w)
}

// metrics is what /metrics shows: carriers, groups and sites, and no destinations, of
// which there are very many.
func (t *tallies) metrics() metrics.Tallies {
	out := metrics.Tallies{Lost: t.lost.Load()}
	for _, w := range []tally.Window{tally.FiveMinutes, tally.Hour} {
		for _, r := range t.rows(w) {
			if r.Scope == tally.Destination {
				continue
			}
			out.Rows = append(out.Rows, metrics.Tally{
				Scope: r.Scope.String(), Name: r.Name, Window: w.String(), Attempts: r.Attempts,
				ASR: known(r.ASR()), NER: known(r.NER()), ACD: known(r.ACD()), PDD: known(r.PDD()),
			})
		}
	}
	return out
}
