package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Decisions knows the decision servers of route plans.
type Decisions interface {
	Decisions(ctx context.Context) (DecisionList, error)
	// AskDecision asks a server for an operator. Errors: ErrNotFound for a plan or a
	// group that is not there, ErrInvalid.
	AskDecision(ctx context.Context, q DecisionQuestion) (DecisionAnswer, error)
	// FlushDecisions forgets kept answers on all nodes. Errors: ErrNotFound,
	// ErrUnavailable.
	FlushDecisions(ctx context.Context, f DecisionFlush) (DecisionFlushed, error)
}

// DecisionList is what a node knows of decision servers.
type DecisionList struct {
	Node    string           `json:"node"`
	Kept    int              `json:"kept" doc:"Answers that are kept."`
	Bytes   int              `json:"bytes" doc:"What they take, about."`
	Servers []DecisionServer `json:"servers"`
}

// DecisionServer is the server of one route plan.
type DecisionServer struct {
	Plan      string            `json:"plan"`
	URL       string            `json:"url" doc:"As the document has it, with its variables, and without what stands behind a question mark."`
	State     string            `json:"state" enum:"up,away,unknown" doc:"unknown: it was not asked yet."`
	Breaker   string            `json:"breaker" enum:"closed,open,half_open"`
	Since     *time.Time        `json:"since,omitempty" doc:"Since when there are no decisions."`
	Why       string            `json:"why,omitempty"`
	NextTry   *time.Time        `json:"next_try,omitempty" doc:"When an open breaker lets a question through."`
	Last      *time.Time        `json:"last,omitempty" doc:"The last decision."`
	Fallback  string            `json:"fallback,omitempty"`
	Pending   int               `json:"pending"`
	Hits      uint64            `json:"hits"`
	Misses    uint64            `json:"misses"`
	Fallbacks uint64            `json:"fallbacks"`
	Results   map[string]uint64 `json:"results"`
	MeanMs    float64           `json:"mean_ms" doc:"What a question took, on average."`
}

// DecisionQuestion is a call that might come.
type DecisionQuestion struct {
	Number string `json:"number" minLength:"1" maxLength:"256"`
	Plan   string `json:"plan,omitempty" maxLength:"128" doc:"Default: that of the group, or the only one with a server."`
	Group  string `json:"group,omitempty" maxLength:"128" doc:"The customer's trunk group."`
	Caller string `json:"caller,omitempty" maxLength:"256"`
}

// DecisionAnswer is what the server says.
type DecisionAnswer struct {
	Plan     string          `json:"plan"`
	Number   string          `json:"number"`
	Result   string          `json:"result"`
	Why      string          `json:"why,omitempty"`
	Millis   float64         `json:"millis"`
	Source   string          `json:"source" doc:"lcr, or fallback."`
	KeptFor  float64         `json:"kept_for_secs" doc:"How long the answer to a call would be kept."`
	Code     int             `json:"code,omitempty" doc:"The final response that refuses the call."`
	Reason   string          `json:"reason,omitempty"`
	Retarget string          `json:"destination,omitempty"`
	Routes   []DecisionRoute `json:"routes"`
	Notes    []string        `json:"notes,omitempty" doc:"What of the answer is not as it should be."`
}

// DecisionRoute is one route of it.
type DecisionRoute struct {
	Carrier  string   `json:"carrier"`
	Group    string   `json:"group,omitempty"`
	NextHop  string   `json:"next_hop,omitempty"`
	RURI     string   `json:"ruri,omitempty"`
	Hops     []string `json:"hops,omitempty" doc:"Addresses of next_hop, or of the host of ruri."`
	Rate     *float64 `json:"rate,omitempty"`
	Currency string   `json:"currency,omitempty"`
	Timeout  string   `json:"timeout,omitempty"`
	Causes   []int    `json:"reroute_causes,omitempty"`
}

// DecisionFlush says what is forgotten: one number, or all of a plan, or all.
type DecisionFlush struct {
	Plan   string `json:"plan,omitempty" maxLength:"128"`
	Group  string `json:"group,omitempty" maxLength:"128" doc:"Of the number."`
	Number string `json:"number,omitempty" maxLength:"256"`
	Author string `json:"author,omitempty" maxLength:"256"`
}

// DecisionFlushed is how many answers the asked node has forgotten. The other nodes are
// told.
type DecisionFlushed struct {
	Forgotten int `json:"forgotten"`
}

func (s *Server) registerDecisions(api huma.API, mux *http.ServeMux) {
	b := s.cfg.Backend.Decisions
	if b == nil {
		mux.HandleFunc("/v1/lcr", absent)
		mux.HandleFunc("/v1/lcr/", absent)
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/lcr", "list-decision-servers", "Decision servers of route plans"),
		func(ctx context.Context, _ *struct{}) (*reply[DecisionList], error) {
			return answer(ctx, s, b.Decisions)
		})
	huma.Register(api, operation(http.MethodPost, "/v1/lcr/ask", "ask-decision-server", "Ask a decision server; no call is placed, and nothing is kept",
		http.StatusNotFound, http.StatusUnprocessableEntity), s.askDecision)
	huma.Register(api, operation(http.MethodPost, "/v1/lcr/flush", "flush-decisions", "Forget kept answers, on all nodes",
		http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusServiceUnavailable), s.flushDecisions)
}

func (s *Server) askDecision(ctx context.Context, in *struct{ Body DecisionQuestion }) (*reply[DecisionAnswer], error) {
	return answer(ctx, s, func(ctx context.Context) (DecisionAnswer, error) {
		return s.cfg.Backend.Decisions.AskDecision(ctx, in.Body)
	})
}

func (s *Server) flushDecisions(ctx context.Context, in *struct{ Body DecisionFlush }) (*reply[DecisionFlushed], error) {
	s.audit(ctx, "decisions forgotten", in.Body.Author, "plan", in.Body.Plan, "group", in.Body.Group, "number", in.Body.Number)
	return answer(ctx, s, func(ctx context.Context) (DecisionFlushed, error) {
		return s.cfg.Backend.Decisions.FlushDecisions(ctx, in.Body)
	})
}
