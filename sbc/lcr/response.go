package lcr

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Bounds of an answer. Beyond them it is as wrong as one that is no JSON (S-021).
const (
	MaxBody   = 256 << 10 // octets
	MaxRoutes = 64
	maxText   = 1024 // octets of one string
	maxFields = 32   // headers of a route, and fields for the record
	maxValue  = 4096 // octets of one of them
	maxReason = 128
	maxSecs   = 24 * 60 * 60 // of one route's timeout; more is this
)

// Answer is what a server said. It never changes.
type Answer struct {
	Set trunkgroup.RouteSet // Source and Hops are still to be filled in
	// TTL is how long the server says that it is good; Says is whether it says so.
	TTL  time.Duration
	Says bool
	// Notes say what of the answer is not as it should be, and was done without or
	// understood in another way.
	Notes []Note
}

// Note is something of an answer that its author should know.
type Note struct {
	Carrier string // empty: the whole answer
	Text    string
}

// The form of an answer. Pointers tell null and absence from a value.
type (
	wireAnswer struct {
		Routes      once[[]wireRoute] `json:"routes"`
		CacheTTL    *uint64           `json:"cache_ttl_secs"`
		Reject      once[*wireReject] `json:"reject"`
		Destination string            `json:"destination"`
	}
	wireReject struct {
		Code   uint16 `json:"code"`
		Reason string `json:"reason"`
	}
	wireRoute struct {
		CarrierID    *string                 `json:"carrier_id"`
		GatewayGroup string                  `json:"gateway_group"`
		NextHop      string                  `json:"next_hop"`
		RURI         string                  `json:"ruri"`
		Destination  string                  `json:"destination"`
		TechPrefix   string                  `json:"tech_prefix"`
		NumberPolicy string                  `json:"number_policy"`
		CallerID     string                  `json:"caller_id"`
		Presentation string                  `json:"caller_id_presentation"`
		Rate         *float64                `json:"rate"`
		Currency     string                  `json:"currency"`
		Increment    uint32                  `json:"billing_increment"`
		MinDuration  uint32                  `json:"min_duration"`
		Timeout      uint32                  `json:"timeout_secs"`
		Reroute      bool                    `json:"reroute_after_progress"`
		Headers      once[map[string]string] `json:"headers"`
		CDRFields    once[map[string]string] `json:"cdr_fields"`
		Causes       []uint16                `json:"reroute_causes"`
	}
)

// once is a value that begins anew when its name stands in an object again: by itself,
// encoding/json puts the second one over what it has read of the first.
type once[T any] struct{ value T }

// UnmarshalJSON implements json.Unmarshaler.
func (o *once[T]) UnmarshalJSON(b []byte) error {
	var fresh T
	err := json.Unmarshal(b, &fresh)
	o.value = fresh
	return err
}

// Parse reads the body of an answer. Fields that are not known are skipped, and what is
// missing has its default; an error says what makes the whole answer useless (S-021),
// and repeats nothing of it that could be a secret.
func Parse(body []byte) (*Answer, error) {
	if len(body) > MaxBody {
		return nil, fmt.Errorf("the answer has more than %d octets", MaxBody)
	}
	if trimmed := strings.TrimSpace(string(body[:min(len(body), 64)])); trimmed == "" || trimmed[0] != '{' {
		return nil, errors.New("the answer is no JSON object") // null would pass for an empty one
	}
	var w wireAnswer
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, jsonError(err)
	}
	if len(w.Routes.value) > MaxRoutes {
		return nil, fmt.Errorf("routes: there are %d, and %d are allowed", len(w.Routes.value), MaxRoutes)
	}
	a := &Answer{}
	if err := text("destination", w.Destination); err != nil {
		return nil, err
	}
	a.Set.Destination = w.Destination
	if w.Reject.value != nil {
		a.reject(w.Reject.value)
	}
	if w.CacheTTL != nil {
		a.Says = true
		a.TTL = time.Duration(min(*w.CacheTTL, uint64(MaxTTL/time.Second))) * time.Second
	}
	a.Set.Routes = make([]trunkgroup.CarrierRoute, len(w.Routes.value))
	for i := range w.Routes.value {
		if err := a.route(&a.Set.Routes[i], &w.Routes.value[i]); err != nil {
			return nil, fmt.Errorf("routes[%d].%w", i, err)
		}
	}
	return a, nil
}

// jsonError says where an answer is no JSON, or not that of an answer, without its text.
func jsonError(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		what, _, _ := strings.Cut(kind.Value, " ") // of a number the value follows
		return fmt.Errorf("%s: a JSON %s stands where another kind belongs", cmp.Or(kind.Field, "a field"), what)
	case errors.As(err, &syntax):
		return fmt.Errorf("no JSON at octet %d", syntax.Offset)
	}
	return errors.New("no JSON")
}

// reject takes a refusal (S-012). A code that refuses nothing refuses as 503.
func (a *Answer) reject(w *wireReject) {
	code := int(w.Code)
	if code < 400 || code > 699 {
		a.note("", "reject: code %d refuses no call: 503 in its place", code)
		code = 503
	}
	reason := w.Reason
	if len(reason) > maxReason {
		reason = reason[:maxReason]
	}
	reason = strings.Map(func(r rune) rune {
		if isControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, reason)
	a.Set.Reject = trunkgroup.Rejection{Code: code, Reason: reason}
}

func (a *Answer) note(carrier, format string, args ...any) {
	a.Notes = append(a.Notes, Note{carrier, fmt.Sprintf(format, args...)})
}

// text judges a string that goes into messages or records: nothing in it may end a line.
func text(name, s string) error {
	switch {
	case len(s) > maxText:
		return fmt.Errorf("%s: has more than %d octets", name, maxText)
	case strings.ContainsFunc(s, isControl):
		return fmt.Errorf("%s: holds a control character", name)
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
