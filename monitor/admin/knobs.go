package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Knobs are what operators said of members and of sites, without a quorum and for a time (DEC-25).
type Knobs interface {
	Knobs(ctx context.Context) (KnobList, error)
	// SetWeight gives a member another weight. Errors: ErrNotFound, ErrInvalid, ErrRefused.
	SetWeight(ctx context.Context, group, member string, o WeightOrder) (KnobLine, error)
	// SetSite drains a site, or takes that back. Errors: ErrNotFound, ErrRefused.
	SetSite(ctx context.Context, site string, o SiteOrder) (KnobLine, error)
	// SetProbing stops the probes of a site, or lets them go on. Errors: ErrNotFound, ErrUnavailable.
	SetProbing(ctx context.Context, site string, o ProbingOrder) (KnobLine, error)
	// Renew lets a knob hold for another life. Errors: ErrNotFound, ErrRefused.
	Renew(ctx context.Context, o RenewOrder) (KnobLine, error)
}

// KnobLine is one operator's word.
type KnobLine struct {
	Subject string    `json:"subject" doc:"group/member, weight:group/member, site:NAME or probing:NAME."`
	Setting string    `json:"setting" doc:"draining, disabled, inactive, weight N, paused; active for one that was taken back."`
	Author  string    `json:"author"`
	Reason  string    `json:"reason"`
	Node    string    `json:"node" doc:"Where it was said, or renewed."`
	Set     time.Time `json:"set"`
	Age     float64   `json:"age_seconds"`
	Expires time.Time `json:"expires" doc:"When it ends unless it is said again or renewed."`
}

// KnobList is the answer of GET /v1/knobs.
type KnobList struct {
	Site  string     `json:"site" doc:"Of the asked node, which can turn the knobs of this site."`
	Knobs []KnobLine `json:"knobs"`
}

// WeightOrder is the body of POST /v1/members/{group}/{member}/weight.
type WeightOrder struct {
	Weight int    `json:"weight" minimum:"0" maximum:"1000000" doc:"0 for that of the document."`
	Author string `json:"author,omitempty" maxLength:"256"`
	Reason string `json:"reason,omitempty" maxLength:"256"`
}

// SiteOrder is the body of POST /v1/sites/{site}/drain.
type SiteOrder struct {
	Drain  bool   `json:"drain"`
	Author string `json:"author,omitempty" maxLength:"256"`
	Reason string `json:"reason,omitempty" maxLength:"256"`
}

// ProbingOrder is the body of POST /v1/sites/{site}/probing.
type ProbingOrder struct {
	Pause  bool   `json:"pause"`
	Author string `json:"author,omitempty" maxLength:"256"`
	Reason string `json:"reason,omitempty" maxLength:"256"`
}

// RenewOrder is the body of POST /v1/knobs/renew.
type RenewOrder struct {
	Subject string `json:"subject" maxLength:"300"`
	Author  string `json:"author,omitempty" maxLength:"256"`
}

// registerKnobs adds the routes of knobs.
func (s *Server) registerKnobs(api huma.API) {
	b := s.cfg.Backend.Knobs
	huma.Register(api, operation(http.MethodGet, "/v1/knobs", "list-knobs", "What operators said of members and sites"),
		func(ctx context.Context, _ *struct{}) (*reply[KnobList], error) { return answer(ctx, s, b.Knobs) })
	huma.Register(api, operation(http.MethodPost, "/v1/members/{group}/{member}/weight", "set-member-weight", "Give a member another weight",
		http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity), s.setWeight)
	huma.Register(api, operation(http.MethodPost, "/v1/sites/{site}/drain", "drain-site", "Drain a site, or take that back",
		http.StatusNotFound, http.StatusConflict), s.drainSite)
	huma.Register(api, operation(http.MethodPost, "/v1/sites/{site}/probing", "pause-probing", "Stop the probes of a site, or let them go on",
		http.StatusNotFound, http.StatusServiceUnavailable), s.setProbing)
	huma.Register(api, operation(http.MethodPost, "/v1/knobs/renew", "renew-knob", "Let an operator's word hold longer",
		http.StatusNotFound, http.StatusConflict), s.renew)
}

type weightInput struct {
	Group  string `path:"group" maxLength:"128"`
	Member string `path:"member" maxLength:"128"`
	Body   WeightOrder
}

func (s *Server) setWeight(ctx context.Context, in *weightInput) (*reply[KnobLine], error) {
	s.audit(ctx, "member weight", in.Body.Author, "member", in.Group+"/"+in.Member, "weight", in.Body.Weight, "reason", in.Body.Reason)
	return answer(ctx, s, func(ctx context.Context) (KnobLine, error) {
		return s.cfg.Backend.Knobs.SetWeight(ctx, in.Group, in.Member, in.Body)
	})
}

type siteInput struct {
	Site string `path:"site" maxLength:"128"`
	Body SiteOrder
}

func (s *Server) drainSite(ctx context.Context, in *siteInput) (*reply[KnobLine], error) {
	verb := "site undrained"
	if in.Body.Drain {
		verb = "site drained"
	}
	s.audit(ctx, verb, in.Body.Author, "of", in.Site, "reason", in.Body.Reason)
	return answer(ctx, s, func(ctx context.Context) (KnobLine, error) {
		return s.cfg.Backend.Knobs.SetSite(ctx, in.Site, in.Body)
	})
}

type probingInput struct {
	Site string `path:"site" maxLength:"128"`
	Body ProbingOrder
}

func (s *Server) setProbing(ctx context.Context, in *probingInput) (*reply[KnobLine], error) {
	verb := "probing resumed"
	if in.Body.Pause {
		verb = "probing paused"
	}
	s.audit(ctx, verb, in.Body.Author, "of", in.Site, "reason", in.Body.Reason)
	return answer(ctx, s, func(ctx context.Context) (KnobLine, error) {
		return s.cfg.Backend.Knobs.SetProbing(ctx, in.Site, in.Body)
	})
}

type renewInput struct{ Body RenewOrder }

func (s *Server) renew(ctx context.Context, in *renewInput) (*reply[KnobLine], error) {
	s.audit(ctx, "knob renewed", in.Body.Author, "about", in.Body.Subject)
	return answer(ctx, s, func(ctx context.Context) (KnobLine, error) { return s.cfg.Backend.Knobs.Renew(ctx, in.Body) })
}
