package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/monitor/audit"
	"github.com/tandem-sbc/tandem/monitor/recent"
	"github.com/tandem-sbc/tandem/sbc"
)

// App is a node: a SIP node with everything, or a witness that only votes.
type App struct {
	cfg      *config.Config
	log      *slog.Logger
	logs     *logs // under log: never blocks
	node     *cluster.Node
	server   *sbc.Server    // nil on a witness
	soft     *cluster.Soft  // nil on a witness
	regs     *registrations // nil on a witness
	watch    *watch
	desk     *desk
	keys     *keeper
	door     *door // nil: the node admits nobody
	targets  *targets
	drainer  *drainer
	limits   *limits       // nil on a witness
	accounts *accounts     // nil on a witness
	frauds   *frauds       // nil on a witness
	doors    *doors        // nil on a witness
	sessions *callSessions // nil on a witness
	quality  *callQuality  // nil on a witness
	charging *charger      // nil on a witness
	hooks    *hooks        // nil on a witness
	decks    *rateDecks    // nil on a witness
	tallies  *tallies      // nil on a witness
	finder   *callIndex    // nil on a witness
	routes   *callRoutes   // nil on a witness
	recent   *recent.Ring  // what the last calls asked
	audit    *audit.Log    // who changed what
	started  time.Time

	failed   chan error // why the process must end, at most one
	cleanups []cleanup
	stopped  bool
}

// hangUpPatience is how long Stop waits for the far ends of calls that it ends.
const hangUpPatience = 3 * time.Second

// cleanup is one step of Stop.
type cleanup struct {
	name string
	run  func(ctx context.Context) error
}

// onStop registers a step of Stop on the line after what it undoes.
func (a *App) onStop(name string, run func(ctx context.Context) error) {
	a.cleanups = append(a.cleanups, cleanup{name, run})
}

// New does everything that can fail: it opens the data directory, loads the
// last known good document, binds all sockets. An App that New returned must be
// stopped, started or not.
func New(ctx context.Context, cfg *config.Config, build string, log *slog.Logger) (*App, error) {
	queue := newLogs(log.Handler())
	a := &App{cfg: cfg, logs: queue, log: slog.New(queue).With("node", cfg.Name, "site", cfg.Site), started: time.Now(), failed: make(chan error, 1)}
	a.recent = recent.New(recent.DefaultSize)
	if err := a.build(ctx, build); err != nil {
		return nil, errors.Join(err, a.Stop(ctx))
	}
	return a, nil
}

// build wires the parts. It is one straight line, since the order is the
// point: records before calls, the table before the sockets are read.
func (a *App) build(ctx context.Context, build string) error {
	var err error
	if a.audit, err = openAudit(a); err != nil {
		return err
	}
	a.onStop("audit trail", a.audit.Stop)
	if a.keys, err = newKeeper(a); err != nil {
		return err
	}
	node, err := newCluster(ctx, a.cfg, a.keys.current(), build, a.log)
	if err != nil {
		return err
	}
	a.node = node
	if a.door, err = newDoor(a); err != nil {
		return errors.Join(err, node.Stop(ctx))
	}
	a.targets = newTargets(a)
	a.onStop("targets of Prometheus", a.targets.stop)
	a.onStop("cluster", node.Stop)
	node.OnAlarm(a.alarm)
	node.OnNumbers(a.auditNumbers)
	if !a.cfg.Witness {
		a.soft = softState(a)
		a.doors = newDoors(a)
		a.regs = newRegistrations(a)
		a.sessions = newCallSessions(a)
		a.quality = newCallQuality(a)
		a.hooks = newHooks(a, build)
		a.onStop("webhooks", a.hooks.stop)
		a.tallies = newTallies(a)
		a.decks = newRateDecks(a)
		if a.routes, err = newCallRoutes(a, build); err != nil {
			return err
		}
		a.routes.attributes = a.tallies.attributes
		a.routes.deck = a.decks.routes
		a.onStop("soft state", a.stopSoft) // after the last record is on disk
	}
	if !a.cfg.Witness {
		if a.finder, err = newCallIndex(a); err != nil {
			return err
		}
		a.onStop("index of call records", a.finder.stop)
	}
	a.watch, err = newWatch(a, build)
	if err != nil {
		return err
	}
	a.onStop("records and probes", a.watch.stop)
	if !a.cfg.Witness {
		if a.limits, err = newLimits(a); err != nil {
			return err
		}
		a.onStop("limits", a.limits.stop)
		a.frauds = newFrauds(a)
		a.onStop("fraud counts", a.frauds.stop)
		if a.charging, err = newCharger(a); err != nil {
			return err
		}
		a.onStop("charging", a.charging.stop)
		a.onStop("counts of calls", a.sessions.stop)
		a.onStop("quality of calls", a.quality.stop)
		a.onStop("what calls came to", a.tallies.stop)
		a.onStop("decision servers", a.routes.stop)
		if a.server, err = newServer(a.cfg, a.keys, uint32(node.Boot()), node, a.watch, a.log); err != nil {
			return err
		}
		a.onStop("sip", a.stopCalls)
		a.doors.serve(a.server.CloseFrom)
		a.onStop("doors", a.doors.stop)
		a.accounts = a.watch.keepAccounts()
		a.onStop("registrations at carriers", a.accounts.stop)
		a.watch.serve(a.server)
	}
	a.drainer = newDrainer(a, a.cfg.Drain)
	a.onStop("drain", a.drainer.close)
	a.onStop("keys", a.keys.stop)
	a.desk, err = newDesk(a, build)
	if err != nil {
		return err
	}
	a.onStop("admin", a.desk.stop)
	return nil
}

