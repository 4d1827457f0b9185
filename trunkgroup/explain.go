package trunkgroup

import (
	"fmt"
	"net/netip"
	"strings"
)

// Query is a call that might come, for Explain.
type Query struct {
	Site     string    // where it enters
	Source   SourceKey // where it comes from; an invalid Source.Source is not looked up
	Realm    string    // of Username
	Username string    // a digest user, taken as proven; asked when the source is unknown
	// Called is the user of the Request-URI, or the whole of it when an address
	// of record is called, sip:user@host; Source.User is set from it.
	Called []byte
	// Affinity is the value of the header by which the call's group keeps calls
	// together; Sticks gives the draw of a call with it, see Draw.
	Affinity string
	Sticks   func(g *Group, value string) (affinity uint64, remembered string)
	Draw     Draw
	// Normalise makes an E.164 number of the called user; sbc/number has it.
	// With nil the user is taken as it is.
	Normalise func(n Numbering, user []byte) ([]byte, error)
	// Code is the final response for an error of Normalise; with nil it is 404.
	Code func(error) int
	// Portability returns the routing number that a called user carries, and
	// whether it was looked up at all (NUM-01); with nil no user carries one.
	Portability func(user []byte) (rn []byte, looked bool)
}

// Step is one step of a decision, in words.
type Step struct {
	Name string `json:"name"` // source, number, route, plan, hand-off
	Text string `json:"text"`
}

// OrderLine is one entry of a try-order, by name.
type OrderLine struct {
	Group    string `json:"group"`
	Member   string `json:"member"`
	Site     string `json:"site"`
	Addr     string `json:"addr,omitempty"`
	Contact  string `json:"contact,omitempty"`  // of a registered far end
	Sessions *int   `json:"sessions,omitempty"` // its calls, where the distribution counts them
	Dialable bool   `json:"dialable"`
	State    string `json:"state"`
	Cause    string `json:"cause,omitempty"`
	Why      string `json:"why,omitempty"` // reason and time of the state, where somebody knows them
}

// Explanation is what would be decided for a call, and why.
type Explanation struct {
	Direction string      `json:"direction,omitempty"` // inbound or outbound
	Ingress   string      `json:"ingress,omitempty"`   // group that the caller belongs to
	Called    string      `json:"called,omitempty"`    // E.164
	Code      int         `json:"code,omitempty"`      // final when there is no group to try, else 0
	Steps     []Step      `json:"steps"`
	Order     []OrderLine `json:"order,omitempty"`
}

// Explain says what the table and the view decide for a call. It calls the
// same functions as a call does.
func Explain(t *Table, v *View, q Query) Explanation {
	e := newExplainer(t, v, q)
	match, ok := e.identify()
	if !ok {
		e.out.Code = 401 // P-11
		return e.out
	}
	for _, g := range e.route(match) {
		e.plan(g)
	}
	return e.out
}

type explainer struct {
	t     *Table
	v     *View
	q     Query
	host  []byte // of the Request-URI, when that was given as a whole
	quiet bool   // nobody reads the steps
	out   Explanation
}

// newExplainer takes the parts of a called address of record apart.
func newExplainer(t *Table, v *View, q Query) *explainer {
	e := &explainer{t: t, v: v, q: q}
	if _, user, host, err := ParseAOR(string(q.Called)); err == nil {
		e.q.Called, e.host = []byte(user), []byte(host)
	}
	e.q.Source.User = e.q.Called
	return e
}

func (e *explainer) say(name, format string, args ...any) {
	if e.quiet {
		return
	}
	e.out.Steps = append(e.out.Steps, Step{name, fmt.Sprintf(format, args...)})
}

func (e *explainer) identify() (SourceMatch, bool) {
	k := e.q.Source
	if k.Source.IsValid() {
		if tuple, network := e.t.sources.find(&k); tuple != nil {
			e.say("source", "%s over %s matches %s", k.Source, k.Transport, tuple.describe())
			for wider := network.wider; wider != nil; wider = wider.wider {
				for i := range wider.tuples {
					if wider.tuples[i].fits(&k) {
						e.say("source", "the wider %s fits too and is not used", wider.tuples[i].describe())
					}
				}
			}
			return tuple.match, true
		}
		e.say("source", "%s over %s matches no source", k.Source, k.Transport)
		e.keptOut(&k)
		e.nearest(k.Source.Addr())
		if g := e.onRegistration(k.Source.Addr()); g != nil {
			return SourceMatch{Provider: g}, true
		}
	}
	if e.q.Username != "" {
		if _, g := e.t.MatchCredential(e.q.Realm, e.q.Username); g != nil {
			e.say("source", "digest user %q of realm %q belongs to group %s", e.q.Username, e.q.Realm, g.Name)
			if !k.Source.IsValid() || g.ACL.Admits(k.Source.Addr()) {
				return SourceMatch{Customer: g}, true
			}
			e.say("source", "the acl of group %s keeps %s out: 401 with a challenge", g.Name, k.Source.Addr())
			return SourceMatch{}, false
		}
		e.say("source", "nobody has digest user %q of realm %q", e.q.Username, e.q.Realm)
	}
	e.say("source", "nobody is identified: 401 with a challenge")
	return SourceMatch{}, false
}

