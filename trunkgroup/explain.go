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
func Explain(t *Table, v *View, q Query) Explanation {
	e := newExplainer(t, v, q)
	match, ok := e.identify()
	if !ok {
		e.out.Code = 401 // P-11
		return e.out
	}
	d := e.route(match)
	e.plan(&d)
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
