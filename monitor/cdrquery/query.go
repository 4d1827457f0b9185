package cdrquery

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Bounds of a question.
const (
	DefaultLimit = 100
	MaxLimit     = 10_000
	maxWord      = 256
)

// ErrQuery is returned, wrapped, for a question that has no sense.
var ErrQuery = errors.New("invalid question")

// Query says which calls are looked for. What is empty does not matter; all that is set
// must hold.
type Query struct {
	// CallID is the call's id, or the SIP Call-ID of any of its legs.
	CallID string `json:"call_id,omitempty"`
	// Number is of either party, Caller and Called of the one. A star at the end asks for
	// all numbers that begin so.
	Number string `json:"number,omitempty"`
	Caller string `json:"caller,omitempty"`
	Called string `json:"called,omitempty"`
	// Customer is the customer's trunk group.
	Customer string `json:"customer,omitempty"`
	// Carrier is a carrier id, or a trunk group that the call came from or went to. A
	// carrier that was tried in vain counts.
	Carrier string `json:"carrier,omitempty"`
	// Cause is the cause in words, as in hangup_cause, or its number of Q.850.
	Cause string `json:"cause,omitempty"`
	// Code is the final response that the caller got, or a class such as 5xx.
	Code string `json:"code,omitempty"`
	// From and To bound the start of the call: From <= start < To.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Site is where the call came in, or went out.
	Site string `json:"site,omitempty"`
	// Answered, when set, says whether it was.
	Answered *bool `json:"answered,omitempty"`
	// Limit is how many calls are wanted at most, the latest.
	Limit int `json:"limit,omitempty"`
}

// Check reports what makes the question senseless, and sets the limit when there is none.
// Errors are ErrQuery, wrapped.
func (q *Query) Check() error {
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	for _, w := range []struct{ name, value string }{
		{"call_id", q.CallID},
		{"number", q.Number},
		{"caller", q.Caller},
		{"called", q.Called},
		{"customer", q.Customer},
		{"carrier", q.Carrier},
		{"cause", q.Cause},
		{"site", q.Site},
	} {
		if len(w.value) > maxWord {
			return fmt.Errorf("%w: %s is longer than %d characters", ErrQuery, w.name, maxWord)
		}
	}
	for _, w := range []struct{ name, value string }{{"number", q.Number}, {"caller", q.Caller}, {"called", q.Called}} {
		if w.value != "" && ParsePattern(w.value).Digits == "" {
			return fmt.Errorf("%w: %s %q has no digit", ErrQuery, w.name, w.value)
		}
	}
	if _, _, err := q.Codes(); err != nil {
		return err
	}
	switch {
	case q.Limit < 1 || q.Limit > MaxLimit:
		return fmt.Errorf("%w: the limit is 1 to %d, not %d", ErrQuery, MaxLimit, q.Limit)
	case !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To):
		return fmt.Errorf("%w: the time ends before it begins", ErrQuery)
	}
	return nil
}

// Codes returns the first and the last final response that is asked for; both are 0 when
// none is.
func (q *Query) Codes() (from, to int, err error) {
	if q.Code == "" {
		return 0, 0, nil
	}
	code := strings.ToLower(q.Code)
	class, isClass := strings.CutSuffix(code, "xx")
	if isClass && len(class) == 1 && class[0] >= '2' && class[0] <= '6' {
		from = int(class[0]-'0') * 100
		return from, from + 99, nil
	}
	if n := number(code); n >= 200 && n <= 699 {
		return n, n, nil
	}
	return 0, 0, fmt.Errorf("%w: %q is no final response: write 200 to 699, or a class such as 5xx", ErrQuery, q.Code)
}

// number reads up to three digits; -1 for anything else.
func number(s string) int {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	if len(s) == 0 || len(s) > 3 {
		return -1
	}
	return n
}

// Q850 is the number of the cause that is asked for; false when it is asked for in words.
func (q *Query) Q850() (int, bool) {
	n := number(q.Cause)
	return n, n >= 0
}

// CauseWord is the cause that is asked for in words.
func (q *Query) CauseWord() string { return strings.ToUpper(q.Cause) }

// Match says whether a record is of a call that is looked for. The question has been
// checked.
func (q *Query) Match(r *Row) bool {
	return q.matchParties(r) && q.matchPlace(r) && q.matchTime(r) && q.matchEnd(r)
}

func (q *Query) matchParties(r *Row) bool {
	switch {
	case q.CallID != "" && q.CallID != r.CallID && !slices.Contains(r.Legs(), q.CallID):
		return false
	case q.Caller != "" && !ParsePattern(q.Caller).Match(r.Callers()):
		return false
	case q.Called != "" && !ParsePattern(q.Called).Match(r.CalledNumbers()):
		return false
	case q.Number != "":
		p := ParsePattern(q.Number)
		return p.Match(r.Callers()) || p.Match(r.CalledNumbers())
	}
	return true
}

func (q *Query) matchPlace(r *Row) bool {
	switch {
	case q.Customer != "" && q.Customer != r.Customer:
		return false
	case q.Carrier != "" && !slices.Contains(r.Carriers(), q.Carrier):
		return false
	case q.Site != "" && q.Site != r.Site && q.Site != r.EgressSite:
		return false
	}
	return true
}

func (q *Query) matchTime(r *Row) bool {
	return (q.From.IsZero() || !r.Start.Before(q.From)) && (q.To.IsZero() || r.Start.Before(q.To)) &&
		(q.Answered == nil || *q.Answered == r.Answered())
}

func (q *Query) matchEnd(r *Row) bool {
	if from, to, err := q.Codes(); from > 0 && err == nil && (r.Code < from || r.Code > to) {
		return false
	}
	if q.Cause == "" {
		return true
	}
	if n, is := q.Q850(); is {
		return n == r.Q850
	}
	return q.CauseWord() == strings.ToUpper(r.Cause)
}
