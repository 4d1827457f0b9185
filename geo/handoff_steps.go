package geo

import "time"

func (h *Handoff) emit(k Kind, node, code int) {
	h.out = append(h.out, Action{Kind: k, Node: node, Code: code})
}

// ask tries the next node, or ends the hand-off when there is none or enough were waited for.
func (h *Handoff) ask(now time.Time) {
	if h.next >= len(h.nodes) || h.waited >= maxAsked {
		h.dropOthers(-1)
		h.finish(Exhausted, -1, 0)
		return
	}
	n := h.next
	h.next++
	h.waited++
	h.latest = n
	h.phases[n] = silent
	h.wait = now.Add(h.firstWord(n))
	h.emit(Try, n, 0)
}

// firstWord is how long a node may take for its 100: 500 ms or four round trips (DEC-05).
func (h *Handoff) firstWord(node int) time.Duration {
	return max(minFirstWord, 4*h.nodes[node].RTT)
}

// choose makes a node the one that has the call. The other one, if it has spoken, gets its CANCEL now,
// else when it speaks (DEC-02).
func (h *Handoff) choose(node int) {
	h.phases[node] = chosen
	h.chosen = node
	h.wait = time.Time{}
	if !h.accepted {
		h.accepted = true
		h.emit(Accept, node, 0)
	}
	h.dropOthers(node)
}

// relay passes on a provisional of the chosen node. The budget is a part of max_pdd and ends with it, at
// the first 18x (DEC-05).
func (h *Handoff) relay(node, code int) {
	if code == 100 {
		return
	}
	if code/10 == 18 {
		h.end = time.Time{}
	}
	h.emit(Relay, node, code)
}

// dropOthers gives up every node but one.
func (h *Handoff) dropOthers(keep int) {
	for n, p := range h.phases {
		switch {
		case n == keep:
		case p == silent:
			h.phases[n] = dropped
		case p == held || p == chosen:
			h.phases[n] = cancelled
			h.emit(Cancel, n, 0)
		}
	}
}

// other returns a node other than this one in the given phase, -1 for none.
func (h *Handoff) other(node int, want phase) int {
	for n, p := range h.phases {
		if n != node && p == want {
			return n
		}
	}
	return -1
}

// elsewhere takes a node's 482: another node of the site has the call, and the answer does not count.
// That node is heard again if we have not yet sent it a CANCEL; it has until the end of the budget.
func (h *Handoff) elsewhere(now time.Time, node int) {
	for _, p := range [...]phase{held, silent, dropped} {
		n := h.other(node, p)
		if n < 0 {
			continue
		}
		h.phases[n] = silent
		h.latest, h.knew = n, node
		h.wait = time.Time{}
		if h.end.IsZero() {
			h.wait = now.Add(h.firstWord(n))
		}
		if p == held {
			h.choose(n)
		}
		return
	}
	if h.lost && h.askAgain(now, node) {
		return
	}
	h.accepted = false
	h.finish(Refused, node, 482)
}

// askAgain asks a node a second time that knew of the call from a node which is lost now. It reports
// false when that was done before.
func (h *Handoff) askAgain(now time.Time, node int) bool {
	if h.again {
		return false
	}
	h.again = true
	h.latest, h.phases[node] = node, silent
	h.wait = now.Add(h.firstWord(node))
	h.emit(Try, node, 0)
	return true
}

// without goes on after a node has ended without taking the call: with one that has spoken, else with
// the next one; an earlier node that is still silent had its time. Otherwise the hand-off ends.
func (h *Handoff) without(now time.Time, end Action) {
	if n := h.other(-1, held); n >= 0 {
		h.choose(n)
		return
	}
	if h.other(-1, silent) >= 0 && !h.wait.IsZero() && h.phases[h.latest] == silent {
		return // the latest node still has time to speak
	}
	if h.next < len(h.nodes) && h.waited < maxAsked {
		h.ask(now)
		return
	}
	if h.lost && h.knew >= 0 && h.askAgain(now, h.knew) {
		return
	}
	h.dropOthers(-1)
	h.finish(end.Kind, end.Node, end.Code)
}

// finish ends the hand-off.
func (h *Handoff) finish(k Kind, node, code int) {
	h.done = true
	h.wait, h.end = time.Time{}, time.Time{}
	h.out = append(h.out, Action{Kind: k, Node: node, Code: code, Accepted: h.accepted})
}
