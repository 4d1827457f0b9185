package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Tester places test calls.
type Tester interface {
	// TestRoute places one and waits for its end. Errors: ErrInvalid, ErrNotFound,
	// ErrRefused for what is no number to test and for one too soon after another,
	// ErrUnavailable.
	TestRoute(ctx context.Context, o TestOrder) (TestCall, error)
}

// TestOrder is the body of POST /v1/route/test.
type TestOrder struct {
	Question   Question `json:"call"`
	RingMillis int      `json:"ring_ms,omitempty" minimum:"0" maximum:"30000" doc:"How long it may ring; default 3000."`
	HoldMillis int      `json:"hold_ms,omitempty" minimum:"0" maximum:"10000" doc:"How long it stays answered; default 1000."`
	Author     string   `json:"author,omitempty" maxLength:"256"`
	Reason     string   `json:"reason,omitempty" maxLength:"256"`
}

// TestCall is what became of a test call.
type TestCall struct {
	CallID    string        `json:"call_id,omitempty" doc:"Of its record."`
	Direction string        `json:"direction"`
	Ingress   string        `json:"ingress"`
	Called    string        `json:"called"`
	Code      int           `json:"code" doc:"What the caller got."`
	Reason    string        `json:"reason"`
	Cause     string        `json:"cause,omitempty"`
	PDD       int64         `json:"pdd_ms,omitempty" doc:"To the first 18x or the answer."`
	Setup     int64         `json:"setup_ms" doc:"To the final response."`
	Answered  bool          `json:"answered"`
	GivenUp   bool          `json:"given_up" doc:"The test gave the call up: it rang for as long as it was to."`
	HandedOff bool          `json:"handed_off"`
	Attempts  []TestAttempt `json:"attempts"`
}

// TestAttempt is one attempt of a test call.
type TestAttempt struct {
	Group   string `json:"group"`
	Member  string `json:"member"`
	Site    string `json:"site"`
	Address string `json:"address,omitempty"`
	Dialled bool   `json:"dialled"`
	Rang    bool   `json:"rang"`
	Code    int    `json:"code,omitempty"`
	Cause   string `json:"cause,omitempty"`
	Millis  int64  `json:"ms"`
}

func (s *Server) registerRouteTest(api huma.API, mux *http.ServeMux) {
	if s.cfg.Backend.Tests == nil {
		mux.HandleFunc("/v1/route/test", absent)
		return
	}
	huma.Register(api, operation(http.MethodPost, "/v1/route/test", "test-route", "Place a test call",
		http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity), s.testRoute)
}

func (s *Server) testRoute(ctx context.Context, in *struct{ Body TestOrder }) (*reply[TestCall], error) {
	o := in.Body
	s.audit(ctx, "test call", o.Author, "called", o.Question.Called, "source", o.Question.Source, "username", o.Question.Username, "reason", o.Reason)
	return answer(ctx, s, func(ctx context.Context) (TestCall, error) { return s.cfg.Backend.Tests.TestRoute(ctx, o) })
}
