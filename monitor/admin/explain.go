package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Explainer says what would be decided for a call.
type Explainer interface {
	// Explain errors: ErrInvalid for a question that makes no sense, ErrNotFound for
	// a site, a member or a revision that is not there.
	Explain(ctx context.Context, q Question) (trunkgroup.Explanation, error)
}

// Question is a call that might come: the body of POST /v1/explain. GET asks with the
// first words of it.
type Question struct {
	Called     string   `json:"called,omitempty" maxLength:"256" doc:"Number or user of the Request-URI, or an address of record, sip:user@host."`
	RequestURI string   `json:"request_uri,omitempty" maxLength:"512" doc:"The whole Request-URI, in place of called."`
	Source     string   `json:"source,omitempty" maxLength:"64" doc:"ip:port of the caller."`
	Transport  string   `json:"transport,omitempty" enum:"udp,tcp,tls,ws,wss" default:"udp"`
	Local      string   `json:"local,omitempty" maxLength:"64" doc:"ip:port of ours that receives it."`
	Site       string   `json:"site,omitempty" maxLength:"128" doc:"Where it enters; default the asked node's."`
	Username   string   `json:"username,omitempty" maxLength:"256" doc:"Digest user, taken as proven."`
	Realm      string   `json:"realm,omitempty" maxLength:"256"`
	Caller     string   `json:"caller,omitempty" maxLength:"256" doc:"Number of the caller's From."`
	CallID     string   `json:"call_id,omitempty" maxLength:"256"`
	Headers    []string `json:"headers,omitempty" maxItems:"32" doc:"Further headers, NAME: VALUE."`
	Affinity   string   `json:"affinity,omitempty" maxLength:"256" doc:"Value of the header that keeps calls together, whatever its name."`
	At         uint64   `json:"at,omitempty" doc:"A revision of the configuration log; default the one in force."`
	Ask        bool     `json:"ask,omitempty" doc:"Ask the plan's decision server now, in place of what is kept of its answers."`
	Assume     []string `json:"assume,omitempty" maxItems:"64" doc:"What is taken to be otherwise: GROUP/MEMBER=down|active|draining|disabled|weight=N, site:SITE=down."`
	Turn       *uint64  `json:"turn,omitempty" doc:"Whose turn it is, in methods that take turns; default the node's next."`
	Chance     uint64   `json:"chance,omitempty" doc:"Seed of what methods leave to chance."`
}

// Explanation is the answer of /v1/explain.
type Explanation = trunkgroup.Explanation

// explainInput is the request of GET /v1/explain.
type explainInput struct {
	Called    string `query:"called" required:"true" maxLength:"256" doc:"Number or user of the Request-URI, or an address of record, sip:user@host."`
	Source    string `query:"source" maxLength:"64" doc:"ip:port of the caller."`
	Transport string `query:"transport" enum:"udp,tcp,tls,ws,wss" default:"udp"`
	Local     string `query:"local" maxLength:"64" doc:"ip:port of ours that received it."`
	Site      string `query:"site" maxLength:"128"`
	Username  string `query:"username" maxLength:"256" doc:"Digest user, taken as proven."`
	Realm     string `query:"realm" maxLength:"256"`
	Affinity  string `query:"affinity" maxLength:"256" doc:"Value of the header that keeps calls together."`
}

func (s *Server) registerExplain(api huma.API, mux *http.ServeMux) {
	if s.cfg.Backend.Explain == nil {
		mux.HandleFunc("/v1/explain", absent)
		return
	}
	const summary = "What would be decided for a call"
	huma.Register(api, operation(http.MethodGet, "/v1/explain", "explain", summary, http.StatusNotFound, http.StatusUnprocessableEntity), s.explain)
	huma.Register(api, operation(http.MethodPost, "/v1/explain", "explain-call", summary+", with all that may be said of it",
		http.StatusNotFound, http.StatusUnprocessableEntity), s.explainCall)
}

func (s *Server) explain(ctx context.Context, in *explainInput) (*reply[Explanation], error) {
	return answer(ctx, s, func(ctx context.Context) (Explanation, error) {
		return s.cfg.Backend.Explain.Explain(ctx, Question{
			Site: in.Site, Source: in.Source, Transport: in.Transport, Local: in.Local, Realm: in.Realm, Username: in.Username, Called: in.Called,
			Affinity: in.Affinity,
		})
	})
}

func (s *Server) explainCall(ctx context.Context, in *struct{ Body Question }) (*reply[Explanation], error) {
	return answer(ctx, s, func(ctx context.Context) (Explanation, error) {
		return s.cfg.Backend.Explain.Explain(ctx, in.Body)
	})
}
