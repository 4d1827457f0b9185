package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Traffic knows what calls to carriers, trunk groups, sites and destinations came to, over
// all nodes.
type Traffic interface {
	// Traffic lists one scope, or with an empty word all of them, over a window: 5m, 1h
	// or 24h.
	Traffic(ctx context.Context, scope, window string) (TrafficList, error)
}

// TrafficList is what a node knows of what calls came to.
type TrafficList struct {
	Node     string           `json:"node"`
	Rows     []TrafficRow     `json:"rows"`
	Carriers []TrafficCarrier `json:"carriers" doc:"carriers of plans that demand something of them"`
}

// TrafficRow is what calls to one carrier, group, site or destination came to within a window.
type TrafficRow struct {
	Scope    string   `json:"scope" enum:"carrier,trunk_group,site,destination"`
	Name     string   `json:"name"`
	Window   string   `json:"window" enum:"5m,1h,24h"`
	Attempts uint64   `json:"attempts" doc:"that were dialled and not given up by the caller"`
	Answered uint64   `json:"answered"`
	Ended    uint64   `json:"ended" doc:"answered calls that ended"`
	ASR      *float64 `json:"asr,omitempty" doc:"percent of attempts that were answered"`
	NER      *float64 `json:"ner,omitempty" doc:"percent of attempts that reached the callee"`
	ACD      *float64 `json:"acd_seconds,omitempty" doc:"mean length of the answered calls that ended"`
	PDD      *float64 `json:"pdd_seconds,omitempty" doc:"mean wait for the first ringing or answer"`
}

// TrafficCarrier is a carrier of a plan that demands something of its carriers.
type TrafficCarrier struct {
	Plan     string `json:"plan"`
	Carrier  string `json:"carrier"`
	Attempts uint64 `json:"attempts" doc:"within the window of the plan"`
	Answered uint64 `json:"answered"`
	Barred   string `json:"barred,omitempty" doc:"why it gets no calls"`
	Since    string `json:"since,omitempty"`
	Until    string `json:"until,omitempty"`
}

func (s *Server) registerTraffic(api huma.API, mux *http.ServeMux) {
	if s.cfg.Backend.Traffic == nil {
		mux.HandleFunc("/v1/traffic", absent)
		return
	}
	type input struct {
		Scope  string `query:"scope" enum:"carrier,trunk_group,site,destination" doc:"all when left out"`
		Window string `query:"window" enum:"5m,1h,24h" default:"1h"`
	}
	huma.Register(api, operation(http.MethodGet, "/v1/traffic", "list-traffic", "What calls came to: ASR, NER, ACD, PDD"),
		func(ctx context.Context, in *input) (*reply[TrafficList], error) {
			return answer(ctx, s, func(ctx context.Context) (TrafficList, error) {
				return s.cfg.Backend.Traffic.Traffic(ctx, in.Scope, in.Window)
			})
		})
}
