package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Drainer takes the node out of service and back (DEC-19).
type Drainer interface {
	Drain(ctx context.Context) (Drain, error)
	// SetDrain errors: ErrRefused when it is too late to undo.
	SetDrain(ctx context.Context, o DrainOrder) (Drain, error)
}

// Drain is how far the node is out of service.
type Drain struct {
	Phase  string     `json:"phase" enum:"serving,announcing,passing,ending" doc:"serving: it does not drain."`
	Since  *time.Time `json:"since,omitempty" doc:"Since when it is in this phase."`
	Begun  *time.Time `json:"begun,omitempty"`
	Until  *time.Time `json:"until,omitempty" doc:"When the calls that are left are ended, at the latest."`
	By     string     `json:"by,omitempty"`
	Reason string     `json:"reason,omitempty"`
	Why    string     `json:"why,omitempty" doc:"What the phase waits for."`
	Stay   bool       `json:"stay,omitempty" doc:"The process stays until it is told to end."`
	Calls  int        `json:"calls" doc:"Calls that are on the node."`
	Passed int        `json:"passed" doc:"Calls that a sibling has, and whose answer comes through this node."`
}

// DrainOrder is the body of POST /v1/drain.
type DrainOrder struct {
	Undo   bool   `json:"undo,omitempty" doc:"Back into service."`
	Stay   bool   `json:"stay,omitempty" doc:"Keep the process when all calls have ended."`
	Author string `json:"author,omitempty" maxLength:"256"`
	Reason string `json:"reason,omitempty" maxLength:"256"`
}

// drainInput is the request of set-drain.
type drainInput struct {
	Body DrainOrder
}

func (s *Server) registerDrain(api huma.API) {
	b := s.cfg.Backend.Drain
	if b == nil {
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/drain", "get-drain", "Whether and how far the node drains"),
		func(ctx context.Context, _ *struct{}) (*reply[Drain], error) { return answer(ctx, s, b.Drain) })
	huma.Register(api, operation(http.MethodPost, "/v1/drain", "set-drain", "Take the node out of service, or back", http.StatusConflict),
		func(ctx context.Context, in *drainInput) (*reply[Drain], error) {
			s.audit(ctx, "drain", in.Body.Author, "undo", in.Body.Undo, "stay", in.Body.Stay, "reason", in.Body.Reason)
			return answer(ctx, s, func(ctx context.Context) (Drain, error) { return b.SetDrain(ctx, in.Body) })
		})
}