// nearest names the sources of the address itself: what differs is the port, the transport, our own
// address or the tech prefix.
func (e *explainer) nearest(addr netip.Addr) {
	const most = 5
	network, _ := e.t.sources.networks.Lookup(addr.Unmap().WithZone(""))
	for said := 0; network != nil; network = network.wider {
		for i := range network.tuples {
			if said++; said > most {
				return
			}
			e.say("source", "near: %s", network.tuples[i].describe())
		}
	}
}

// describe says a tuple and whom it stands for in words.
func (t *tuple) describe() string {
	var b strings.Builder
	b.WriteString(t.network.String())
	if t.port == 0 {
		b.WriteString(" any port ")
	} else {
		fmt.Fprintf(&b, " port %d ", t.port)
	}
	b.WriteString(t.transport.String())
	if t.local.IsValid() {
		fmt.Fprintf(&b, " at %s", t.local)
	}
	if t.techPrefix != "" {
		fmt.Fprintf(&b, " tech prefix %s", t.techPrefix)
	}
	if p := t.match.Provider; p != nil {
		fmt.Fprintf(&b, " of provider %s", p.Name)
	}
	if c := t.match.Customer; c != nil {
		fmt.Fprintf(&b, " of customer %s", c.Name)
	}
	return b.String()
}

// number normalises the called number as the ingress group writes numbers.
func (e *explainer) number(g *Group, prefix string) ([]byte, bool) {
	user := e.q.Called[min(len(prefix), len(e.q.Called)):]
	if e.q.Normalise == nil {
		return user, true
	}
	n, err := e.q.Normalise(g.Numbering, user)
	if err != nil {
		e.out.Code = 404
		if e.q.Code != nil {
			e.out.Code = e.q.Code(err)
		}
		e.say("number", "%q as group %s writes numbers: %v", user, g.Name, err)
		return nil, false
	}
	e.say("number", "%q as group %s writes numbers is %s", user, g.Name, n)
	return n, true
}

// portability returns the number that the route goes by: the routing number
// where the called user carries one, else the called number itself.
func (e *explainer) portability(g *Group, prefix string, e164 []byte) []byte {
	if e.q.Portability == nil || e.q.Normalise == nil {
		return e164
	}
	rn, looked := e.q.Portability(e.q.Called[min(len(prefix), len(e.q.Called)):])
	if !looked || len(rn) == 0 {
		return e164
	}
	by, err := e.q.Normalise(g.Numbering, rn)
	if err != nil {
		return e164
	}
	e.say("number", "was looked up for porting: routed by %s", by)
	return by
}

// route returns the groups to try, in order.
func (e *explainer) route(m SourceMatch) []*Group {
	if m.Provider != nil {
		e164, ok := e.number(m.Provider, m.Prefix)
		e.out.Code = 0
		if owner, by, found := e.t.numbers.Lookup(e164); ok && found {
			g := e.t.groups[owner]
			e.say("route", "%s owns the number by %s: inbound", g.Name, by)
			e.decided("inbound", m.Provider, e164)
			return []*Group{g}
		}
		if m.Customer == nil {
			e.say("route", "no group owns the number: 404")
			e.decided("inbound", m.Provider, e164)
			e.out.Code = 404 // DEC-04
			return nil
		}
		e.say("route", "no group owns the number, and the source is customer %s too: outbound", m.Customer.Name)
	}
	if g := e.routeAOR(m); g != nil {
		return []*Group{g}
	}
	if !m.Customer.MayCallOut() {
		e.say("route", "users of %s reach addresses of record of their customer, and nobody else: 403", m.Customer.Name)
		e.decided("outbound", m.Customer, nil)
		e.out.Code = 403 // P-29
		return nil
	}
	e164, ok := e.number(m.Customer, m.Prefix)
	e.decided("outbound", m.Customer, e164)
	if !ok {
		return nil
	}
	by := e.portability(m.Customer, m.Prefix, e164)
	groups := e.t.Providers(m.Customer, by)
	switch plan := m.Customer.plan; {
	case plan == nil:
		e.say("route", "%s has no route plan: all providers, %s", m.Customer.Name, names(groups))
	case groups == nil:
		e.say("route", "route plan %s has no route for the number: 404", plan.name)
		e.out.Code = 404
	default:
		prefix, _ := plan.lookup(by)
		e.say("route", "route plan %s, prefix %s: %s", plan.name, prefix, names(groups))
	}
	return groups
}

