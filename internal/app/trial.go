package app

import (
	"errors"
	"sync/atomic"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/monitor/trial"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
)

// canaryWatch lets this node go back from a canary under which its calls fail
// (DEC-25). Calls cost it two atomic adds.
type canaryWatch struct {
	calls, failed atomic.Uint64
	started       atomic.Uint64 // calls that found somebody to try
	strangers     atomic.Uint64 // INVITEs answered as of nobody known
	judge, doors  trial.Judge   // of the goroutine that calls look
}

// count takes the beginning of a call.
func (w *canaryWatch) count(e *b2bua.Event) {
	if e.Kind == b2bua.EventCallStarted {
		w.started.Add(1)
	}
}

// answered counts an answer to an INVITE.
func (w *canaryWatch) answered(code int) {
	if code == 401 || code == 403 || code == 407 {
		w.strangers.Add(1)
	}
}

// add counts a finished call.
func (w *canaryWatch) add(r *cdr.Record) {
	failed, counts := trial.Failed(r)
	if !counts {
		return
	}
	if failed {
		w.failed.Add(1)
	}
	w.calls.Add(1)
}

// look is called every second.
func (w *canaryWatch) look(a *App) {
	w.doors.Doors = true
	total := trial.Tally{Failed: w.failed.Load(), Calls: w.calls.Load()}
	strangers, canary := w.strangers.Load(), a.canary()
	reason := w.judge.Observe(total, canary)
	if knocked := w.doors.Observe(trial.Tally{Failed: strangers, Calls: w.started.Load() + strangers}, canary); reason == "" {
		reason = knocked
	}
	if reason == "" {
		return
	}
	a.log.Error("the canary does harm here: back to the revision before it", "reason", reason)
	if err := a.node.Breach(reason); err != nil && !errors.Is(err, cluster.ErrNoCanary) {
		a.log.Error("this node could not go back from the canary", "error", err)
	}
}

// canary is the revision that this node tries, 0 for none.
func (a *App) canary() uint64 {
	c, ok := a.node.Canary()
	if !ok || c.Site != a.cfg.Site || c.Fallen != nil {
		return 0
	}
	if t := a.node.Table(); t == nil || t.Version() != c.Version {
		return 0
	}
	return c.Version.Revision
}
