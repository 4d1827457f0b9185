package monitor

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/monitor/prober"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Monitor watches for one node. Its methods may be called from any goroutine.
type Monitor struct {
	cfg      Config
	prober   *prober.Prober
	evidence chan observation
	flags    atomic.Pointer[flags]
	lost     atomic.Uint64             // evidence dropped because the channel was full
	isolated atomic.Pointer[time.Time] // since when; nil when it is not

	wake   chan struct{} // capacity 1: the board must be built again soon
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	table   *trunkgroup.Table
	nodes   []verdict.Node
	peersUp bool
	store   *verdict.Store
	knobs   *verdict.Knobs
	ramps   *verdict.Ramps
	shown   *verdict.Board // the board that calls are planned with
	own     map[verdict.Key]*ownTarget
	groups  map[string]*ownGroup
	suspect map[verdict.Key]verdict.Held
	seq     uint64
	board   *verdict.Board
	stale   bool // a record came that changes no state: build the board at the next tick
	unsaved bool // knobs that the file does not hold

	saving sync.Mutex // one writer of the knob file at a time; taken before mu
	unkept bool       // the knob file could not be written; under saving
}

// New makes a monitor and reads the operators' words from disk. Nothing is probed before Start and SetTable.
func New(cfg Config) (*Monitor, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	m := &Monitor{
		cfg:      cfg,
		evidence: make(chan observation, 4096),
		wake:     make(chan struct{}, 1),
		store:    verdict.NewStore(),
		knobs:    verdict.NewKnobs(),
		ramps:    verdict.NewRamps(),
		own:      make(map[verdict.Key]*ownTarget),
		groups:   make(map[string]*ownGroup),
		nodes:    []verdict.Node{{Name: cfg.Node, Site: cfg.Site}},
	}
	p, err := prober.New(prober.Config{
		Pinger: cfg.Pinger, OnUpdate: m.update, Parallel: cfg.Parallel, Spread: cfg.Spread, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("monitor: %w", err)
	}
	m.prober = p
	if err := m.loadKnobs(time.Now()); err != nil {
		return nil, fmt.Errorf("monitor: operators' words in %s: %w", cfg.KnobFile, err)
	}
	m.resumePause(time.Now())
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m, nil
}

// Start begins to watch.
func (m *Monitor) Start() {
	m.prober.Start()
	m.wg.Go(m.run)
	m.wg.Go(m.carry)
}

// Stop ends all probes. It is idempotent.
func (m *Monitor) Stop() {
	m.cancel()
	m.prober.Stop()
	m.wg.Wait()
}

// SetTable takes a new routing table and builds its board before it returns, so that table and View can be put in force together. Members keep
// their health.
func (m *Monitor) SetTable(t *trunkgroup.Table) *verdict.Board {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.table = t
	m.flags.Store(newFlags(t))
	m.assign(now)
	m.store.Prune(now.Add(-recordLife), m.known)
	m.build(now)
	return m.board
}

// SetNodes says which nodes of the cluster live, as this node sees them; it is always one of them itself. Members move between the nodes of a
// site accordingly.
func (m *Monitor) SetNodes(nodes []verdict.Node) {
	m.mu.Lock()
	defer m.mu.Unlock()
	self := verdict.Node{Name: m.cfg.Node, Site: m.cfg.Site}
	if !slices.Contains(nodes, self) {
		nodes = append(slices.Clone(nodes), self)
	}
	if slices.Equal(nodes, m.nodes) {
		return
	}
	m.nodes = slices.Clone(nodes)
	m.assign(time.Now())
	m.poke()
}

// SetPeers says whether any other node of the cluster answers on the interconnect (DEC-12).
func (m *Monitor) SetPeers(answer bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peersUp = answer
	m.judgeIsolation(time.Now())
}

// Resolved says that the addresses of members by name may have changed.
func (m *Monitor) Resolved() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.assign(time.Now())
	m.poke()
}

// Board returns a board of this moment, for people; calls use the one that OnBoard gave. It is nil before the first table.
func (m *Monitor) Board() *verdict.Board {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table == nil {
		return nil
	}
	return verdict.Build(m.input(time.Now()))
}

