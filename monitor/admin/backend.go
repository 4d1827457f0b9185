package admin

import (
	"context"
	"errors"
	"net/http"
)

// Backend is what the API shows and changes. A nil part takes its routes away: a witness has no members and no calls, and says so.
type Backend struct {
	Health  Health
	Nodes   Nodes
	Members Members
	// MemberEdits adds and removes them.
	MemberEdits MemberEditor
	Config      Config
	// ConfigLog is the history of what Config holds.
	ConfigLog     ConfigLog
	Canaries      Canaries
	Vault         Vault
	Knobs         Knobs
	Rescue        Rescue
	Calls         Calls
	Limits        Limits
	Registrations Registrations
	Accounts      Accounts
	Bans          Bans
	Frauds        Frauds
	Charging      Charging
	Decisions     Decisions
	Traffic       Traffic
	Sinks         Sinks
	Records       Records
	Numbers       Numbers
	Decks         Decks
	Drain         Drainer
	Hashes        Hasher
	Audit         Auditor
	Keys          Keys
	Explain       Explainer
	Discovery     Discovery
	Tests         Tester
	Metrics       http.Handler // GET /metrics
}

// Health says how the node does.
type Health interface {
	// Live lists what must hold for the process to be worth keeping.
	Live() []Check
	// Ready lists what must hold for the node to be given calls: sockets bound, configuration in force, not draining, not isolated.
	Ready() []Check
}

// Nodes knows the cluster.
type Nodes interface {
	Nodes(ctx context.Context) (NodeList, error)
}

// Members knows the far ends.
type Members interface {
	Members(ctx context.Context) (MemberList, error)
	// SetState takes an operator's word. Errors: ErrNotFound.
	SetState(ctx context.Context, group, member string, o Order) (Knob, error)
	// SetStates takes one about all members of a group, of a site, or of a group in
	// a site. What a site refused stands in its row. Errors: ErrNotFound, ErrInvalid.
	SetStates(ctx context.Context, o BulkOrder) (BulkResult, error)
}

// Config holds the cluster document.
type Config interface {
	Document(ctx context.Context) (Document, error)
	// Apply makes a document the one in force. Errors: trunkgroup.Faults, *ConflictError, ErrUnavailable, ErrRefused.
	Apply(ctx context.Context, c Change) (Applied, error)
}

// Calls knows the calls of this node.
type Calls interface {
	Calls(ctx context.Context, limit int) (CallList, error)
}

// Errors that a Backend returns, wrapped or not. Anything else is shown as an internal error, whose text goes to the log only.
var (
	ErrNotFound    = errors.New("not found")
	ErrInvalid     = errors.New("invalid")
	ErrRefused     = errors.New("refused")
	ErrUnavailable = errors.New("unavailable")
)

// ConflictError says that the document has moved on since the author saw it.
type ConflictError struct {
	Expected, Current uint64
}

// Error implements error.
func (e *ConflictError) Error() string {
	return "the document is another revision than the one expected"
}
