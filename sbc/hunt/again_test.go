package hunt

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// S-045: "on_failure fires exactly once per exhausted sequence ... dial()/route() starts again": one list
// of attempts, and the new list alone decides the final.
func TestS045_Again(t *testing.T) {
	now := time.Unix(0, 0)
	s := New(Config{Targets: []Target{{Dialable: true}, {Dialable: true}}, Ring: 30 * time.Second}, now)
	s.Start(now)
	if out := s.Final(now, 0, 486); out[0].Kind != Forward || s.Rest() != 1 {
		t.Fatalf("%v, rest %d", out, s.Rest())
	}
	out := s.Again(now, []Target{{Dialable: true}, {Cause: "down"}}, []Group{{}})
	if len(out) != 1 || out[0].Kind != Dial || out[0].Attempt != 1 || out[0].Target != 1 {
		t.Fatalf("%v", out)
	}
	if s.Again(now, nil, []Group{{}}) != nil {
		t.Error("a list that has not failed has been replaced")
	}
	out = s.Final(now, 1, 500)
	if len(out) != 1 || out[0].Code != 503 || out[0].Cause != CauseUnreachable {
		t.Errorf("S-041 of the new list: %v", out)
	}
	out = s.Again(now, []Target{{Dialable: true}}, []Group{{}})
	s.Expire(s.Deadline())
	if a := s.Attempts(); len(out) != 1 || len(a) != 4 || a[3].Target != 3 || a[3].Code != 408 {
		t.Errorf("%v, %+v", out, a)
	}
	if out = s.Again(now, nil, []Group{{}}); len(out) != 1 || out[0].Code != 503 {
		t.Errorf("an empty list: %v", out)
	}
}

// The index of a forwarded attempt is one of the whole list.
func TestS045_AgainForwards(t *testing.T) {
	now := time.Unix(0, 0)
	s := New(Config{Targets: []Target{{Dialable: true}}}, now)
	s.Start(now)
	s.Final(now, 0, 503)
	s.Again(now, []Target{{Dialable: true}}, []Group{{}})
	if out := s.Final(now, 1, 404); len(out) != 1 || out[0].Kind != Forward || out[0].Attempt != 1 || out[0].Target != 1 {
		t.Errorf("%v", out)
	}
}

// DEC-07: a call crosses to a peer site once, whatever list it is on, and what the peer says late has no
// place in the new one.
func TestDEC07_AgainHandsOffOnce(t *testing.T) {
	now := time.Unix(0, 0)
	s := New(Config{Targets: []Target{{Dialable: true}}, Handoff: true}, now)
	s.Start(now)
	if out := s.Final(now, 0, 503); out[0].Kind != Handoff {
		t.Fatalf("%v", out)
	}
	if out := s.Expire(s.Deadline()); out[0].Kind != CancelHandoff || out[1].Kind != Fail {
		t.Fatalf("%v", out)
	}
	s.Again(now, []Target{{Dialable: true}}, []Group{{}})
	if out := s.HandoffDone(now, HandoffResult{Accepted: true, Attempts: []Attempt{{Site: "b", Code: 503}}}); out != nil || len(s.Attempts()) != 2 {
		t.Errorf("late news of the peer: %v, %+v", out, s.Attempts())
	}
	if out := s.Final(now, 1, 503); len(out) != 1 || out[0].Kind != Fail || out[0].Code != 500 {
		t.Errorf("%v", out)
	}
}

// S-070: who is dialled is decided at the instant of the dial.
func TestS070_Retarget(t *testing.T) {
	now := time.Unix(0, 0)
	s := New(Config{Targets: []Target{{Dialable: true}, {Dialable: true}}}, now)
	s.Start(now)
	groups := []Group{{}, {MaxAttempts: 1}}
	s.Retarget([]Target{{Cause: "down"}, {Dialable: true, Group: 1, Within: 1}, {Dialable: true, Group: 1, Within: 1}}, groups)
	out := s.Final(now, 0, 503)
	if len(out) != 1 || out[0].Kind != Dial || out[0].Target != 2 || out[0].Attempt != 2 {
		t.Fatalf("%v", out)
	}
	if out = s.Final(now, 2, 503); out[0].Kind != Fail || len(s.Attempts()) != 3 {
		t.Errorf("the bound of a group that came later: %v", out)
	}
}

// S-036: "precedence: route.reroute_causes > gateway.groups[].reroute_causes > ... Empty list = unset"; C7:
// "6xx always stops".
func TestS036_C7_CausesOfATarget(t *testing.T) {
	own := func(codes ...int) *trunkgroup.CauseSet {
		set := trunkgroup.Causes(codes...)
		return &set
	}
	group := Group{AdvanceOn: trunkgroup.Causes(480, 503), NeverAdvance: trunkgroup.Causes(484)}
	for _, tt := range []struct {
		on   *trunkgroup.CauseSet
		code int
		want bool
	}{
		{nil, 480, true},
		{nil, 404, false},
		{own(), 480, true},
		{own(404), 480, false},
		{own(404), 404, true},
		{own(603, 404), 603, false},
		{own(484), 484, false},
		{own(408), 408, true},
		{nil, 408, false},
	} {
		cfg := Config{Groups: []Group{group}}
		if got := cfg.advances(&Target{AdvanceOn: tt.on}, tt.code); got != tt.want {
			t.Errorf("%v %d: %v", tt.on, tt.code, got)
		}
	}
}

// Whatever lists follow one another, each ends in one final, and attempts only grow.
func TestS045_AgainProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(0, 0)
		draw := func() (list []Target) {
			for range rapid.IntRange(0, 4).Draw(t, "targets") {
				list = append(list, Target{Dialable: rapid.IntRange(0, 2).Draw(t, "dialable") > 0, RerouteAfterProgress: rapid.Bool().Draw(t, "reroute")})
			}
			return list
		}
		s := New(Config{Targets: draw(), Ring: 30 * time.Second, Handoff: rapid.Bool().Draw(t, "handoff")}, now)
		out := s.Start(now)
		for list := range 5 {
			finals := 0
			for step := 0; ; step++ {
				for _, a := range out {
					if a.Kind.Final() {
						finals++
					}
				}
				if s.State().Done() {
					break
				}
				out = playOn(t, s, &now)
				if step > 100 {
					t.Fatal("no end")
				}
			}
			if finals != 1 || !s.Deadline().IsZero() {
				t.Fatalf("list %d: %d finals, deadline %v", list, finals, s.Deadline())
			}
			if s.State() == Answered {
				return
			}
			before := fmt.Sprint(s.Attempts())
			n := len(s.Attempts())
			out = s.Again(now, draw(), []Group{{}})
			if fmt.Sprint(s.Attempts()[:n]) != before {
				t.Fatalf("what was tried has changed: %s", before)
			}
		}
	})
}

// playOn lets one thing happen to what is in flight.
func playOn(t *rapid.T, s *Sequence, now *time.Time) []Action {
	last := len(s.Attempts()) - 1
	if s.State() == HandedOff {
		return s.HandoffDone(*now, HandoffResult{Accepted: true, Attempts: []Attempt{{Site: "b", Dialed: true, Final: true, Code: 503}}})
	}
	switch rapid.IntRange(0, 4).Draw(t, "what") {
	case 0:
		return s.Provisional(*now, last, 180)
	case 1:
		*now = s.Deadline()
		return s.Expire(*now)
	case 2:
		return s.Undialable(*now, last, "no_listener")
	default:
		return s.Final(*now, last, rapid.SampledFrom([]int{200, 404, 486, 500, 503, 503, 503, 603}).Draw(t, "code"))
	}
}
