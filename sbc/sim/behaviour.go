package sim

import "time"

// Silent as a code means: send nothing.
const Silent = -1

// Step is one response to an INVITE.
type Step struct {
	After   time.Duration // since the step before, the first since the INVITE
	Code    int           // 100..699
	Reason  string        // default: the standard phrase
	SDP     bool          // carries a session description
	Fork    int           // index of the early dialog: each has a To tag of its own
	Headers []string      // complete extra header lines, without CRLF
}

// CancelMode says what a far end does with a CANCEL.
type CancelMode uint8

// What a far end does with a CANCEL.
const (
	CancelObey    CancelMode = iota // 200 to the CANCEL, 487 to the INVITE (RFC 3261 9.2)
	CancelIgnore                    // no answer to the CANCEL; the script goes on
	CancelGoOn                      // 200 to the CANCEL; the script goes on: a phone that was just picked up
	CancelAnswer                    // 200 to the CANCEL, then at once 200 to the INVITE (glare)
	CancelHalf                      // 200 to the CANCEL, no final to the INVITE ever
	CancelUnknown                   // 481 to the CANCEL; the script goes on
)

// AckMode says what a far end does about the ACK to its final responses.
type AckMode uint8

// What a far end does about the ACK.
const (
	AckNormal AckMode = iota // finals are repeated until the ACK comes
	AckDeaf                  // as if no ACK ever came: repeats its final for 64*T1, then gives up
	AckOnce                  // sends each final once and never repeats it
)

// Action is a request that the callee sends in the dialog after the ACK.
type Action struct {
	After  time.Duration // since the action before, the first since the ACK
	Method string        // BYE, INVITE, UPDATE, INFO or OPTIONS
}

// Behaviour is the script that a far end follows. It can be changed at run time;
// a call keeps the script that was in force when its INVITE came. The zero value
// answers nothing to INVITE and 200 to OPTIONS.
type Behaviour struct {
	Name    string
	Steps   []Step
	Cancel  CancelMode
	Ack     AckMode
	Then    []Action
	Options int      // code for OPTIONS outside dialogs; 0 = 200, Silent = none
	Bye     int      // code for BYE; 0 = 200, Silent = none
	Change  int      // code for re-INVITE and UPDATE; 0 = 200, Silent = none
	Headers []string // complete extra header lines on every response, without CRLF
	Routes  []string // Record-Route values added to the dialog, as a proxy in front of the far end would
}

// Answers rings after ring and answers after a further answer. Without a ring
// time there is still a 180.
func Answers(ring, answer time.Duration) Behaviour {
	return Behaviour{Name: "answer", Steps: []Step{{Code: 100}, {After: ring, Code: 180}, {After: answer, Code: 200, SDP: true}}}
}

// AnswersAtOnce sends 180 and 200 in one breath and no 100: the cheapest callee
// for load tests.
func AnswersAtOnce() Behaviour {
	return Behaviour{Name: "instant", Steps: []Step{{Code: 180}, {Code: 200, SDP: true}}}
}

// Rejects answers with a final failure after the given time.
func Rejects(code int, after time.Duration, headers ...string) Behaviour {
	return Behaviour{Name: "reject", Steps: []Step{{Code: 100}, {After: after, Code: code, Headers: headers}}}
}

// Busy answers 486 at once.
func Busy() Behaviour { return named("busy", Rejects(486, 0)) }

// Unavailable answers 503 at once, to OPTIONS as well.
func Unavailable(headers ...string) Behaviour {
	b := named("unavailable", Rejects(503, 0, headers...))
	b.Options = 503
	return b
}

// BlackHole answers nothing at all, as a host behind a dropped route would.
func BlackHole() Behaviour {
	return Behaviour{Name: "blackhole", Options: Silent, Bye: Silent, Change: Silent, Cancel: CancelIgnore}
}

// TryingOnly answers 100 and nothing more until a CANCEL.
func TryingOnly() Behaviour { return Behaviour{Name: "trying", Steps: []Step{{Code: 100}}} }

// RingsForEver answers 180 after ring and nothing more until a CANCEL.
func RingsForEver(ring time.Duration) Behaviour {
	return Behaviour{Name: "ringing", Steps: []Step{{Code: 100}, {After: ring, Code: 180}}}
}

// EarlyMedia sends 183 with SDP after ring and then, after a further wait, the
// final: code 200 answers, any other fails.
func EarlyMedia(ring, wait time.Duration, code int) Behaviour {
	return Behaviour{Name: "early", Steps: []Step{
		{Code: 100}, {After: ring, Code: 183, SDP: true}, {After: wait, Code: code, SDP: code/100 == 2},
	}}
}

// LateAnswer rings and answers the CANCEL with 200 to both the CANCEL and the
// INVITE: the answer that crosses a CANCEL.
func LateAnswer(ring time.Duration) Behaviour {
	b := named("late", RingsForEver(ring))
	b.Cancel = CancelAnswer
	return b
}

// HangsUp makes the callee send BYE the given time after the ACK.
func (b Behaviour) HangsUp(after time.Duration) Behaviour {
	return b.doing(after, "BYE")
}

// Reinvites makes the callee send a re-INVITE with SDP the given time after the
// ACK or after the action before.
func (b Behaviour) Reinvites(after time.Duration) Behaviour {
	return b.doing(after, "INVITE")
}

// Updates makes the callee send an UPDATE with SDP the given time after the ACK
// or after the action before.
func (b Behaviour) Updates(after time.Duration) Behaviour {
	return b.doing(after, "UPDATE")
}

func (b Behaviour) doing(after time.Duration, method string) Behaviour {
	b.Then = append(append([]Action(nil), b.Then...), Action{After: after, Method: method})
	return b
}

func named(name string, b Behaviour) Behaviour {
	b.Name = name
	return b
}
