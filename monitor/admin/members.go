package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// MemberFacts are what an operator asks of a member beside its state (C5, K-17).
type MemberFacts struct {
	Until         *time.Time `json:"until,omitempty" doc:"When its state ends by itself, as far as known."`
	Direction     string     `json:"direction" enum:"both,in,out"`
	Priority      int        `json:"priority"`
	LastResort    bool       `json:"last_resort,omitempty"`
	Weight        int        `json:"weight" doc:"In force: the operator's, else the document's."`
	WeightKnob    *Knob      `json:"weight_operator,omitempty" doc:"Who gave it another weight than the document."`
	Share         int        `json:"share_percent" doc:"Of its share: less than 100 while it starts slowly."`
	LatencyMillis float64    `json:"latency_ms,omitempty" doc:"Of its fastest address that gets calls; what the method latency goes by."`
	Flaps         int        `json:"flaps" doc:"How often its addresses stopped getting calls within the last hour."`
	LastProbe     *time.Time `json:"last_probe,omitempty" doc:"Of any of its addresses."`
	LastGood      *time.Time `json:"last_good,omitempty" doc:"The last good reply of any of its addresses."`
	Calls         int        `json:"calls" doc:"Up or being set up, by the asked node."`
	ClusterCalls  int        `json:"cluster_calls" doc:"The same of all nodes, as last heard: some seconds old."`
}

// Latency is how long a target takes to answer probes (K-29).
type Latency struct {
	EstimateMillis  float64 `json:"estimate_ms" doc:"Newer replies count more."`
	AverageMillis   float64 `json:"average_ms"`
	DeviationMillis float64 `json:"deviation_ms"`
	MaxMillis       float64 `json:"max_ms"`
	Replies         uint64  `json:"replies"`
	Timeouts        uint64  `json:"timeouts"`
}

// BulkOrder is the body of POST /v1/orders/state: an operator's word about many members (K-27 all).
type BulkOrder struct {
	Group  string `json:"group,omitempty" maxLength:"128" doc:"All members of this group."`
	Site   string `json:"site,omitempty" maxLength:"128" doc:"Only those of this site; without a group all of it."`
	State  string `json:"state" enum:"active,inactive,trying,draining,disabled"`
	Author string `json:"author,omitempty" maxLength:"256"`
	Reason string `json:"reason,omitempty" maxLength:"256"`
}

// BulkResult says what became of it, by site: its nodes alone carry it out.
type BulkResult struct {
	Sites []BulkSite `json:"sites"`
}

// BulkSite is the part of one site.
type BulkSite struct {
	Site    string `json:"site"`
	Members int    `json:"members" doc:"How many were set."`
	Error   string `json:"error,omitempty" doc:"Why none was."`
}

// registerMembers adds the routes of members beside those that set one.
func (s *Server) registerMembers(api huma.API) {
	huma.Register(api, operation(http.MethodPost, "/v1/orders/state", "set-member-states", "Take many members out, or back in",
		http.StatusNotFound, http.StatusUnprocessableEntity), s.setStates)
}

type bulkInput struct{ Body BulkOrder }

func (s *Server) setStates(ctx context.Context, in *bulkInput) (*reply[BulkResult], error) {
	s.audit(ctx, "member states", in.Body.Author, "group", in.Body.Group, "of_site", in.Body.Site, "state", in.Body.State, "reason", in.Body.Reason)
	return answer(ctx, s, func(ctx context.Context) (BulkResult, error) { return s.cfg.Backend.Members.SetStates(ctx, in.Body) })
}

// Pause is a site whose probes an operator has stopped.
type Pause struct {
	Site   string    `json:"site"`
	Author string    `json:"author"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
}
