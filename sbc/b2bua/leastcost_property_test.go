package b2bua

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// behaviour is what a carrier does with an INVITE: a 100, progress and a final response,
// each after a time; zero times are never.
type behaviour struct {
	rings, final time.Duration
	code         int
}

// gateways are where the carriers of the document are.
var gateways = []string{gatewayA, gatewayB, gatewayC}

// S-030 to S-067 as a property: whatever the carriers do, the call comes to what the sequence engine comes
// to that is asked with the same routes and hears the same: the caller's final response, the attempts, and
// the time that each of them took.
func TestS030_S067_TheCallAgreesWithTheHunt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := []string{a, b, c}
		var routes []trunkgroup.CarrierRoute
		does := make(map[string]behaviour)
		down := []string{}
		for i, at := range rapid.Permutation([]int{0, 1, 2}).Draw(rt, "order")[:rapid.IntRange(1, 3).Draw(rt, "routes")] {
			r := trunkgroup.CarrierRoute{
				CarrierID: names[at], GatewayGroup: names[at], Timeout: time.Duration(rapid.IntRange(0, 8).Draw(rt, "timeout")) * time.Second,
				RerouteAfterProgress: rapid.IntRange(0, 3).Draw(rt, "onwards") == 0,
			}
			if rapid.IntRange(0, 2).Draw(rt, "own causes") == 0 {
				r.RerouteCauses = trunkgroup.Causes(404, 503, 603)
			}
			if rapid.IntRange(0, 3).Draw(rt, "down") == 0 {
				down = append(down, names[at]+"/"+names[at][len(names[at])-1:])
			}
			routes = append(routes, r)
			// No instant is that of a timer.
			x := behaviour{code: rapid.SampledFrom([]int{200, 404, 408, 480, 486, 500, 503, 503, 603}).Draw(rt, "code")}
			if rapid.Bool().Draw(rt, "rings") {
				x.rings = time.Duration(rapid.IntRange(0, 9).Draw(rt, "after"))*time.Second + time.Duration(101+i)*time.Millisecond
			}
			if rapid.IntRange(0, 4).Draw(rt, "speaks") > 0 {
				x.final = max(x.rings, 3*time.Millisecond) + time.Duration(rapid.IntRange(0, 40).Draw(rt, "then"))*time.Second + time.Duration(211+i)*time.Millisecond
			}
			does[gateways[at]] = x
		}
		ring := rapid.SampledFrom([]trunkgroup.Duration{0, trunkgroup.Off, trunkgroup.Duration(4 * time.Second), trunkgroup.Duration(35 * time.Second)}).Draw(rt, "ring")
		doc := carriers(func(d *trunkgroup.Document) {
			d.RoutePlans[0].Ring = ring
			d.RoutePlans[0].RerouteCauses = rapid.SampledFrom([][]int{nil, {480, 503}}).Draw(rt, "plan's causes")
		})
		w := decided(t, doc, routes...)
		setDown(w, down...)
		live := played(w, does)
		if want := foreseen(w, routes, does); live != want {
			rt.Fatalf("routes %+v\ndo %v\nlive %s\nhunt %s", routes, does, live, want)
		}
	})
}

// happening is one thing that a carrier does at an instant.
type happening struct {
	at   time.Time
	addr string
	code int
	msg  *sip.Message
	n    int // attempt
}

// schedule puts what a carrier does with an INVITE of now in its place.
func schedule(list []happening, now time.Time, h happening, x behaviour) []happening {
	for _, e := range [...]struct {
		after time.Duration
		code  int
	}{{time.Millisecond, 100}, {x.rings, 180}, {x.final, x.code}} {
		if e.after > 0 {
			h.at, h.code = now.Add(e.after), e.code
			list = append(list, h)
		}
	}
	slices.SortStableFunc(list, func(a, b happening) int { return a.at.Compare(b.at) })
	return list
}

