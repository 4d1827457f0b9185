package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Problem is an error as RFC 9457 writes them.
type Problem struct {
	Type     string  `json:"type,omitempty"`
	Title    string  `json:"title"`
	Status   int     `json:"status"`
	Detail   string  `json:"detail,omitempty"`
	Hint     string  `json:"hint,omitempty" doc:"What to do next."`
	Revision uint64  `json:"revision,omitempty" doc:"The revision in force, of a conflict."`
	Faults   []Fault `json:"faults,omitempty" doc:"Every fault of a document."`
}

// Fault is one fault of a document.
type Fault struct {
	Path    string `json:"path"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy,omitempty"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// problem words an error of the backend. Errors that nobody named stay in the log.
func (s *Server) problem(ctx context.Context, err error) error {
	note(ctx).Problem = err.Error()
	if faults, ok := errors.AsType[trunkgroup.Faults](err); ok {
		many := "a fault"
		if len(faults) > 1 {
			many = fmt.Sprintf("%d faults", len(faults))
		}
		p := newProblem(http.StatusUnprocessableEntity, "the document has "+many, "each fault names its remedy")
		for _, f := range faults {
			p.Faults = append(p.Faults, Fault{f.Path, f.Line, f.Column, f.Problem, f.Remedy})
		}
		return p
	}
	if conflict, ok := errors.AsType[*ConflictError](err); ok {
		p := newProblem(http.StatusConflict, fmt.Sprintf("revision %d was expected and %d is in force", conflict.Expected, conflict.Current),
			"look at what changed, and apply again with the revision in force")
		p.Revision = conflict.Current
		return p
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return newProblem(http.StatusNotFound, err.Error(), "")
	case errors.Is(err, ErrInvalid):
		return newProblem(http.StatusUnprocessableEntity, err.Error(), "")
	case errors.Is(err, ErrRefused):
		return newProblem(http.StatusConflict, err.Error(), "")
	case errors.Is(err, ErrUnavailable):
		return newProblem(http.StatusServiceUnavailable, err.Error(), "calls go on; tandem node list shows who is up and what is wrong; docs/recovery.md says what to do")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return newProblem(http.StatusGatewayTimeout, "it took too long", "the change may still be made: look before trying again")
	}
	s.cfg.Logger.ErrorContext(ctx, "admin request failed", "error", err)
	return newProblem(http.StatusInternalServerError, "the node's log says more", "")
}

func newProblem(status int, detail, hint string) *Problem {
	return &Problem{Title: http.StatusText(status), Status: status, Detail: detail, Hint: hint}
}
