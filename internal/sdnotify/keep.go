package sdnotify

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Service is what the manager is told of.
type Service interface {
	// Unready says why the node is not ready, or nothing.
	Unready() string
	// Answers returns nil when the loops that carry calls have answered. Where one of them hangs it may hang as well.
	Answers(ctx context.Context) error
	// Line says in one line what the node does.
	Line() string
	// Ends tells whether the node is on its way to its end and nobody can take that back.
	Ends() bool
}

const (
	// patience is how long a node may take to get ready before the manager hears that it is started all the same: a node
	// whose cluster is away routes by what it has on disk, and one that has nothing yet must not be killed for it.
	patience = 30 * time.Second
	// pause is how often the node is looked at, at least.
	pause = 2 * time.Second
)

// Teller takes what is told; it is Manager's.
type Teller interface {
	Tell(lines ...string) error
	Watchdog() time.Duration
	// Serving tells whether READY=1 was told and STOPPING=1 was not.
	Serving() bool
}

// Keep tells the manager of the service until ctx ends: READY=1 once, when it is ready or patience is over; STATUS= when
// the line is another one; WATCHDOG=1 twice in the time that the manager wants, and only while the loops answer;
// STOPPING=1 once, when the end is certain. It is the caller's goroutine that hangs when the service does.
func Keep(ctx context.Context, m Teller, s Service, log *slog.Logger) {
	k := keeper{manager: m, service: s, log: log, began: time.Now()}
	k.look(ctx)
	tick := time.NewTicker(k.every())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			k.look(ctx)
		}
	}
}

type keeper struct {
	manager Teller
	service Service
	log     *slog.Logger
	began   time.Time
	ready   bool
	ends    bool
	silent  bool   // the last look found loops that do not answer
	deaf    bool   // the last message did not arrive
	line    string // told last
}

// every is the time between two looks.
func (k *keeper) every() time.Duration {
	if w := k.manager.Watchdog(); w > 0 {
		return min(pause, w/3)
	}
	return pause
}

// look asks the service and tells what is new, in one message.
func (k *keeper) look(ctx context.Context) {
	var lines []string
	line := k.service.Line()
	why := k.service.Unready()
	if !k.ready && (why == "" || time.Since(k.began) >= patience) {
		k.ready = true
		lines = append(lines, "READY=1")
	}
	if !k.ends && k.service.Ends() {
		k.ends = true
		lines = append(lines, "STOPPING=1")
	}
	if why != "" && !k.ends {
		line += "; not ready: " + why
	}
	if k.answers(ctx) && k.manager.Watchdog() > 0 {
		lines = append(lines, "WATCHDOG=1")
	}
	if line != k.line {
		k.line = line
		lines = append(lines, "STATUS="+line)
	}
	if len(lines) > 0 {
		k.tell(lines)
	}
}

// answers asks the loops of the service, with a bound: a watchdog that is not fed ends the process. They have half of its
// interval, since a busy node is slow and no more than that: with the time between two looks it is fed soon enough.
func (k *keeper) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, max(k.every(), k.manager.Watchdog()/2))
	defer cancel()
	err := k.service.Answers(ctx)
	if silent := err != nil && !errors.Is(context.Cause(ctx), context.Canceled); silent != k.silent {
		k.silent = silent
		if silent {
			k.log.Error("the node does not answer itself; the service manager is told nothing until it does", "error", err)
		} else {
			k.log.Info("the node answers itself again")
		}
	}
	return err == nil
}

// tell sends, and says once when nobody hears it.
func (k *keeper) tell(lines []string) {
	err := k.manager.Tell(lines...)
	if err != nil && !k.deaf {
		k.log.Warn("the service manager is not told how the node is", "error", err)
	}
	k.deaf = err != nil
}

// Reload tells the manager that what fn does is a reload. A node goes on working meanwhile. The end of a reload is told as
// READY=1: of one that happens before the node is ready, or when it ends, the manager hears nothing.
func Reload(m Teller, fn func()) error {
	if !m.Serving() {
		fn()
		return nil
	}
	err := m.Tell("RELOADING=1")
	fn()
	if err != nil || !m.Serving() {
		return err
	}
	return m.Tell("READY=1")
}
