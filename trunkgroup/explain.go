package trunkgroup

import (
	"fmt"
	"time"
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
	// Host is that of the Request-URI, where Called is the user alone.
	Host []byte
	// Affinity is the value of the header by which the call's group keeps calls
	// together; Sticks gives the draw of a call with it, see Draw.
	Affinity string
	Sticks   func(g *Group, value string) (affinity uint64, remembered string)
	Draw     Draw
	// Draws gives the draw of a call in a group, once it is decided; with nil it is
	// Draw for all.
	Draws func(d *Decision, g *Group) Draw
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
	// Routes are what was decided for a call whose plan leaves it to others; nil: nothing yet.
	Routes *RouteSet
	// Now is when the call would come, for rules that name the hour; zero is midnight.
	Now time.Time
	// NumberPolicy reads the called number, and the routing number beside it.
	NumberPolicy
}

// Explain says what the table and the view decide for a call. It calls the
// same functions as a call does.
func Explain(t *Table, v *View, q Query) Explanation { return Explore(t, v, q).Explanation }

// Explored is an explanation with the decision and the plan that it is of.
type Explored struct {
	Explanation
	Match    SourceMatch // who the caller is
	Shown    string      // the number shown in place of the caller's; empty: his own (P-29)
	Digest   bool        // he is known by digest
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
	e.out.Site, e.out.Revision = q.Site, t.Version().String()
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
	x.Match, x.Shown, x.Digest = match, string(e.shown), e.digest
	x.Decision = e.route(match)
	if e.mayOriginate(&x.Decision) && (x.Decision.Groups != nil || e.decided(&x)) {
		e.d, x.Course.Groups = &x.Decision, x.Decision.Groups
		x.Order, x.PeerFirst = x.Course.Plan(nil, e)
		e.routes(&x)
		e.out.PeerFirst, e.out.Policy = x.PeerFirst, wholeCall(x.Decision.Customer)
		e.elsewhere(&x)
	}
	x.Explanation = e.out
	return x
}

type explainer struct {
	t      *Table
	v      *View
	q      Query
	host   []byte // of the Request-URI, when that is known
	d      *Decision
	places int  // in the order so far
	quiet  bool // nobody reads the steps
	// byRoutes: the order is that of routes, see routes; draws are those of their groups.
	byRoutes bool
	draws    map[*Group]*Draw
	digest   bool   // the caller is known by digest
	shown    []byte // the number shown in place of the caller's (P-29)
	out      Explanation
}

// newExplainer takes the parts of a called address of record apart.
func newExplainer(t *Table, v *View, q Query) *explainer {
	e := &explainer{t: t, v: v, q: q}
	if e.host = q.Host; len(e.host) > 0 {
		e.q.Source.User = e.q.Called
		return e
	}
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
