package cdr

// Local causes: what Tandem itself decided, where no far end gave a cause. They
// stand in Record.HangupCause and Attempt.Cause.
const (
	CauseNone              = "NONE"
	CausePDDTimeout        = "PDD_TIMEOUT"              // max_pdd passed (DEC-05)
	CauseCancelAfterAnswer = "BLOCK_CANCEL_AFTER_200"   // the caller cancelled while the answer was on its way
	CauseCapacity          = "CAPACITY_EXCEEDED"        // a limit of ours
	CauseMediaTimeout      = "MEDIA_TIMEOUT"            // no media
	CauseNodeLost          = "NODE_LOST"                // closed by a survivor
	CauseMaxDuration       = "ALLOTTED_TIMEOUT"         // max_duration passed
	CauseLoop              = "EXCHANGE_ROUTING_ERROR"   // a call came back to us
	CauseNoRoute           = "NO_ROUTE_DESTINATION"     // nobody owns the number, no plan has it
	CauseGroupDown         = "NETWORK_OUT_OF_ORDER"     // no member could be dialled
	CauseCancelled         = "ORIGINATOR_CANCEL"        // the caller gave up
	CauseCleared           = "NORMAL_CLEARING"          // one party hung up
	CauseRefused           = "DESTINATION_OUT_OF_ORDER" // transport error
)

// Cause is one Q.850 cause.
type Cause struct {
	Q850 int
	Name string // FreeSWITCH's name
}

// CauseOf returns the Q.850 cause of a final SIP response code (RFC 3398
// section 8.2.6.1) with FreeSWITCH's name for it. A code that the table lacks
// gets the cause of its class (RFC 3261 section 8.1.3.2). A code below 300 is
// normal clearing. 487 has no cause of its own in the RFC; it is normal clearing
// under the name ORIGINATOR_CANCEL.
func CauseOf(code int) Cause {
	q := q850Of(code)
	if code == 487 {
		return Cause{q, CauseCancelled}
	}
	return Cause{q, Name(q)}
}

func q850Of(code int) int {
	switch code {
	case 401, 402, 403, 407, 603, 607, 608:
		return 21
	case 404, 485, 604:
		return 1
	case 405:
		return 63
	case 406, 415, 501, 606:
		return 79
	case 408, 504:
		return 102
	case 410:
		return 22
	case 413, 414, 416, 420, 421, 423, 505, 513:
		return 127
	case 480:
		return 18
	case 400, 481, 500, 503:
		return 41
	case 482, 483:
		return 25
	case 484:
		return 28
	case 486, 600:
		return 17
	case 487:
		return 16
	case 488:
		return 88
	case 502:
		return 38
	}
	switch {
	case code < 300:
		return 16
	case code < 400:
		return 23
	case code < 500:
		return 127
	case code < 600:
		return 41
	}
	return 21
}

// Name returns FreeSWITCH's name of a Q.850 cause; NORMAL_UNSPECIFIED for one
// without a name.
func Name(q850 int) string {
	if name, ok := names[q850]; ok {
		return name
	}
	return "NORMAL_UNSPECIFIED"
}
