package quality

import "github.com/tandem-sbc/tandem/sbc/hunt"

// Outcome is what came of one attempt, by who decided it: the answer to whose fault
// it was (D10).
type Outcome uint8

// The outcomes.
const (
	// Abandoned: the caller gave up, or another attempt was answered first.
	Abandoned Outcome = iota
	// Answered by the callee.
	Answered
	// Callee: busy, refused, or nobody picked up. The call was delivered.
	Callee
	// Number: what was dialled does not exist, or not like that.
	Number
	// Ours: it was not dialled, what we sent was not understood, or the call's own
	// time was over.
	Ours
	// Carrier: silence, failure or refusal of the far end.
	Carrier
)

// OutcomeOf tells the outcome of an attempt from its record: the code that it ended
// with, the cause where no final response came, and whether it was dialled and final.
func OutcomeOf(dialed, final bool, code int, cause string) Outcome {
	switch {
	case !dialed:
		return Ours
	case code == 0:
		return Abandoned
	case final:
		return byCode(code)
	case cause == hunt.CauseRingTimeout:
		return Callee
	case budget(cause):
		return Ours
	}
	return Carrier
}

// budget tells whether an attempt was ended since the time of the whole call, or of
// its group, was over: others may have used it up.
func budget(cause string) bool {
	return cause == hunt.CausePDD || cause == hunt.CauseReserve || cause == hunt.CauseSetup
}

// byCode sorts final responses. What counts as delivered is what RFC 6076 section
// 4.7 counts as an effective session attempt: 480, 486, 600 and 603 beside the answer;
// the rejections of later RFCs, which the callee makes as well, stand with them.
func byCode(code int) Outcome {
	switch code {
	case 480, 486, 600, 603, 607, 608:
		return Callee
	case 404, 410, 484, 485, 604:
		return Number
	case 400, 401, 405, 406, 407, 413, 414, 415, 416, 420, 421, 422, 423, 481, 482, 483, 488, 493, 494, 505, 513, 606:
		return Ours
	}
	if code >= 200 && code < 300 {
		return Answered
	}
	return Carrier
}

// Counts tells whether an attempt says something about the member: one that the
// caller gave up does not, nor one that was not dialled or had no time.
func Counts(o Outcome, final bool) bool {
	switch o {
	case Answered, Callee, Number, Carrier:
		return true
	case Ours:
		return final // a far end that understands nothing of what we send
	}
	return false
}