// stopCalls ends the calls that are left, so that each has its record and no far
// end talks to nobody, and then the sockets. Far ends that do not answer are not
// waited for.
func (a *App) stopCalls(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, hangUpPatience)
	defer cancel()
	if n := a.server.Stats().Calls; n > 0 {
		a.log.Info("calls are ended", "calls", n)
	}
	a.server.HangUp(ctx)
	return a.server.Stop()
}

// alarm ends the process when the cluster has seen a later boot of this node:
// what this one says would be ignored (DEC-13). A restart gets a higher number.
func (a *App) alarm(alarm cluster.Alarm) {
	if alarm.Active && alarm.Name == cluster.AlarmBoot {
		select {
		case a.failed <- fmt.Errorf("%s: %s", alarm.Name, alarm.Detail):
		default:
		}
	}
}

// alarmIf raises an alarm with what is wrong, and clears it where nothing is. A detail holds no counts: an alarm is
// told again whenever its text changes.
func (a *App) alarmIf(name, detail string) {
	if detail == "" {
		a.node.ClearAlarm(name)
		return
	}
	a.node.RaiseAlarm(name, detail)
}

// Failed tells why the process must end by itself, if ever.
func (a *App) Failed() <-chan error { return a.failed }

// Start lets the node work: it publishes the last known good table, reads from
// the SIP sockets, then meets the other nodes (DEC-14).
func (a *App) Start() error {
	if a.limits != nil {
		a.limits.start()
		a.frauds.start()
		a.charging.start()
		a.sessions.start()
		a.quality.start()
		a.tallies.start()
		a.finder.start()
		a.doors.start()
		a.routes.start()
	}
	a.watch.start()
	if a.server != nil {
		a.server.Start()
		a.accounts.begin()
	}
	if err := a.node.Start(); err != nil {
		return fmt.Errorf("app: %w", err)
	}
	a.keys.start()
	a.desk.start()
	a.node.SetState(cluster.StateReady)
	a.audit.Add(audit.Entry{Via: "self", Verb: "node started", Subject: a.cfg.Name, Detail: fmt.Sprintf("boot %d", a.node.Boot()), Outcome: audit.Done})
	a.log.Info("node started", "boot", a.node.Boot(), "witness", a.cfg.Witness)
	return nil
}

// Stop undoes what New and Start did, in reverse order; ctx bounds it. It may
// be called again.
func (a *App) Stop(ctx context.Context) error {
	if a.stopped {
		return nil
	}
	a.stopped = true
	var faults []error
	for _, c := range slices.Backward(a.cleanups) {
		if err := c.run(ctx); err != nil {
			faults = append(faults, fmt.Errorf("stop %s: %w", c.name, err))
		}
	}
	a.log.Info("node stopped")
	a.logs.close()
	return errors.Join(faults...)
}
