package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCallIsAnsweredHeldAndEnded(t *testing.T) {
	w := newWorld(t, 1)
	far := w.callee(calleeAddr, Answers(time.Second, 2*time.Second))
	c := w.caller(CallerConfig{}, calleeAddr)
	r := w.record(c, Placement{To: "+12145550100", Hold: 10 * time.Second})
	if r.Result != Completed || r.PDD != time.Second || r.Setup != 3*time.Second || r.Talk != 10*time.Second {
		t.Fatalf("record %+v", r)
	}
	if r.Member != "callee-192.0.2.2" || r.Code != 200 {
		t.Fatalf("answered by %q with %d", r.Member, r.Code)
	}
	a := far.Account()
	if a.Invites != 1 || a.CallIDs != 1 || a.Answered != 1 || a.Acked != 1 || a.Byes != 1 || a.Ringing+a.Up != 0 {
		t.Fatalf("account %+v", a)
	}
	w.noFaults(c, far)
	if legs := far.Legs(); len(legs) != 1 || legs[0].State != LegEnded || legs[0].EndedBy != "caller" {
		t.Fatalf("legs %+v", legs)
	}
}

func TestEachBehaviourEndsAsItSays(t *testing.T) {
	for _, test := range []struct {
		behaviour string
		placement Placement
		result    Result
		code      int
		check     func(a Account) bool
	}{
		{"busy", Placement{}, Rejected, 486, func(a Account) bool { return a.Rejected == 1 && a.Finals[486] == 1 }},
		{"480 after=3s", Placement{}, Rejected, 480, nil},
		{"603", Placement{}, Rejected, 603, nil},
		{"unavailable retry-after=10", Placement{}, Rejected, 503, nil},
		{"blackhole", Placement{}, TimedOut, 0, func(a Account) bool { return a.Invites == 1 && a.Repeats == 6 }},
		{"trying", Placement{}, NoFinal, 487, func(a Account) bool { return a.Cancels == 1 }},
		{"ringing ring=1s", Placement{Cancel: 4 * time.Second}, Cancelled, 487, func(a Account) bool { return a.Cancels == 1 }},
		{"early ring=1s after=2s", Placement{Hold: time.Second}, Completed, 200, nil},
		{"early ring=1s after=2s code=486", Placement{}, Rejected, 486, nil},
		{"late ring=1s", Placement{Cancel: 2 * time.Second}, Raced, 200, func(a Account) bool { return a.Answered == 1 && a.Acked == 1 && a.Byes == 1 }},
		{"answer hangup=5s", Placement{Hold: time.Minute}, HungUp, 200, func(a Account) bool { return a.ByesSent == 1 }},
		{"answer reinvite=1s update=1s hangup=1s", Placement{Hold: time.Minute}, HungUp, 200, nil},
		{"ringing cancel=ignore", Placement{Cancel: time.Second}, CancelFailed, 0, nil},
		{"ringing cancel=half", Placement{Cancel: time.Second}, CancelFailed, 0, nil},
		{"instant", Placement{}, Completed, 200, nil},
		{"instant", Placement{NoOffer: true, Hold: time.Second}, Completed, 200, nil},
		{"instant", Placement{Hold: time.Minute, Then: []Action{{time.Second, "INVITE"}, {time.Second, "UPDATE"}, {time.Second, "INFO"}}}, Completed, 200, func(a Account) bool { return a.Reinvites == 1 && a.Updates == 1 && a.Infos == 1 }},
		{"instant change=488", Placement{Then: []Action{{time.Second, "UPDATE"}}}, Completed, 200, nil},
	} {
		t.Run(test.behaviour+"/"+string(test.result), func(t *testing.T) {
			b, err := ParseBehaviour(test.behaviour)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, 1)
			far := w.callee(calleeAddr, b)
			c := w.caller(CallerConfig{SetupTimeout: 40 * time.Second}, calleeAddr)
			test.placement.To = "+12145550100"
			r := w.record(c, test.placement)
			if r.Result != test.result || r.Code != test.code {
				t.Fatalf("%s %d (%s), want %s %d", r.Result, r.Code, r.Why, test.result, test.code)
			}
			w.run(2 * time.Minute)
			a := far.Account()
			if test.check != nil && !test.check(a) {
				t.Errorf("account %+v", a)
			}
			if strings.Contains(test.behaviour, "ignore") {
				return // a phone that ignores the CANCEL rings on
			}
			if a.Ringing+a.Up != 0 || c.Counts().Active != 0 || !c.Deadline().IsZero() {
				t.Errorf("left over: %+v, %+v, next %v", a, c.Counts(), c.Deadline())
			}
			if !strings.Contains(test.behaviour, "488") {
				w.noFaults(c, far)
			}
		})
	}
}

