package charging

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Call is what is told of a call. What is below Answered is not known before its answer.
type Call struct {
	ID        string // ours, over all records of the call
	SIPCallID string // of the A leg
	Caller    string // E.164 where it could be read
	Called    string // E.164
	Group     string // the customer's trunk group
	Customer  string // whose group that is; may be empty
	User      string // digest user; may be empty
	Outbound  bool   // customer to PSTN
	Ingress   string // the trunk group that the call came in by
	Begin     time.Time
	Account   Account

	Answered time.Time // zero before
	Egress   string    // the trunk group that answered (S-101), or was tried last
	Carrier  string    // the carrier that answered (S-102), where a decision named one
	Ended    time.Time // zero before
	Code     int       // the final that the caller got
	Why      EndReason
}

// EndReason is why a call ended, as far as charging is concerned.
type EndReason uint8

// The reasons.
const (
	Hangup   EndReason = iota // one of the parties
	NoCredit                  // we, for credit
	Fault                     // we, for a fault: also a node that died
)

// Account is whose credit is used.
type Account struct {
	Kind AccountKind
	ID   string
}

// AccountKind is the type of a Subscription-Id (RFC 8506 8.47).
type AccountKind uint8

// The kinds, as they are on the wire.
const (
	AccountE164    AccountKind = 0
	AccountSIP     AccountKind = 2
	AccountPrivate AccountKind = 4
)

// AccountOf says whose account pays for a call.
func AccountOf(rules *trunkgroup.Charging, c *Call) Account {
	if rules.Account != "" {
		return Account{AccountPrivate, rules.Account}
	}
	switch {
	case rules.Subscriber == trunkgroup.SubscriberCaller && len(c.Caller) > 1 && c.Caller[0] == '+':
		return Account{AccountE164, c.Caller[1:]} // E.164 without its sign, as TS 32.299 7.1.11 wants
	case rules.Subscriber == trunkgroup.SubscriberCaller && c.Caller != "":
		return Account{AccountPrivate, c.Caller}
	case rules.Subscriber == trunkgroup.SubscriberCustomer && c.Customer != "":
		return Account{AccountPrivate, c.Customer}
	case rules.Subscriber == trunkgroup.SubscriberUser && c.User != "":
		return Account{AccountPrivate, c.User}
	}
	return Account{AccountPrivate, c.Group}
}

// Seconds is what is charged for the time between two instants: a started second counts, as in
// the record's billsec. It is zero when one of the instants is missing.
func Seconds(from, to time.Time) int64 {
	if from.IsZero() || to.IsZero() || !to.After(from) {
		return 0
	}
	return int64((to.Sub(from) + time.Second - 1) / time.Second)
}

// billed is the instant from which the call's time counts; zero while it does not.
func (c *Call) billed(rules *trunkgroup.Charging) time.Time {
	if rules.From == trunkgroup.FromInvite {
		return c.Begin
	}
	return c.Answered
}
