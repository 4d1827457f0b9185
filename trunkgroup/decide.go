package trunkgroup

// Directions of a call, as records and explain have them.
const (
	Inbound  = "inbound"  // to a customer
	Outbound = "outbound" // to the carriers
)

// Causes of a call that has nowhere to go, as records have them.
const (
	CauseNoRoute          = "NO_ROUTE"          // nobody owns the number, or no route leads there
	CauseBadNumber        = "INVALID_NUMBER"    // the called number could not be read
	CauseRegistrationOnly = "REGISTRATION_ONLY" // a user that may reach addresses of record asked for the PSTN
)

// Decision is where a table sends a call, whatever the states of members are.
type Decision struct {
	Direction string   // Inbound or Outbound; empty when nobody was identified
	Ingress   *Group   // that the caller belongs to, or nil
	Customer  *Group   // whose limits, timers and causes the call goes by; nil when nobody owns the number
	Member    *Member  // called by its address of record, else nil
	Called    string   // E.164, or the address of record; empty when it could not be read
	RN        string   // routing number of a ported number that the route goes by, E.164
	Groups    []*Group // to try, in order; the caller must not change the slice
	// Plan is set, and Groups nil and Code 0, when a server or rate decks decide: the call
	// asks them for a RouteSet.
	Plan  *RoutePlan
	Code  int    // final when there is no group to try, else 0
	Cause string // why, beside Code
	Err   error  // why the called number could not be read
}

// NumberPolicy reads numbers the way groups write them; sbc/number has it. The
// zero policy takes users as they are and knows of no ported number.
type NumberPolicy struct {
	// Normalise makes an E.164 number of the user of a URI.
	Normalise func(n Numbering, user []byte) ([]byte, error)
	// Code is the final response for an error of Normalise; with nil it is 404.
	Code func(error) int
	// Portability returns the routing number that a called user carries, and
	// whether it was looked up at all (NUM-01).
	Portability func(user []byte) (rn []byte, looked bool)
}

// Decide says where a table sends a call. It is Explain without the words and
// without the members' states: the same code identifies and routes.
func Decide(t *Table, q Query) Decision {
	e := newExplainer(t, nil, q)
	e.quiet = true
	match, code := e.identify()
	if code != 0 {
		return Decision{Code: code}
	}
	return t.Route(match, e.q.Called, e.host, e.q.NumberPolicy)
}
