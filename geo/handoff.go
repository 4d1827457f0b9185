package geo

import "time"

const (
	// minFirstWord is the shortest wait for a node's 100 (DEC-05).
	minFirstWord = 500 * time.Millisecond
	// maxAsked is how many nodes may leave us waiting: one, and one second node (DEC-07).
	maxAsked = 2
)

// Kind says what the call does for an Action.
type Kind uint8

const (
	// Try sends the hand-off INVITE to Node.
	Try Kind = iota + 1
	// Cancel sends a CANCEL to Node, which has spoken.
	Cancel
	// Release ends the dialog of a 2xx that came too late from Node: ACK and BYE (DEC-02).
	Release
	// Accept says that Node has taken the call up; it comes once.
	Accept
	// Relay gives the provisional Code of Node to the caller.
	Relay
	// Answer joins the caller with Node.
	Answer
	// Refused ends the hand-off with the final Code of Node.
	Refused
	// Exhausted ends the hand-off without anybody's final.
	Exhausted
)

// String returns the kind in lower case.
func (k Kind) String() string {
	names := [...]string{"none", "try", "cancel", "release", "accept", "relay", "answer", "refused", "exhausted"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Action is one thing that the call does now.
type Action struct {
	Kind Kind
	// Node is an index in the slice given to NewHandoff; -1 for Exhausted.
	Node int
	// Code is the status code of Relay, Answer and Refused.
	Code int
	// Accepted says of Refused and Exhausted whether the peer site had taken the call up.
	Accepted bool
}

// phase is what one node is to the hand-off.
type phase uint8

const (
	unasked   phase = iota
	silent          // asked, no word yet
	held            // said 100 after a second node was asked, which has not spoken
	chosen          // has taken the call up
	dropped         // given up without a word; CANCEL follows when it speaks
	cancelled       // given up, CANCEL sent
	gone            // has ended
)

// Handoff takes one call to a peer site. At most one node takes it up: the first to speak, except that
// a node that is late with a mere 100 yields to the second node, unless that one says 482, for the peer
// site knows the call already (DEC-07). When the node that had it is lost before it spoke, the one that
// said so is asked once more: the lost one has lost us too and gives the call up. It belongs to one goroutine.
type Handoff struct {
	nodes    []PeerNode
	phases   []phase
	next     int // next node to ask
	waited   int // nodes that were asked and may leave us waiting
	latest   int // node asked last
	chosen   int
	done     bool
	wait     time.Time // for the latest node's first word; zero = none
	end      time.Time // of the budget; zero = none
	out      []Action
	buffer   [4]Action
	accepted bool
	lost     bool // a node that had been asked and had not spoken was lost
	knew     int  // node that said 482 while another one was silent; -1 for none
	again    bool // that was done
}

// NewHandoff prepares a hand-off to these nodes, in the order in which they are asked (Nodes). Budget
// runs from now and ends with the first 18x; 0 means no bound.
func NewHandoff(nodes []PeerNode, budget time.Duration, now time.Time) *Handoff {
	h := &Handoff{nodes: nodes, phases: make([]phase, len(nodes)), latest: -1, chosen: -1, knew: -1}
	if budget > 0 {
		h.end = now.Add(budget)
	}
	return h
}

// Start asks the first node. The slice returned here and by every other event is valid until the next.
func (h *Handoff) Start(now time.Time) []Action {
	h.out = h.buffer[:0]
	if h.latest < 0 && !h.done {
		h.ask(now)
	}
	return h.out
}

// Deadline is when Expire must be called next, zero for never.
func (h *Handoff) Deadline() time.Time {
	switch {
	case h.done:
		return time.Time{}
	case h.wait.IsZero() || !h.end.IsZero() && h.end.Before(h.wait):
		return h.end
	}
	return h.wait
}

// Done reports whether the hand-off has ended. Events of its nodes must still be told until their
// transactions have ended, so that nobody is left with a call.
func (h *Handoff) Done() bool { return h.done }

// Provisional takes a provisional response of a node.
func (h *Handoff) Provisional(_ time.Time, node, code int) []Action {
	h.out = h.buffer[:0]
	switch h.phases[node] {
	case dropped:
		h.emit(Cancel, node, 0)
		h.phases[node] = cancelled
	case silent, held:
		if code == 100 && node != h.latest && h.phases[h.latest] == silent {
			h.phases[node] = held
			break
		}
		h.choose(node)
		h.relay(node, code)
	case chosen:
		h.relay(node, code)
	}
	return h.out
}

// Final takes a final response of a node. Tried says that a failure came with the list of what the peer
// tried: the site took the call up. A failure without it is one node's refusal.
func (h *Handoff) Final(now time.Time, node, code int, tried bool) []Action {
	h.out = h.buffer[:0]
	was := h.phases[node]
	h.phases[node] = gone
	switch {
	case was == dropped || was == cancelled:
		if code < 300 {
			h.emit(Release, node, code)
		}
	case h.done || was == unasked || was == gone:
	case code < 300:
		h.phases[node] = was
		h.choose(node)
		h.phases[node] = gone
		h.finish(Answer, node, code)
	case code == 482 && !tried:
		h.elsewhere(now, node)
	case was == chosen || tried:
		h.accepted = true
		h.dropOthers(node)
		h.finish(Refused, node, code)
	default:
		h.without(now, Action{Kind: Refused, Node: node, Code: code})
	}
	return h.out
}

// Failed says that a node cannot be reached: its INVITE was not sent, its stream broke, or its heartbeat
// ended. Another node follows at once, and without the call having waited; but a call that the node had
// taken up is not asked for again.
func (h *Handoff) Failed(now time.Time, node int) []Action {
	h.out = h.buffer[:0]
	was := h.phases[node]
	h.phases[node] = gone
	switch {
	case h.done:
	case was == chosen:
		h.finish(Exhausted, -1, 0)
	case was == silent || was == held:
		h.waited--
		h.lost = true
		h.without(now, Action{Kind: Exhausted, Node: -1})
	}
	return h.out
}

// Cancel says that the caller gave up or that the call's own clock ended the hand-off.
func (h *Handoff) Cancel(time.Time) []Action {
	h.out = h.buffer[:0]
	if !h.done {
		h.dropOthers(-1)
		h.done = true
	}
	return h.out
}

// Expire fires the timer that is due.
func (h *Handoff) Expire(now time.Time) []Action {
	h.out = h.buffer[:0]
	switch {
	case h.done:
	case !h.end.IsZero() && !now.Before(h.end):
		h.dropOthers(-1)
		h.finish(Exhausted, -1, 0)
	case !h.wait.IsZero() && !now.Before(h.wait):
		h.wait = time.Time{}
		if first := h.other(h.latest, held); first >= 0 {
			h.choose(first)
			break
		}
		h.ask(now)
	}
	return h.out
}
