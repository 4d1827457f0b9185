package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Limits knows what is in use of what has a limit.
type Limits interface {
	Limits(ctx context.Context) (LimitList, error)
}

// LimitList is what a node knows of the limits of the cluster.
type LimitList struct {
	Node   string  `json:"node"`
	Site   string  `json:"site"`
	Limits []Limit `json:"limits"`
}

// Limit is one limit, and what is used of it.
type Limit struct {
	Scope string `json:"scope" enum:"customer,group,member"`
	Name  string `json:"name" doc:"customer, group, or group/member"`
	Kind  string `json:"kind" enum:"calls,cps"`
	Max   int    `json:"max" doc:"the limit of the cluster; 0 is none"`
	// Cluster is an estimate of some seconds' age.
	Cluster  int    `json:"in_use_cluster" doc:"in use in all sites, as last heard"`
	Site     int    `json:"in_use_site" doc:"in use in this site, as last heard"`
	Used     int    `json:"in_use_node" doc:"in use at this node"`
	Share    int    `json:"share_node" doc:"what this node may use now"`
	Own      int    `json:"share_site" doc:"the site's own share"`
	Lent     int    `json:"lent" doc:"rights of this site that other sites have"`
	Borrowed int    `json:"borrowed" doc:"rights of other sites that this one has"`
	Waiting  int    `json:"waiting" doc:"calls that wait for a larger share"`
	Grantor  string `json:"grantor" doc:"the node of the site that hands the shares out"`
	Note     string `json:"note,omitempty" doc:"what is not as it should be, since when, and what follows"`
}

func (s *Server) registerLimits(api huma.API, mux *http.ServeMux) {
	if s.cfg.Backend.Limits == nil {
		mux.HandleFunc("/v1/limits", absent)
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/limits", "list-limits", "Limits of customers, groups and members, and what is in use"),
		func(ctx context.Context, _ *struct{}) (*reply[LimitList], error) {
			return answer(ctx, s, s.cfg.Backend.Limits.Limits)
		})
}
