package trunkgroup

// Decision is where a table sends a call, whatever the states of members are.
type Decision struct {
	Direction string   // inbound or outbound; empty when nobody was identified
	Ingress   *Group   // that the caller belongs to, or nil
	Called    string   // E.164, as far as it could be read
	Code      int      // final when there is no group to try, else 0
	Groups    []*Group // to try, in order
}

// Decide says where a table sends a call. It is Explain without the words and
// without the members' states: the same code identifies and routes.
func Decide(t *Table, q Query) Decision {
	e := newExplainer(t, nil, q)
	e.quiet = true
	match, ok := e.identify()
	if !ok {
		return Decision{Code: 401} // P-11
	}
	groups := e.route(match)
	return Decision{
		Direction: e.out.Direction, Ingress: t.Group(e.out.Ingress), Called: e.out.Called, Code: e.out.Code, Groups: groups,
	}
}
