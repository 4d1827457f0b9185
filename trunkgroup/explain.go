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
	// Draws gives the draw of a call in a group; with nil it is Draw for all.
	Draws func(g *Group) Draw
	// Asks tells whether a node of a site is up, so that it could be asked first;
	// with nil each could.
	Asks func(site string) bool
	// Foreign tells whether a call to a host is refused, of a digest user or of
	// somebody known by his address; with nil none is.
	Foreign func(digest bool, host []byte) bool
	// Secure: a sips address is called.
	Secure bool
	// Caller is the user of the caller's From; empty is not looked at.
	Caller []byte
	// MayShow asks the lists beside the document's own whether a caller may be
	// shown; with nil there are none.
	MayShow func(e164 []byte) bool
	// NumberPolicy reads the called number, and the routing number beside it.
	NumberPolicy
}

// Step is one step of a decision, in words.
type Step struct {
	Name string `json:"name"` // source, number, route, plan, hand-off, fraud
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
func Explain(t *Table, v *View, q Query) Explanation { return Explore(t, v, q).Explanation }

// Explored is an explanation with the decision and the plan that it is of.
type Explored struct {
	Explanation
	Decision Decision
	Course   Course
	// Order is the whole try-order; PeerFirst names the site that is asked before
	// it.
	Order     []Candidate
	PeerFirst string
}

// Explore is Explain for who goes on with what was decided.
func Explore(t *Table, v *View, q Query) Explored {
	e := newExplainer(t, v, q)
	x := Explored{Course: Course{Table: t, View: v, Site: q.Site, Secure: q.Secure}}
	match, code := e.identify()
	if code == 0 {
		code = e.foreign()
	}
	if code != 0 {
		e.out.Code = code
		x.Explanation = e.out
		return x
	}
	x.Decision = e.route(match)
	if e.mayOriginate(&x.Decision) {
		x.Course.Groups = x.Decision.Groups
		x.Order, x.PeerFirst = x.Course.Plan(nil, e)
	}
	x.Explanation = e.out
	return x
}

type explainer struct {
	t      *Table
	v      *View
	q      Query
	host   []byte // of the Request-URI, when that was given as a whole
	quiet  bool   // nobody reads the steps
	digest bool   // the caller is known by digest
	shown  []byte // the number shown in place of the caller's (P-29)
	out    Explanation
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

// identify says who calls, and the final response to one whom nobody knows.
func (e *explainer) identify() (m SourceMatch, code int) {
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
			return tuple.match, 0
		}
		e.say("source", "%s over %s matches no source", k.Source, k.Transport)
		e.keptOut(&k)
		e.nearest(k.Source.Addr())
		if e.q.Username == "" {
			if g := e.onRegistration(k.Source.Addr()); g != nil {
				return SourceMatch{Provider: g}, 0
			}
		}
	}
	if e.q.Username != "" {
		if c, g := e.t.MatchCredential(e.q.Realm, e.q.Username); g != nil {
			return e.user(c, g)
		}
		e.say("source", "nobody has digest user %q of realm %q", e.q.Username, e.q.Realm)
	}
	e.say("source", "nobody is identified: 401 with a challenge")
	return SourceMatch{}, 401 // P-11
}

// user says what becomes of a digest user that is proven.
func (e *explainer) user(c *Credential, g *Group) (SourceMatch, int) {
	from := e.q.Source.Source
	e.say("source", "digest user %q of realm %q belongs to group %s", e.q.Username, e.q.Realm, g.Name)
	switch {
	case from.IsValid() && !g.ACL.Admits(from.Addr()):
		e.say("source", "the acl of group %s keeps %s out: 401 with a challenge", g.Name, from.Addr())
		return SourceMatch{}, 401
	case from.IsValid() && !c.AllowedFrom(from.Addr()):
		e.say("source", "bound_ip of the user keeps %s out: 403", from.Addr())
		return SourceMatch{}, 403 // P-29
	}
	e.digest, e.shown = true, []byte(c.ANIOverride)
	return SourceMatch{Customer: g}, 0
}

// foreign says whether the host that is called is one whose calls are refused.
func (e *explainer) foreign() (code int) {
	if len(e.host) == 0 || e.q.Foreign == nil || !e.q.Foreign(e.digest, e.host) {
		return 0
	}
	e.say("source", "neither this node nor the document serves the host %s: 403", e.host)
	return 403
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