// routeAOR returns the group of the customer's own member that is called by its
// address of record, or nil.
func (e *explainer) routeAOR(m SourceMatch) *Group {
	user := e.q.Called[min(len(m.Prefix), len(e.q.Called)):]
	member := e.t.CalledMember(m.Customer, user, e.host)
	if member == nil {
		if len(e.host) > 0 {
			e.say("route", "no member of %s's customer registers as sip:%s@%s: it is taken for a number", m.Customer.Name, user, e.host)
		}
		return nil
	}
	e.say("route", "%s registers as %s: like a call from outside to %s", member.Key, member.Registration.AOR, member.Group.Name)
	e.decided("inbound", m.Customer, []byte(member.Registration.AOR))
	return member.Group
}

func (e *explainer) decided(direction string, ingress *Group, e164 []byte) {
	e.out.Direction, e.out.Ingress, e.out.Called = direction, ingress.Name, string(e164)
}

func names(groups []*Group) string {
	all := make([]string, len(groups))
	for i, g := range groups {
		all[i] = g.Name
	}
	return strings.Join(all, ", ")
}

// plan tells the try-order of one group in this site, and which peer sites
// could take the call over.
func (e *explainer) plan(g *Group) {
	if e.q.Sticks != nil && e.q.Affinity != "" {
		e.q.Draw.Affinity, e.q.Draw.Remembered = 0, ""
		if g.AffinityHeader != "" {
			e.q.Draw.Affinity, e.q.Draw.Remembered = e.q.Sticks(g, e.q.Affinity)
			e.elsewhere(g)
		}
	}
	order := Plan(nil, g, e.q.Site, e.v, e.q.Draw)
	dialable := 0
	for _, c := range order {
		line := OrderLine{
			Group: g.Name, Member: c.Member.ID, Site: e.q.Site,
			Dialable: c.Dialable, Cause: c.Cause, State: e.v.States[c.Member.Index].String(),
		}
		if c.Binding != nil {
			line.Contact = c.Binding.Contact
		}
		if g.CountsSessions() {
			n := e.v.sessions(slot{member: c.Member, binding: c.Binding}, g.Sessions)
			line.Sessions = &n
		}
		switch {
		case c.Dialable:
			line.Addr = c.Addr.String()
			dialable++
		case c.Member.Addr.IsValid():
			line.Addr = c.Member.Addr.String()
		}
		e.out.Order = append(e.out.Order, line)
	}
	e.say("plan", "%s in %s by %s: %d to dial, %d not", g.Name, e.q.Site, e.method(g), dialable, len(order)-dialable)
	if e.v.Panic[e.q.Site] {
		e.say("plan", "%s is in panic: probe verdicts are not believed", e.q.Site)
	}
	for _, peer := range e.t.PeerSites(e.q.Site) {
		if members := g.At(peer); len(members) > 0 {
			e.say("hand-off", "%s may be asked next, its members of %s: %s", peer, g.Name, e.census(members))
		}
	}
}

// elsewhere says when the far end that the call sticks to is at a peer site.
func (e *explainer) elsewhere(g *Group) {
	site := e.v.SiteOf(e.t, g, e.q.Draw.Remembered)
	if site != "" && site != e.q.Site {
		e.say("plan", "calls of this value of %s go to %q, which takes the calls of %s: that site is asked first",
			g.AffinityHeader, e.q.Draw.Remembered, site)
	}
}

// method names what orders the members of a group for this call.
func (e *explainer) method(g *Group) string {
	switch {
	case e.q.Draw.Remembered != "":
		return fmt.Sprintf("%s, after %q, whom the value of %s was sent to", LeastSessions, e.q.Draw.Remembered, g.AffinityHeader)
	case e.q.Draw.Affinity != 0:
		return fmt.Sprintf("%s, since %s has a value", LeastSessions, g.AffinityHeader)
	case g.AffinityHeader != "":
		return fmt.Sprintf("%s, without %s", g.Method, g.AffinityHeader)
	}
	return g.Method.String()
}

// census counts members by state.
func (e *explainer) census(members []*Member) string {
	var counts [len(stateNames)]int
	for _, m := range members {
		counts[e.v.States[m.Index]]++
	}
	var parts []string
	for state, n := range counts {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, State(state)))
		}
	}
	return strings.Join(parts, ", ")
}
