package b2bua

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

var (
	stormSeed  = flag.Uint64("storm.seed", 0, "seed of the storms; 0 draws one")
	stormCalls = flag.Int("storm.calls", 2000, "calls of each storm")
	stormTrace = flag.String("storm.trace", "", "Call-ID whose messages are shown when a storm fails, * for all")
	stormBatch = flag.Int("storm.batch", -1, "play this batch of the seed only")
)

// Every weather is a storm of its own. What must hold in all of them is in check.
func TestStorm(t *testing.T) {
	calm := weather{cancels: 0.3}
	for _, c := range []struct {
		name    string
		weather weather
		nodes   func(w *storm)
	}{
		{"calm", calm, nil},
		{"odd users", weather{cancels: 0.3, odd: 0.2}, nil},
		{"reordered", weather{cancels: 0.3, odd: 0.1, late: 0.2, double: 0.1}, nil},
		{"lossy", weather{cancels: 0.3, odd: 0.1, lose: 0.1, late: 0.05, double: 0.05}, nil},
		{"vanishing users", weather{cancels: 0.3, odd: 0.1, vanish: 0.1}, nil},
		{"a node dies", calm, (*storm).oneDies},
		{"the link is cut", calm, (*storm).oneIsCut},
		{"a node stops", weather{cancels: 0.3, odd: 0.1, lose: 0.03}, (*storm).oneStops},
		{"garbled", weather{cancels: 0.3, odd: 0.2, garble: 0.1}, nil},
		{"registered", weather{cancels: 0.3, odd: 0.1, registered: 0.8}, nil},
		{"registered, reordered", weather{cancels: 0.3, odd: 0.1, late: 0.2, double: 0.1, registered: 0.8}, nil},
		{"registered, lossy", weather{cancels: 0.3, odd: 0.1, lose: 0.1, late: 0.05, double: 0.05, registered: 0.8}, nil},
		{"registered, troubles", weather{cancels: 0.3, odd: 0.1, registered: 0.8}, (*storm).troubles},
		{"registered, a node stops", weather{cancels: 0.3, odd: 0.1, lose: 0.03, registered: 0.8}, (*storm).oneStops},
		{"parallel", weather{cancels: 0.3, parallel: 0.9}, nil},
		{"parallel, odd and reordered", weather{cancels: 0.3, odd: 0.1, late: 0.2, double: 0.1, parallel: 0.9}, nil},
		{"parallel, lossy", weather{cancels: 0.3, odd: 0.1, lose: 0.1, late: 0.05, double: 0.05, parallel: 0.9}, nil},
		{"parallel, troubles", weather{cancels: 0.3, odd: 0.1, vanish: 0.05, parallel: 0.9}, (*storm).troubles},
		{"parallel, a node stops", weather{cancels: 0.3, odd: 0.1, lose: 0.03, parallel: 0.9}, (*storm).oneStops},
		{"registered, parallel", weather{cancels: 0.3, odd: 0.1, registered: 0.8, parallel: 0.1}, nil},
		{"registered, parallel, troubles", weather{cancels: 0.3, odd: 0.1, registered: 0.8, parallel: 0.1}, (*storm).troubles},
		{"changing", weather{cancels: 0.3, changing: 0.9}, nil},
		{"drained", weather{cancels: 0.3, parallel: 0.5, drains: 1}, nil},
		{"drained, reordered", weather{cancels: 0.3, odd: 0.1, late: 0.2, double: 0.1, parallel: 0.3, drains: 1}, nil},
		{"drained, changing", weather{cancels: 0.3, changing: 0.7, drains: 1}, nil},
		{"drained, a node dies", weather{cancels: 0.3, odd: 0.1, parallel: 0.5, drains: 1}, (*storm).oneDies},
		{"changing, odd and reordered", weather{cancels: 0.3, odd: 0.1, late: 0.2, double: 0.1, changing: 0.9}, nil},
		{"changing, lossy", weather{cancels: 0.3, odd: 0.1, lose: 0.1, late: 0.05, double: 0.05, changing: 0.9}, nil},
		{"changing, troubles", weather{cancels: 0.3, odd: 0.1, vanish: 0.05, changing: 0.9}, (*storm).troubles},
		{"changing, a node stops", weather{cancels: 0.3, odd: 0.1, lose: 0.03, changing: 0.9}, (*storm).oneStops},
		{"all of it", weather{cancels: 0.3, odd: 0.1, lose: 0.05, late: 0.05, double: 0.05, vanish: 0.02}, (*storm).troubles},
	} {
		t.Run(c.name, func(t *testing.T) {
			seed := *stormSeed
			if seed == 0 {
				seed = rand.Uint64()
			}
			total := *stormCalls
			if testing.Short() {
				total /= 10
			}
			const batch = 200
			for b := 0; b*batch < total; b++ {
				if *stormBatch >= 0 && b != *stormBatch {
					continue
				}
				w := newStorm(t, seed+uint64(b)<<32, c.weather)
				w.traced = *stormTrace
				w.blow(batch, c.nodes)
				w.check(c.nodes != nil)
				if len(w.faults) > 0 {
					for _, line := range w.trace {
						t.Log(line)
					}
					t.Fatalf("-storm.seed=%d -storm.batch=%d:\n  %s", seed, b, strings.Join(w.faults, "\n  "))
				}
			}
		})
	}
}

