package importer

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// maxContacts is the most that a registration may have.
const maxContacts = 1000

// peer makes of a Peer a group that is called and one that calls.
func (r *routr) peer(s *resource) {
	user := s.spec.At("username").Text()
	written := s.spec.At("aor").Text()
	aor := r.aorOf(written)
	_, _, host, err := trunkgroup.ParseAOR(aor)
	switch {
	case !s.spec.At("enabled").Bool(true):
		s.spec.Pass()
		r.Report.adapted(s.place, s.label(), "", "is not enabled, and so left out")
		return
	case err != nil || r.registered[aor]:
		s.spec.Pass()
		r.Report.lost(s.place, s.label()+" aor "+written, "is no address of record of its own", "write it like sip:conference@sip.local")
		return
	}
	r.registered[aor] = true
	if aor != written {
		r.Report.adapted(s.place, s.label()+" aor "+written, aor, "is what the servers must register as")
	}
	customer := r.customerOf(s, host)
	acl := r.aclOf(s, s.spec.At("accessControlListRef"))
	g := trunkgroup.GroupSpec{Name: r.groupName(s.ref + "-in"), Role: trunkgroup.OriginationCustomer, Customer: customer, ACL: acl}
	r.from[g.Name] = s.place
	r.comment(g.Name, "Peer "+cmp.Or(s.name, s.ref)+" of Routr.")
	out := trunkgroup.GroupSpec{Name: r.groupName(s.ref + "-out"), Role: trunkgroup.TerminationCustomer, Customer: customer, ACL: acl}
	r.from[out.Name] = s.place
	m := trunkgroup.MemberSpec{ID: nameOf(user, "peer")}
	if contact := s.spec.At("contactAddr").Text(); contact != "" {
		r.contact(s, contact, &m, &out)
	} else {
		m.Registration = &trunkgroup.RegistrationSpec{AOR: aor, Users: []string{user}, Contacts: r.contacts(s, g.Name+"/"+m.ID)}
	}
	g.Members = []trunkgroup.MemberSpec{m}
	r.from[g.Name+"/"+m.ID] = s.place
	if c, ok := r.login(s, user, cmp.Or(r.o.Realm, host)); ok {
		out.Credentials = append(out.Credentials, c)
	}
	r.balance(s, &g, r.numbersOf(aor, &g))
	r.Report.same(s.place, s.label(), g.Name+"/"+m.ID)
	if len(out.Sources)+len(out.Credentials) > 0 {
		r.Report.adapted(s.place, s.label()+" calls out", out.Name, "carriers are chosen by route plans, not by X-DOD-Number; without one all are tried")
		r.addGroup(out)
	}
	r.addGroup(g)
}

// contact is where a Peer is that does not register.
func (r *routr) contact(s *resource, text string, m *trunkgroup.MemberSpec, out *trunkgroup.GroupSpec) {
	m.Site = r.site()
	u, err := parseURI(text)
	if err == nil {
		err = u.member(m, true)
	}
	if err != nil {
		r.Report.lost(s.place, s.label()+" contactAddr "+text, err.Error(), "write it like 198.51.100.10:5060")
	}
	if a, ok := singleAddr(m.Address); ok {
		out.Sources = append(out.Sources, trunkgroup.SourceSpec{IP: a.String(), Transport: m.Transport})
	}
}

// contacts is how many may be registered at one time.
func (r *routr) contacts(s *resource, key string) int {
	n := s.spec.At("maxContacts")
	most, ok := n.Int()
	switch {
	case n == nil:
		return maxContacts // Routr has no limit of its own
	case ok && most > 0 && most <= maxContacts:
		r.Report.same(place{s.file, n.Line}, fmt.Sprintf("%s maxContacts %d", s.label(), most), key+": contacts")
		return most
	}
	r.Report.adapted(place{s.file, n.Line}, s.label()+" maxContacts "+n.Text(), key+": contacts", fmt.Sprintf("%d is the most there is", maxContacts))
	return maxContacts
}

// balance is how calls are spread over what is registered.
func (r *routr) balance(s *resource, g *trunkgroup.GroupSpec, numbers []*did) {
	lb := s.spec.At("loadBalancing")
	d := &g.Distribution
	switch word := lb.At("algorithm").Text(); strings.ReplaceAll(strings.ToLower(word), "_", "-") {
	case "round-robin", "":
		d.Method = trunkgroup.RoundRobin
		r.Report.same(s.place, s.label()+" algorithm "+word, g.Name+": method round-robin")
	case "least-sessions":
		d.Method, d.Sessions = trunkgroup.LeastSessions, trunkgroup.SessionsReported
		r.Report.same(s.place, s.label()+" algorithm "+word, g.Name+": method least-sessions by what servers report; sessions: max counts calls too")
	default:
		d.Method = trunkgroup.RoundRobin
		r.Report.lost(s.place, s.label()+" algorithm "+word, "is no algorithm of Routr's; round-robin stands in", "choose a method")
	}
	affinity := lb.At("withSessionAffinity").Bool(false)
	for _, n := range numbers {
		item := n.label + " sessionAffinityHeader " + n.affinity
		switch {
		case n.affinity == "":
		case !affinity:
			r.Report.same(n.place, item, g.Name+": none, as the Peer has no withSessionAffinity")
		case d.SessionAffinityHeader == "":
			d.SessionAffinityHeader, d.Sessions = n.affinity, trunkgroup.SessionsReported
			r.Report.same(n.place, item, g.Name+": session_affinity_header")
		case d.SessionAffinityHeader != n.affinity:
			r.Report.lost(n.place, item, "the group goes by "+d.SessionAffinityHeader, "have both numbers send one header")
		}
	}
	if affinity && d.SessionAffinityHeader == "" {
		r.Report.lost(s.place, s.label()+" withSessionAffinity", "no Number of it says by which header", "set session_affinity_header")
	}
}

// customerOf finds whose a Peer is: the customer of the domain of its address, or
// of the only domain there is. Its agents reach it by its address.
func (r *routr) customerOf(s *resource, host string) string {
	var only *routrDomain
	for _, d := range r.domains {
		if d.uri == host {
			return d.customer
		}
		only = d
	}
	if len(r.domains) == 1 {
		return only.customer
	}
	if len(r.domains) > 1 {
		r.Report.adapted(s.place, s.label(), "", "is in none of the domains, so that their agents do not reach it by its address")
	}
	return r.customer(s.ref)
}
