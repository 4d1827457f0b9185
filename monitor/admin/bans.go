package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Bans knows from whom nothing is taken.
type Bans interface {
	Bans(ctx context.Context) (BanList, error)
	// AddBan shuts a network out, on all nodes. Errors: ErrInvalid, ErrRefused.
	AddBan(ctx context.Context, o BanOrder) (Ban, error)
	// RemoveBan lifts a ban, on all nodes. Errors: ErrInvalid, ErrNotFound.
	RemoveBan(ctx context.Context, o BanRemoval) (Ban, error)
}

// Ban is an address or a network from which nothing is taken.
type Ban struct {
	Prefix string    `json:"prefix"`
	Auto   bool      `json:"auto" doc:"Made for what the source did; such a ban does not hold for trusted addresses."`
	Reason string    `json:"reason"`
	By     string    `json:"by" doc:"Who banned it: a person, or auto."`
	Node   string    `json:"node" doc:"Where the ban was made."`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	Before int       `json:"bans_before" doc:"How often the source was banned before; each time it lasts twice as long."`
}

// BanList is the answer of GET /v1/bans.
type BanList struct {
	Node string `json:"node"`
	Bans []Ban  `json:"bans"`
	Note string `json:"note,omitempty" doc:"What is not as it should be, and what follows."`
}

// BanOrder is the body of POST /v1/bans.
type BanOrder struct {
	Prefix  string `json:"prefix" maxLength:"64" doc:"An address, or a network without host bits."`
	Seconds int    `json:"seconds" minimum:"1" maximum:"86400"`
	Author  string `json:"author,omitempty" maxLength:"256"`
	Reason  string `json:"reason,omitempty" maxLength:"200"`
	Force   bool   `json:"force,omitempty" doc:"Also a network wider than /24 or /48, and one with far ends of trunk groups in it."`
}

// BanRemoval is the body of POST /v1/bans/remove.
type BanRemoval struct {
	Prefix string `json:"prefix" maxLength:"64"`
	Author string `json:"author,omitempty" maxLength:"256"`
}

func (s *Server) registerBans(api huma.API, mux *http.ServeMux) {
	b := s.cfg.Backend.Bans
	if b == nil {
		mux.HandleFunc("/v1/bans", absent)
		mux.HandleFunc("/v1/bans/", absent)
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/bans", "list-bans", "From whom nothing is taken"),
		func(ctx context.Context, _ *struct{}) (*reply[BanList], error) { return answer(ctx, s, b.Bans) })
	huma.Register(api, operation(http.MethodPost, "/v1/bans", "add-ban", "Shut an address or a network out, on all nodes",
		http.StatusConflict, http.StatusUnprocessableEntity), s.addBan)
	huma.Register(api, operation(http.MethodPost, "/v1/bans/remove", "remove-ban", "Lift a ban, on all nodes",
		http.StatusNotFound, http.StatusUnprocessableEntity), s.removeBan)
}

type banInput struct{ Body BanOrder }

func (s *Server) addBan(ctx context.Context, in *banInput) (*reply[Ban], error) {
	s.audit(ctx, "ban", in.Body.Author, "prefix", in.Body.Prefix, "seconds", in.Body.Seconds, "reason", in.Body.Reason, "force", in.Body.Force)
	return answer(ctx, s, func(ctx context.Context) (Ban, error) { return s.cfg.Backend.Bans.AddBan(ctx, in.Body) })
}

type banRemovalInput struct{ Body BanRemoval }

func (s *Server) removeBan(ctx context.Context, in *banRemovalInput) (*reply[Ban], error) {
	s.audit(ctx, "ban lifted", in.Body.Author, "prefix", in.Body.Prefix)
	return answer(ctx, s, func(ctx context.Context) (Ban, error) { return s.cfg.Backend.Bans.RemoveBan(ctx, in.Body) })
}
