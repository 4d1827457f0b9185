package importer

import (
	"cmp"
	"strings"

	"github.com/tandem-sbc/tandem/importer/tree"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// routrDomain is a Domain, and the group in which its agents call out.
type routrDomain struct {
	uri      string
	customer string
	out      trunkgroup.GroupSpec
	shows    string // the number that calls of its agents show; empty = their own
}

// domain makes a customer of a Domain.
func (r *routr) domain(s *resource) {
	uri := strings.ToLower(first(s.spec, []string{"context", "domainUri"}, []string{"domainUri"}).Text())
	if _, _, host, err := trunkgroup.ParseAOR("sip:x@" + uri); err != nil || host != uri {
		s.spec.Pass()
		r.Report.lost(s.place, s.label()+" domainUri "+uri, "is no host name", "")
		return
	}
	d := &routrDomain{uri: uri, customer: r.customer(uri)}
	d.out = trunkgroup.GroupSpec{Name: r.groupName(uri + "-out"), Role: trunkgroup.TerminationCustomer, Customer: d.customer}
	d.out.ACL = r.aclOf(s, first(s.spec, []string{"accessControlListRef"}, []string{"context", "accessControlListRef"}))
	r.from[d.out.Name] = s.place
	r.comment(d.out.Name, "Domain "+cmp.Or(s.name, s.ref)+" of Routr: its agents call out.")
	r.domains[s.ref] = d
	r.Report.same(s.place, s.label(), "customer "+d.customer)
	r.policies(s, d)
}

// policies makes a route plan of egressPolicies: the first rule that fits a number
// says which Number, and so which Trunk, the call goes by.
func (r *routr) policies(s *resource, d *routrDomain) {
	list := first(s.spec, []string{"context", "egressPolicies"}, []string{"egressPolicies"}, []string{"context", "egressPolicy"}, []string{"egressPolicy"})
	rules := list.List()
	if list.IsMap() {
		rules = []*tree.Node{list}
	}
	plan := trunkgroup.RoutePlanSpec{Name: d.customer}
	shown := map[string]bool{}
	for _, n := range rules {
		rule, ref := n.At("rule").Text(), n.At("numberRef").Text()
		at := place{s.file, n.Line}
		item := s.label() + " rule " + rule
		number := r.numbers[ref]
		switch {
		case number == nil || number.trunk == "":
			r.Report.lost(at, item+" numberRef "+ref, "there is no such Number with a Trunk among the inputs", "import them as well")
			continue
		default:
			shown[number.pattern] = true
		}
		r.rule(at, item, rule, &plan, number.trunk, &d.out)
	}
	if len(plan.Routes) > 0 {
		r.Document.RoutePlans = append(r.Document.RoutePlans, plan)
		d.out.RoutePlan = plan.Name
	}
	switch len(shown) {
	case 0:
	case 1:
		for number := range shown {
			d.shows = number
		}
		r.Report.same(s.place, s.label()+" shows "+d.shows, d.out.Name+": ani_override of its users")
	default:
		r.Report.lost(s.place, s.label()+" shows a number by the rule", "a user shows one number, whatever he calls", "set ani_override of the users")
	}
}

// rule adds the rows of one policy. The first rule that fits wins there, and the
// longest prefix here: a row behind one that covers it is never reached.
func (r *routr) rule(at place, item, text string, plan *trunkgroup.RoutePlanSpec, trunk string, out *trunkgroup.GroupSpec) {
	prefixes, exact, err := prefixesOf(text)
	if err != nil {
		r.Report.lost(at, item, err.Error(), "write route plans by prefix")
		return
	}
	var added []string
	for _, p := range prefixes {
		if covered(plan, p) {
			continue
		}
		plan.Routes = append(plan.Routes, trunkgroup.RouteSpec{Prefix: p, Providers: []string{trunk}})
		added = append(added, p)
		if p[0] != '+' && p != "*" {
			out.Numbering.Preserve = append(out.Numbering.Preserve, p)
		}
	}
	became := "route plan " + plan.Name + ": " + strings.Join(added, ", ")
	switch {
	case len(added) == 0:
		r.Report.adapted(at, item, "", "an earlier rule covers all of it, so that it is never reached")
	case exact:
		r.Report.same(at, item, became)
	default:
		r.Report.adapted(at, item, became, "routes go by prefixes of E.164 numbers; what the rule says beyond that is not looked at")
	}
}

// covered tells whether an earlier row takes all that a prefix means.
func covered(plan *trunkgroup.RoutePlanSpec, p string) bool {
	for _, row := range plan.Routes {
		if row.Prefix == "*" || row.Prefix == p || row.Prefix[0] == '+' && strings.HasPrefix(p, row.Prefix) {
			return true
		}
	}
	return false
}
