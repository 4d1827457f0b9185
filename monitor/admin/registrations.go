package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Registrations knows who is registered.
type Registrations interface {
	Registrations(ctx context.Context, q RegistrationQuery) (RegistrationList, error)
	// RemoveRegistration forgets bindings of an address of record, on all nodes. Errors: ErrInvalid, ErrNotFound.
	RemoveRegistration(ctx context.Context, o RegistrationRemoval) (RegistrationList, error)
}

// RegistrationQuery selects bindings.
type RegistrationQuery struct {
	AOR    string `query:"aor" maxLength:"512" doc:"Only those of this address of record."`
	Member string `query:"member" maxLength:"256" doc:"Only those of this member, group/member."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100000" default:"1000"`
}

// RegistrationList is the answer of GET /v1/registrations.
type RegistrationList struct {
	Node          string         `json:"node" doc:"Whose view this is."`
	Site          string         `json:"site"`
	Total         int            `json:"total" doc:"Bindings that the node knows."`
	Left          int            `json:"left_off,omitempty" doc:"Bindings that would have been beyond the limit."`
	Registrations []Registration `json:"registrations"`
	Refused       []Refused      `json:"refused,omitempty" doc:"What this node refused within a day, the latest first; other nodes refuse for themselves."`
}

// Refused tells of the REGISTERs for an address of record that a node refused
// last, one after the other for the same reason and from the same address.
type Refused struct {
	AOR    string    `json:"aor"`
	Member string    `json:"member"`
	Source string    `json:"source" doc:"Where the last one came from."`
	Result string    `json:"result" doc:"As in tandem_registers_total."`
	Reason string    `json:"reason,omitempty" doc:"As in tandem_auth_failures_total, when the result is challenged."`
	Why    string    `json:"why" doc:"The same in words, and what to change."`
	Since  time.Time `json:"since" doc:"The first one in a row."`
	Last   time.Time `json:"last"`
	Times  int       `json:"times"`
}

// Registration is one binding.
type Registration struct {
	AOR       string   `json:"aor"`
	ID        string   `json:"id" doc:"What tells it from the others of its address of record."`
	Member    string   `json:"member,omitempty" doc:"group/member; empty when the configuration has none for it any more."`
	Contact   string   `json:"contact"`
	Path      []string `json:"path,omitempty"`
	Source    string   `json:"source" doc:"Where requests to it go."`
	Transport string   `json:"transport"`
	Listener  string   `json:"listener" doc:"Of its node."`
	Node      string   `json:"node" doc:"Took the registration."`
	Site      string   `json:"site" doc:"Of that node."`
	Reach     string   `json:"reach" enum:"any,socket,flow" doc:"Which nodes can send to it: any; by the socket of its node; by a connection of its node."`
	Reachable bool     `json:"reachable" doc:"A call could be sent there now."`
	CallsOf   string   `json:"calls_of" doc:"The site whose calls it takes now."`
	Cause     string   `json:"cause,omitempty" doc:"Why it is not reachable: node_down, flow_gone."`
	// CauseSince is when its connection ended; of a node that is down the list of nodes tells.
	CauseSince *time.Time `json:"cause_since,omitempty"`
	Since      time.Time  `json:"since" doc:"First registered."`
	Refreshed  time.Time  `json:"refreshed" doc:"Last changed."`
	Expires    time.Time  `json:"expires"`
	Q          float64    `json:"q"`
	Sessions   *int       `json:"sessions,omitempty" doc:"As it reported them."`
	Bulk       bool       `json:"bulk,omitempty" doc:"Stands for all numbers of its group."`
	User       string     `json:"user"`
	Instance   string     `json:"instance,omitempty"`
	Agent      string     `json:"user_agent,omitempty"`
}

// RegistrationRemoval is the body of POST /v1/registrations/remove.
type RegistrationRemoval struct {
	AOR    string `json:"aor" maxLength:"512"`
	ID     string `json:"id,omitempty" maxLength:"64" doc:"One binding; all of the address of record when empty."`
	Author string `json:"author,omitempty" maxLength:"256"`
	Reason string `json:"reason,omitempty" maxLength:"200"`
}

func (s *Server) registerRegistrations(api huma.API, mux *http.ServeMux) {
	b := s.cfg.Backend.Registrations
	if b == nil {
		mux.HandleFunc("/v1/registrations", absent)
		mux.HandleFunc("/v1/registrations/", absent)
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/registrations", "list-registrations", "Who is registered, and whether a call would get there",
		http.StatusUnprocessableEntity),
		func(ctx context.Context, q *RegistrationQuery) (*reply[RegistrationList], error) {
			return answer(ctx, s, func(ctx context.Context) (RegistrationList, error) { return b.Registrations(ctx, *q) })
		})
	huma.Register(api, operation(http.MethodPost, "/v1/registrations/remove", "remove-registration", "Forget bindings, on all nodes",
		http.StatusNotFound, http.StatusUnprocessableEntity), s.removeRegistration)
}

type registrationRemovalInput struct{ Body RegistrationRemoval }

func (s *Server) removeRegistration(ctx context.Context, in *registrationRemovalInput) (*reply[RegistrationList], error) {
	s.audit(ctx, "registration removed", in.Body.Author, "aor", in.Body.AOR, "id", in.Body.ID, "reason", in.Body.Reason)
	return answer(ctx, s, func(ctx context.Context) (RegistrationList, error) {
		return s.cfg.Backend.Registrations.RemoveRegistration(ctx, in.Body)
	})
}
