package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tandem-sbc/tandem/monitor/audit"
)

// Auditor keeps who changed what.
type Auditor interface {
	Audit(ctx context.Context, q audit.Query) (AuditList, error)
}

// AuditList is the answer of GET /v1/audit.
type AuditList struct {
	Node    string        `json:"node" doc:"That was asked: each node writes down what it did and what it heard of."`
	Lost    uint64        `json:"lost" doc:"Entries since the start that found no room."`
	Entries []audit.Entry `json:"entries" doc:"Oldest first."`
}

// Audited is a change that somebody asked for, and what became of it. Nothing of its body is in it but what names it.
type Audited struct {
	What, Author string
	Args         []any  // names and values in turn
	Problem      string // why it was not made; empty for done
}

// auditKey finds the note of a request.
type auditKey struct{}

// audited notes what becomes of changes: a handler says by Server.audit that it is one.
func (s *Server) audited(next http.Handler) http.Handler {
	if s.cfg.Audit == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		note := new(Audited)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), auditKey{}, note)))
		if note.What != "" {
			s.cfg.Audit(*note)
		}
	})
}

// note is that of a request, or one that nobody reads.
func note(ctx context.Context) *Audited {
	if n, ok := ctx.Value(auditKey{}).(*Audited); ok {
		return n
	}
	return new(Audited)
}

// registerAudit adds the route of the audit trail.
func (s *Server) registerAudit(api huma.API) {
	if s.cfg.Backend.Audit == nil {
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/audit", "list-audit", "Who changed what, as this node knows it"), s.listAudit)
}

type auditInput struct {
	Since   time.Time `query:"since" doc:"Only what was since then."`
	Subject string    `query:"subject" maxLength:"256" doc:"Only what is about it: a part of its name is enough."`
	Limit   int       `query:"limit" minimum:"1" maximum:"100000" default:"1000" doc:"The newest so many."`
}

func (s *Server) listAudit(ctx context.Context, in *auditInput) (*reply[AuditList], error) {
	return answer(ctx, s, func(ctx context.Context) (AuditList, error) {
		return s.cfg.Backend.Audit.Audit(ctx, audit.Query{Since: in.Since, Subject: in.Subject, Limit: in.Limit})
	})
}
