package app

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/gossip"
	"github.com/tandem-sbc/tandem/cluster/interconnect"
	"github.com/tandem-sbc/tandem/monitor"
	"github.com/tandem-sbc/tandem/monitor/cdrlog"
	"github.com/tandem-sbc/tandem/monitor/cdrsink"
	"github.com/tandem-sbc/tandem/monitor/prober"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/sbc"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/dns"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// evidenceFrame is the kind of the frames by which nodes forward to each
	// other what calls saw of a member.
	evidenceFrame byte = 32
	// peersEvery is how often the engine is told round trips and loads of the
	// other nodes; who lives it is told at once.
	peersEvery = time.Second
)

// passProtocol is the protocol of nodes that know what an INVITE is that a draining
// sibling passes to them.
const passProtocol = 2

// watch joins what watches with what calls: health of members, names, records
// and the picture of the other nodes.
type watch struct {
	app     *App
	monitor *monitor.Monitor // nil on a witness
	names   *dns.Resolver
	records *cdrlog.Log
	sinks   *cdrsink.Set // nil on a witness
	meter   *meter
	lines   *lines
	calls   *callQueue // answered calls, on their way to the other nodes
	book    *callBook  // nil on a witness
	server  *sbc.Server
	canary  canaryWatch
	lost    bool       // the network, as the monitor believes; under its lock
	drained bool       // the site, by an operator; under the monitor's lock
	telling sync.Mutex // of peers
	// inForce is the version of the last table; on the goroutine that tells of tables
	inForce trunkgroup.Version
	cancel  context.CancelFunc
	done    chan struct{}
}

func newWatch(a *App, build string) (*watch, error) {
	w := &watch{app: a, calls: newCallQueue(), done: make(chan struct{})}
	a.watch = w
	if a.cfg.Witness {
		w.meter = newMeter(a, build)
		return w, nil
	}
	err := os.MkdirAll(filepath.Dir(a.cfg.CDR.Path), 0o750)
	if err != nil {
		return nil, fmt.Errorf("call records: %w", err)
	}
	w.records, err = cdrlog.Open(cdrlog.Config{
		Path: a.cfg.CDR.Path, MaxSize: a.cfg.CDR.RotateSize, Logger: a.log.With("component", "cdr"),
	})
	if err != nil {
		return nil, fmt.Errorf("call records: %w", err)
	}
	if w.sinks, err = openSinks(a, w.records); err != nil {
		return nil, fmt.Errorf("call records: %w", err)
	}
	w.book = newCallBook(a, a.soft, w.records, w.calls)
	w.lines = newLines(a.log)
	w.names, err = newResolver(a, func() { w.monitor.Resolved() })
	if err != nil {
		return nil, err
	}
	w.monitor, err = monitor.New(monitor.Config{
		Node: a.cfg.Name, Site: a.cfg.Site, Boot: a.node.Boot(),
		Pinger: w, OnBoard: w.board, OnIsolated: func(yes bool) { w.lost = yes; w.hush() }, OnProbe: func(u prober.Update) { w.meter.all.Probe(u) },
		Publish: func(key string, payload []byte) {
			if err := a.node.Publish(key, payload); err != nil {
				a.log.Warn("a record for the other nodes was not accepted", "key", key, "error", err)
			}
		},
		Forward:  func(node string, payload []byte) bool { return a.node.Send(node, evidenceFrame, payload) },
		Carriers: w.carriers, Lapsed: w.lapsed, Bars: a.quality.Bar, BarredCarriers: a.quality.BarredCarriers, OnUp: a.quality.up, Registry: a.regs.index, Sessions: a.sessions,
		Resolve:  func(m *trunkgroup.Member) []netip.AddrPort { return w.names.Addrs(dnsTarget(m)) },
		KnobFile: filepath.Join(a.cfg.DataDir, "knobs.json"), OnKnobsKept: a.knobsKept, OnKnob: a.auditKnob,
		Logger: a.log.With("component", "monitor"),
	})
	if err != nil {
		return nil, fmt.Errorf("app: %w", err)
	}
	w.meter = newMeter(a, build)
	return w, nil
}

