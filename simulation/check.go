package simulation

import (
	"slices"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
)

// check holds what happened against what was promised.
func (w *world) check() {
	records := w.byCaller()
	for _, c := range w.calls {
		if c.caller.skipped {
			continue
		}
		w.checkFinal(c)
		w.checkTaken(c, records[c.caller.callID])
		w.checkAnswers(c)
		w.checkDecision(c, records[c.caller.callID])
		w.checkRecords(c, records[c.caller.callID])
		w.checkEnds(c)
	}
	w.checkHandoffs()
	w.checkNodes()
	w.checkConvergence()
	w.checkSoft()
	w.checkMeters()
}

// byCaller sorts the calls' records by the caller's Call-ID.
func (w *world) byCaller() map[string][]*cdr.Record {
	out := make(map[string][]*cdr.Record)
	for _, r := range w.latest() {
		if r.Kind == cdr.KindCall {
			out[r.SIPCallID] = append(out[r.SIPCallID], r)
		}
	}
	return out
}

// latest are the records as a consumer keeps them: of each call and kind the
// highest version.
func (w *world) latest() (list []*cdr.Record) {
	type key struct {
		id, node string
		kind     cdr.Kind
	}
	at := make(map[key]int)
	for _, r := range w.records {
		k := key{id: r.CallID, kind: r.Kind}
		if r.Kind == cdr.KindHandoff && r.ClosedBy == "" {
			k.node = r.Node
		}
		i, known := at[k]
		switch {
		case !known:
			at[k] = len(list)
			list = append(list, r)
		case r.Version > list[i].Version:
			list[i] = r
		case r.Version == list[i].Version && r.Kind == cdr.KindCall && r.ClosedBy == "": // survivors may both write
			w.fault("two records of call %s with version %d", r.CallID, r.Version)
		}
	}
	return list
}

// checkNodes: counters end at zero, and nothing of any call stays.
func (w *world) checkNodes() {
	for _, n := range w.nodes {
		if !n.alive {
			w.fault("%s is not up at the end", n.name)
			continue
		}
		var sum b2bua.Stats
		for _, s := range n.shards {
			st := s.Stats()
			sum.Calls += st.Calls
			sum.Transactions += st.Transactions
			sum.Dialogs += st.Dialogs
		}
		sum.Transactions -= w.probesOf(n)
		left := w.left(n)
		if sum.Transactions != 0 || sum.Calls > left || sum.Dialogs > 2*left {
			w.fault("%s holds %+v when all is over", n.name, sum)
		}
		if n.started < n.ended || n.started > n.ended+left {
			w.fault("%s: %d calls started, %d ended", n.name, n.started, n.ended)
		}
	}
}

// left counts the calls of a node that both ends have left without a word that
// reached it: they stay until the end of what a call may last (P-35).
func (w *world) left(n *node) (count int) {
	for _, c := range w.calls {
		if slices.Contains(c.caller.entered, n) && c.forgotten() {
			count++
		}
		for _, l := range c.legs {
			if l.from == n && !slices.Contains(c.caller.entered, n) && c.forgotten() {
				count++
				break
			}
		}
	}
	return count
}

// forgotten tells whether one end of the call has lost its memory, or was told that
// the call is gone.
func (c *call) forgotten() bool {
	if c.caller.tag != "" && c.caller.a.legs[c.caller.callID] == nil {
		return true
	}
	if slices.ContainsFunc(c.caller.dialogs, func(d *dialog) bool { return d.misled }) {
		return true
	}
	return slices.ContainsFunc(c.legs, func(l *callee) bool { return l.lost() || l.dialog.misled })
}

// probesOf counts the probes on their way.
func (w *world) probesOf(n *node) int { return len(n.watch.flying) }

// checkEnds: no far end is left alone in a call.
func (w *world) checkEnds(c *call) {
	for _, d := range c.caller.dialogs {
		if !d.over && c.caller.a.legs[c.caller.callID] != nil {
			w.fault("call %d: the caller is still up", c.index)
		}
	}
	for _, l := range c.legs {
		if !l.lost() && l.code >= 200 && l.code < 300 && !l.dialog.over {
			w.fault("call %d: callee %s is still up", c.index, l.a.name)
		}
		if l.noACK && w.plan.loss == 0 && w.allCalm(l.came-quiet, w.now) && l.a.ill.calm(l.came-quiet, w.now) &&
			c.caller.a.ill.calm(c.begun-quiet, w.now) {
			w.fault("call %d: callee %s waited in vain for an ACK", c.index, l.a.name)
		}
		if l.alone && l.from.trouble.calm(l.came-quiet, w.now) && l.a.ill.calm(l.came, w.now) && w.lost[l.callID] == 0 {
			w.fault("call %d: callee %s rang until it gave up by itself", c.index, l.a.name)
		}
	}
}