// blow places calls at a steady pace and plays them to their end.
func (w *storm) blow(calls int, nodes func(*storm)) {
	for n := range calls {
		w.after(time.Duration(n)*150*time.Millisecond, func() {
			from, node := carrierAddr, w.nodes[w.rng.IntN(2)]
			if w.chance(0.2) {
				from, node = "192.0.2.74:5060", w.nodes[2+w.rng.IntN(2)]
			}
			if !node.dead {
				w.place(w.agents[from], node, n)
			}
		})
	}
	if w.weather.drains > 0 {
		w.after(w.upTo(10*time.Second), w.oneDrains)
	}
	if nodes != nil {
		w.after(w.upTo(10*time.Second), func() { nodes(w) })
	}
	w.run()
}

func (w *storm) oneDies() {
	n := w.nodes[w.rng.IntN(len(w.nodes))]
	w.kill(n)
	w.after(2*time.Second+w.upTo(90*time.Second), func() { w.revive(n) })
}

// oneDrains lets a node give its calls to its sibling for a while, of which callers
// must notice nothing.
func (w *storm) oneDrains() {
	i := w.rng.IntN(len(w.nodes))
	n, sibling := w.nodes[i], w.nodes[i^1]
	order := func(o DrainOrder) {
		if !n.dead {
			n.s.Drain(w.now, o)
			n.settle()
		}
	}
	order(DrainOrder{Announce: true, Pass: true, Siblings: []string{sibling.name}})
	w.after(w.upTo(20*time.Second), func() { order(DrainOrder{}) })
}

func (w *storm) oneIsCut() {
	n := w.nodes[w.rng.IntN(len(w.nodes))]
	n.cut = true
	w.away(n)
	w.after(1300*time.Millisecond+w.upTo(20*time.Second), func() {
		n.cut = false
		w.back(n)
	})
}

// oneStops lets a node end its calls in order. Those have no other promise than
// that nothing of them stays anywhere, and that each has its record.
func (w *storm) oneStops() {
	n := w.nodes[w.rng.IntN(len(w.nodes))]
	n.troubled = true
	n.s.Shutdown(w.now)
	n.settle()
	if n.started != n.ended && !n.handing() {
		w.fault("%s stopped: %d calls started, %d have a record", n.name, n.started, n.ended)
	}
}

func (w *storm) troubles() {
	if w.chance(0.5) {
		w.oneDies()
	} else {
		w.oneIsCut()
	}
}

// check holds what happened against what was promised. With troubled nodes the
// calls that were on a node that died have no promise but that nothing of them
// stays on the others.
func (w *storm) check(troubled bool) {
	calm := !troubled && w.weather.lose == 0 && w.weather.vanish == 0
	attempts := w.attempts()
	records := map[string]*cdr.Record{}
	for _, r := range w.records {
		if r.Kind == cdr.KindCall {
			// A node that loses the one to which it passed a call takes the call up
			// itself, unless it has heard of the end.
			if first := records[r.SIPCallID]; first != nil && w.weather.garble == 0 && !(troubled && w.weather.drains > 0 && first.Answer.IsZero()) {
				w.fault("caller's call %s has two records", r.SIPCallID)
			}
			records[r.SIPCallID] = r
		}
	}
	callees := map[string][]*party{} // by the caller's Call-ID
	for _, addr := range sortedKeys(w.agents) {
		a := w.agents[addr]
		for _, id := range sortedKeys(a.parties) {
			if p := a.parties[id]; !p.caller {
				callees[p.pair] = append(callees[p.pair], p)
			}
		}
	}
	for _, p := range w.placed {
		if w.weather.garble > 0 {
			break // only that the nodes end clean
		}
		w.checkCaller(p, records[p.callID], calm, troubled)
		w.checkPair(p, callees[p.callID], records[p.callID], calm)
		if r := records[p.callID]; r != nil && !troubled {
			w.checkFork(r)
		}
	}
	for _, addr := range sortedKeys(w.agents) {
		a := w.agents[addr]
		for _, id := range sortedKeys(a.parties) {
			if p := a.parties[id]; !p.caller && !a.mute[id] && w.weather.garble == 0 {
				w.checkCallee(p, attempts, calm, troubled)
			}
		}
	}
	if w.weather.parallel > 0 && w.forked == 0 && !troubled {
		w.fault("nobody lost to another far end")
	}
	for _, b := range w.bindings {
		if !troubled && len(w.agents[b.Addr.String()].parties) == 0 {
			w.fault("nobody called the far end %s", b.ID)
		}
	}
	for _, n := range w.nodes {
		if n.dead {
			continue
		}
		st := n.s.Stats()
		if troubled || w.weather.lose > 0 {
			st.Open = 0
		}
		if st != (Stats{}) {
			w.fault("%s holds %+v when all is over", n.name, st)
		}
		for m, k := range n.meters {
			if _, used := m.Read(); used != 0 {
				w.fault("%s counts %d in use of %v when all is over", n.name, used, k)
			}
		}
		for _, m := range w.table.Members() {
			if used := n.seats.Sessions(m, nil); used != 0 {
				w.fault("%s counts %d calls at %s when all is over", n.name, used, m.Key)
			}
		}
		if under := n.limits.Underruns(); under > 0 {
			w.fault("%s: %d uses were given back that nobody took", n.name, under)
		}
		if n.started != n.ended {
			w.fault("%s: %d calls started, %d ended", n.name, n.started, n.ended)
		}
		for id := range n.up {
			w.fault("%s tells the others that call %s is up, which is over", n.name, id)
		}
	}
}

