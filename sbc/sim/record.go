package sim

import "time"

// Result says how a call of the load program ended.
type Result string

// The results of a call. Completed, HungUp, Cancelled and Raced are what a
// caller expects; the others are failures.
const (
	Completed    Result = "completed"     // answered, ended by our BYE
	HungUp       Result = "hung-up"       // answered, ended by the other side's BYE
	Cancelled    Result = "cancelled"     // our CANCEL ended it with 487
	Raced        Result = "raced"         // answered in spite of our CANCEL; ended by ACK and BYE
	Rejected     Result = "rejected"      // a final response >= 300
	TimedOut     Result = "timed-out"     // no node gave any response
	Refused      Result = "refused"       // no node could be reached (ICMP, connection refused, TLS)
	NoFinal      Result = "no-final"      // a provisional response, then no final within SetupTimeout
	CancelFailed Result = "cancel-failed" // no final response after the CANCEL within 64*T1
	Broken       Result = "broken"        // answered, but a request in the dialog failed
)

// Failed reports whether a caller would call this a failure.
func (r Result) Failed() bool {
	switch r {
	case Completed, HungUp, Cancelled, Raced:
		return false
	}
	return true
}

// Try is one INVITE of a call to one node.
type Try struct {
	Node    string        `json:"node"`
	At      time.Duration `json:"at_ns"`           // since the call's start
	Code    int           `json:"code,omitempty"`  // its final response, 0 = none
	Cause   string        `json:"cause,omitempty"` // why it was given up: "timeout", "refused", "closed", "503", "challenge"
	Elapsed time.Duration `json:"elapsed_ns"`
}

// CallRecord is what the load program knows of one finished call.
type CallRecord struct {
	N         uint64        `json:"n"` // number of the call, from 1
	CallID    string        `json:"call_id"`
	From      string        `json:"from"`
	To        string        `json:"to"`
	Started   time.Time     `json:"started"`
	Result    Result        `json:"result"`
	Why       string        `json:"why,omitempty"`  // one sentence, for failures and races
	Code      int           `json:"code,omitempty"` // the final response to the INVITE
	Reason    string        `json:"reason,omitempty"`
	Node      string        `json:"node"`             // the node that the last INVITE went to
	Member    string        `json:"member,omitempty"` // who answered: X-Sim-Member or the origin of its SDP
	EndedBy   string        `json:"ended_by,omitempty"`
	ByeReason string        `json:"bye_reason,omitempty"` // Reason header of the other side's BYE
	PDD       time.Duration `json:"pdd_ns,omitempty"`     // start to the first 101-199 or 2xx
	Setup     time.Duration `json:"setup_ns,omitempty"`   // start to the 2xx
	Talk      time.Duration `json:"talk_ns,omitempty"`    // 2xx to the end
	Tries     []Try         `json:"tries"`
}

// Failed reports whether the call failed.
func (r *CallRecord) Failed() bool { return r.Result.Failed() }

// Counts are the running totals of a caller.
type Counts struct {
	Started   int `json:"started"`
	Active    int `json:"active"`      // not finished
	Up        int `json:"up"`          // answered and not finished
	Answered  int `json:"answered"`    // got a 2xx
	Finished  int `json:"finished"`    // all that ended, failures included
	Failed    int `json:"failed"`      // see Result.Failed
	Cancels   int `json:"cancels"`     // CANCELs sent
	Repeats   int `json:"repeats"`     // requests sent again
	Late      int `json:"late"`        // responses to INVITEs that were given up: answered by CANCEL, or ACK and BYE
	Failovers int `json:"failovers"`   // INVITEs sent to a further node
	MaxActive int `json:"max_active"`  // highest Active
	Answers2  int `json:"answers_two"` // calls answered by two dialogs: must stay 0

	Results map[Result]int `json:"results"`
	Finals  map[int]int    `json:"finals"`  // final responses to INVITEs as a caller counts them: one per call
	Nodes   map[string]int `json:"nodes"`   // answered calls by node
	Members map[string]int `json:"members"` // answered calls by member
}
