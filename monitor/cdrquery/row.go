package cdrquery

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

// MaxRow bounds the JSON of one record in octets.
const MaxRow = 1 << 20

// ErrRow is returned for a line that is no call record.
var ErrRow = errors.New("not a call record")

// Row is one call record, as far as questions look into it.
type Row struct {
	CallID  string   `json:"call_id"`
	Kind    cdr.Kind `json:"kind"`
	Version int      `json:"version"`
	Final   bool     `json:"final"`
	Closed  string   `json:"closed_by"`

	Node       string `json:"node"`
	Site       string `json:"site"`
	EgressSite string `json:"egress_site"`
	HandedOff  bool   `json:"handed_off"`
	Direction  string `json:"direction"`
	Customer   string `json:"customer"`
	Ingress    string `json:"ingress_group"`
	Egress     string `json:"egress_group"`
	EgressTo   string `json:"egress_member"`
	CarrierID  string `json:"carrier_id"`

	Caller    string `json:"caller"`
	CallerRaw string `json:"caller_raw"`
	Called    string `json:"called"`
	CalledRaw string `json:"called_raw"`

	SIPCallID    string `json:"sip_call_id"`
	EgressCallID string `json:"egress_call_id"`

	Start   time.Time `json:"start_time"`
	Answer  time.Time `json:"answer_time"`
	End     time.Time `json:"end_time"`
	Billsec int64     `json:"billsec"`

	// Rate and Cost are decimal numbers, as they were written; empty when there is no price.
	Source   string      `json:"route_source"`
	Rate     json.Number `json:"rate"`
	Cost     json.Number `json:"cost"`
	Currency string      `json:"currency"`

	Code   int    `json:"sip_code"`
	Reason string `json:"sip_reason"`
	Cause  string `json:"hangup_cause"`
	Q850   int    `json:"hangup_cause_q850"`

	Attempts []Attempt `json:"attempts"`

	// Raw is the record as it was written.
	Raw []byte `json:"-"`
}

// Attempt is one attempt of a record.
type Attempt struct {
	N            int    `json:"n"`
	Group        string `json:"group"`
	Member       string `json:"member"`
	Site         string `json:"site"`
	CarrierID    string `json:"carrier_id"`
	Dialed       bool   `json:"dialed"`
	Code         int    `json:"code"`
	Cause        string `json:"cause"`
	ElapsedMS    int64  `json:"elapsed_ms"`
	EgressCallID string `json:"egress_call_id"`
	Address      string `json:"address"`
}

// Parse reads one line of a file of records. The row keeps line: it must not be changed
// any more. Errors are ErrRow, wrapped.
func Parse(line []byte) (*Row, error) {
	if len(line) > MaxRow {
		return nil, fmt.Errorf("%w: %d octets", ErrRow, len(line))
	}
	r := &Row{Raw: line}
	if err := json.Unmarshal(line, r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRow, err)
	}
	if r.CallID == "" || r.Kind == "" {
		return nil, fmt.Errorf("%w: it has no call_id or no kind", ErrRow)
	}
	return r, nil
}

// Answered says whether the call was answered.
func (r *Row) Answered() bool { return !r.Answer.IsZero() }

// Supersedes says whether r counts in the place of other, a record of the same call id
// and kind (DEC-24): the highest version does. Records of one version should say the
// same; where they do not, as those of two survivors or of a call that is still up, the
// one that knows more counts, so that everybody who has read all records shows the same.
func (r *Row) Supersedes(other *Row) bool {
	switch {
	case other == nil:
		return true
	case r.Version != other.Version:
		return r.Version > other.Version
	case r.Answered() != other.Answered():
		return r.Answered()
	case !r.End.Equal(other.End):
		return r.End.After(other.End)
	}
	return r.Node < other.Node
}

// Legs returns the Call-IDs of the call's dialogs: of the caller, of the winner, of every
// attempt. None is twice in it.
func (r *Row) Legs() []string {
	legs := make([]string, 0, 2+len(r.Attempts))
	legs = distinct(legs, r.SIPCallID)
	legs = distinct(legs, r.EgressCallID)
	for i := range r.Attempts {
		legs = distinct(legs, r.Attempts[i].EgressCallID)
	}
	return legs
}

// Callers and CalledNumbers return the forms, by [Number], in which a number of the call
// can be asked for: as it was read and as it was received.
func (r *Row) Callers() []string { return numbers(r.Caller, r.CallerRaw) }

// CalledNumbers is Callers for the called party.
func (r *Row) CalledNumbers() []string { return numbers(r.Called, r.CalledRaw) }

// Carriers returns by which names of carriers the call can be asked for: the trunk groups
// that it came from and went to, the carrier of the route that won, and those of all
// attempts that were put on the wire.
func (r *Row) Carriers() []string {
	names := distinct(distinct(distinct(nil, r.Ingress), r.Egress), r.CarrierID)
	for i := range r.Attempts {
		if a := &r.Attempts[i]; a.Dialed {
			names = distinct(distinct(names, a.CarrierID), a.Group)
		}
	}
	return names
}

func numbers(read, raw string) []string {
	return distinct(distinct(make([]string, 0, 2), Number(read)), Number(raw))
}

// distinct appends s unless it is empty or in list.
func distinct(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