func (w *storm) checkCaller(p *party, r *cdr.Record, calm, troubled bool) {
	if p.gone() || troubled && p.code == 0 {
		return // the node that it called may have died
	}
	switch {
	case len(p.finals) == 0 && p.gaveUp && w.weather.lose > 0:
	case len(p.finals) != 1:
		w.fault("caller %s got the finals %v", p.callID, sortedKeys(p.finals))
	}
	for _, d := range p.dialogs {
		if d.state == confirmed && !p.silent {
			w.fault("caller %s is still up", p.callID)
		}
		if d.unanswered && calm {
			w.fault("caller %s: the ACK to our offer came without an answer", p.callID)
		}
	}
	switch {
	case r == nil && !troubled:
		w.fault("caller %s has no record", p.callID)
	case r == nil:
	case !r.Answer.IsZero() != (p.code/100 == 2) && (w.weather.lose == 0 || p.code/100 == 2):
		w.fault("caller %s got %d, the record says %d, answered %v", p.callID, p.code, r.SIPCode, r.Answer)
	}
}

// checkPair holds both ends of a call against each other and its record.
func (w *storm) checkPair(p *party, callees []*party, r *cdr.Record, calm bool) {
	dialed := 0
	if r != nil {
		for _, a := range r.Attempts {
			if a.Dialed {
				dialed++
			}
		}
	}
	if calm && dialed != len(callees) {
		w.fault("caller %s: the record says that %d were rung, %d were", p.callID, dialed, len(callees))
	}
	for _, d := range p.dialogs {
		if d.stayed && !p.node.troubled && !p.gone() && !hadCompany(d, callees) {
			w.fault("caller %s was left alone in the call", p.callID)
		}
	}
}

// hadCompany tells whether somebody was at the other end, up to a minute or so
// before the end, or has gone in a way that no SBC can know.
func hadCompany(d *line1, callees []*party) bool {
	for _, q := range callees {
		if q.gone() {
			return true
		}
		for _, e := range q.dialogs {
			if !q.node.troubled && (e.state == confirmed || e.ended.After(d.ended.Add(-80*time.Second))) {
				return true
			}
		}
	}
	return false
}

func (w *storm) checkCallee(p *party, attempts map[string]cdr.Attempt, calm, troubled bool) {
	for _, d := range p.dialogs {
		if d.state == confirmed {
			w.fault("callee %s at %s is still up", p.callID, p.a.addr)
		}
	}
	if !calm {
		return
	}
	if p.timedOut {
		w.fault("callee %s at %s rang until it gave up by itself", p.callID, p.a.addr)
	}
	if p.noAck > 0 && !w.silent(p.pair) {
		w.fault("callee %s at %s waited in vain for an ACK", p.callID, p.a.addr)
	}
	if a, ok := attempts[p.callID]; !ok || !a.Dialed {
		w.fault("callee %s at %s was rung and no record has the attempt (%+v)", p.callID, p.a.addr, a)
	}
	_ = troubled
}

func (w *storm) silent(callID string) bool {
	for _, a := range w.agents {
		if a.silent(callID) {
			return true
		}
	}
	return false
}
