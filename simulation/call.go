package simulation

import (
	"strconv"
	"time"
)

// will is what the callee does with a call that reaches it while it is well.
type will uint8

const (
	answers    will = iota
	saysBusy        // 486
	declines        // 603
	ringsOn         // rings until somebody stops it
	answersNow      // 200 without ringing
)

// call is the truth about one call, which no node sees whole.
type call struct {
	index    int
	number   string
	group    string // that the call is for; empty for an outbound one
	will     will
	ring     time.Duration // to the first 180
	answer   time.Duration // from there to the answer
	talk     time.Duration
	byCaller bool
	caller   *caller
	decision *decision // of a call whose carriers a server decides on
	legs     []*callee // every B leg that came to a far end
	begun    time.Duration
}

// callOf finds the call of a number.
func (w *world) callOf(number []byte) *call {
	if len(number) < 3 {
		return nil
	}
	i, err := strconv.Atoi(string(number[len(number)-3:]))
	if err != nil || i >= len(w.calls) {
		return nil
	}
	return w.calls[i]
}

// planCalls draws the calls of the run.
func (w *world) planCalls() {
	r := w.users
	for i := range w.plan.calls {
		c := &call{
			index: i, ring: between(r, 20*time.Millisecond, 1200*time.Millisecond), answer: between(r, 100*time.Millisecond, 4*time.Second),
			talk: between(r, 500*time.Millisecond, w.plan.talk), byCaller: chance(r, 0.5),
			begun: w.plan.begin + time.Duration(i)*w.plan.pace + upTo(r, w.plan.pace),
		}
		switch x := r.IntN(20); {
		case x < 12:
			c.will = answers
		case x < 14:
			c.will = answersNow
		case x < 16:
			c.will = saysBusy
		case x < 17:
			c.will = declines
		default:
			c.will = ringsOn
		}
		site := r.IntN(2)
		from := w.agents[site+2*r.IntN(2)] // a carrier
		switch x := r.IntN(10); {
		case x < 6:
			c.group, c.number = "acme-in", "+1214555"
		case x < 8:
			c.group, c.number = "bravo-in", "+1214556"
		default:
			c.number = "+1310555"
			if from = w.agents[4+2*site]; chance(r, 0.5) { // a PBX that is a source
				from, c.decision = w.agents[8+site], drawDecision(r)
			}
		}
		c.number += strconv.Itoa(1000 + i)
		entry := w.nodes[2*site+r.IntN(2)]
		targets := []*node{entry}
		if chance(r, 0.4) { // follows SRV
			targets = append(targets, w.nodes[entry.index^1])
		}
		c.caller = &caller{call: c, targets: targets, offers: !chance(r, 0.15), callID: "sim-" + strconv.Itoa(i), a: from}
		if chance(r, 0.15) {
			c.caller.patience = between(r, 50*time.Millisecond, 12*time.Second)
		}
		w.calls = append(w.calls, c)
		w.after(c.begun-w.now, c.caller.begin)
	}
}
