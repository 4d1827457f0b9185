package policy

import "time"

// EventKind is what webhooks are told of, by the names that Siphon's handlers have.
type EventKind string

// The kinds of events.
const (
	OnAnswer       EventKind = "on_answer"        // a route answered
	OnRouteFailure EventKind = "on_route_failure" // one attempt failed (S-046)
	OnFailure      EventKind = "on_failure"       // all routes have failed (S-045)
)

// EventKinds are all of them.
func EventKinds() []EventKind { return []EventKind{OnAnswer, OnRouteFailure, OnFailure} }

// Event is one thing that a call tells webhooks. It never changes once it is told.
type Event struct {
	Version string    `json:"version"` // "1"
	ID      string    `json:"id"`      // of the event: the same at every repetition
	Kind    EventKind `json:"event"`
	Time    time.Time `json:"time"`
	Call    Call      `json:"call"`
	// Route is the one that answered, or that failed; nil where the hop was of the peer site, and for
	// OnFailure.
	Route *Route `json:"route,omitempty"`
	// Attempt is the one that failed; nil but for OnRouteFailure.
	Attempt *Attempt `json:"attempt,omitempty"`
	// Attempts are the failed attempts so far, oldest first (S-047).
	Attempts []Attempt `json:"attempts"`
	// Failure and Ruling are of OnFailure: the failure, and what the rules make of it.
	Failure *Failure `json:"failure,omitempty"`
	Ruling  *Told    `json:"ruling,omitempty"`
}

// EventVersion is the form of events.
const EventVersion = "1"

// Told is what rules have made of a failure, for webhooks.
type Told struct {
	Rule   int      `json:"rule"` // from 1; 0: no rule held
	Route  []string `json:"route,omitempty"`
	Ask    bool     `json:"ask,omitempty"`
	Code   int      `json:"code,omitempty"`
	Reason string   `json:"reason,omitempty"`
}
