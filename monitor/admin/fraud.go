package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Frauds knows what customers' calls do, and the bounds of it.
type Frauds interface {
	Frauds(ctx context.Context) (FraudList, error)
}

// FraudList is what a node knows of the calls of customers that have bounds.
type FraudList struct {
	Node  string      `json:"node"`
	Rules []FraudRule `json:"rules"`
}

// FraudRule is one rule of a customer with what was counted over the cluster.
type FraudRule struct {
	Customer       string      `json:"customer"`
	Rule           string      `json:"rule" doc:"all, or the name of destinations"`
	Action         string      `json:"action" enum:"alarm,block,challenge"`
	Closed         bool        `json:"closed" doc:"every call is beyond the bounds"`
	Percent        int         `json:"percent" doc:"how much of each bound holds now: less at night"`
	HourCalls      uint64      `json:"hour_calls"`
	DayCalls       uint64      `json:"day_calls"`
	HourMinutes    uint64      `json:"hour_minutes"`
	DayMinutes     uint64      `json:"day_minutes"`
	ShortCalls     uint64      `json:"short_calls"`
	MaxHourCalls   int         `json:"max_hour_calls" doc:"0 is none"`
	MaxDayCalls    int         `json:"max_day_calls"`
	MaxHourMinutes int         `json:"max_hour_minutes"`
	MaxDayMinutes  int         `json:"max_day_minutes"`
	MaxShortCalls  int         `json:"max_short_calls"`
	Passed         []FraudTrip `json:"passed" doc:"bounds that calls found passed at this node"`
}

// FraudTrip is a bound that calls found passed.
type FraudTrip struct {
	Bound  string    `json:"bound"`
	Action string    `json:"action"`
	Since  time.Time `json:"since"`
	Last   time.Time `json:"last"`
	Calls  uint64    `json:"calls" doc:"since the process began"`
}

func (s *Server) registerFrauds(api huma.API, mux *http.ServeMux) {
	if s.cfg.Backend.Frauds == nil {
		mux.HandleFunc("/v1/frauds", absent)
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/frauds", "list-frauds", "Bounds of what customers' calls may do, and what they did"),
		func(ctx context.Context, _ *struct{}) (*reply[FraudList], error) {
			return answer(ctx, s, s.cfg.Backend.Frauds.Frauds)
		})
}
