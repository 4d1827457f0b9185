package importer

import (
	"cmp"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// phones are the agents of one customer that have no numbers.
type phones struct {
	group trunkgroup.GroupSpec
	ids   names
}

// agent makes of an Agent a digest user and a member that registers: in a group of
// its own when it has numbers, else together with the others of its domain.
func (r *routr) agent(s *resource) {
	user := s.spec.At("username").Text()
	ref := s.spec.At("domainRef").Text()
	d := r.domains[ref]
	if !s.spec.At("enabled").Bool(true) {
		s.spec.Pass()
		r.Report.adapted(s.place, s.label(), "", "is not enabled, and so left out")
		return
	}
	if d == nil {
		s.spec.Pass()
		r.Report.lost(s.place, s.label()+" domainRef "+ref, "there is no such Domain among the inputs", "import it as well")
		return
	}
	if p := s.spec.At("privacy"); p != nil && p.Text() != "None" {
		r.Report.lost(place{s.file, p.Line}, s.label()+" privacy "+p.Text(), "nobody's number is hidden on his behalf", "have the phone ask for it (Privacy: id)")
	} else if p != nil {
		r.Report.same(place{s.file, p.Line}, s.label()+" privacy None", "numbers are shown")
	}
	aor, _, _, err := trunkgroup.ParseAOR("sip:" + user + "@" + d.uri)
	if err != nil || r.registered[aor] {
		s.spec.Pass()
		r.Report.lost(s.place, s.label()+" sip:"+user+"@"+d.uri, "is no address of record of its own", "give each agent a user name of its domain")
		return
	}
	c, ok := r.login(s, user, d.uri)
	if !ok {
		s.spec.Pass()
		return
	}
	r.registered[aor] = true
	c.ANIOverride = d.shows
	d.out.Credentials = append(d.out.Credentials, c)
	m := trunkgroup.MemberSpec{ID: nameOf(user, "agent"), Registration: &trunkgroup.RegistrationSpec{AOR: aor, Users: []string{user}}}
	if s.spec.At("maxContacts") != nil {
		m.Registration.Contacts = r.contacts(s, m.ID)
	}
	r.house(s, d, m, aor)
}

// house puts an agent's member into its group.
func (r *routr) house(s *resource, d *routrDomain, m trunkgroup.MemberSpec, aor string) {
	if len(r.reached[aor]) > 0 {
		g := trunkgroup.GroupSpec{Name: r.groupName(s.ref + "-in"), Role: trunkgroup.OriginationCustomer, Customer: d.customer, ACL: d.out.ACL}
		g.Members = []trunkgroup.MemberSpec{m}
		r.numbersOf(aor, &g)
		r.comment(g.Name, "Agent "+cmp.Or(s.name, s.ref)+" of Routr.")
		r.from[g.Name], r.from[g.Name+"/"+m.ID] = s.place, s.place
		r.Report.same(s.place, s.label(), g.Name+"/"+m.ID)
		r.addGroup(g)
		return
	}
	p := r.phones[d.customer]
	if p == nil {
		p = &phones{ids: names{}}
		p.group = trunkgroup.GroupSpec{Name: r.groupName(d.uri + "-phones"), Role: trunkgroup.OriginationCustomer, Customer: d.customer, ACL: d.out.ACL}
		r.comment(p.group.Name, "Agents without a Number: they reach each other by their addresses.")
		r.from[p.group.Name] = s.place
		r.phones[d.customer] = p
	}
	m.ID = p.ids.pick(m.ID)
	key := p.group.Name + "/" + m.ID
	r.from[key] = s.place
	r.comment(key, cmp.Or(s.name, s.ref))
	r.Report.same(s.place, s.label(), key)
	p.group.Members = append(p.group.Members, m)
}
