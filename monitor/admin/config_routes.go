package admin

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// registerConfig adds the routes of the configuration log.
func (s *Server) registerConfig(api huma.API) {
	b := s.cfg.Backend
	if b.ConfigLog != nil {
		s.registerLog(api)
	}
	if b.Canaries != nil {
		s.registerCanary(api)
	}
	if b.Vault != nil {
		s.registerVault(api)
	}
	if b.Rescue != nil {
		s.registerRescue(api)
	}
}

func (s *Server) registerLog(api huma.API) {
	b := s.cfg.Backend.ConfigLog
	plan := operation(http.MethodPost, "/v1/config/plan", "plan-config", "What a document would change",
		http.StatusConflict, http.StatusUnprocessableEntity)
	plan.MaxBodyBytes = s.cfg.MaxDocument
	huma.Register(api, plan, s.planConfig)
	huma.Register(api, operation(http.MethodGet, "/v1/config/history", "config-history", "Revisions of the cluster document"),
		func(ctx context.Context, _ *struct{}) (*reply[History], error) { return answer(ctx, s, b.History) })
	huma.Register(api, operation(http.MethodGet, "/v1/config/revisions/{revision}", "get-revision", "An earlier document", http.StatusNotFound),
		func(ctx context.Context, in *revisionInput) (*reply[Document], error) {
			return answer(ctx, s, func(ctx context.Context) (Document, error) { return b.Revision(ctx, in.Revision) })
		})
	huma.Register(api, operation(http.MethodGet, "/v1/config/diff", "diff-config", "What lies between two revisions", http.StatusNotFound),
		func(ctx context.Context, in *compareInput) (*reply[Plan], error) {
			return answer(ctx, s, func(ctx context.Context) (Plan, error) { return b.Compare(ctx, in.From, in.To) })
		})
	huma.Register(api, operation(http.MethodPost, "/v1/config/rollback", "rollback-config", "Put an earlier document in force again",
		http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable), s.rollback)
}

type revisionInput struct {
	Revision uint64 `path:"revision" minimum:"1"`
}

type compareInput struct {
	From uint64 `query:"from" doc:"0 for the revision in force."`
	To   uint64 `query:"to" doc:"0 for the revision in force."`
}

// planInput is the request of plan-config. The body is the document as it was written.
type planInput struct {
	Expect  string `query:"expect_revision" pattern:"^[0-9]{0,20}$" doc:"Only when this revision is in force."`
	RawBody []byte `contentType:"application/yaml"`
}

func (s *Server) planConfig(ctx context.Context, in *planInput) (*reply[Plan], error) {
	expect, err := (&applyInput{Expect: in.Expect}).expected()
	if err != nil {
		return nil, newProblem(http.StatusUnprocessableEntity, err.Error(), "expect_revision holds the revision of GET /v1/config")
	}
	return answer(ctx, s, func(ctx context.Context) (Plan, error) {
		return s.cfg.Backend.ConfigLog.Plan(ctx, Change{Text: in.RawBody, Expect: expect, DryRun: true})
	})
}

type rollbackInput struct{ Body Rollback }

func (s *Server) rollback(ctx context.Context, in *rollbackInput) (*reply[Applied], error) {
	s.audit(ctx, "configuration rollback", in.Body.Author, "reason", in.Body.Reason, "to", fmt.Sprint(in.Body.Revision))
	return answer(ctx, s, func(ctx context.Context) (Applied, error) { return s.cfg.Backend.ConfigLog.Rollback(ctx, in.Body) })
}
