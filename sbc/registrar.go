package sbc

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/sbc/registry"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// maxRegisterQueue bounds the REGISTERs that wait for the registrar. New
	// ones find half of it: refreshes of bindings that stand come first.
	maxRegisterQueue = 1 << 14
	// registerBatch is how many of them are worked on under one lock of the
	// store.
	registerBatch = 64
	// flowShare is how much of the time after which a silent connection ends is
	// granted to a binding that is reached by it: its refresh keeps it open.
	flowShare = 0.75
	// settling is how long a node that starts may take to hear from the others
	// what is registered.
	settling = 3 * time.Second
)

// Bindings keeps the bindings of the cluster.
type Bindings interface {
	// Index is what it knows, of all nodes.
	Index() *registry.Registry
	// Update calls fn while nobody else changes the bindings.
	Update(fn func(now time.Time, tx BindingChanges))
}

// BindingChanges are the changes of one Update. The index shows each at once.
type BindingChanges interface {
	// Put keeps a binding until it expires, in place of that of the same key.
	// An error means that there is no room for it.
	Put(r *registrar.Record) error
	// Remove forgets a binding everywhere.
	Remove(r *registrar.Record)
}

// registerOrder is a REGISTER on its way to the bindings.
type registerOrder struct {
	shard *shard
	ref   uint64
	r     *registrar.Request
}

// registrations is the goroutine between the shards and the bindings: calls are
// not held up by what it does.
type registrations struct {
	server   *Server
	bindings Bindings
	alive    func(transport.Flow) bool
	born     time.Time
	wake     chan struct{}

	mu     sync.Mutex
	orders []registerOrder
	ended  []transport.Flow
	waits  atomic.Int64 // len(orders), for who asks without the lock

	// The goroutine's own.
	flows flows
	churn *churn
}

func newRegistrations(s *Server, b Bindings) *registrations {
	return &registrations{
		server: s, bindings: b, alive: s.set.Alive, born: time.Now(), wake: make(chan struct{}, 1), flows: make(flows),
		churn: newChurn(),
	}
}

// Origin implements b2bua.Registrar.
func (sh *shard) Origin(p *transport.Packet) registrar.Origin {
	s := sh.server
	o := registrar.Origin{Source: p.Source, Local: p.Local, Transport: p.Transport, Flow: uint64(p.Flow)}
	if p.Listener >= 0 && p.Listener < len(s.cfg.Listeners) {
		o.Local, o.Advertise = s.set.Addr(p.Listener), s.cfg.Listeners[p.Listener].Advertise
	}
	if p.Flow != 0 {
		idle := s.cfg.Limits.Idle
		if idle == 0 {
			idle = transport.DefaultLimits().Idle
		}
		o.FlowExpires = time.Duration(flowShare * float64(idle))
	}
	return o
}

// Register implements b2bua.Registrar.
func (sh *shard) Register(ref uint64, r *registrar.Request) bool {
	if sh.server.registers == nil {
		return false
	}
	return sh.server.registers.push(registerOrder{sh, ref, r})
}

// push queues a REGISTER.
func (g *registrations) push(o registerOrder) bool {
	room := maxRegisterQueue
	if g.waits.Load() >= maxRegisterQueue/2 && !g.stands(o.r) {
		room /= 2
	}
	g.mu.Lock()
	ok := len(g.orders) < room
	if ok {
		g.orders = append(g.orders, o)
		g.waits.Store(int64(len(g.orders)))
	}
	g.mu.Unlock()
	g.poke()
	return ok
}

// Registering is the number of REGISTERs that wait for the bindings.
func (s *Server) Registering() int {
	if s.registers == nil {
		return 0
	}
	return int(s.registers.waits.Load())
}

// stands reports that a REGISTER refreshes or removes bindings that there are.
func (g *registrations) stands(r *registrar.Request) bool {
	for i := range r.Contacts {
		if g.bindings.Index().Record(r.AOR, r.Contacts[i].ID) == nil {
			return false
		}
	}
	return true
}

// closed takes the end of a connection.
func (g *registrations) closed(f transport.Flow) {
	g.mu.Lock()
	g.ended = append(g.ended, f)
	g.mu.Unlock()
	g.poke()
}

func (g *registrations) poke() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// take returns what waits: REGISTERs up to a batch, and the connections that
// ended.
func (g *registrations) take() (orders []registerOrder, ended []transport.Flow) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.orders), registerBatch)
	orders, g.orders = g.orders[:n:n], g.orders[n:]
	ended, g.ended = g.ended, nil
	g.waits.Store(int64(len(g.orders)))
	if len(g.orders) == 0 {
		g.orders = nil
	}
	return orders, ended
}

