package importer

import (
	"strings"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// lcr reports the least-cost API, and makes a route plan of its fallback.
func (s *siphon) lcr() {
	n := s.root.At("lcr")
	for _, key := range n.Keys() {
		v := n.At(key)
		v.Pass()
		switch key {
		case "reroute_causes":
		case "fallback_gateway_group":
			s.fallback(s.text(v))
		case "api_url", "timeout_ms", "cache", "cache_ttl_secs", "auth_header":
			s.Report.lost(s.at(v), "lcr."+key, "carriers are chosen by route plans, not by a service that is asked", "write the routes as route_plans, and name the plan in the customers' groups")
		default:
			s.Report.lost(s.at(v), "lcr."+key, "is no key that is known here", "")
		}
	}
}

func (s *siphon) fallback(name string) {
	at := s.at(s.root.At("lcr", "fallback_gateway_group"))
	group := s.groups[name]
	if group == "" || s.role(name) != trunkgroup.PSTNProvider {
		s.Report.lost(at, "lcr.fallback_gateway_group "+name, "there is no such group of carriers", "write a route plan")
		return
	}
	s.Document.RoutePlans = append(s.Document.RoutePlans, trunkgroup.RoutePlanSpec{
		Name: "fallback", Routes: []trunkgroup.RouteSpec{{Prefix: "*", Providers: []string{group}}},
	})
	s.Report.adapted(at, "lcr.fallback_gateway_group "+name, "route plan fallback", "customers name it with route_plan")
}

// numbering takes the home numbering plan over, and the policy that calls have
// unless a route says otherwise.
func (s *siphon) numbering(g *trunkgroup.GroupSpec) {
	n := s.root.At("numbering")
	digits := func(key string) string {
		text := s.text(n.At(key))
		if strings.Trim(text, "0123456789") != "" {
			s.Report.lost(s.at(n), "numbering."+key+" "+text, "is not digits", "")
			return ""
		}
		return text
	}
	if n.IsMap() {
		g.Numbering.CountryCode = digits("country_code")
		g.Numbering.TrunkPrefix = digits("trunk_prefix")
		g.Numbering.InternationalPrefix = digits("international_prefix")
		for _, key := range []string{"assume", "min_national_digits"} {
			if v := n.At(key); v != nil {
				s.Report.adapted(s.at(v), "numbering."+key+" "+v.Text(), g.Name, "numbers without + are read by national_lengths")
			}
		}
		s.Report.same(s.at(n), "numbering", g.Name+": numbering")
	}
	policies := s.root.At("number_policies")
	policy := policies.At(s.root.At("b2bua", "default_number_policy").Text())
	if policy == nil && len(policies.Keys()) == 1 {
		policy = policies.At(policies.Keys()[0])
	}
	if policy == nil {
		return
	}
	format := s.text(policy.At("default"))
	if err := g.Numbering.Format.UnmarshalText([]byte(format)); err != nil {
		s.Report.lost(s.at(policy), "number policy "+format, "is no format", "choose one: "+strings.Join(trunkgroup.FormatNames(), ", "))
		return
	}
	s.Report.adapted(s.at(policy), "number policy", g.Name+": numbering.format "+g.Numbering.Format.String(), "one format for the Request-URI and all headers of a group")
}
