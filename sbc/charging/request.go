package charging

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Kind is what a Request is.
type Kind uint8

// The kinds. The first three are online (CC-Request-Type), the others offline
// (Accounting-Record-Type).
const (
	Initial Kind = iota + 1
	Update
	Termination
	Start
	Interim
	Stop
	Event // a call that was not answered, accounted for
)

// String returns the kind as metrics name it.
func (k Kind) String() string {
	return [...]string{"", "initial", "update", "termination", "start", "interim", "stop", "event"}[k]
}

// Online reports whether the request is one of Ro.
func (k Kind) Online() bool { return k <= Termination }

// Report says why usage is reported (3GPP-Reporting-Reason, TS 32.299 7.2.175).
type Report uint8

// The reasons, as they are on the wire.
const (
	ReportThreshold Report = 0
	ReportFinal     Report = 2
	ReportExhausted Report = 3
	ReportValidity  Report = 4
	ReportForced    Report = 7
)

// Request is one thing that is asked or told. It holds all that is needed to make the octets,
// also after a restart.
type Request struct {
	Session string
	Kind    Kind
	Number  uint32 // CC-Request-Number or Accounting-Record-Number
	ID      uint32 // the same in each repetition (End-to-End Identifier); 0: none yet
	At      time.Time
	Call    Call
	Service Service
	// Used is what is reported, in seconds: of an online request what was not reported before,
	// of an offline one the whole.
	Used   int64
	Report Report
	// Repeated: it was sent before, and may have arrived (RFC 6733 3, the T flag).
	Repeated bool
	// Elsewhere asks for another server than the one that was asked last (RFC 8506 5.7).
	Elsewhere bool
}

// Service is what the document says of a call's charging that goes into requests.
type Service struct {
	Context    string
	Rating     uint32
	Identifier uint32
	Realm      string // empty: that of the server
	Requested  int64  // seconds
}

func serviceOf(r *trunkgroup.Charging) Service {
	return Service{
		Context: r.ContextID, Rating: r.RatingGroup, Identifier: r.ServiceIdentifier, Realm: r.Realm,
		Requested: int64(r.Requested / time.Second),
	}
}

// Answer is what a server said.
type Answer struct {
	Result  uint32 // Result-Code, or that of an Experimental-Result
	Service uint32 // of the one service that we ask for; 0 = it said nothing
	// Granted seconds, where HasGrant says that time is bounded at all.
	Granted  int64
	HasGrant bool
	// Threshold is how many seconds before the end of the quota the server wants to be asked
	// again, Validity for how many the grant holds; 0 = it said nothing.
	Threshold, Validity int64
	// Last: no more will be granted (Final-Unit-Indication).
	Last bool
	// Failure is what the server wants of calls when it does not answer, where Fails says so.
	Failure trunkgroup.ChargingFailure
	Fails   bool
	// Interim is how often it wants to be told of a call that is up; 0 = it said nothing.
	Interim int64
}

// Result codes (RFC 6733 7.1, RFC 8506 9).
const (
	ResultSuccess     = 2001
	ResultLimited     = 2002
	ResultBusy        = 3004
	ResultDenied      = 4010
	ResultFree        = 4011
	ResultNoCredit    = 4012
	ResultUnknownID   = 5002
	ResultRejected    = 5003
	ResultUnknownUser = 5030
	ResultNoRating    = 5031
)

// verdict is what an Answer means.
type verdict uint8

const (
	granted verdict = iota
	free
	denied
	failed // the server has a fault: the same as no answer (RFC 8506 6.5)
)

// judge reads both result codes: that of the service counts where the whole succeeded.
func (a *Answer) judge() verdict {
	v := judge(a.Result)
	if v == granted && a.Service != 0 {
		v = judge(a.Service)
	}
	if v == granted && a.HasGrant && a.Granted <= 0 {
		return denied // nothing is left, whatever the code says
	}
	return v
}

// Word is what the answer means, as metrics name it: ok, free, denied or failed.
func (a *Answer) Word() string { return [...]string{"ok", "free", "denied", "failed"}[a.judge()] }

func judge(code uint32) verdict {
	switch code {
	case ResultSuccess, ResultLimited:
		return granted
	case ResultFree:
		return free
	case ResultDenied, ResultNoCredit, ResultRejected, ResultUnknownUser, ResultNoRating:
		return denied
	}
	return failed
}

// code is the result that a record shows.
func (a *Answer) code() uint32 {
	if a.Service != 0 && judge(a.Result) == granted {
		return a.Service
	}
	return a.Result
}

// ActionKind is what a machine wants done.
type ActionKind uint8

// The actions.
const (
	// Send sends a request now; what becomes of it comes back as Answered or Failed.
	Send ActionKind = iota + 1
	// Keep keeps a request until it is answered.
	Keep
	// Grant lets the call go on that waited.
	Grant
	// Refuse refuses the call that waited: Why says for what.
	Refuse
	// Teardown ends the call.
	Teardown
	// Done: nothing more will come of this machine.
	Done
)

// Action is one thing that a machine wants done.
type Action struct {
	Kind    ActionKind
	Request Request // of Send and Keep
	Why     Why     // of Refuse and Teardown
}

// Why says for what a call is refused or ended.
type Why uint8

// The reasons.
const (
	WhyCredit  Why = iota + 1 // the server says so
	WhyFailure                // nobody who could say so was reached
)

// String returns the word of logs and metrics.
func (w Why) String() string { return [...]string{"", "credit", "failure"}[w] }
