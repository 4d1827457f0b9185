package client

import (
	"context"
	"time"

	"github.com/tandem-sbc/tandem/sbc/lcr"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// waiter is a call that waits for an answer.
type waiter struct {
	question []byte // its own, should it have to ask by itself
	deadline time.Time
	done     func(*trunkgroup.RouteSet)
}

// flight is one question under way.
type flight struct {
	client *Client
	plan   *plan
	server *trunkgroup.DecisionServer
	key    lcr.Key
	asked  time.Time
	trial  bool // the breaker hangs on it
	shared bool // others may wait for it; it stands in Client.flights
	own    bool // the answer is for one call, whatever it says
	first  *waiter
	others []*waiter // under the client's lock
}

// run asks, and tells everybody who waits.
func (f *flight) run() {
	c := f.client
	ctx, cancel := context.WithDeadline(c.ctx, f.first.deadline)
	defer cancel()
	x := c.ask(ctx, f.server, f.first.question)
	now := time.Now()
	if f.plan.ended(now, f.server, x, f.trial) {
		c.turned(f.plan)
	}
	if x.result.failed() {
		c.log.Debug("no decision", "plan", f.plan.name, "number", f.key.Number, "result", x.result.String(), "reason", x.why)
		others := f.land() // who asks from here on asks anew
		f.first.done(f.plan.without(f.server, x.why))
		for _, w := range others {
			w.done(f.plan.without(f.server, x.why))
		}
		return
	}
	c.note(f.plan, now, x.answer.Notes)
	set := &x.answer.Set
	set.Source = trunkgroup.RoutesLive
	if len(x.names) > 0 {
		c.hosts.resolve(ctx, x.names)
		set = lcr.Resolve(set, c.hosts.addresses)
	}
	ttl := x.answer.Keep(f.server.CacheTTL)
	switch {
	case f.own:
		ttl = 0
	case x.result != Rejected:
		f.plan.learn(f.server, ttl == 0)
	}
	if ttl > 0 {
		c.keep(f.key, x, set, f.asked, ttl)
	}
	others := f.land()
	f.first.done(set)
	for _, w := range others {
		if ttl > 0 {
			w.done(set)
		} else {
			f.again(w)
		}
	}
	if ttl > 0 {
		c.cfg.Share(f.key, x.body, f.asked, ttl)
	}
}

// land takes the question out of those that others may wait for, and returns who does.
func (f *flight) land() []*waiter {
	c := f.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.shared {
		f.shared = false
		delete(c.flights, f.key)
	}
	return f.others
}

// again asks for a call that waited for an answer which was good for another one only.
// Its own time goes on.
func (f *flight) again(w *waiter) {
	c, now := f.client, time.Now()
	trial, why, ok := f.plan.admit(now, f.server)
	if !ok {
		f.plan.results[why].Add(1)
		w.done(f.plan.without(f.server, f.plan.refusal(why)))
		return
	}
	next := &flight{client: c, plan: f.plan, server: f.server, key: f.key, asked: now, trial: trial, first: w}
	c.wg.Go(next.run) // this goroutine is one of the group, so it is not waited for yet
}

// turned tells that a server began to fail, or works again.
func (c *Client) turned(p *plan) {
	p.mu.Lock()
	away, why, since := p.away, p.why, p.since
	p.mu.Unlock()
	if away {
		c.log.Warn("decision server is away: calls go by kept answers, then by the fallback group", "plan", p.name,
			"reason", why, "since", since.UTC().Format(time.RFC3339))
	} else {
		c.log.Info("decision server answers again", "plan", p.name)
	}
	c.cfg.OnServers()
}

// noteEvery bounds how often the log tells what is odd in the answers of a plan.
const noteEvery = 10 * time.Second

// note tells what is odd in an answer.
func (c *Client) note(p *plan, now time.Time, notes []lcr.Note) {
	if len(notes) == 0 {
		return
	}
	p.mu.Lock()
	if now.Sub(p.noted) < noteEvery {
		p.unnoted += len(notes)
		p.mu.Unlock()
		return
	}
	unsaid := p.unnoted
	p.noted, p.unnoted = now, 0
	p.mu.Unlock()
	for _, n := range notes[:min(len(notes), 4)] {
		c.log.Warn("decision is not as it should be", "plan", p.name, "carrier", n.Carrier, "what", n.Text, "more", unsaid+max(0, len(notes)-4))
	}
}
