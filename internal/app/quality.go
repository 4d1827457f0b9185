package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/monitor/metrics"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/quality"
)

const (
	// qualityTick is how often the nodes tell each other what became of calls to
	// members, and judge the sum.
	qualityTick = time.Second
	// alarmQuality: the calls of a member did worse than its group demands, and it
	// goes on to get calls, since it is the last one of its group in a site.
	alarmQuality = "quality_floor"
)

// callQuality moves what became of calls to members between the shards and the soft
// state, and the bars that follow to the monitor. It is off the path of calls: they
// meet the Watch alone.
type callQuality struct {
	*quality.Watch

	app    *App
	log    *slog.Logger
	soft   *cluster.Soft
	full   bool // the soft state had no room
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newCallQuality(a *App) *callQuality {
	q := &callQuality{Watch: quality.NewWatch(), app: a, log: a.log.With("component", "quality"), soft: a.soft}
	a.soft.OnChange(q.changed)
	return q
}

func (q *callQuality) start() {
	ctx, cancel := context.WithCancel(context.Background())
	q.cancel = cancel
	q.done.Go(func() { q.run(ctx) })
}

func (q *callQuality) stop(context.Context) error {
	if q.cancel != nil {
		q.cancel()
		q.done.Wait()
	}
	return nil
}

// run tells and judges until the node stops.
func (q *callQuality) run(ctx context.Context) {
	tick := time.NewTicker(qualityTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		q.tell()
		q.judge(time.Now())
		q.alarm()
	}
}

// tell puts into the soft state what is new of this node's: one entry for each
// member.
func (q *callQuality) tell() {
	untold := 0
	q.soft.Do(func(now time.Time, store *soft.Store) {
		untold = q.Spread(now, func(member string, value []byte) error {
			if value == nil {
				store.Delete(now, soft.KindQuality, member)
				return nil
			}
			return store.Put(now, soft.KindQuality, member, value, 0)
		})
	})
	if full := untold > 0; full != q.full {
		if q.full = full; full {
			q.log.Warn("the other nodes do not know what became of calls to members: the soft state is full; raise soft_state", "members", untold)
		}
	}
}

// judge decides anew who gets no calls, and says so in the log.
func (q *callQuality) judge(now time.Time) {
	changes := q.Judge(now)
	for _, c := range changes {
		if c.Bar.Until.IsZero() {
			q.log.Info("a member, or a carrier of a plan, is judged anew by its calls", "member", c.Member)
			continue
		}
		q.log.Warn("calls to a member, or to a carrier of a plan, do worse than is demanded", "member", c.Member, "reason", c.Bar.Reason,
			"since", c.Bar.Since.UTC().Format(time.RFC3339), "until", c.Bar.Until.UTC().Format(time.RFC3339))
	}
	if len(changes) > 0 {
		q.app.watch.monitor.Rejudge()
	}
}

// alarm tells of members that ought to get no calls and are the last of their group
// in this node's site.
func (q *callQuality) alarm() {
	detail := ""
	if q.Any(time.Now()) {
		detail = q.spared(q.app.watch.monitor.Board())
	}
	q.app.alarmIf(alarmQuality, detail)
}

// spared says who they are, and why; empty for nobody.
func (q *callQuality) spared(b *verdict.Board) string {
	if b == nil {
		return ""
	}
	var list []string
	for _, s := range b.Spared() {
		if s.Member.Site == q.app.cfg.Site {
			list = append(list, s.Member.Key+": "+s.Spared.Reason)
		}
	}
	if len(list) == 0 {
		return ""
	}
	slices.Sort(list)
	return fmt.Sprintf("calls go on to the last member of a group though they do badly (%s): look at the carrier, or give the group another member",
		strings.Join(list, "; "))
}

// changed takes news of other nodes. When a node is gone its counts are too.
func (q *callQuality) changed(changes []soft.Change) {
	for i := range changes {
		e := &changes[i]
		if e.Kind != soft.KindQuality {
			continue
		}
		value := e.Value
		if e.Reason != soft.Put {
			value = nil
		}
		process := e.Owner + "/" + strconv.FormatUint(e.Boot, 10)
		if err := q.Heard(process, e.Key, value, e.Since); err != nil {
			q.log.Debug("counts of another node are of no use", "peer", e.Owner, "error", err)
		}
	}
}

// count takes one event. It is on the path of calls: no lock, no allocation.
func (q *callQuality) count(e *b2bua.Event) {
	if q == nil || e.Member == nil || e.Member.Group.Quality == nil {
		return
	}
	switch e.Kind {
	case b2bua.EventAttempt:
		q.Attempt(time.Now(), e.Member, quality.OutcomeOf(e.Dialed, e.Final, e.Code, e.Reason), e.Final)
	case b2bua.EventCallEnded:
		q.Ended(time.Now(), e.Member, seconds(e.Value))
	}
}

// up takes an operator's word that a member is to get calls.
func (q *callQuality) up(member string) {
	if q.Lift(time.Now(), member) {
		q.log.Info("an operator's word ends a bar of quality", "member", member)
	}
}

// metrics is what /metrics shows of members whose group demands something.
func (q *callQuality) metrics() []metrics.Quality {
	var list []metrics.Quality
	for _, r := range q.Reports(time.Now()) {
		m := r.Member
		list = append(list, metrics.Quality{
			Group: m.Group.Name, Site: m.Site, Member: m.ID, Barred: !r.Bar.Until.IsZero(), Attempts: r.Tally.Attempts,
			Answered: r.Tally.Answered, Delivered: r.Tally.Delivered, Short: min(r.Tally.Short, r.Tally.Answered),
			Ended: r.Tally.Ended, Talk: time.Duration(r.Tally.Seconds) * time.Second,
		})
	}
	slices.SortFunc(list, func(a, b metrics.Quality) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Member, b.Member))
	})
	return list
}

// attemptFault says whose doing the end of an attempt was.
func attemptFault(e *b2bua.Event) metrics.Fault {
	switch quality.OutcomeOf(e.Dialed, e.Final, e.Code, e.Reason) {
	case quality.Answered:
		return metrics.FaultNone
	case quality.Callee:
		return metrics.FaultCallee
	case quality.Number:
		return metrics.FaultNumber
	case quality.Ours:
		return metrics.FaultOurs
	case quality.Carrier:
		return metrics.FaultCarrier
	}
	return metrics.FaultCaller
}
