package sbc

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Routes decides where calls go whose plan leaves it to others.
type Routes interface {
	// Known returns what is known at once: an answer that is still good, or decks. It
	// takes no lock and does not block; nil means that somebody must be asked.
	Known(q *b2bua.RouteQuery) *trunkgroup.RouteSet
	// Ask asks. It copies what it needs of the query before it returns, and calls done once, from any goroutine,
	// not later than the plan's timeout.
	Ask(q *b2bua.RouteQuery, done func(*trunkgroup.RouteSet))
}

// noRoutes knows nobody to ask.
type noRoutes struct{}

func (noRoutes) Known(*b2bua.RouteQuery) *trunkgroup.RouteSet {
	return &trunkgroup.RouteSet{Absent: true, Why: "this node asks no decision servers"}
}
func (noRoutes) Ask(*b2bua.RouteQuery, func(*trunkgroup.RouteSet)) {}

// Decide implements b2bua.Env.
func (sh *shard) Decide(ref uint64, q *b2bua.RouteQuery) *trunkgroup.RouteSet {
	routes := sh.server.cfg.Routes
	if set := routes.Known(q); set != nil {
		return set
	}
	routes.Ask(q, func(set *trunkgroup.RouteSet) {
		// When the queue is full the call gives up by itself.
		sh.inbox.event(event{kind: evAsk, ask: func(core *b2bua.Shard) { core.Decided(time.Now(), ref, set) }})
		sh.notify()
	})
	return nil
}
