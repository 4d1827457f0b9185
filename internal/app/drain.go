package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/drain"
)

// drainTick is the pause between two looks at what is left on a draining node.
const drainTick = 50 * time.Millisecond

// drainer takes the node out of service (DEC-19): it steps the machine with what
// the node sees, and carries out each phase.
type drainer struct {
	app     *App
	mu      sync.Mutex
	m       *drain.Machine
	done    drain.Phase   // the phase that was carried out last
	refuses bool          // and whether it refuses: drain.Status.Refuse
	ended   chan struct{} // closed with phase 3
	stop    context.CancelFunc
	loop    sync.WaitGroup
}

func newDrainer(a *App, cfg config.Drain) *drainer {
	return &drainer{
		app: a, ended: make(chan struct{}),
		m: drain.New(drain.Config{Announce: cfg.Announce, Quiet: cfg.Quiet, Timeout: cfg.Timeout}),
	}
}

// Drain takes the node out of service, phase by phase; a signal asks for it.
// Ended tells when Stop may follow.
func (a *App) Drain(by string) {
	a.drainer.begin(drain.Order{By: by, Reason: "the process is told to end", Final: true})
}

// Hurry ends a drain at once, whatever is left, and begins it if need be.
func (a *App) Hurry(by string) {
	d := a.drainer
	d.mu.Lock()
	defer d.mu.Unlock()
	d.m.Hurry(time.Now(), drain.Order{By: by, Reason: "the process is told to end at once", Final: true})
	d.carryOut()
}

// Ended is closed when a drain, whoever wanted it, has come to its end: the
// process stops then, which ends what calls are left.
func (a *App) Ended() <-chan struct{} { return a.drainer.ended }

func (d *drainer) begin(o drain.Order) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	d.m.Observe(now, d.facts())
	d.m.Begin(now, o)
	d.carryOut()
	if d.stop != nil || d.done == drain.Ending {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.stop = cancel
	d.loop.Go(func() { d.watch(ctx) })
}

func (d *drainer) undo() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.m.Undo(time.Now()); err != nil {
		return err
	}
	d.carryOut()
	return nil
}

// facts are what the drain goes by. A witness has no calls.
func (d *drainer) facts() drain.Facts {
	if d.app.server == nil {
		return drain.Facts{}
	}
	return d.app.server.DrainFacts()
}

// watch steps the machine until the end of the drain or of the node.
func (d *drainer) watch(ctx context.Context) {
	tick := time.NewTicker(drainTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		d.mu.Lock()
		d.m.Observe(time.Now(), d.facts())
		d.carryOut()
		over := d.done == drain.Serving || d.done == drain.Ending
		if over {
			d.stop()
			d.stop = nil
		}
		d.mu.Unlock()
		if over {
			return
		}
	}
}

// carryOut makes the machine's phase the node's. The lock is held. Phase 3 is
// carried out by Stop.
func (d *drainer) carryOut() {
	st := d.m.Status()
	if st.Phase == d.done {
		if st.Refuse != d.refuses && d.app.server != nil {
			d.refuses = st.Refuse
			d.app.server.Drain(st.Phase, st.Refuse)
		}
		return
	}
	was := d.done
	d.done, d.refuses = st.Phase, st.Refuse
	a, facts := d.app, d.facts()
	a.log.Info("drain", "phase", st.Phase.String(), "was", was.String(), "by", st.Order.By, "reason", st.Order.Reason,
		"calls", facts.Calls, "passed", facts.Passed)
	state := cluster.StateDraining
	if st.Phase == drain.Serving {
		state = cluster.StateReady
	}
	if was == drain.Serving || st.Phase == drain.Serving {
		a.node.SetState(state)
	}
	if a.server != nil {
		a.server.Drain(st.Phase, st.Refuse)
	}
	if st.Phase == drain.Ending {
		close(d.ended)
	}
}

// close ends the watch; the node stops.
func (d *drainer) close(context.Context) error {
	d.mu.Lock()
	if d.stop != nil {
		d.stop()
	}
	d.mu.Unlock()
	d.loop.Wait()
	return nil
}

// status returns what the drain shows.
func (d *drainer) status() drain.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.m.Status()
}

// check is the drain's line of /readyz.
func (d *drainer) check() admin.Check {
	st := d.status()
	c := admin.Check{Name: "drain", Level: admin.Fine}
	if st.Phase != drain.Serving {
		c.Level = admin.Broken
		c.Detail = fmt.Sprintf("%s since %s, by %s: %s", st.Phase, st.Since.UTC().Format(time.RFC3339), st.Order.By, st.Why)
	}
	return c
}

// Drain implements admin.Drainer.
func (d *desk) Drain(context.Context) (admin.Drain, error) {
	w := d.app.drainer
	st, facts := w.status(), w.facts()
	out := admin.Drain{
		Phase: st.Phase.String(), By: st.Order.By, Reason: st.Order.Reason, Why: st.Why, Stay: st.Order.Stay,
		Calls: facts.Calls, Passed: facts.Passed,
	}
	moment := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	out.Since, out.Begun, out.Until = moment(st.Since), moment(st.Begun), moment(st.Until)
	return out, nil
}

// SetDrain implements admin.Drainer.
func (d *desk) SetDrain(ctx context.Context, o admin.DrainOrder) (admin.Drain, error) {
	w := d.app.drainer
	if !o.Undo {
		w.begin(drain.Order{By: o.Author, Reason: o.Reason, Stay: o.Stay})
		return d.Drain(ctx)
	}
	err := w.undo()
	if err != nil && !errors.Is(err, drain.ErrServing) {
		return admin.Drain{}, fmt.Errorf("%w: %w", admin.ErrRefused, err)
	}
	return d.Drain(ctx)
}

// draining tells whether the node is on its way out of service. It is asked for
// metrics, which may be read before the node is whole.
func (d *drainer) draining() bool { return d != nil && d.status().Phase != drain.Serving }
