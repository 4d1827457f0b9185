package trunkgroup

import (
	"fmt"
	"net/netip"
	"strings"
)

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
