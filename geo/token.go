package geo

import (
	"errors"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// MaxHop is the highest hop that a token may carry: a call crosses to a peer site once.
const MaxHop = 1

// MaxDecision bounds what a token says of decided routes: beside it a header block has room
// for the rest of the token and the caller's own headers.
const MaxDecision = 4096

// Faults of a token. Each of them refuses the hand-off.
var (
	// ErrTokenKey: there is no key to check with.
	ErrTokenKey = errors.New("no hand-off key")
	// ErrTokenMAC: the MAC is missing or wrong, or it belongs to another INVITE.
	ErrTokenMAC = errors.New("hand-off token has a wrong MAC")
	// ErrTokenMalformed: the MAC is right and the text is not; a node of another version wrote it.
	ErrTokenMalformed = errors.New("hand-off token is malformed")
	// ErrTokenTarget: it was written for another node.
	ErrTokenTarget = errors.New("hand-off token is for another node")
	// ErrTokenHop: the call has crossed too often.
	ErrTokenHop = errors.New("hand-off token has too many hops")
)

// Token is what a hand-off carries beside the caller's INVITE as it was received (DEC-07).
type Token struct {
	// CallID is Tandem's id of the call, the same on every node and in every record.
	CallID string
	// Origin and Boot are the node that hands off, and its boot number.
	Origin string
	Boot   uint64
	// Target is the node that may take the call.
	Target string
	// Hop is how often the call has crossed, this time included.
	Hop int
	// Group is the customer's trunk group.
	Group string
	// Version is the origin's revision of the cluster document.
	Version trunkgroup.Version
	// Budget is what remains of max_pdd, in whole milliseconds.
	Budget time.Duration
	// Tried are the keys of the members that the origin has tried.
	Tried []string
	// Called is the called number in E.164.
	Called string
	// Direction is "inbound" or "outbound".
	Direction string
	// Keys are what its distributions go by.
	Keys Keys
	// Test: an operator's test call. A node that does not know the field takes it
	// for a call like every other one.
	Test bool
	// Decision are the routes that remain of a call which others decided about, in a form that
	// is its engine's, at most MaxDecision octets; empty for a call by the document. The node that takes the call asks nobody again.
	Decision []byte
	// Ring is what its plan says of ringing, in whole milliseconds, for a call with a
	// Decision; 0 = no bound.
	Ring time.Duration
	// Causes are the finals on which its plan goes on, for a call with a Decision.
	Causes trunkgroup.CauseSet
	// MaxMembers is how many of a route's group its plan tries, for a call with a Decision.
	MaxMembers int
}
