package hunt

import (
	"fmt"
	"time"
)

// Kind says what the call does for an Action.
type Kind uint8

const (
	// Dial sends an INVITE to Target as a new dialog; events name it by Attempt.
	Dial Kind = iota + 1
	// Abandon gives up Attempt (DEC-02): CANCEL after any provisional, else stop repeating and settle
	// with whatever comes late. Its late events need not be told to the sequence.
	Abandon
	// Relay sends the provisional Code of Attempt to the caller.
	Relay
	// Answer joins the caller with Attempt.
	Answer
	// Forward sends the final of Attempt, Code, to the caller as it is.
	Forward
	// Handoff asks the peer site, which has Budget until its first 18x.
	Handoff
	// RelayHandoff sends the provisional Code of the hand-off to the caller.
	RelayHandoff
	// AnswerHandoff joins the caller with the hand-off.
	AnswerHandoff
	// ForwardHandoff sends the final of the hand-off, Code, to the caller as it is.
	ForwardHandoff
	// CancelHandoff gives up the hand-off.
	CancelHandoff
	// Fail sends a final of our own, Code, for the reason Cause.
	Fail
)

// String returns the kind in lower case.
func (k Kind) String() string {
	names := [...]string{
		"none", "dial", "abandon", "relay", "answer", "forward", "handoff",
		"relay-handoff", "answer-handoff", "forward-handoff", "cancel-handoff", "fail",
	}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Final reports whether the kind gives the caller a final response. A sequence emits exactly one such
// action.
func (k Kind) Final() bool {
	switch k {
	case Answer, AnswerHandoff, Forward, ForwardHandoff, Fail:
		return true
	}
	return false
}

// Action is one thing that the call does now.
type Action struct {
	Kind Kind
	// Attempt is the index in Attempts of Dial, Abandon, Relay, Answer and Forward; -1 else.
	Attempt int
	// Target is the index in Config.Targets of the same; -1 else.
	Target int
	// Code is the status code of Relay, Answer, Forward, their hand-off kinds and Fail.
	Code int
	// Cause says why, for Fail and Abandon: one of the Cause constants, or VENDOR_ and a code.
	Cause string
	// Budget is how long the peer may take, for Handoff.
	Budget time.Duration
	// Definitive says of a failure that the far end or the callee spoke the last word: nobody else is
	// asked. A peer reports it to the origin of a hand-off (HandoffResult).
	Definitive bool
}

// String returns the action as a line for scripts and traces.
func (a Action) String() string {
	switch a.Kind {
	case Dial:
		return fmt.Sprintf("dial target %d as attempt %d", a.Target, a.Attempt)
	case Abandon:
		return fmt.Sprintf("abandon attempt %d (%s)", a.Attempt, a.Cause)
	case Relay, Answer, Forward:
		return fmt.Sprintf("%s attempt %d %d", a.Kind, a.Attempt, a.Code)
	case Handoff:
		return fmt.Sprintf("handoff budget %v", a.Budget)
	case RelayHandoff, AnswerHandoff, ForwardHandoff:
		return fmt.Sprintf("%s %d", a.Kind, a.Code)
	case Fail:
		return fmt.Sprintf("fail %d (%s)", a.Code, a.Cause)
	}
	return a.Kind.String()
}
