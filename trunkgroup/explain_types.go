package trunkgroup

import "time"

// Step is one step of a decision, in words.
type Step struct {
	Name string `json:"name"` // filter, drain, source, number, caller, route, policy, plan, hand-off, limit, fraud, answer
	Text string `json:"text"`
}

// OrderLine is one entry of a try-order, by name.
type OrderLine struct {
	Place     int    `json:"place,omitempty"` // from 1 among those that are dialled; 0 = not dialled
	Group     string `json:"group"`
	Within    string `json:"within,omitempty"` // the group of the route in which Group stands
	Member    string `json:"member"`
	Carrier   string `json:"carrier,omitempty"` // whose route leads there
	Site      string `json:"site"`
	Addr      string `json:"addr,omitempty"`
	Transport string `json:"transport,omitempty"`
	Contact   string `json:"contact,omitempty"` // of a registered far end
	Binding   string `json:"binding,omitempty"` // its id

	Dialable bool       `json:"dialable"`
	State    string     `json:"state"`
	Cause    string     `json:"cause,omitempty"`
	Why      string     `json:"why,omitempty"` // reason and time of the state, where somebody knows them
	Reason   string     `json:"reason,omitempty"`
	Since    *time.Time `json:"since,omitempty"`
	Until    *time.Time `json:"until,omitempty"`

	Priority   int     `json:"priority"`
	LastResort bool    `json:"last_resort,omitempty"`
	Weight     int     `json:"weight"`          // in force
	Ramp       int     `json:"ramp,omitempty"`  // percent of it, while the member starts slowly
	Score      uint64  `json:"score,omitempty"` // drawn from the key: the lowest of a priority is first
	Calls      *int    `json:"calls,omitempty"` // ours on all nodes, where they are counted
	MaxCalls   int     `json:"max_calls,omitempty"`
	MaxCPS     int     `json:"max_cps,omitempty"`
	Sessions   *int    `json:"sessions,omitempty"` // what the distribution goes by, where it counts
	Latency    float64 `json:"latency_ms,omitempty"`
}

// GroupLine is what a group of the route says about the call.
type GroupLine struct {
	Name      string `json:"name"`
	Role      string `json:"role"`
	Customer  string `json:"customer,omitempty"`
	Method    string `json:"method"`
	Key       string `json:"key,omitempty"`      // what the method hashes
	KeyHash   uint64 `json:"key_hash,omitempty"` // of this call; 0 = it has none
	Affinity  string `json:"affinity,omitempty"` // header that keeps calls together
	SlowStart string `json:"slow_start,omitempty"`
	Turn      uint64 `json:"turn"`

	MaxAttempts  int    `json:"max_attempts"` // 0 = all members
	BTimer       string `json:"b_timer"`
	Progress     string `json:"progress"`
	Setup        string `json:"setup,omitempty"`
	AdvanceOn    []int  `json:"advance_on"`
	NeverAdvance []int  `json:"never_advance,omitempty"`

	Quality  *QualityLine `json:"quality,omitempty"`
	MaxCalls int          `json:"max_calls,omitempty"`
	MaxCPS   int          `json:"max_cps,omitempty"`
}

// PolicyLine is what the customer's group says about the whole call.
type PolicyLine struct {
	Group          string `json:"group"`
	Customer       string `json:"customer,omitempty"`
	Ring           string `json:"ring,omitempty"`
	MaxPDD         string `json:"max_pdd,omitempty"`
	HandoffReserve string `json:"handoff_reserve,omitempty"` // empty = a third of max_pdd
	HandoffOn      []int  `json:"handoff_on,omitempty"`
	MaxCalls       int    `json:"max_calls,omitempty"`
	MaxCPS         int    `json:"max_cps,omitempty"`
	MaxDuration    string `json:"max_duration,omitempty"`
}

// QualityLine is what the calls of a member must achieve.
type QualityLine struct {
	MinAnswerRatio int    `json:"min_answer_ratio,omitempty"` // percent
	MaxShortCalls  int    `json:"max_short_calls,omitempty"`  // percent
	Window         string `json:"window"`
	MinSamples     int    `json:"min_samples"`
	Cooldown       string `json:"cooldown"`
}

// SitePlan is how another site would take the call.
type SitePlan struct {
	Site     string      `json:"site"`
	Handoff  bool        `json:"handoff"` // it may be asked when nobody here takes the call
	Dialable int         `json:"dialable"`
	Nodes    []NodeLine  `json:"nodes,omitempty"` // that would be asked, in this order
	Order    []OrderLine `json:"order"`
}

// NodeLine is a node of another site.
type NodeLine struct {
	Name string `json:"name"`
	Up   bool   `json:"up"`
	Why  string `json:"why,omitempty"`
}

// Ending is what the caller gets when all far ends do the same.
type Ending struct {
	When      string  `json:"when"` // in words
	Code      int     `json:"code"`
	Cause     string  `json:"cause,omitempty"`
	Own       bool    `json:"own"` // our own response, not a far end's
	Dialled   int     `json:"dialled"`
	HandedOff bool    `json:"handed_off"`
	After     float64 `json:"after_seconds"`
}

// LimitLine is a limit that the call counts against, and how full it is.
type LimitLine struct {
	Scope   string `json:"scope"` // customer, group, member
	Name    string `json:"name"`
	Kind    string `json:"kind"` // calls, cps
	Max     int    `json:"max"`
	Node    int    `json:"in_use_node"`
	Share   int    `json:"share_node"` // what this node may use now
	Cluster int    `json:"in_use_cluster"`
	Note    string `json:"note,omitempty"`
}

// Explanation is what would be decided for a call, and why.
type Explanation struct {
	Revision  string      `json:"revision,omitempty"` // generation.revision of the document
	Site      string      `json:"site,omitempty"`
	Assumed   []string    `json:"assumed,omitempty"`    // what is not so
	Direction string      `json:"direction,omitempty"`  // inbound or outbound
	Ingress   string      `json:"ingress,omitempty"`    // group that the caller belongs to
	Policy    *PolicyLine `json:"policy,omitempty"`     // of the group whose limits and timers hold
	Called    string      `json:"called,omitempty"`     // E.164
	RN        string      `json:"rn,omitempty"`         // routing number that the route goes by
	Code      int         `json:"code,omitempty"`       // final when there is no group to try, else 0
	PeerFirst string      `json:"peer_first,omitempty"` // site that is asked before all members
	Steps     []Step      `json:"steps"`
	Groups    []GroupLine `json:"groups,omitempty"`
	Routes    []RouteLine `json:"routes,omitempty"` // of the decision, when there is one
	Order     []OrderLine `json:"order,omitempty"`
	Sites     []SitePlan  `json:"sites,omitempty"` // the others
	Limits    []LimitLine `json:"limits,omitempty"`
	Endings   []Ending    `json:"endings,omitempty"`
}
