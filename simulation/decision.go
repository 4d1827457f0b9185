package simulation

import (
	"math/rand/v2"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// decisionTimeout is what the documents' plan gives its decision server.
const decisionTimeout = 2 * time.Second

// decision is what the decision server says of a call, to whichever node asks.
type decision struct {
	routes *trunkgroup.RouteSet
	after  time.Duration // 0 = the node knows it; beyond what a call waits for = in vain
	never  bool          // nobody says anything, not even that nothing was said
}

// patience is for how long a call waits for its decision: the server's timeout, and
// the grace of the engine for who should have told it that this is over.
const patience = decisionTimeout + time.Second

// inVain tells whether no call waits so long.
func (d *decision) inVain() bool { return d.never || d.after > patience }

// drawDecision draws one or two carriers, and when they are known.
func drawDecision(r *rand.Rand) *decision {
	route := func(carrier string) trunkgroup.CarrierRoute {
		x := trunkgroup.CarrierRoute{CarrierID: carrier, GatewayGroup: carrier, RerouteAfterProgress: chance(r, 0.1)}
		if chance(r, 0.7) { // far ends that are well ring before this
			x.Timeout = between(r, 2*time.Second, 5*time.Second)
		}
		return x
	}
	set := &trunkgroup.RouteSet{Source: trunkgroup.RoutesLive, Routes: []trunkgroup.CarrierRoute{route("carrier-a"), route("carrier-b")}}
	if chance(r, 0.5) {
		set.Routes[0], set.Routes[1] = set.Routes[1], set.Routes[0]
	}
	if chance(r, 0.25) {
		set.Routes = set.Routes[:1]
	}
	d := &decision{routes: set}
	switch x := r.IntN(20); {
	case x < 8:
	case x < 16:
		d.after = between(r, time.Millisecond, decisionTimeout)
	case x < 18: // later than any call waits
		d.after = between(r, patience+patience/10, 2*patience) // clocks differ
	default:
		d.never = true
	}
	return d
}

// Decide implements b2bua.Env.
func (e *shardEnv) Decide(ref uint64, q *b2bua.RouteQuery) *trunkgroup.RouteSet {
	n := e.n
	c := n.w.callOf([]byte(q.Dialed))
	if c == nil || c.decision == nil {
		n.w.fault("%s asks where %s goes, which no plan says", n.name, q.Dialed)
		return &trunkgroup.RouteSet{Absent: true}
	}
	if site := c.caller.entered[0].site; n.site != site {
		n.w.fault("call %d: %s asks again what %s has asked (DEC-07)", c.index, n.name, site)
	}
	n.w.sums.Decisions++
	d := c.decision
	switch {
	case d.never:
		return nil
	case d.after == 0:
		return d.routes
	}
	boot := n.boot
	n.w.after(d.after, func() {
		if n.boot == boot {
			n.step(func() { e.shard().Decided(n.now(), ref, d.routes) })
		}
	})
	return nil
}

// offers tells whether the decision names a carrier.
func (d *decision) offers(group string) bool {
	for i := range d.routes.Routes {
		if d.routes.Routes[i].GatewayGroup == group {
			return true
		}
	}
	return false
}

// checkDecision: carriers are tried in the order of the decision, each site from its
// beginning, and no others (S-030). A call that nobody decided about reaches nobody
// (S-011).
func (w *world) checkDecision(c *call, records []*cdr.Record) {
	d := c.decision
	if d == nil {
		return
	}
	if d.inVain() && len(c.legs) > 0 && w.entriesCalm(c, w.now) { // a node that stood still had both at once: its patience's end, and the decision
		w.fault("call %d reached %s without a decision", c.index, c.legs[0].a.name)
	}
	for _, r := range records {
		at := make(map[string]int) // by site
		for _, a := range r.Attempts {
			i := at[a.Site]
			for i < len(d.routes.Routes) && d.routes.Routes[i].CarrierID != a.CarrierID {
				i++
			}
			if at[a.Site] = i; i == len(d.routes.Routes) {
				w.fault("call %d: %s was tried at %s out of its turn; record %s", c.index, a.CarrierID, a.Site, r.CallID)
				break
			}
		}
	}
}