// Isolated says whether this node believes to have lost the network (DEC-12).
func (m *Monitor) Isolated() bool { return m.isolated.Load() != nil }

// IsolatedSince returns since when this node believes to have lost the network; false when it does not.
func (m *Monitor) IsolatedSince() (time.Time, bool) {
	if since := m.isolated.Load(); since != nil {
		return *since, true
	}
	return time.Time{}, false
}

// EvidenceLost counts what calls reported and nobody could take.
func (m *Monitor) EvidenceLost() uint64 { return m.lost.Load() }

// assign tells the prober what falls to this node. The lock is held.
func (m *Monitor) assign(now time.Time) {
	if m.table == nil {
		return
	}
	var list []prober.Assignment
	wanted := make(map[verdict.Key]bool)
	for _, member := range m.table.Members() {
		if !m.mine(member) {
			continue
		}
		for _, addr := range m.addrs(member) {
			a := prober.Assignment{Target: prober.Target{Member: member, Addr: addr}, Admin: m.admin(now, member)}
			key := a.Key()
			if m.own[key] == nil {
				m.inherit(now, key, &a)
			}
			wanted[key] = true
			list = append(list, a)
		}
	}
	m.disown(wanted)
	for i := range list {
		m.adopt(list[i].Target)
		if !list[i].Inherit.Selectable() {
			m.own[list[i].Key()].gone = true
		}
	}
	m.prober.SetTargets(list)
}

// mine says whether this node probes a member: DEC-13, only nodes of the member's own site, one of them.
func (m *Monitor) mine(member *trunkgroup.Member) bool {
	return member.Group.Monitoring.Enabled && !member.Disabled && member.Direction != trunkgroup.DirectionIn && member.Site == m.cfg.Site &&
		verdict.Owner(m.nodes, member.Site, member.Key) == m.cfg.Node
}

func (m *Monitor) addrs(member *trunkgroup.Member) []netip.AddrPort {
	if member.FQDN == "" {
		return []netip.AddrPort{member.Addr}
	}
	return m.cfg.Resolve(member)
}

// inherit fills in what others found (DEC-13).
func (m *Monitor) inherit(now time.Time, key verdict.Key, a *prober.Assignment) {
	held, _ := m.store.Choose(now, key, "", &a.Member.Group.Monitoring)
	if a.Admin == trunkgroup.AdminInactive && (held == nil || held.State.Selectable()) {
		knob, _ := m.knobs.Of(now, a.Member.Key) // nobody has carried it out yet
		a.Inherit, a.Reason, a.Since, a.Out = trunkgroup.Down, "set by operator", knob.Set, knob.Set
		return
	}
	if held == nil {
		return
	}
	a.Inherit, a.Reason, a.Since, a.Latency = held.State, held.Reason, held.Since(), held.Latency
	if held.OutAge > 0 {
		a.Out = held.Received.Add(-held.OutAge)
	}
}

// inheritLate lets a target of ours that has no result yet inherit what has just been heard of it: a node that starts has its targets before
// it hears of anybody. While probes are paused there is no own result for long. The lock is held.
func (m *Monitor) inheritLate(key verdict.Key) {
	own := m.own[key]
	if own == nil || own.last != nil {
		return
	}
	now, member := time.Now(), m.table.Member(key.Member)
	a := prober.Assignment{Target: prober.Target{Member: member, Addr: key.Addr}, Admin: m.admin(now, member)}
	if !key.Addr.IsValid() {
		a.Addr = member.Addr
	}
	m.inherit(now, key, &a)
	if a.Inherit == trunkgroup.Unknown {
		return
	}
	own.gone = !a.Inherit.Selectable()
	m.prober.Inherit(a)
}

// admin is the operator's word about a member.
func (m *Monitor) admin(now time.Time, member *trunkgroup.Member) trunkgroup.AdminState {
	knob, ok := m.knobs.Of(now, member.Key)
	if !ok {
		return trunkgroup.AdminUp
	}
	return knob.State
}

// known says whether a key names a member of the table.
func (m *Monitor) known(key verdict.Key) bool {
	return m.table == nil || m.table.Member(key.Member) != nil
}
