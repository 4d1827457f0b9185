package policy

import (
	"strings"
	"time"
)

// Call is the call that a rule is asked about.
type Call struct {
	ID        string `expr:"id" json:"call_id"`                    // Tandem's own, as in the record
	SIPCallID string `expr:"sip_call_id" json:"sip_call_id"`       // of the A leg
	Plan      string `expr:"plan" json:"plan"`                     // the route plan
	Group     string `expr:"group" json:"trunk_group"`             // the customer's trunk group
	Customer  string `expr:"customer" json:"customer,omitempty"`   // whose limits the group shares
	Caller    string `expr:"caller" json:"caller,omitempty"`       // E.164 where it could be read, else as received
	Called    string `expr:"called" json:"called"`                 // E.164
	CalledRaw string `expr:"called_raw" json:"called_raw"`         // user part as received
	From      string `expr:"from" json:"from,omitempty"`           // URI, cut after MaxURI bytes
	To        string `expr:"to" json:"to,omitempty"`               // URI, cut after MaxURI bytes
	Source    string `expr:"source_ip" json:"source_ip,omitempty"` // of the A leg
	Transport string `expr:"transport" json:"transport,omitempty"` // of the A leg
	User      string `expr:"user" json:"user,omitempty"`           // digest user
	Site      string `expr:"site" json:"site"`                     // of the node that has the call
	Node      string `expr:"node" json:"node"`                     //
	Decided   string `expr:"route_source" json:"route_source"`     // lcr, cache, fallback, deck, policy, peer
	Hour      int    `expr:"hour" json:"-"`                        // 0 to 23, UTC, of the moment at which the rule is asked
	Weekday   string `expr:"weekday" json:"-"`                     // mon to sun, UTC
	Test      bool   `expr:"test" json:"test,omitempty"`           // an operator's test call
}

// SetTime writes down when the rule is asked.
func (c *Call) SetTime(t time.Time) {
	t = t.UTC()
	c.Hour, c.Weekday = t.Hour(), strings.ToLower(t.Weekday().String()[:3])
}

// MaxURI bounds the URIs of a Call: strangers write them, and patterns read them.
const MaxURI = 256

// Route is one route that was decided on.
type Route struct {
	Place                int               `expr:"place" json:"place"` // from 1, as decided
	CarrierID            string            `expr:"carrier_id" json:"carrier_id"`
	Group                string            `expr:"gateway_group" json:"gateway_group,omitempty"`
	NextHop              string            `expr:"next_hop" json:"next_hop,omitempty"`
	RURI                 string            `expr:"ruri" json:"ruri,omitempty"`
	Destination          string            `expr:"destination" json:"destination,omitempty"`
	TechPrefix           string            `expr:"tech_prefix" json:"tech_prefix,omitempty"`
	NumberPolicy         string            `expr:"number_policy" json:"number_policy,omitempty"`
	CallerID             string            `expr:"caller_id" json:"caller_id,omitempty"`
	Restricted           bool              `expr:"restricted" json:"restricted,omitempty"`
	Rate                 float64           `expr:"rate" json:"rate"`   // of a minute; 0 when Rated is false
	Rated                bool              `expr:"rated" json:"rated"` // there is a rate
	Currency             string            `expr:"currency" json:"currency,omitempty"`
	BillingIncrement     int               `expr:"billing_increment" json:"billing_increment,omitempty"` // seconds
	MinDuration          int               `expr:"min_duration" json:"min_duration,omitempty"`           // seconds
	Timeout              float64           `expr:"timeout" json:"timeout,omitempty"`                     // seconds; 0 = the plan's
	RerouteAfterProgress bool              `expr:"reroute_after_progress" json:"reroute_after_progress,omitempty"`
	Headers              map[string]string `expr:"headers" json:"-"` // they hold account tokens: no webhook tells them
	Fields               map[string]string `expr:"cdr_fields" json:"cdr_fields,omitempty"`
}

// Attempt is one failed attempt (S-047).
type Attempt struct {
	CarrierID string `expr:"carrier_id" json:"carrier_id"`
	Group     string `expr:"group" json:"group,omitempty"`
	Member    string `expr:"member" json:"member,omitempty"`
	Site      string `expr:"site" json:"site,omitempty"`
	Status    int    `expr:"status" json:"status"`
	Cause     string `expr:"cause" json:"cause,omitempty"`
	ElapsedMS int    `expr:"elapsed_ms" json:"elapsed_ms"`
	Dialed    bool   `expr:"dialed" json:"dialed"` // an INVITE was put on the wire (S-049)
	Progress  bool   `expr:"progress" json:"progress"`
}

// Failure is how a call stands whose routes have all failed (S-045).
type Failure struct {
	Code     int    `expr:"code" json:"code"`   // what the caller would get
	Cause    string `expr:"cause" json:"cause"` // our word for it
	Dialed   int    `expr:"dialed" json:"dialed"`
	Reroutes int    `expr:"reroutes" json:"reroutes"` // how often rules sent the call on already
}

// MaxAttempts bounds the attempts that rules and webhooks see: the last ones.
const MaxAttempts = 64

// The environments are what the expressions of one kind can name.
type (
	routeNames struct {
		Call  *Call  `expr:"call"`
		Route *Route `expr:"route"`
	}
	answerNames struct {
		Call     *Call     `expr:"call"`
		Route    *Route    `expr:"route"`
		Attempts []Attempt `expr:"attempts"`
	}
	failureNames struct {
		Call     *Call     `expr:"call"`
		Failure  *Failure  `expr:"failure"`
		Attempts []Attempt `expr:"attempts"`
	}
)
