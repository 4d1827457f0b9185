package geo

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestHandoffScripts runs the scripts of testdata/handoff. Every command prints the actions that it
// caused, with the time since the start.
//
// With -rewrite the outputs are written anew. Only commit such a change when you understand what
// caused it, and then read the rule again.
//
//	handoff [budget=]        input: one node per line: NAME [rtt=]; then the first node is asked
//	recv NAME code [tried]   a response of a node; tried: a failure came with the peer's attempts
//	fail NAME                a node cannot be reached
//	advance d                time goes on, stopping at each deadline
//	cancel                   the caller gave up
func TestHandoffScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/handoff", func(t *testing.T, path string) {
		var s handoffScript
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
		s.check(t)
	})
}

type handoffScript struct {
	nodes []PeerNode
	h     *Handoff
	now   time.Time
	out   strings.Builder
	ends  int
	takes int
}

func (s *handoffScript) run(t *testing.T, d *datadriven.TestData) string {
	s.out.Reset()
	switch d.Cmd {
	case "handoff":
		s.check(t)
		s.start(t, d)
	case "recv":
		node, code := s.node(t, d), 0
		if _, err := fmt.Sscan(d.CmdArgs[1].Key, &code); err != nil {
			t.Fatal(err)
		}
		if code < 200 {
			s.done(s.h.Provisional(s.now, node, code))
		} else {
			s.done(s.h.Final(s.now, node, code, d.HasArg("tried")))
		}
	case "fail":
		s.done(s.h.Failed(s.now, s.node(t, d)))
	case "cancel":
		if !s.h.Done() {
			s.ends++
		}
		s.done(s.h.Cancel(s.now))
	case "advance":
		by, err := time.ParseDuration(d.CmdArgs[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		end := s.now.Add(by)
		for at := s.h.Deadline(); !at.IsZero() && !at.After(end); at = s.h.Deadline() {
			if early := s.h.Expire(at.Add(-time.Nanosecond)); len(early) > 0 {
				t.Errorf("%v before the deadline", early)
			}
			s.now = at
			s.done(s.h.Expire(at))
		}
		s.now = end
	default:
		d.Fatalf(t, "unknown command")
	}
	if s.out.Len() == 0 {
		return "nothing"
	}
	return s.out.String()
}

func (s *handoffScript) start(t *testing.T, d *datadriven.TestData) {
	*s = handoffScript{now: time.Unix(0, 0)}
	var budget time.Duration
	if d.HasArg("budget") {
		var text string
		d.ScanArgs(t, "budget", &text)
		budget = parseDuration(t, text)
	}
	for line := range strings.SplitSeq(d.Input, "\n") {
		if f := strings.Fields(line); len(f) > 0 {
			n := PeerNode{Name: f[0]}
			if len(f) > 1 {
				n.RTT = parseDuration(t, strings.TrimPrefix(f[1], "rtt="))
			}
			s.nodes = append(s.nodes, n)
		}
	}
	s.h = NewHandoff(s.nodes, budget, s.now)
	s.done(s.h.Start(s.now))
}

func parseDuration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (s *handoffScript) node(t *testing.T, d *datadriven.TestData) int {
	for i, n := range s.nodes {
		if n.Name == d.CmdArgs[0].Key {
			return i
		}
	}
	d.Fatalf(t, "no such node")
	return -1
}

func (s *handoffScript) done(actions []Action) {
	for _, a := range actions {
		line := a.Kind.String()
		if a.Node >= 0 {
			line += " " + s.nodes[a.Node].Name
		}
		if a.Code > 0 {
			line += " " + strconv.Itoa(a.Code)
		}
		switch a.Kind {
		case Accept:
			s.takes++
		case Answer, Refused, Exhausted:
			s.ends++
			if a.Accepted {
				line += ", accepted"
			}
		}
		fmt.Fprintf(&s.out, "%-6v %s\n", s.now.Sub(time.Unix(0, 0)), line)
	}
}

// check states what holds for every hand-off.
func (s *handoffScript) check(t *testing.T) {
	t.Helper()
	if s.h != nil && (s.ends != 1 || s.takes > 1 || !s.h.Done() || !s.h.Deadline().IsZero()) {
		t.Errorf("%d ends, %d accepted, done %v, deadline %v", s.ends, s.takes, s.h.Done(), s.h.Deadline())
	}
}
