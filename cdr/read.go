package cdr

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// ErrJSON is returned for a line that is no record.
var ErrJSON = errors.New("cdr: the line is no call record")

// jsonRecord is the form that AppendJSON writes, as far as it is not made from other fields.
type jsonRecord struct {
	Seq           uint64          `json:"seq"`
	CallID        string          `json:"call_id"`
	Kind          Kind            `json:"kind"`
	Version       int             `json:"version"`
	Final         bool            `json:"final"`
	ClosedBy      string          `json:"closed_by"`
	Cluster       string          `json:"cluster"`
	Node          string          `json:"node"`
	Site          string          `json:"site"`
	EgressSite    string          `json:"egress_site"`
	HandedOff     bool            `json:"handed_off"`
	Direction     Direction       `json:"direction"`
	Customer      string          `json:"customer"`
	IngressGroup  string          `json:"ingress_group"`
	IngressMember string          `json:"ingress_member"`
	EgressGroup   string          `json:"egress_group"`
	EgressMember  string          `json:"egress_member"`
	Caller        string          `json:"caller"`
	CallerRaw     string          `json:"caller_raw"`
	Called        string          `json:"called"`
	CalledRaw     string          `json:"called_raw"`
	RN            string          `json:"rn"`
	To            string          `json:"to"`
	SIPCallID     string          `json:"sip_call_id"`
	EgressCallID  string          `json:"egress_call_id"`
	SourceIP      netip.Addr      `json:"src_ip"`
	SourcePort    uint16          `json:"src_port"`
	LocalIP       netip.Addr      `json:"local_ip"`
	LocalPort     uint16          `json:"local_port"`
	Transport     string          `json:"transport"`
	AuthUser      string          `json:"auth_user"`
	UserAgent     string          `json:"user_agent"`
	Start         time.Time       `json:"start_time"`
	Progress      time.Time       `json:"progress_time"`
	Answer        time.Time       `json:"answer_time"`
	End           time.Time       `json:"end_time"`
	PDD           uint32          `json:"pdd_ms"`
	SIPCode       int             `json:"sip_code"`
	SIPReason     string          `json:"sip_reason"`
	HangupCause   string          `json:"hangup_cause"`
	HangupQ850    int             `json:"hangup_cause_q850"`
	HangupParty   Party           `json:"hangup_party"`
	Attempts      []jsonAttempt   `json:"attempts"`
	CarrierID     string          `json:"carrier_id"`
	RouteSource   string          `json:"route_source"`
	Rate          *float64        `json:"rate"`
	Currency      string          `json:"currency"`
	Increment     uint32          `json:"billing_increment"`
	MinDuration   uint32          `json:"min_duration"`
	Fields        json.RawMessage `json:"fields"`
	RoSession     string          `json:"ro_session_id"`
	RoResult      uint32          `json:"ro_result_code"`
	RfSession     string          `json:"rf_session_id"`
	Test          bool            `json:"test"`
}

type jsonAttempt struct {
	N            int    `json:"n"`
	Group        string `json:"group"`
	Member       string `json:"member"`
	Site         string `json:"site"`
	Dialed       bool   `json:"dialed"`
	Progress     bool   `json:"progress"`
	Code         int    `json:"code"`
	Cause        string `json:"cause"`
	Elapsed      uint32 `json:"elapsed_ms"`
	EgressCallID string `json:"egress_call_id"`
	Address      string `json:"address"`
	CarrierID    string `json:"carrier_id"`
}

// ParseJSON reads one line that AppendJSON wrote, of this version of the program or
// another one, and the number that the node's spool gave it, 0 for none. Times keep their
// milliseconds and are in UTC. The record holds nothing of line. The error wraps ErrJSON
// and says what is wrong.
func ParseJSON(line []byte) (*Record, uint64, error) {
	var j jsonRecord
	if err := json.Unmarshal(line, &j); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrJSON, err)
	}
	if j.CallID == "" || j.Kind == "" {
		return nil, 0, fmt.Errorf("%w: it has no call_id or no kind", ErrJSON)
	}
	r := j.record()
	var err error
	if r.Fields, err = parseFields(j.Fields); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrJSON, err)
	}
	return r, j.Seq, nil
}

func (j *jsonRecord) record() *Record {
	r := &Record{
		CallID: j.CallID, Kind: j.Kind, Version: j.Version, Final: j.Final, ClosedBy: j.ClosedBy,
		Cluster: j.Cluster, Node: j.Node, Site: j.Site, EgressSite: j.EgressSite, HandedOff: j.HandedOff,
		Direction: j.Direction, Customer: j.Customer, IngressGroup: j.IngressGroup, IngressMember: j.IngressMember,
		EgressGroup: j.EgressGroup, EgressMember: j.EgressMember,
		Caller: j.Caller, CallerRaw: j.CallerRaw, Called: j.Called, CalledRaw: j.CalledRaw, RN: j.RN, To: j.To,
		SIPCallID: j.SIPCallID, EgressCallID: j.EgressCallID,
		Start: j.Start, Progress: j.Progress, Answer: j.Answer, End: j.End, PDD: milliseconds(j.PDD),
		SIPCode: j.SIPCode, SIPReason: j.SIPReason,
		HangupCause: j.HangupCause, HangupQ850: j.HangupQ850, HangupParty: j.HangupParty,
		Transport: j.Transport, AuthUser: j.AuthUser, UserAgent: j.UserAgent,
		CarrierID: j.CarrierID, RouteSource: j.RouteSource, Currency: j.Currency,
		BillingIncrement: j.Increment, MinDuration: j.MinDuration, Test: j.Test,
		RoSession: j.RoSession, RoResult: j.RoResult, RfSession: j.RfSession,
	}
	if j.SourceIP.IsValid() {
		r.Source = netip.AddrPortFrom(j.SourceIP, j.SourcePort)
	}
	if j.LocalIP.IsValid() {
		r.Local = netip.AddrPortFrom(j.LocalIP, j.LocalPort)
	}
	if j.Rate != nil {
		r.Rate, r.Rated = *j.Rate, true
	}
	for _, a := range j.Attempts {
		r.Attempts = append(r.Attempts, Attempt{
			N: a.N, Group: a.Group, Member: a.Member, Site: a.Site, Dialed: a.Dialed, Progress: a.Progress,
			Code: a.Code, Cause: a.Cause, Elapsed: milliseconds(a.Elapsed), EgressCallID: a.EgressCallID,
			Address: a.Address, CarrierID: a.CarrierID,
		})
	}
	return r
}

func milliseconds(n uint32) time.Duration { return time.Duration(n) * time.Millisecond }

// parseFields reads the object of further fields in its order.
func parseFields(b json.RawMessage) ([]Field, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var values map[string]string
	if err := json.Unmarshal(b, &values); err != nil {
		return nil, err
	}
	names, err := order(b)
	if err != nil {
		return nil, err
	}
	var list []Field
	for _, name := range names {
		if v, ok := values[name]; ok {
			list = append(list, Field{name, v})
			delete(values, name)
		}
	}
	return list, nil
}