func TestFinalIsRepeatedUntilACK(t *testing.T) {
	w := newWorld(t, 1)
	b := Answers(0, 0)
	b.Ack = AckDeaf
	far := w.callee(calleeAddr, b)
	c := w.caller(CallerConfig{}, calleeAddr)
	r := w.record(c, Placement{To: "1", Hold: time.Hour})
	// 2xx at 0, .5, 1.5, 3.5, 7.5, 11.5 ... 31.5 s, then BYE at 32 s.
	if r.Result != HungUp || r.Talk != 32*time.Second {
		t.Fatalf("%+v", r)
	}
	answers := 0
	for _, line := range w.trace {
		if line == "200 to INVITE" {
			answers++
		}
	}
	if answers != 11 {
		t.Errorf("%d answers, want 11", answers)
	}
	w.noFaults(c, far)
}

func TestFailoverToTheNextNode(t *testing.T) {
	for _, test := range []struct {
		name  string
		first func(w *world)
		cause string
		after time.Duration
	}{
		{"refused", func(w *world) { w.refuse[otherAddr] = true }, "refused", 0},
		{"silent", func(w *world) { w.callee(otherAddr, BlackHole()) }, "timeout", 4 * time.Second},
		{"503", func(w *world) { w.callee(otherAddr, Unavailable()) }, "503", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, 1)
			far := w.callee(calleeAddr, AnswersAtOnce())
			test.first(w)
			c := w.caller(CallerConfig{NodeTimeout: 4 * time.Second, Avoid: time.Minute}, otherAddr, calleeAddr)
			r := w.record(c, Placement{To: "1", Hold: time.Second})
			if r.Result != Completed || len(r.Tries) != 2 || r.Tries[0].Cause != test.cause || r.Setup != test.after {
				t.Fatalf("%+v", r)
			}
			// RFC 3263 4.3: the same Call-ID at the next node.
			if got := far.Legs()[0].CallID; got != r.CallID {
				t.Errorf("Call-ID %s at the second node, %s at the first", got, r.CallID)
			}
			again := w.record(c, Placement{To: "1"})
			if len(again.Tries) != 1 || again.Tries[0].Node != calleeAddr.String() {
				t.Errorf("a node to be avoided was tried first: %+v", again.Tries)
			}
			w.noFaults(c, far)
		})
	}
}

func TestNoNodeLeft(t *testing.T) {
	w := newWorld(t, 1)
	w.refuse[otherAddr] = true
	w.callee(calleeAddr, Unavailable())
	c := w.caller(CallerConfig{}, otherAddr, calleeAddr)
	r := w.record(c, Placement{To: "1"})
	if r.Result != Rejected || r.Code != 503 || r.Why != otherAddr.String()+": refused after 0s; "+calleeAddr.String()+": 503 after 0s" {
		t.Fatalf("%+v", r)
	}
	w.refuse[calleeAddr] = true
	if r := w.record(c, Placement{To: "1"}); r.Result != Refused {
		t.Fatalf("%+v", r)
	}
}

// DEC-02: an answer that comes after the caller went on is acknowledged and ended.
func TestDEC02_LateAnswerOfAnAbandonedNode(t *testing.T) {
	w := newWorld(t, 1)
	slow := w.callee(otherAddr, Behaviour{Steps: []Step{{After: 6 * time.Second, Code: 200, SDP: true}}})
	ringing := w.callee(calleeAddr, Answers(0, 0))
	c := w.caller(CallerConfig{NodeTimeout: 2 * time.Second}, otherAddr, calleeAddr)
	r := w.record(c, Placement{To: "1", Hold: 20 * time.Second})
	if r.Result != Completed || r.Node != calleeAddr.String() {
		t.Fatalf("%+v", r)
	}
	w.run(time.Minute)
	if a := slow.Account(); a.Answered != 1 || a.Acked != 1 || a.Byes != 1 || a.Up != 0 {
		t.Errorf("slow: %+v", a)
	}
	if n := c.Counts(); n.Answers2 != 1 { // two far ends answered one call: the caller saw it
		t.Errorf("counts %+v", n)
	}
	if ringing.Account().Up != 0 {
		t.Error("a leg is left up")
	}
}

func TestDEC02_LateRingingOfAnAbandonedNodeIsCancelled(t *testing.T) {
	w := newWorld(t, 1)
	slow := w.callee(otherAddr, Behaviour{Steps: []Step{{After: 6 * time.Second, Code: 180}}})
	w.callee(calleeAddr, AnswersAtOnce())
	c := w.caller(CallerConfig{NodeTimeout: 2 * time.Second}, otherAddr, calleeAddr)
	w.record(c, Placement{To: "1"})
	w.run(time.Minute)
	if a := slow.Account(); a.Cancels != 1 || a.Ringing != 0 || a.FaultCount != 0 {
		t.Errorf("slow: %+v", a)
	}
	if !c.Deadline().IsZero() {
		t.Error("the caller still waits for something")
	}
}