// serve connects the engine: from here on tables, peers and frames reach it.
func (w *watch) serve(server *sbc.Server) {
	w.server = server
	node := w.app.node
	node.OnTable(w.table)
	node.OnRecord(func(r gossip.Record) { w.monitor.Receive(r.Observer, r.Key, r.Payload, r.At) })
	node.OnPeer(func(interconnect.Peer) { w.peers() })
	node.OnMembers(func([]gossip.Member) { w.peers() })
	node.OnFrame(sbc.FirstFrame, sbc.LastFrame, server.Frame)
	node.OnFrame(sbc.FrameUnsent, sbc.FrameUnsent, server.Frame)
	node.OnFrame(recordFrame, recordFrame, w.app.finder.frame)
	node.OnFrame(limitFrame, limitFrame, w.app.limits.frame)
	node.OnFrame(evidenceFrame, evidenceFrame, func(from string, _ byte, payload []byte) { w.monitor.Frame(from, payload) })
}

func (w *watch) start() {
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	if w.monitor == nil {
		close(w.done)
		return
	}
	w.monitor.Start()
	w.book.start()
	w.sinks.Start()
	go w.keepPeers(ctx)
}

// stop ends the probes and writes what records are left.
func (w *watch) stop(ctx context.Context) error {
	if w.cancel != nil {
		w.cancel()
		<-w.done
	}
	if w.monitor == nil {
		return nil
	}
	w.monitor.Stop()
	w.names.Stop()
	w.lines.stop()
	return errors.Join(w.records.Stop(ctx), w.sinks.Stop(ctx)) // what is on disk is passed on last
}

// table puts a new table in force, together with a view made for it.
func (w *watch) table(t *trunkgroup.Table) {
	w.names.Watch(dnsTargets(t))
	w.monitor.SetTable(t) // the board comes by board
	if t.Version() == w.inForce {
		return // other numbers beside the same document
	}
	w.inForce = t.Version()
	current, _ := w.app.node.Current()
	w.app.auditTable(t.Version(), current)
	w.app.log.Info("configuration in force", "revision", t.Version().Revision, "generation", t.Version().Generation,
		"groups", len(t.Groups()), "members", len(t.Members()))
}

// board puts a new view in force beside the table that it was made for.
func (w *watch) board(b *verdict.Board) {
	if w.server != nil && b.Table != nil {
		w.meter.table(b.Table)
		w.app.frauds.use(b.Table)
		w.app.limits.table(b.Table)
		w.app.doors.use(b.Table, b.View)
		w.app.sessions.Publish(b.Table)
		w.app.quality.Use(b.Table)
		w.app.hooks.use(b.Table)
		w.app.decks.use(b.Table)
		w.app.routes.use(b.Table)
		w.server.Publish(b.Table, b.View)
		w.app.accounts.use(b.Table)
		_, w.drained = b.Drained[w.app.cfg.Site]
		w.app.watchPause(b)
		w.hush()
	}
}

// hush lets OPTIONS be answered 503 where calls should not come: at a node that
// has lost the network (DEC-12), and in a site that is drained (DEC-25).
func (w *watch) hush() { w.server.SetIsolated(w.lost || w.drained) }

