package admin

import (
	"time"
)

// Check is one line of /livez and /readyz.
type Check struct {
	Name   string
	Level  Level
	Detail string // why it is not fine
}

// Level is how bad a check is.
type Level uint8

// The levels. A degraded node takes calls: a follower without a leader, for one, stays ready.
const (
	Fine Level = iota
	Degraded
	Broken
)

// Node is one node of the cluster as the asked node sees it.
type Node struct {
	Name       string     `json:"name"`
	Site       string     `json:"site"`
	Self       bool       `json:"self" doc:"It is the node that was asked."`
	Witness    bool       `json:"witness"`
	State      string     `json:"state" doc:"ready, draining, starting or lost."`
	Boot       uint64     `json:"boot" doc:"Boot number; rises with each start."`
	Version    string     `json:"version,omitempty" doc:"Version of the program."`
	Up         bool       `json:"up" doc:"Heartbeats arrive on the interconnect."`
	RTTMillis  float64    `json:"rtt_ms" doc:"Smoothed round trip on the interconnect."`
	Since      *time.Time `json:"since,omitempty" doc:"Since when it is up or not."`
	Raft       string     `json:"raft" doc:"leader, voter, nonvoter or none."`
	Generation uint64     `json:"generation" doc:"Of the document in force there, as far as known."`
	Revision   uint64     `json:"revision"`
	Load       float64    `json:"load" doc:"Share of its capacity in use, 0 to 1."`
	Calls      int        `json:"calls" doc:"Calls of the asked node; 0 for the others, which tell their load only."`
}

// NodeList is the answer of GET /v1/nodes.
type NodeList struct {
	Cluster string `json:"cluster"`
	Leader  string `json:"leader" doc:"Empty when none is known: calls go on, changes must wait."`
	Quorum  bool   `json:"quorum"`
	// StaleSeconds is how long there has been no quorum.
	StaleSeconds float64  `json:"stale_seconds" doc:"How long changes may have been made that this node does not know."`
	Alarms       []string `json:"alarms"`
	Nodes        []Node   `json:"nodes"`
}

// Member is one member as the asked node believes it to be.
type Member struct {
	Group     string     `json:"group"`
	ID        string     `json:"id"`
	Site      string     `json:"site"`
	Address   string     `json:"address,omitempty"`
	FQDN      string     `json:"fqdn,omitempty"`
	Transport string     `json:"transport"`
	State     string     `json:"state"`
	CallsSent bool       `json:"gets_calls" doc:"Calls are offered to it."`
	Since     *time.Time `json:"since,omitempty"`
	Reason    string     `json:"reason"`
	Observer  string     `json:"observer,omitempty" doc:"The node that should probe it."`
	Knob      *Knob      `json:"operator,omitempty"`
	AOR       string     `json:"aor,omitempty" doc:"Of a member that registers."`
	Bindings  int        `json:"bindings,omitempty" doc:"Registered under it now, at all nodes."`
	Reachable int        `json:"reachable,omitempty" doc:"Those of them that a call could be sent to now."`
	Targets   []Target   `json:"targets"`
	MemberFacts
}

// Target is one probed address of a member.
type Target struct {
	Address   string     `json:"address"`
	State     string     `json:"state"`
	Observer  string     `json:"observer,omitempty" doc:"Whose verdict this is."`
	Suspect   bool       `json:"suspect,omitempty" doc:"From before this node lost the network."`
	Since     *time.Time `json:"since,omitempty"`
	Reason    string     `json:"reason"`
	LastProbe *time.Time `json:"last_probe,omitempty"`
	LastGood  *time.Time `json:"last_good,omitempty"`
	Result    string     `json:"last_result,omitempty" doc:"reply, timeout or transport-error."`
	Code      int        `json:"last_code,omitempty"`
	RTTMillis float64    `json:"rtt_ms,omitempty"`
	Changes   uint64     `json:"changes"`
	Flaps     int        `json:"flaps" doc:"How often it stopped getting calls within the last hour."`
	Latency   *Latency   `json:"latency,omitempty" doc:"Of its replies to probes."`
}

// MemberList is the answer of GET /v1/members.
type MemberList struct {
	Panic    []string `json:"panic" doc:"Sites whose probe verdicts are ignored."`
	Isolated bool     `json:"isolated" doc:"The asked node believes to have lost the network."`
	Paused   []Pause  `json:"probing_paused" doc:"Sites whose probes are stopped: states stand still."`
	Members  []Member `json:"members"`
}

// Knob is what an operator said about a member.
type Knob struct {
	State   string    `json:"state" enum:"active,inactive,trying,draining,disabled"`
	Author  string    `json:"author"`
	Reason  string    `json:"reason"`
	Node    string    `json:"node" doc:"Where it was said."`
	Set     time.Time `json:"set"`
	Expires time.Time `json:"expires" doc:"When it ends unless it is said again."`
}

// Order is the body of POST /v1/members/{group}/{member}/state.
type Order struct {
	State  string `json:"state" enum:"active,inactive,trying,draining,disabled" doc:"inactive: down until its probes are good; trying: probed at once, no failure counted."`
	Author string `json:"author,omitempty" maxLength:"256"`
	Reason string `json:"reason,omitempty" maxLength:"256"`
}

// Document is the cluster document in force.
type Document struct {
	Cluster    string     `json:"cluster"`
	Generation uint64     `json:"generation"`
	Revision   uint64     `json:"revision" doc:"0 when there is none yet."`
	Author     string     `json:"author"`
	Reason     string     `json:"reason"`
	At         *time.Time `json:"at,omitempty" doc:"When it was proposed."`
	Source     string     `json:"source,omitempty" doc:"Where this node has it from: raft, or its disk."`
	Text       string     `json:"text" doc:"The document as it was written, YAML."`
}

// Change is a wanted document.
type Change struct {
	Text   []byte
	Author string
	Reason string
	// Expect, when set, is the revision that the author saw.
	Expect *uint64
	// Key makes the change idempotent: the same key twice is one change.
	Key string
	// DryRun only checks.
	DryRun bool
}

// Applied is the answer of POST /v1/config.
type Applied struct {
	Cluster    string `json:"cluster"`
	Generation uint64 `json:"generation"`
	Revision   uint64 `json:"revision"`
	DryRun     bool   `json:"dry_run,omitempty"`
	Unchanged  bool   `json:"unchanged,omitempty" doc:"The document was in force already: no revision was made."`
}

// Call is one call that is up.
type Call struct {
	ID        string     `json:"call_id"`
	Direction string     `json:"direction,omitempty"`
	Ingress   string     `json:"ingress_group,omitempty"`
	Egress    string     `json:"egress_group,omitempty"`
	Member    string     `json:"member,omitempty"`
	Site      string     `json:"egress_site,omitempty"`
	State     string     `json:"state,omitempty" doc:"trying, ringing or answered."`
	Start     time.Time  `json:"start"`
	Answer    *time.Time `json:"answer,omitempty"`
	Attempts  int        `json:"attempts"`
}

// CallList is the answer of GET /v1/calls. Calls may be shorter than Active says.
type CallList struct {
	Active       int    `json:"active"`
	Dialogs      int    `json:"dialogs"`
	Transactions int    `json:"transactions"`
	Calls        []Call `json:"calls" doc:"At most as many as were asked for."`
}
