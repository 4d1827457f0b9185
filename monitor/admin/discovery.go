package admin

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Discovery knows where the nodes of the cluster show their metrics.
type Discovery interface {
	// Targets lists every node that this one knows, whether it lives or not.
	Targets() []ScrapeTarget
}

// ScrapeTarget is one node in the form of Prometheus' HTTP service discovery.
type ScrapeTarget struct {
	Targets []string          `json:"targets" doc:"host:port of /metrics"`
	Labels  map[string]string `json:"labels" doc:"cluster, site, node, role"`
}

// discoveryPath is what http_sd_configs of a Prometheus names.
const discoveryPath = "/v1/prometheus/sd"

// discovery answers beside /metrics, without a token as that does: Prometheus reads both.
func (s *Server) discovery(mux *http.ServeMux) {
	d := s.cfg.Backend.Discovery
	if d == nil {
		return
	}
	mux.HandleFunc("GET "+discoveryPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(d.Targets()) // a client that is gone
	})
}

// registerDiscovery adds the same to the API.
func (s *Server) registerDiscovery(api huma.API) {
	d := s.cfg.Backend.Discovery
	if d == nil {
		return
	}
	huma.Register(api, operation(http.MethodGet, discoveryPath, "prometheus-targets", "Where Prometheus finds the metrics of all nodes"),
		func(ctx context.Context, _ *struct{}) (*reply[[]ScrapeTarget], error) {
			return answer(ctx, s, func(context.Context) ([]ScrapeTarget, error) { return d.Targets(), nil })
		})
}
