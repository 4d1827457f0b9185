package hunt

import "strconv"

// Response is the caller's final response.
type Response struct {
	// Code is its status code.
	Code int
	// Cause says why, in the words of the Cause constants, or as VENDOR_ and the far end's code.
	Cause string
	// Attempt is the index of the attempt that it follows from, -1 when it is ours alone.
	Attempt int
	// AsIs: the far end's response itself is sent on.
	AsIs bool
	// Definitive: the far end or the callee spoke the last word; the exhausted code does not replace it.
	Definitive bool
}

// FinalResponse gives the caller's final for the attempts of both sites, oldest first, after none of
// them answered (S-033 to S-042, DEC-06). Definitive says that the last attempt's final ended the
// sequence. Exhausted, when not 0, replaces what an exhausted list gives: it is set after both sites
// were tried for a provider.
//
// How the list ended decides first, by its last attempt, or by the one that says most of a last fork:
//
//	a definitive final             as it is (S-033, S-034), unless it must not cross (DEC-23)
//	a target that was not dialled  503 of our own (S-041), also when nothing was tried
//	silence, or max_pdd            503 of our own (S-040, DEC-05)
//	a transport error              503 of our own: silence that did not have to be waited for
//	ringing without an answer      408 (S-040, S-063)
//	any other final                the best of all dialled attempts (S-038)
func FinalResponse(attempts []Attempt, definitive bool, exhausted int) Response {
	r := exhaustedResponse(attempts, definitive)
	if exhausted != 0 && !r.Definitive {
		r.Code = exhausted
		r.Cause = CauseExhausted
	}
	return r
}

func exhaustedResponse(attempts []Attempt, definitive bool) Response {
	n := decides(attempts, definitive)
	if n < 0 {
		return Response{Code: 503, Cause: CauseUnreachable, Attempt: -1}
	}
	last := &attempts[n]
	switch {
	case definitive && last.Final:
		code := CallerCode(last.Code)
		if code == last.Code {
			return Response{Code: code, Attempt: n, AsIs: true, Definitive: true}
		}
		return Response{Code: code, Cause: vendor(last.Code), Attempt: n, Definitive: true}
	case !last.Dialed && last.Cause == CauseSetupBudget:
		return Response{Code: 503, Cause: CauseSetup, Attempt: -1}
	case !last.Dialed:
		return Response{Code: 503, Cause: CauseUnreachable, Attempt: -1}
	case last.silent() && last.Progress && last.Cause != CausePDD:
		return Response{Code: 408, Cause: CauseRingTimeout, Attempt: n, Definitive: true}
	case last.silent(), last.undelivered():
		return Response{Code: 503, Cause: last.Cause, Attempt: -1}
	}
	return best(attempts)
}

// best picks the best failure by RFC 3261 section 16.7 step 6: any 6xx; else the lowest class; within
// 4xx first those that tell the caller how to try again; 503 last in 5xx, and then as a 500, for a 503
// of one far end is not a 503 of ours. The earliest wins a tie.
func best(attempts []Attempt) Response {
	at, rank := -1, 0
	for i := range attempts {
		if r := rankOf(&attempts[i]); r > 0 && (at < 0 || r < rank) {
			at, rank = i, r
		}
	}
	if at < 0 { // nothing has failed
		return Response{Code: 503, Cause: CauseUnreachable, Attempt: -1}
	}
	a := &attempts[at]
	cause := a.Cause
	if a.Final {
		cause = vendor(a.Code)
	}
	code := CallerCode(a.Code)
	if code == 503 {
		code = 500
	}
	return Response{Code: code, Cause: cause, Attempt: at}
}

// rankOf orders failures, lower is better; 0 means that the attempt has no say (S-042).
func rankOf(a *Attempt) int {
	if !a.Dialed || a.Code < 300 {
		return 0
	}
	class := a.Code / 100
	switch {
	case class >= 6:
		return 1
	case class == 4:
		switch a.Code {
		case 401, 407, 415, 420, 484:
			return 40
		}
		return 41
	case a.Code == 503:
		return 59
	}
	return class * 10
}

// CallerCode is what the caller gets for a far end's final. A challenge or an extension demand of one
// leg says nothing on the other: 401, 407, 420, 421 and 494 become 500. A redirection is not followed
// and not passed on: 3xx becomes 480 (DEC-23).
func CallerCode(code int) int {
	switch {
	case code >= 300 && code < 400:
		return 480
	case code == 401 || code == 407 || code == 420 || code == 421 || code == 494:
		return 500
	}
	return code
}

// vendor words a far end's code as a release cause.
func vendor(code int) string { return "VENDOR_" + strconv.Itoa(code) }
