package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Canaries let one site try a document before the others (DEC-25).
type Canaries interface {
	// Canary returns the revision that is tried. Errors: ErrNotFound when there is none.
	Canary(ctx context.Context) (Canary, error)
	// Stage makes a document the one of a single site. Errors: those of Config.Apply.
	Stage(ctx context.Context, site string, c Change) (Applied, error)
	// Decide ends the canary: promoted, it is the cluster's; abandoned, its site goes back. Errors: those of Config.Apply.
	Decide(ctx context.Context, v Verdict) (Applied, error)
}

// Canary is a revision that one site tries.
type Canary struct {
	Site       string       `json:"site"`
	Generation uint64       `json:"generation"`
	Revision   uint64       `json:"revision"`
	Author     string       `json:"author"`
	Reason     string       `json:"reason"`
	At         *time.Time   `json:"at,omitempty"`
	Nodes      []CanaryNode `json:"nodes"`
	// Fallen says why the asked node went back.
	Fallen   string     `json:"fallen,omitempty" doc:"Why the asked node went back from it."`
	FallenAt *time.Time `json:"fallen_at,omitempty"`
}

// CanaryNode is a node of the site that tries it.
type CanaryNode struct {
	Name       string `json:"name"`
	Generation uint64 `json:"generation,omitempty"`
	Revision   uint64 `json:"revision" doc:"What the node routes by; 0 when it is not known."`
	FellBack   bool   `json:"fell_back" doc:"It found a breach and went back to the revision before."`
}

// Verdict ends a canary.
type Verdict struct {
	Promote  bool   `json:"promote" doc:"Else it is abandoned."`
	Revision uint64 `json:"revision,omitempty" doc:"Only when this is the canary; 0 for whichever is."`
	Author   string `json:"author,omitempty" maxLength:"256"`
	Reason   string `json:"reason,omitempty" maxLength:"256"`
}

func (s *Server) registerCanary(api huma.API) {
	b := s.cfg.Backend.Canaries
	huma.Register(api, operation(http.MethodGet, "/v1/config/canary", "get-canary", "The revision that one site tries", http.StatusNotFound),
		func(ctx context.Context, _ *struct{}) (*reply[Canary], error) { return answer(ctx, s, b.Canary) })
	stage := operation(http.MethodPost, "/v1/config/canary", "stage-canary", "Make a document the one of a single site",
		http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable)
	stage.MaxBodyBytes = s.cfg.MaxDocument
	huma.Register(api, stage, s.stage)
	huma.Register(api, operation(http.MethodPost, "/v1/config/canary/verdict", "end-canary", "Promote or abandon the canary",
		http.StatusConflict, http.StatusServiceUnavailable), s.decide)
}

// stageInput is the request of stage-canary. The body is the document as it was written.
type stageInput struct {
	Site    string `query:"site" required:"true" minLength:"1" maxLength:"128"`
	Author  string `query:"author" maxLength:"256" doc:"Who wants it."`
	Reason  string `query:"reason" maxLength:"256" doc:"Why."`
	Expect  string `query:"expect_revision" pattern:"^[0-9]{0,20}$" doc:"Only when this revision is in force."`
	Key     string `header:"Idempotency-Key" maxLength:"128" doc:"The same key twice is one change."`
	RawBody []byte `contentType:"application/yaml"`
}

func (s *Server) stage(ctx context.Context, in *stageInput) (*reply[Applied], error) {
	expect, err := (&applyInput{Expect: in.Expect}).expected()
	if err != nil {
		return nil, newProblem(http.StatusUnprocessableEntity, err.Error(), "expect_revision holds the revision of GET /v1/config")
	}
	s.audit(ctx, "configuration canary", in.Author, "reason", in.Reason, "in", in.Site, "bytes", len(in.RawBody))
	return answer(ctx, s, func(ctx context.Context) (Applied, error) {
		return s.cfg.Backend.Canaries.Stage(ctx, in.Site, Change{
			Text: in.RawBody, Author: in.Author, Reason: in.Reason, Expect: expect, Key: in.Key,
		})
	})
}

type verdictInput struct{ Body Verdict }

func (s *Server) decide(ctx context.Context, in *verdictInput) (*reply[Applied], error) {
	s.audit(ctx, "end of a configuration canary", in.Body.Author, "reason", in.Body.Reason, "promote", in.Body.Promote)
	return answer(ctx, s, func(ctx context.Context) (Applied, error) { return s.cfg.Backend.Canaries.Decide(ctx, in.Body) })
}