func (w *watch) keepPeers(ctx context.Context) {
	defer close(w.done)
	tick := time.NewTicker(peersEvery)
	defer tick.Stop()
	for {
		w.peers()
		w.app.node.SetLoad(w.load())
		w.canary.look(w.app)
		w.meter.handovers.look(time.Now(), w.monitor.Board(), sitesUp(w.app))
		w.app.watchEmergencies(time.Now())
		w.app.alarmIf(alarmWebhook, hookTrouble(w.app.hooks.Stats()))
		w.app.decks.score(time.Now())
		w.watchRecords(time.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// load is the share of this node's calls that are in use, in thousandths.
func (w *watch) load() uint16 {
	capacity := w.app.cfg.SIP.Limits.Calls
	if capacity == 0 {
		capacity = sbc.DefaultMaxCalls
	}
	return uint16(min(1000, 1000*w.server.Stats().Calls/capacity))
}

// peers tells the engine and the monitor who lives.
func (w *watch) peers() {
	w.telling.Lock() // a snapshot must not overtake a later one
	defer w.telling.Unlock()
	node := w.app.node
	members := map[string]gossip.Member{}
	for _, m := range node.Members() {
		members[m.Name] = m
	}
	var list []sbc.Peer
	live := []verdict.Node{{Name: w.app.cfg.Name, Site: w.app.cfg.Site}}
	answer := false
	for _, p := range node.Peers() {
		m := members[p.Name]
		peer := sbc.Peer{
			Name: p.Name, Site: p.Site, Boot: uint32(p.Boot), Up: p.Up, Since: p.Since, RTT: p.RTT,
			Witness: m.Meta.Witness, Draining: m.Meta.State == cluster.StateDraining,
			TakesPassed: m.Meta.Protocol >= passProtocol && m.Meta.State == cluster.StateReady, Load: int(m.Meta.Load),
		}
		list = append(list, peer)
		answer = answer || p.Up
		if p.Up && !peer.Witness {
			live = append(live, verdict.Node{Name: p.Name, Site: p.Site})
		}
	}
	w.app.regs.peers(list)
	w.server.SetPeers(list)
	w.accountNodes(list, members[w.app.cfg.Name].Meta.State == cluster.StateDraining)
	w.app.limits.look()
	w.monitor.SetPeers(answer)
	w.monitor.SetNodes(live)
}

// Ping implements prober.Pinger by the engine's own sockets.
func (w *watch) Ping(ctx context.Context, t prober.Target) (code int, rtt, retryAfter time.Duration, err error) {
	return w.server.Ping(ctx, t.Member, t.Addr)
}

// Evidence implements sbc.Observer.
func (w *watch) Evidence(m *trunkgroup.Member, addr netip.AddrPort, ok bool, cause string) {
	w.monitor.Evidence(m, addr, ok, cause)
}

// Paused implements sbc.Observer.
func (w *watch) Paused(m *trunkgroup.Member, addr netip.AddrPort, d time.Duration) {
	w.monitor.RetryAfter(m, addr, d)
}

// Finished implements sbc.Observer: the record goes to its file, and one line
// to the log.
func (w *watch) Finished(r *cdr.Record) {
	r.Cluster = w.app.cfg.Cluster.ID
	w.book.version(r)
	w.records.Write(r)
	w.lines.add(r)
	w.app.recent.Add(r)
	w.canary.add(r)
}

// interim takes the record of a call that is still up.
func (w *watch) interim(r *cdr.Record) {
	r.Cluster = w.app.cfg.Cluster.ID
	w.records.Write(r)
}

// Calls implements sbc.Observer.
func (w *watch) Calls(changes []sbc.CallChange) { w.calls.push(changes) }

// Count implements sbc.Observer.
func (w *watch) Count(e b2bua.Event) {
	w.meter.count(&e)
	w.app.quality.count(&e)
	w.app.tallies.count(&e)
	w.app.hooks.count(&e)
	w.app.doors.count(&e)
	logRoute(w.app.log, &e)
	w.canary.count(&e)
	if e.Kind == b2bua.EventRegister && e.Member != nil {
		w.app.regs.refused.note(time.Now(), &e)
	}
}

// dnsTarget is what the resolver watches for a member by name.
func dnsTarget(m *trunkgroup.Member) dns.Target {
	return dns.Target{Name: m.FQDN, Port: m.Port, Transport: m.Transport}
}

// registrarTarget is what it watches for a registrar by name.
func registrarTarget(m *trunkgroup.Member) dns.Target {
	r := m.Account.Registrar
	return dns.Target{Name: r.FQDN, Port: r.Port, Transport: m.Transport}
}

func dnsTargets(t *trunkgroup.Table) []dns.Target {
	var list []dns.Target
	for _, m := range t.Members() {
		if m.FQDN != "" {
			list = append(list, dnsTarget(m))
		}
		if registers(m) && m.Account.Registrar.FQDN != "" {
			list = append(list, registrarTarget(m))
		}
	}
	return list
}

func newResolver(a *App, changed func()) (*dns.Resolver, error) {
	var servers []string
	for _, s := range a.cfg.DNS.Servers {
		servers = append(servers, s.String())
	}
	r, err := dns.New(dns.Config{
		Servers: servers, OnChange: func(dns.Target, []netip.AddrPort) { changed() },
		Logger: a.log.With("component", "dns"),
	})
	if err != nil {
		return nil, fmt.Errorf("resolver: %w", err)
	}
	return r, nil
}
