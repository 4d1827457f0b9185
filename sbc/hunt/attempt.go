package hunt

import "time"

// Causes of an attempt that no final response ended, and of actions Abandon and Fail.
const (
	// CauseNoResponse: not even a 100 within BTimer.
	CauseNoResponse = "no_response"
	// CauseNoProgress: no 101 to 199 within Progress.
	CauseNoProgress = "no_progress"
	// CauseRingTimeout: it rang and nobody answered in time.
	CauseRingTimeout = "ring_timeout"
	// CausePDD: max_pdd passed before anybody rang (DEC-05).
	CausePDD = "PDD_TIMEOUT"
	// CauseReserve: the local part of max_pdd passed and the peer site is asked.
	CauseReserve = "handoff_reserve"
	// CauseSetup: timers.setup of the group passed before anybody of it showed progress.
	CauseSetup = "SETUP_TIMEOUT"
	// CauseSetupBudget: not dialled, for timers.setup of the group had passed.
	CauseSetupBudget = "setup_budget"
	// CauseElsewhere: another far end of the same fork answered.
	CauseElsewhere = "answered_elsewhere"
	// CauseDeclined: another far end of the same fork refused for all of them.
	CauseDeclined = "declined_elsewhere"
	// CauseHandoffTimeout: the peer showed nothing for HandoffLimit.
	CauseHandoffTimeout = "handoff_timeout"
	// CauseTransport: the INVITE could not be delivered.
	CauseTransport = "transport_error"
	// CauseUnreachable: no target could be dialled.
	CauseUnreachable = "unreachable"
	// CauseExhausted: both sites were tried in vain (DEC-06).
	CauseExhausted = "exhausted"
	// CauseCancelled: the caller gave up.
	CauseCancelled = "cancelled"
)

// Attempt is one entry of the list of what was tried, oldest first.
type Attempt struct {
	// Target is the index in Config.Targets; in a peer's attempt, of the peer's list.
	Target int
	// Code is how it ended: the far end's final, or our verdict: 408 for silence, 503 for one that
	// could not be dialled or reached. 0 while in flight, and when it was given up because of the
	// caller or of another attempt of its fork.
	Code int
	// Cause says more where no final response was received.
	Cause string
	// Dialed: an INVITE was put on the wire (S-049).
	Dialed bool
	// Progress: a provisional of 101 to 199 was received.
	Progress bool
	// Final: Code was received from the far end.
	Final bool
	// LastWord: Code led to no other target of this site.
	LastWord bool
	// Fork tells the attempts that were under way together: the place of the first of them, from 1;
	// 0 for one that was alone. They stand side by side on the list.
	Fork uint16
	// Start is when it was dialled or skipped. Zero in a peer's attempt.
	Start time.Time
	// Elapsed is the time from Start to its end, First that to its first progress or its answer; 0
	// without either.
	Elapsed, First time.Duration
	// Site, Group and Member name a target of the peer's; empty in our own.
	Site, Group, Member string
	// Route is, of an attempt of the peer's, the place of its route among those that went with the
	// hand-off, from 1; 0 when there were none.
	Route uint16
}

// Failed reports whether the attempt belongs on the list of failed attempts (S-047): it ended, and not
// by an answer nor by the caller.
func (a *Attempt) Failed() bool { return a.Code >= 300 }

// silent reports an end without any final response on a dialled INVITE: a ring-out or our own giving
// up, recorded as 408.
func (a *Attempt) silent() bool { return a.Dialed && !a.Final && a.Code == 408 }

// undelivered reports an INVITE that the transport could not deliver.
func (a *Attempt) undelivered() bool { return a.Dialed && !a.Final && a.Code == 503 }