// played lets the call happen and says what came of it.
func played(w *world, does map[string]behaviour) string {
	begin := w.now
	w.from(customerAddr, vendorCall())
	var list []happening
	seen := map[string]bool{}
	for range 500 {
		for _, x := range w.sent {
			if id := string(x.m.CallID()); x.m.IsRequest() && x.m.Method() == sip.INVITE && !seen[id] {
				seen[id] = true
				list = schedule(list, w.now, happening{addr: x.dest(), msg: x.m}, does[x.dest()])
			}
		}
		w.sent = slices.DeleteFunc(w.sent, func(x wire) bool { return x.dest() != customerAddr })
		for _, x := range w.sent {
			if code := x.m.Status(); code >= 200 {
				return comesTo(code, w.now.Sub(begin), recordOf(w))
			}
		}
		next := w.s.Deadline()
		if len(list) > 0 && (next.IsZero() || list[0].at.Before(next)) {
			h := list[0]
			list = list[1:]
			w.advance(h.at.Sub(w.now))
			w.from(h.addr, reply(h.msg, h.code, "far", ""))
			continue
		}
		if next.IsZero() {
			return "no end" // S-065: it rings for as long as it likes
		}
		w.advance(max(next.Sub(w.now), 0))
	}
	return "no end"
}

// recordOf returns the attempts of the call, answered or not.
func recordOf(w *world) []cdr.Attempt {
	if len(w.records) > 0 {
		return w.records[0].Attempts
	}
	for c := range w.s.calls {
		return c.rec.Attempts
	}
	return nil
}

func comesTo(code int, after time.Duration, attempts []cdr.Attempt) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d after %v:", code, after)
	for _, a := range attempts {
		fmt.Fprintf(&b, " %s %d %v %v %v;", a.CarrierID, a.Code, a.Dialed, a.Progress, a.Elapsed)
	}
	return b.String()
}

// foreseen asks the sequence engine alone.
func foreseen(w *world, routes []trunkgroup.CarrierRoute, does map[string]behaviour) string {
	customer := w.table.Group("acme-out")
	course := trunkgroup.Course{Table: w.table, View: w.view, Site: "dallas", Routes: &trunkgroup.RouteSet{Routes: routes}}
	c := &Call{s: w.s, customer: customer}
	order, _ := course.Plan(nil, c)
	d := trunkgroup.Decision{Direction: trunkgroup.Outbound, Ingress: customer, Customer: customer, Plan: w.table.RoutePlans()[0]}
	now := time.Unix(0, 0)
	begin := now
	seq := hunt.New(HuntConfig(&d, &course, order, false), now)
	var list []happening
	code := 0
	take := func(actions []hunt.Action) {
		for _, x := range actions {
			if x.Kind == hunt.Dial {
				addr := order[x.Target].Addr.String()
				list = schedule(list, now, happening{addr: addr, n: x.Attempt}, does[addr])
			}
			if x.Kind.Final() {
				code = x.Code
			}
		}
	}
	take(seq.Start(now))
	for !seq.State().Done() {
		next := seq.Deadline()
		switch {
		case len(list) > 0 && (next.IsZero() || list[0].at.Before(next)):
			h := list[0]
			list, now = list[1:], h.at
			if h.code < 200 {
				take(seq.Provisional(now, h.n, h.code))
			} else {
				take(seq.Final(now, h.n, h.code))
			}
		case next.IsZero():
			return "no end"
		default:
			now = next
			take(seq.Expire(now))
		}
	}
	attempts := seq.Attempts()
	record := make([]cdr.Attempt, len(attempts))
	for i, x := range attempts {
		record[i] = cdr.Attempt{CarrierID: order[x.Target].Route.CarrierID, Code: x.Code, Dialed: x.Dialed, Progress: x.Progress, Elapsed: x.Elapsed}
	}
	return comesTo(code, now.Sub(begin), record)
}
