package trunkgroup

import (
	"cmp"
	"time"

	"github.com/cespare/xxhash/v2"
)

// DecisionSpec is the server that decides where calls go (rules 1.2.c, S-094).
type DecisionSpec struct {
	URL string `yaml:"url" json:"url"`
	// AuthHeader is the value of Authorization. ${NAME} and ${NAME:-default} stand for
	// variables of each node's environment, in URL too.
	AuthHeader    string   `yaml:"auth_header,omitempty" json:"auth_header,omitempty"`
	Timeout       Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`               // for all of it, names and connections too; default 2s
	CacheTTL      Duration `yaml:"cache_ttl,omitempty" json:"cache_ttl,omitempty"`           // of answers that do not say; default 300s; off (C6)
	FallbackGroup string   `yaml:"fallback_group,omitempty" json:"fallback_group,omitempty"` // S-093
	MaxPending    int      `yaml:"max_pending,omitempty" json:"max_pending,omitempty"`       // questions under way per node; default 1000
	SendQuality   bool     `yaml:"send_quality,omitempty" json:"send_quality,omitempty"`     // tell it what calls to carriers came to
	// BreakAfter failures in a row nobody is asked for BreakFor.
	BreakAfter int      `yaml:"break_after,omitempty" json:"break_after,omitempty"` // default 5
	BreakFor   Duration `yaml:"break_for,omitempty" json:"break_for,omitempty"`     // default 10s
}

// DecisionServer is a compiled DecisionSpec. It is part of a Table and never changes.
type DecisionServer struct {
	URL, AuthHeader string // not yet expanded
	Timeout         time.Duration
	CacheTTL        time.Duration // 0: an answer that does not say is not kept (C6)
	FallbackGroup   string
	MaxPending      int
	SendQuality     bool
	BreakAfter      int
	BreakFor        time.Duration
	// Edition tells servers apart: what one has said is not what another would say. It
	// is the same on all nodes.
	Edition uint64
}

const (
	defaultDecisionTimeout = 2 * time.Second
	defaultDecisionTTL     = 300 * time.Second
	defaultMaxPending      = 1000
	defaultBreakAfter      = 5
	defaultBreakFor        = 10 * time.Second
)

func compileDecision(s *DecisionSpec) *DecisionServer {
	if s == nil {
		return nil
	}
	return &DecisionServer{
		URL: s.URL, AuthHeader: s.AuthHeader, Timeout: s.Timeout.or(defaultDecisionTimeout), CacheTTL: s.CacheTTL.or(defaultDecisionTTL),
		FallbackGroup: s.FallbackGroup, MaxPending: cmp.Or(s.MaxPending, defaultMaxPending), SendQuality: s.SendQuality,
		BreakAfter: cmp.Or(s.BreakAfter, defaultBreakAfter), BreakFor: s.BreakFor.or(defaultBreakFor), Edition: xxhash.Sum64String(s.URL),
	}
}