// run works until the server stops.
func (g *registrations) run() {
	for {
		orders, ended := g.take()
		if len(orders)+len(ended) == 0 {
			select {
			case <-g.wake:
			case <-g.server.stopped:
				return
			}
			continue
		}
		answers := make([]b2bua.Registered, len(orders))
		g.bindings.Update(func(now time.Time, tx BindingChanges) {
			for i := range orders {
				answers[i] = g.decide(now, tx, orders[i].r)
			}
			for _, f := range ended {
				g.end(now, tx, f)
			}
		})
		for i, o := range orders {
			a, ref := answers[i], o.ref
			o.shard.push(event{kind: evAsk, ask: func(core *b2bua.Shard) { core.Registered(time.Now(), ref, a) }})
		}
	}
}

// decide carries out one REGISTER.
func (g *registrations) decide(now time.Time, tx BindingChanges, r *registrar.Request) b2bua.Registered {
	index := g.bindings.Index()
	if f := transport.Flow(r.From.Flow); f != 0 && !g.alive(f) {
		// Nobody hears the answer, and nobody could be called by it.
		return b2bua.Registered{Refusal: &registrar.Refusal{Code: 503, Result: "flow_gone"}}
	}
	if now.Sub(g.born) < settling && g.removesUnknown(r) {
		// It would come back with the others' news.
		return b2bua.Registered{Refusal: &registrar.Refusal{Code: 503, Result: "starting"}}
	}
	d := registrar.Decide(now, index.Self(), r, index.Records(r.AOR), func(rec *registrar.Record) bool {
		_, cause := index.Reach(&rec.Binding)
		return cause == ""
	})
	if d.Refusal != nil {
		return b2bua.Registered{Refusal: d.Refusal, Result: d.Result}
	}
	if !g.churn.take(now, r.AOR, d.Fresh, r.Member.Registration.Contacts) {
		return b2bua.Registered{Refusal: &registrar.Refusal{Code: 503, Result: "churn"}}
	}
	if !g.apply(tx, index, d) {
		return b2bua.Registered{Refusal: &registrar.Refusal{Code: 503, Result: "full"}}
	}
	return b2bua.Registered{Extra: registrar.Extra(now, r, index.Records(r.AOR)), Result: d.Result}
}

// removesUnknown reports that a REGISTER removes what this node, as far as it
// knows, does not have.
func (g *registrations) removesUnknown(r *registrar.Request) bool {
	for i := range r.Contacts {
		if c := &r.Contacts[i]; c.Expires == 0 && g.bindings.Index().Record(r.AOR, c.ID) == nil {
			return true
		}
	}
	return r.Star
}

// apply does all of a decision. When there is no room, what was new is taken
// back, and a refresh stays.
func (g *registrations) apply(tx BindingChanges, index *registry.Registry, d registrar.Decision) bool {
	var fresh []*registrar.Record
	for _, rec := range d.Put {
		was := index.Record(rec.AOR, rec.ID)
		if err := tx.Put(rec); err != nil {
			g.remove(tx, fresh)
			return false
		}
		if was == nil {
			fresh = append(fresh, rec)
		}
		g.follow(was, rec)
	}
	g.remove(tx, d.Remove)
	return true
}

func (g *registrations) remove(tx BindingChanges, list []*registrar.Record) {
	for _, rec := range list {
		tx.Remove(rec)
		g.follow(rec, nil)
	}
}

// follow keeps account of what is reached by which connection of this node.
func (g *registrations) follow(was, is *registrar.Record) {
	if was != nil && was.Flow != 0 && was.Node == g.server.cfg.Node {
		g.flows.drop(was)
	}
	if is != nil && is.Reach == trunkgroup.ReachFlow && is.Flow != 0 {
		g.flows.add(is, func(r *registrar.Record) bool { return g.bindings.Index().Record(r.AOR, r.ID) != nil })
	}
}

// end marks what was reached by a connection that has ended: all nodes stop
// trying, and people see why. Whoever registered by another one since is not
// concerned.
func (g *registrations) end(now time.Time, tx BindingChanges, f transport.Flow) {
	for _, rec := range g.flows.take(f) {
		is := g.bindings.Index().Record(rec.AOR, rec.ID)
		if is == nil || is.Flow != rec.Flow || is.Node != rec.Node || is.Boot != rec.Boot {
			continue
		}
		if err := tx.Put(is.WithoutFlow(now)); err != nil {
			tx.Remove(is) // no room to say why
		}
	}
}
