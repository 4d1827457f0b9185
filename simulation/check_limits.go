package simulation

import (
	"fmt"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/limit"
)

// justFull is how long ago a limit may have been used up to be a reason for a
// refusal: a call waits for so long, and news of what becomes free take a moment.
const justFull = 1500 * time.Millisecond

// total is what a limit is in the whole cluster, and what of it is in use now. A
// node that is dead has no calls.
func (w *world) total(k limit.Key) (used, most int) {
	for _, l := range w.lab.limits {
		if l.Key == k {
			for _, share := range l.Shares {
				most += share
			}
		}
	}
	for _, n := range w.nodes {
		if !n.alive || n.witness {
			continue
		}
		if m := n.rights.set.Meter(k); m != nil {
			_, u := m.Read()
			used += u
		}
	}
	return used, most
}

// checkLimits: what is in use is never above the limit, whatever is broken.
func (w *world) checkLimits(n *node, uses []limit.Use) {
	for i := range uses {
		k := uses[i].Key
		if w.unlimited(k) {
			continue
		}
		if used, most := w.total(k); used > most {
			w.fault("%s: %d of %d %s are in use", n.name, used, most, k)
		}
	}
	w.noteFull(uses)
}

// noteFull remembers when a limit was used up.
func (w *world) noteFull(uses []limit.Use) {
	for i := range uses {
		k := uses[i].Key
		if w.unlimited(k) {
			continue
		}
		if used, most := w.total(k); used >= most {
			w.full[k] = w.now
		}
	}
}

func (w *world) unlimited(k limit.Key) bool {
	if !w.plan.limited {
		return true
	}
	for i := range w.lab.limits {
		if w.lab.limits[i].Key == k {
			return false
		}
	}
	return true
}

// checkRefusal: while the cluster is whole, a call is refused for a limit of calls
// that is used up and for no other. What lasts a second only may be free again
// before the news of it are anywhere.
func (w *world) checkRefusal(n *node, uses []limit.Use) {
	w.sums.Refused++
	if !w.allCalm(w.now-known, w.now) || !w.allQuick(w.now-known, w.now) || w.plan.loss > 0 { // what is late for a lost segment may miss the half second
		return
	}
	for i := range uses {
		k := uses[i].Key
		if w.unlimited(k) {
			continue
		}
		if k.Kind == limit.Rate {
			return
		}
		if used, most := w.total(k); used >= most || w.full[k] > 0 && w.now-w.full[k] < justFull {
			return
		}
	}
	w.fault("%s refuses a call for a limit, and none is used up: %s", n.name, w.shares(uses))
}

// shares tells who has what of the limits in question.
func (w *world) shares(uses []limit.Use) string {
	if !w.tracing {
		return ""
	}
	var b strings.Builder
	for i := range uses {
		for _, n := range w.nodes {
			if n.witness || !n.alive {
				continue
			}
			if m := n.rights.set.Meter(uses[i].Key); m != nil {
				share, used := m.Read()
				fmt.Fprintf(&b, "%s: %s %d of %d; ", uses[i].Key, n.name, used, share)
			}
		}
	}
	return b.String()
}

// checkMeters: counters end at zero.
func (w *world) checkMeters() {
	for _, n := range w.nodes {
		if n.witness || !n.alive {
			continue
		}
		for _, l := range w.lab.limits {
			if m := n.rights.set.Meter(l.Key); m != nil {
				if _, used := m.Read(); used > w.left(n) {
					w.fault("%s: %d uses of %s when all is over", n.name, used, l.Key)
				}
			}
		}
		if u := n.rights.set.Underruns(); u > 0 {
			w.fault("%s: %d uses given back twice", n.name, u)
		}
		if q := n.rights.queue.Len(); q > 0 {
			w.fault("%s: %d calls wait for a limit when all is over", n.name, q)
		}
	}
}
