package cdr

import (
	"net/netip"
	"time"
)

// SchemaVersion is the version of the record's form. It grows when a field
// changes its meaning; new fields do not change it.
const SchemaVersion = 1

// Kind says what a record is about.
type Kind string

// The kinds (DEC-24).
const (
	KindCall    Kind = "call"    // the call, by its origin node
	KindHandoff Kind = "handoff" // the part of a peer site; never rated
	KindInterim Kind = "interim" // a call that is still up, by its origin node; never rated
)

// Direction says which way a call went.
type Direction string

// The directions.
const (
	Inbound  Direction = "inbound"  // PSTN to customer
	Outbound Direction = "outbound" // customer to PSTN
)

// Party says who ended a call.
type Party string

// The parties.
const (
	Caller Party = "caller"
	Callee Party = "callee"
	System Party = "system" // a timer, a limit, or an operator
)

// Record is the record of one call. Zero fields mean "not known" and are left
// out of the JSON, except for the numbers that a zero says something with.
type Record struct {
	CallID   string // Tandem's own id of the call, a ULID
	Kind     Kind
	Version  int    // 1 for the first record of the call; the highest wins
	Final    bool   // false: closed by a survivor, the owner's record may follow
	ClosedBy string // empty, or "survivor" (DEC-24)

	Cluster string
	Node    string // that wrote the record
	Site    string // of Node
	// EgressSite is where the winning attempt was made, or the last one.
	EgressSite string
	HandedOff  bool // the call was given to a peer site

	Direction     Direction
	Customer      string // the customer's trunk group
	IngressGroup  string
	IngressMember string
	EgressGroup   string // of the winner, or of the last attempt
	EgressMember  string

	Caller    string // E.164 when it could be read as that
	CallerRaw string // user part as received
	Called    string
	CalledRaw string
	RN        string // routing number (RFC 4694), E.164
	To        string // user part of the To header, which may differ from the Request-URI

	SIPCallID    string // of the A leg
	EgressCallID string // of the winning B leg

	Start    time.Time // the caller's INVITE
	Progress time.Time // first 18x relayed
	Answer   time.Time // 2xx relayed
	End      time.Time
	PDD      time.Duration // INVITE to the first 18x or 2xx; 0 when there was none

	SIPCode     int    // the final that the caller got
	SIPReason   string // its phrase
	HangupCause string // FreeSWITCH name, see Cause, or a local cause such as PDD_TIMEOUT
	HangupQ850  int    // 0 = none
	HangupParty Party

	Source    netip.AddrPort // of the A leg
	Local     netip.AddrPort // ours, where the caller's INVITE came in
	Transport string         // of the A leg
	AuthUser  string         // digest user that identified the caller
	UserAgent string         // of the caller

	Attempts []Attempt
	// The route that won, or the last one that was tried, of a call whose plan asks others
	// (S-100).
	CarrierID   string
	RouteSource string // lcr, cache, fallback, deck, policy, peer
	// Rate is the price of a minute in Currency, where Rated says that there is one.
	Rate     float64
	Rated    bool
	Currency string
	// BillingIncrement and MinDuration are seconds.
	BillingIncrement, MinDuration uint32
	// Fields are what the route that won, and rules, say of the call (S-050).
	Fields []Field
	// RoSession and RfSession name the call at the charging servers (S-101, S-102), where it is
	// charged online or offline; RoResult is the credit server's last result code, 0 = none.
	RoSession, RfSession string
	RoResult             uint32
	// Test: an operator's test call, which nobody pays for.
	Test bool
}

// Field is one further field of a record.
type Field struct{ Name, Value string }

// Attempt is one B-leg INVITE, or a member that could not be dialled.
type Attempt struct {
	N            int // from 1, over both sites
	Group        string
	Member       string
	Site         string
	Dialed       bool // an INVITE was put on the wire (S-049)
	Progress     bool // a 101-199 came
	Code         int  // final code, or the recorded one (S-040); 0 = none
	Cause        string
	Elapsed      time.Duration
	EgressCallID string
	// CarrierID is the carrier of the route, where one was decided on.
	CarrierID string
	// Address is "host:port" of one that registers, for several may stand under
	// one member; empty for a member by address, and at the peer site's attempts.
	Address string
}

// Duration is the time from start to end, billed or not.
func (r *Record) Duration() time.Duration {
	if r.Start.IsZero() || r.End.IsZero() || r.End.Before(r.Start) {
		return 0
	}
	return r.End.Sub(r.Start)
}

// Billable is the time from answer to end; zero for a call that was not
// answered.
func (r *Record) Billable() time.Duration {
	if r.Answer.IsZero() || r.End.IsZero() || r.End.Before(r.Answer) {
		return 0
	}
	return r.End.Sub(r.Answer)
}
