package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tandem-sbc/tandem/monitor/cdrquery"
)

// Records finds call records.
type Records interface {
	// SearchCalls asks all nodes of all sites. A node that does not answer is named in the
	// answer. Errors: ErrInvalid, ErrUnavailable.
	SearchCalls(ctx context.Context, q cdrquery.Query) (CallRecords, error)
}

// CallRecords is the answer of GET /v1/cdr.
type CallRecords struct {
	Complete bool         `json:"complete" doc:"Every node that has records was asked and answered."`
	More     bool         `json:"more" doc:"There are other calls, which began earlier: a larger limit, or to, shows them."`
	Nodes    []RecordNode `json:"nodes"`
	Calls    []CallRecord `json:"calls" doc:"The latest first."`
}

// RecordNode tells how a node answered.
type RecordNode struct {
	Name    string     `json:"name"`
	Site    string     `json:"site"`
	Missing string     `json:"missing,omitempty" doc:"Why the answer lacks what this node has, or a part of it."`
	Oldest  *time.Time `json:"oldest,omitempty" doc:"Start of the oldest call that it finds."`
	Behind  int64      `json:"behind_bytes,omitempty" doc:"Of its files of records, which it has not read yet."`
}

// CallRecord is what is known of one call.
type CallRecord struct {
	Record   json.RawMessage   `json:"record,omitempty" doc:"The record that counts, as it was written. Absent when only the peer site's part is known."`
	Handoffs []json.RawMessage `json:"handoffs" doc:"The parts of peer sites, which are never billed."`
}

func (s *Server) registerRecords(api huma.API, mux *http.ServeMux) {
	if s.cfg.Backend.Records == nil {
		mux.HandleFunc("/v1/cdr", absent)
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/cdr", "search-cdr", "Find call records, on all nodes of all sites",
		http.StatusUnprocessableEntity, http.StatusServiceUnavailable), s.searchRecords)
}

// recordsInput is the request of search-cdr.
type recordsInput struct {
	CallID   string    `query:"call_id" maxLength:"256" doc:"Id of the call, or the SIP Call-ID of any of its legs."`
	Number   string    `query:"number" maxLength:"256" doc:"Of either party; a star at its end asks for all that begin so."`
	Caller   string    `query:"caller" maxLength:"256"`
	Called   string    `query:"called" maxLength:"256"`
	Customer string    `query:"customer" maxLength:"256" doc:"The customer's trunk group."`
	Carrier  string    `query:"carrier" maxLength:"256" doc:"A carrier id or a trunk group; tried in vain counts."`
	Cause    string    `query:"cause" maxLength:"256" doc:"As in hangup_cause, or its number of Q.850."`
	Code     string    `query:"code" maxLength:"3" doc:"The final response, or a class such as 5xx."`
	From     time.Time `query:"from" doc:"Only calls that began then or later."`
	To       time.Time `query:"to" doc:"Only calls that began before."`
	Site     string    `query:"site" maxLength:"256" doc:"Where the call came in or went out."`
	Answered string    `query:"answered" enum:"true,false" doc:"Only calls that were answered, or were not."`
	Limit    int       `query:"limit" minimum:"1" maximum:"10000" default:"100" doc:"The latest so many."`
}

func (in *recordsInput) query() cdrquery.Query {
	q := cdrquery.Query{
		CallID: in.CallID, Number: in.Number, Caller: in.Caller, Called: in.Called, Customer: in.Customer, Carrier: in.Carrier,
		Cause: in.Cause, Code: in.Code, From: in.From, To: in.To, Site: in.Site, Limit: in.Limit,
	}
	if in.Answered != "" {
		yes := in.Answered == "true"
		q.Answered = &yes
	}
	return q
}

func (s *Server) searchRecords(ctx context.Context, in *recordsInput) (*reply[CallRecords], error) {
	return answer(ctx, s, func(ctx context.Context) (CallRecords, error) {
		return s.cfg.Backend.Records.SearchCalls(ctx, in.query())
	})
}