// Cancels at random moments against answers, on a wire that loses and reorders:
// nothing may be left ringing or up, and both sides must agree.
func TestCancelRacesLeaveNothingBehind(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			w.delay, w.lose = 40*time.Millisecond, 0.05
			far := w.callee(calleeAddr, Answers(50*time.Millisecond, 100*time.Millisecond))
			c := w.caller(CallerConfig{Seed: seed}, calleeAddr)
			for range 100 {
				c.Place(w.now, Placement{To: "1", Cancel: 1 + time.Duration(w.rng.Int64N(int64(300*time.Millisecond)))})
				w.run(20 * time.Millisecond)
			}
			w.run(3 * time.Minute)
			a, n := far.Account(), c.Counts()
			if a.Ringing+a.Up != 0 || n.Active != 0 || n.Up != 0 {
				t.Fatalf("left over: %+v %+v", a, n)
			}
			if n.Results[Cancelled]+n.Results[Completed]+n.Results[Raced] != 100 || n.Results[Cancelled] == 0 || n.Results[Raced] == 0 {
				t.Errorf("results %v", n.Results)
			}
			if a.CallIDs != 100 || a.Invites != 100 || w.lost == 0 {
				t.Errorf("account %+v, %d lost", a, w.lost)
			}
			if n.Answered != a.Answered {
				t.Errorf("%d answers sent, %d seen", a.Answered, n.Answered)
			}
		})
	}
}

func TestSameSeedSameRun(t *testing.T) {
	run := func() []string {
		w := newWorld(t, 7)
		w.delay, w.lose = 40*time.Millisecond, 0.1
		w.callee(calleeAddr, Answers(50*time.Millisecond, 100*time.Millisecond).Reinvites(time.Second))
		c := w.caller(CallerConfig{Seed: 7}, calleeAddr)
		for range 50 {
			c.Place(w.now, Placement{To: "1", Hold: 3 * time.Second})
			w.run(30 * time.Millisecond)
		}
		w.run(2 * time.Minute)
		return w.trace
	}
	if !slices.Equal(run(), run()) {
		t.Error("two runs with one seed differ")
	}
}

func TestForbiddenTextIsReported(t *testing.T) {
	w := newWorld(t, 1)
	far := NewCallee(CalleeConfig{Name: "x", Behaviour: AnswersAtOnce(), Forbid: []string{"192.0.2.1"}}, w.sender(calleeAddr))
	w.cores[calleeAddr] = far
	c := w.caller(CallerConfig{Forbid: []string{"no such text"}}, calleeAddr)
	w.record(c, Placement{To: "1"})
	if a := far.Account(); a.FaultCount != 3 || a.Faults[0].Kind != FaultLeak {
		t.Errorf("faults %+v", a.Faults)
	}
	w.noFaults(c)
}

func TestEarlyByeEndsTheInviteWith487(t *testing.T) {
	w := newWorld(t, 1)
	far := w.callee(calleeAddr, RingsForEver(0))
	c := w.caller(CallerConfig{}, calleeAddr)
	c.Place(w.now, Placement{To: "1"})
	w.run(time.Second)
	leg := far.Legs()[0]
	data := fmt.Sprintf("BYE sip:callee-192.0.2.2@%s SIP/2.0\r\nVia: SIP/2.0/UDP %s;rport;branch=z9hG4bKearly\r\nMax-Forwards: 70\r\n"+
		"From: %s\r\nTo: %s;tag=%s\r\nCall-ID: %s\r\nCSeq: 2 BYE\r\nContent-Length: 0\r\n\r\n",
		calleeAddr, callerAddr, leg.From, leg.To, leg.Tags[0], leg.CallID)
	w.sender(callerAddr)(target(calleeAddr), []byte(data), 0)
	w.run(time.Second)
	if a := far.Account(); a.Ringing != 0 || a.Finals[487] != 1 || a.FaultCount != 0 {
		t.Errorf("account %+v", a)
	}
}

func TestSilentHostForgetsTheCall(t *testing.T) {
	w := newWorld(t, 1)
	far := w.callee(calleeAddr, BlackHole())
	c := w.caller(CallerConfig{}, calleeAddr)
	w.record(c, Placement{To: "1"})
	w.run(time.Minute)
	if a := far.Account(); a.Ringing+a.Up != 0 || a.FaultCount != 0 || len(far.legs) != 0 {
		t.Errorf("account %+v, %d legs", a, len(far.legs))
	}
}
