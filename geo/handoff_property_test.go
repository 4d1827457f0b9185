package geo

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestDEC07_Invariant lets anything happen to a hand-off in any order: it ends once; one node at most is
// joined, and only the one that has the call; nobody is asked twice, but one that said 482 when
// another one is lost that had not spoken; a node that was given up gets one CANCEL after its first word and not before; its 200 is released.
func TestDEC07_Invariant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := make([]PeerNode, rapid.IntRange(0, 4).Draw(t, "nodes"))
		for i := range nodes {
			nodes[i].RTT = time.Duration(rapid.IntRange(0, 300).Draw(t, "rtt")) * time.Millisecond
		}
		c := &checkedHandoff{t: t, nodes: make([]checkedNode, len(nodes)), now: time.Unix(0, 0)}
		c.h = NewHandoff(nodes, time.Duration(rapid.IntRange(0, 9000).Draw(t, "budget"))*time.Millisecond, c.now)
		c.take(c.h.Start(c.now))
		for range rapid.IntRange(0, 30).Draw(t, "events") {
			c.step()
		}
		for range 20 { // then only time goes on
			if d := c.h.Deadline(); !d.IsZero() {
				c.now = d
				c.take(c.h.Expire(d))
			}
		}
		if !c.h.Done() && c.holder() < 0 {
			t.Fatal("the hand-off does not end, and nobody has the call")
		}
		if c.h.Done() && !c.cancelled && c.ends != 1 {
			t.Fatalf("%d ends", c.ends)
		}
	})
}

type checkedNode struct {
	asked, spoke, ended, cancels, holder, knew bool
}

type checkedHandoff struct {
	t         *rapid.T
	h         *Handoff
	nodes     []checkedNode
	now       time.Time
	ends      int
	accepts   int
	asked     int
	cancelled bool
	lost      bool
	again     bool
}

func (c *checkedHandoff) holder() int {
	for i := range c.nodes {
		if n := &c.nodes[i]; n.holder && !n.ended {
			return i
		}
	}
	return -1
}

// step lets one thing happen that a live node can do.
func (c *checkedHandoff) step() {
	var asked []int
	for i := range c.nodes {
		if n := &c.nodes[i]; n.asked && !n.ended {
			asked = append(asked, i)
		}
	}
	what := rapid.IntRange(0, 7).Draw(c.t, "what")
	if what > 2 && len(asked) == 0 {
		return
	}
	var n int
	if len(asked) > 0 {
		n = rapid.SampledFrom(asked).Draw(c.t, "node")
	}
	switch what {
	case 0:
		c.cancelled = c.cancelled || rapid.IntRange(0, 9).Draw(c.t, "cancel") == 0 && !c.h.Done()
		if c.cancelled {
			c.take(c.h.Cancel(c.now))
		}
	case 1, 2:
		c.now = c.now.Add(time.Duration(rapid.IntRange(0, 700).Draw(c.t, "ms")) * time.Millisecond)
		c.take(c.h.Expire(c.now))
	case 3, 4:
		c.nodes[n].spoke = true
		c.take(c.h.Provisional(c.now, n, rapid.SampledFrom([]int{100, 180, 199}).Draw(c.t, "provisional")))
	case 5:
		c.nodes[n].ended = true
		c.lost = c.lost || !c.nodes[n].holder
		c.take(c.h.Failed(c.now, n))
	default:
		code := rapid.SampledFrom([]int{200, 482, 486, 503}).Draw(c.t, "final")
		tried := rapid.Bool().Draw(c.t, "tried")
		wasDone := c.h.Done()
		c.nodes[n].spoke, c.nodes[n].ended = true, true
		c.nodes[n].knew = code == 482 && !tried
		actions := c.h.Final(c.now, n, code, tried)
		joined, released := false, false
		for _, a := range actions {
			joined = joined || a.Kind == Answer && a.Node == n
			released = released || a.Kind == Release && a.Node == n
		}
		if code == 200 && joined == released || wasDone && joined {
			c.t.Fatalf("a 200 of node %d causes %v", n, actions)
		}
		c.take(actions)
	}
}

func (c *checkedHandoff) take(actions []Action) {
	for _, a := range actions {
		switch a.Kind {
		case Try:
			n := &c.nodes[a.Node]
			again := n.asked && n.ended && n.knew && c.lost && !c.again
			if c.asked++; n.asked && !again || c.h.Done() {
				c.t.Fatalf("node %d is asked again, or after the end", a.Node)
			}
			c.again = c.again || again
			*n = checkedNode{asked: true}
		case Cancel:
			if n := &c.nodes[a.Node]; !n.spoke || n.cancels || n.ended {
				c.t.Fatalf("CANCEL to node %d: %+v", a.Node, *n)
			}
			c.nodes[a.Node].cancels, c.nodes[a.Node].holder = true, false
		case Accept:
			if c.accepts++; c.accepts > 1 {
				c.t.Fatal("accepted twice")
			}
		case Relay, Answer:
			if c.nodes[a.Node].cancels {
				c.t.Fatalf("%v of node %d after its CANCEL", a.Kind, a.Node)
			}
		}
		switch a.Kind {
		case Accept, Relay, Answer:
			if h := c.holder(); h >= 0 && h != a.Node && c.nodes[h].spoke && !c.nodes[h].cancels && a.Kind != Accept {
				c.t.Fatalf("%v of node %d while node %d has the call", a.Kind, a.Node, h)
			}
			c.nodes[a.Node].holder = true
		case Refused, Exhausted:
			if h := c.holder(); h >= 0 {
				c.t.Fatalf("%v while node %d has the call", a.Kind, h)
			}
		}
		if a.Kind == Answer || a.Kind == Refused || a.Kind == Exhausted {
			if c.ends++; c.ends > 1 || c.cancelled {
				c.t.Fatalf("%v after the end", a.Kind)
			}
		}
	}
}
