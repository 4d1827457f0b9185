package prober

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// loop owns the state machines.
type loop struct {
	p        *Prober
	targets  map[verdict.Key]*target
	schedule schedule
	queue    []*target // due, waiting for a free slot, oldest first
	running  int
	paused   bool // no probe is sent, and no verdict changes
	results  chan result
	last     time.Time // when the loop last ran
}

// result is what came of one probe.
type result struct {
	t    *target
	life int
	got  trunkgroup.ProbeResult
}

func (l *loop) run() {
	defer l.end()
	timer := time.NewTimer(0)
	defer timer.Stop()
	l.last = l.p.cfg.Now()
	for {
		select {
		case <-l.p.ctx.Done():
			return
		case r := <-l.results:
			l.checkClock()
			l.finished(r)
		case <-l.p.wake:
			l.checkClock()
			now := l.p.cfg.Now()
			for _, order := range l.p.takeOrders() {
				order(l, now)
			}
		case <-timer.C:
			l.checkClock()
		}
		timer.Reset(l.work())
	}
}

// end cancels the probes in flight and waits for them.
func (l *loop) end() {
	for _, t := range l.targets {
		if t.cancel != nil {
			t.cancel()
		}
	}
	for ; l.running > 0; l.running-- {
		<-l.results
	}
}

// work does all that is due and returns how long there is nothing to do.
func (l *loop) work() time.Duration {
	now := l.p.cfg.Now()
	for len(l.schedule) > 0 && !l.schedule[0].due.After(now) {
		l.service(now, l.schedule[0])
	}
	for len(l.queue) > 0 && l.running < l.p.cfg.Parallel {
		t := l.queue[0]
		l.queue = l.queue[1:]
		if t.ready = false; !t.gone {
			l.probe(t)
		}
	}
	if l.paused {
		l.retell(now)
	}
	if len(l.schedule) == 0 {
		return tick
	}
	return min(tick, max(0, l.schedule[0].due.Sub(now)))
}

// service does what a target is due for.
func (l *loop) service(now time.Time, t *target) {
	if d := t.health.Deadline(); !d.IsZero() && !d.After(now) {
		t.health.Expire(now)
		t.note(now, nil)
		l.tell(now, t, false)
	}
	next := t.health.NextProbe()
	if t.cancel == nil && !t.ready && !t.paused && !next.IsZero() && !next.After(now) && !t.notBefore.After(now) {
		t.ready = true
		l.queue = append(l.queue, t)
	}
	l.schedule.place(t)
}

// probe sends one probe with a timeout of its own (PRB-03).
func (l *loop) probe(t *target) {
	ctx, cancel := context.WithTimeout(l.p.ctx, t.Member.Group.Monitoring.Timeout)
	t.cancel = cancel
	l.running++
	l.schedule.place(t)
	sent, who, life := l.p.cfg.Now(), t.Target, t.life
	go func() {
		defer cancel()
		code, rtt, retryAfter, err := l.p.cfg.Pinger.Ping(ctx, who)
		if rtt <= 0 {
			rtt = l.p.cfg.Now().Sub(sent)
		}
		got := trunkgroup.ProbeResult{Kind: trunkgroup.Reply, Code: code, RTT: rtt, RetryAfter: retryAfter}
		switch {
		case errors.Is(err, context.Canceled):
			got = trunkgroup.ProbeResult{} // nobody wants it any more
		case errors.Is(err, context.DeadlineExceeded), err == nil && code == 0:
			got = trunkgroup.ProbeResult{Kind: trunkgroup.Timeout, RTT: rtt}
		case err != nil:
			got = trunkgroup.ProbeResult{Kind: trunkgroup.TransportError, RTT: rtt, Detail: detail(err)}
		}
		l.results <- result{t, life, got} // has room for every probe in flight
	}()
}

// detail is what an operator needs of a transport error: the system's word for it, or all of the text.
func detail(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return err.Error()
}

// finished takes a probe's result.
func (l *loop) finished(r result) {
	l.running--
	t := r.t
	t.cancel = nil
	if t.gone {
		return
	}
	now := l.p.cfg.Now()
	if r.got.Kind != 0 && r.life == t.life {
		t.health.Probe(now, r.got)
		t.note(now, &r.got)
		l.tell(now, t, true)
	}
	l.schedule.place(t)
}

// tell reports a target.
func (l *loop) tell(now time.Time, t *target, probed bool) {
	state := t.health.State()
	changed := state != t.told
	t.told, t.toldAt = state, now
	l.p.cfg.OnUpdate(Update{
		Target: t.Target, Health: t.health, Out: t.out, Silent: t.silent, Probed: probed, Changed: changed, At: now,
	})
}

// change lets f work on a target and reports what it changed.
func (l *loop) change(now time.Time, key verdict.Key, f func(*target)) {
	t := l.targets[key]
	if t == nil {
		return
	}
	was := t.health.State()
	f(t)
	t.note(now, nil)
	if t.health.State() != was {
		l.tell(now, t, false)
	}
	l.schedule.place(t)
}
