package hunt

import (
	"testing"
	"time"
)

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		Idle.String(): "idle", HandedOff.String(): "handed-off", Cancelled.String(): "cancelled", State(99).String(): "unknown",
		Kind(0).String(): "none", CancelHandoff.String(): "cancel-handoff", Kind(99).String(): "unknown",
		Action{Kind: Dial, Target: 2, Attempt: 1}.String():                                     "dial target 2 as attempt 1",
		Action{Kind: Abandon, Attempt: 1, Cause: CauseNoResponse}.String():                     "abandon attempt 1 (no_response)",
		Action{Kind: Relay, Attempt: 1, Code: 180}.String():                                    "relay attempt 1 180",
		Action{Kind: Handoff, Attempt: -1, Budget: 5 * time.Second}.String():                   "handoff budget 5s",
		Action{Kind: ForwardHandoff, Attempt: -1, Code: 486}.String():                          "forward-handoff 486",
		Action{Kind: CancelHandoff, Attempt: -1}.String():                                      "cancel-handoff",
		Action{Kind: Fail, Attempt: -1, Code: 503, Cause: CausePDD, Definitive: true}.String(): "fail 503 (PDD_TIMEOUT)",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Targets without groups follow the defaults of one (S-035).
func TestNoGroups(t *testing.T) {
	cfg, now := fourTargets(), time.Unix(0, 0)
	cfg.Groups = nil
	s := New(cfg, now)
	s.Start(now)
	if got := s.Final(now, 0, 503); len(got) != 1 || got[0].Kind != Dial {
		t.Errorf("a 503 caused %v", got)
	}
	if got := s.Final(now, 1, 404); len(got) != 1 || got[0].Kind != Forward {
		t.Errorf("a 404 caused %v", got)
	}
}

// Events before the start and a second start do nothing; a caller may give up even then.
func TestNothingBeforeTheStart(t *testing.T) {
	now := time.Unix(0, 0)
	s := New(fourTargets(), now)
	if !s.Deadline().IsZero() || s.HandoffAccepted() || s.State() != Idle {
		t.Errorf("deadline %v, accepted %v, state %v before the start", s.Deadline(), s.HandoffAccepted(), s.State())
	}
	for what, actions := range map[string][]Action{
		"final": s.Final(now, 0, 200), "provisional": s.Provisional(now, -1, 180), "expire": s.Expire(now.Add(time.Hour)),
		"error": s.TransportError(now, -1, ""), "peer": s.HandoffDone(now, HandoffResult{Answered: true}),
	} {
		if len(actions) > 0 {
			t.Errorf("%s caused %v", what, actions)
		}
	}
	if s.Start(now); s.State() != Trying || s.Start(now) != nil {
		t.Errorf("state %v after the start", s.State())
	}
	if got := s.Final(now, 0, 100); got != nil || s.State() != Trying {
		t.Errorf("a 100 as a final caused %v", got)
	}
	s.TransportError(now, 0, "")
	if got := s.Attempts()[0].Cause; got != CauseTransport {
		t.Errorf("cause %q of an error that was not named", got)
	}

	s = New(fourTargets(), now)
	if got := s.Cancel(now); len(got) != 1 || got[0].Code != 487 || s.Start(now) != nil {
		t.Errorf("a caller who was quick got %v", got)
	}
}
