package sim

import (
	"maps"
	"time"
)

// Account is what a far end saw and did since it started, counted exactly.
type Account struct {
	Name string `json:"name"`

	Options     int `json:"options"`      // OPTIONS requests, repeats included
	Invites     int `json:"invites"`      // INVITE transactions outside dialogs
	Repeats     int `json:"repeats"`      // retransmitted requests that were absorbed
	CallIDs     int `json:"call_ids"`     // distinct Call-IDs of those INVITEs
	Reinvites   int `json:"reinvites"`    // INVITE transactions inside dialogs, from the other side
	Updates     int `json:"updates"`      // UPDATE requests, from the other side
	Infos       int `json:"infos"`        // INFO requests, from the other side
	Answered    int `json:"answered"`     // INVITEs answered 2xx
	Rejected    int `json:"rejected"`     // INVITEs answered >= 300, 487 after a CANCEL included
	Acked       int `json:"acked"`        // answered INVITEs whose ACK came
	Byes        int `json:"byes"`         // dialogs ended by the other side
	ByesSent    int `json:"byes_sent"`    // dialogs that this far end ended
	Cancels     int `json:"cancels"`      // CANCELs that met a ringing leg
	CancelsLate int `json:"cancels_late"` // CANCELs that met an answered or refused leg
	Lost        int `json:"lost"`         // legs that went down with the far end (Kill)

	Ringing int `json:"ringing"` // legs now without a final response
	Up      int `json:"up"`      // legs now answered and not ended

	Finals map[int]int `json:"finals,omitempty"` // final responses to INVITEs by code
	Faults []Fault     `json:"faults,omitempty"` // breaches of protocol by the other side, the first 1000
	// FaultCount counts all faults, those beyond the list included.
	FaultCount int `json:"fault_count"`
}

func (a *Account) clone() Account {
	c := *a
	c.Finals = maps.Clone(a.Finals)
	c.Faults = append([]Fault(nil), a.Faults...)
	return c
}

// FaultKind names a breach of protocol.
type FaultKind string

// The breaches of protocol that far ends and callers look for.
const (
	FaultParse      FaultKind = "parse"       // a message that the parser refused
	FaultNoACK      FaultKind = "no-ack"      // a final response got no ACK within 64*T1
	FaultStray      FaultKind = "stray"       // an in-dialog request or CANCEL that matches nothing
	FaultMerged     FaultKind = "merged"      // the same INVITE by another branch while it is open (RFC 3261 8.2.2.2)
	FaultCSeq       FaultKind = "cseq"        // a CSeq number that does not rise, or an ACK whose number differs from its INVITE's
	FaultTag        FaultKind = "tag"         // a From or To tag that changed within a dialog
	FaultTarget     FaultKind = "target"      // a Request-URI in a dialog that is not our Contact, or a Route that is not ours
	FaultMissing    FaultKind = "missing"     // a header or body that must be there is not
	FaultLeak       FaultKind = "leak"        // a message holds a text that must not cross the SBC
	FaultTwice      FaultKind = "twice"       // one call answered by two dialogs
	FaultOrder      FaultKind = "order"       // a response after the final one, or a request after BYE
	FaultUnanswered FaultKind = "unanswered"  // a request of ours in a dialog got no final response
	FaultSession    FaultKind = "session"     // offer and answer out of step: an answer missing, or a body where none may be
	FaultRefused    FaultKind = "refused"     // the other side refused a request in a dialog
	FaultTransport  FaultKind = "transport"   // a datagram in a dialog could not be delivered
	FaultExtension  FaultKind = "unsupported" // a Require that no leg may make (100rel)
)

// Fault is one breach of protocol, seen from this side.
type Fault struct {
	At     time.Time `json:"at"`
	Kind   FaultKind `json:"kind"`
	CallID string    `json:"call_id,omitempty"`
	Detail string    `json:"detail"`
}

// maxFaults bounds the list of faults; the count goes on.
const maxFaults = 1000

// faultLog is the bounded list of faults of one side.
type faultLog struct {
	list  []Fault
	count int
}

func (l *faultLog) add(now time.Time, kind FaultKind, callID, detail string) {
	l.count++
	if len(l.list) < maxFaults {
		l.list = append(l.list, Fault{At: now, Kind: kind, CallID: callID, Detail: detail})
	}
}

// LegState is where one leg of a far end stands.
type LegState uint8

// The states of a leg.
const (
	LegRinging  LegState = iota + 1 // INVITE seen, no final sent; left by a final, a CANCEL or Kill
	LegAnswered                     // 2xx sent, ACK outstanding; left by the ACK, a BYE or 64*T1
	LegUp                           // ACK seen; left by a BYE of either side
	LegRefused                      // final >= 300 sent; left by its ACK or 64*T1
	LegEnding                       // our BYE is out; left by its answer or 64*T1
	LegEnded                        // over; repeats are still absorbed
)

// String names the state.
func (s LegState) String() string {
	names := [...]string{"", "ringing", "answered", "up", "refused", "ending", "ended"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// Leg is the record of one call at a far end.
type Leg struct {
	CallID   string    `json:"call_id"`
	From     string    `json:"from"` // the From header
	To       string    `json:"to"`   // the To header of the INVITE
	URI      string    `json:"uri"`  // the Request-URI
	State    LegState  `json:"state"`
	Code     int       `json:"code"`     // final response sent, 0 = none
	Tags     []string  `json:"tags"`     // our To tags, one per early dialog
	EndedBy  string    `json:"ended_by"` // "caller", "callee", "cancel", "refused", "lost", "timeout"
	Invited  time.Time `json:"invited"`
	Answered time.Time `json:"answered"`
	Acked    time.Time `json:"acked"`
	Ended    time.Time `json:"ended"`
	Invite   []byte    `json:"-"` // the INVITE as it came; must not be changed
}
