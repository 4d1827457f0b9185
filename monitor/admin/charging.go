package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Charging knows how calls are charged.
type Charging interface {
	Charging(ctx context.Context) (ChargingStatus, error)
}

// ChargingStatus is how a node's charging does.
type ChargingStatus struct {
	Node         string         `json:"node"`
	Peers        []DiameterPeer `json:"peers" doc:"in the order in which they are asked"`
	Online       int            `json:"online" doc:"calls with credit control now"`
	Offline      int            `json:"offline" doc:"calls that are accounted for now"`
	Refused      uint64         `json:"refused" doc:"calls that were refused, since the process began"`
	Ended        uint64         `json:"ended" doc:"calls that were ended for credit or for a failure of charging"`
	Uncontrolled uint64         `json:"uncontrolled" doc:"calls that went on without credit control"`
	Kept         int            `json:"kept" doc:"records that servers have yet to be told"`
	Dropped      uint64         `json:"dropped" doc:"records that were lost since too many were kept"`
	Rejected     uint64         `json:"rejected" doc:"records that a server took and did not accept"`
	Damaged      int            `json:"damaged" doc:"lines of the journal that could not be read at the start"`
	Disk         string         `json:"disk,omitempty" doc:"why the disk takes no records"`
}

// DiameterPeer is how a charging server does.
type DiameterPeer struct {
	Name    string    `json:"name"`
	Address string    `json:"address"`
	Host    string    `json:"host" doc:"what it says that it is"`
	State   string    `json:"state" enum:"up,suspect,reopened,dead,away"`
	Since   time.Time `json:"since"`
	Fault   string    `json:"fault,omitempty"`
	Sent    uint64    `json:"sent"`
	Answers uint64    `json:"answers"`
	Lost    uint64    `json:"lost"`
	Pending int       `json:"pending"`
}

func (s *Server) registerCharging(api huma.API, mux *http.ServeMux) {
	if s.cfg.Backend.Charging == nil {
		mux.HandleFunc("/v1/charging", absent)
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/charging", "charging", "Charging servers, and what they have yet to be told"),
		func(ctx context.Context, _ *struct{}) (*reply[ChargingStatus], error) {
			return answer(ctx, s, s.cfg.Backend.Charging.Charging)
		})
}
