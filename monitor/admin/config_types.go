package admin

import (
	"context"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// ConfigLog holds the cluster document as a log of revisions.
type ConfigLog interface {
	// Plan says what a document would change, and changes nothing. Errors: those of Config.Apply.
	Plan(ctx context.Context, c Change) (Plan, error)
	History(ctx context.Context) (History, error)
	// Revision returns an earlier document. Errors: ErrNotFound.
	Revision(ctx context.Context, revision uint64) (Document, error)
	// Compare says what lies between two revisions; 0 stands for the one in force. Errors: ErrNotFound.
	Compare(ctx context.Context, from, to uint64) (Plan, error)
	// Rollback puts the document of an earlier revision in force again, as a new revision. Errors: ErrNotFound, and those of Config.Apply.
	Rollback(ctx context.Context, r Rollback) (Applied, error)
}

// Plan is what a document would change.
type Plan struct {
	Cluster    string `json:"cluster"`
	Generation uint64 `json:"generation" doc:"Of the revision that it is compared with."`
	Revision   uint64 `json:"revision"`
	To         uint64 `json:"to_revision,omitempty" doc:"The other revision, when two are compared."`
	Same       bool   `json:"same" doc:"The same text: applying it makes no revision."`
	Equal      bool   `json:"equal" doc:"Nothing that the document means would change."`
	// Diff is what changes.
	Diff trunkgroup.Diff `json:"diff"`
	// Calls is what the last calls of the asked node would have met.
	Calls  trunkgroup.Replay `json:"calls"`
	Oldest *time.Time        `json:"oldest_call,omitempty" doc:"When the oldest of these calls began."`
}

// Revision is one line of the history.
type Revision struct {
	Generation uint64     `json:"generation"`
	Revision   uint64     `json:"revision"`
	Author     string     `json:"author"`
	Reason     string     `json:"reason"`
	At         *time.Time `json:"at,omitempty" doc:"When it was proposed."`
	Bytes      int        `json:"bytes" doc:"Size of the document."`
	Sum        string     `json:"sha256"`
	State      string     `json:"state" doc:"in force, canary, promoted, abandoned, or empty for the past."`
	Site       string     `json:"site,omitempty" doc:"Where it is or was a canary."`
	DecidedBy  string     `json:"decided_by,omitempty" doc:"Who promoted or abandoned it."`
	DecidedFor string     `json:"decided_for,omitempty" doc:"Why."`
	DecidedAt  *time.Time `json:"decided_at,omitempty"`
}

// History is the answer of GET /v1/config/history.
type History struct {
	Cluster   string     `json:"cluster"`
	Revisions []Revision `json:"revisions" doc:"Oldest first, as many as the cluster remembers."`
}

// Rollback asks for an earlier document.
type Rollback struct {
	Revision uint64  `json:"revision" minimum:"1"`
	Author   string  `json:"author,omitempty" maxLength:"256"`
	Reason   string  `json:"reason,omitempty" maxLength:"256"`
	Expect   *uint64 `json:"expect_revision,omitempty" doc:"Only while this revision is in force."`
}
