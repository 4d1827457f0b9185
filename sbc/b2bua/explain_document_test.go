package b2bua

import (
	"fmt"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// document makes a random document of two sites.
func (s *scene) document() *trunkgroup.Document {
	d := &trunkgroup.Document{
		Cluster:   "test",
		Sites:     []trunkgroup.SiteSpec{{Name: "dallas", Peers: []string{"ashburn"}}, {Name: "ashburn", Peers: []string{"dallas"}}},
		Customers: []trunkgroup.CustomerSpec{{Name: "acme"}, {Name: "globex"}},
	}
	s.from = []string{strangerAddr}
	var providers []string
	for i := range 1 + s.IntN(3) {
		g := s.group(fmt.Sprintf("carrier-%d", i), trunkgroup.PSTNProvider, fmt.Sprintf("192.0.2.%d", 10*i))
		if len(providers) > 0 && s.chance(30) {
			g.Members = append(g.Members, trunkgroup.MemberSpec{
				ID: "inner", Group: providers[0], Priority: s.IntN(2), Weight: 1 + s.IntN(4), Disabled: s.chance(10), LastResort: s.chance(10),
			})
		}
		g.ExhaustedCode = pick(s.dice, 0, 0, 502)
		providers = append(providers, g.Name)
		d.TrunkGroups = append(d.TrunkGroups, g)
	}
	for i := range 1 + s.IntN(3) {
		d.TrunkGroups = append(d.TrunkGroups, s.customerIn(i))
	}
	for i := range 1 + s.IntN(2) {
		g := s.customerOut(i)
		if s.chance(60) {
			g.RoutePlan = fmt.Sprintf("plan-%d", i)
			d.RoutePlans = append(d.RoutePlans, s.plan(g.RoutePlan, providers))
		}
		d.TrunkGroups = append(d.TrunkGroups, g)
	}
	if s.chance(15) {
		d.DoNotOriginate = []string{"+13105551234"}
	}
	return d
}

// group makes a group with members in both sites.
func (s *scene) group(name string, role trunkgroup.Role, network string) trunkgroup.GroupSpec {
	g := trunkgroup.GroupSpec{Name: name, Role: role, MaxAttempts: pick(s.dice, 0, 0, 0, 1, 2)}
	g.Distribution = s.distribution(role)
	g.Monitoring.Profile = pick(s.dice, "off", "kamailio")
	g.AdvanceOn = pick(s.dice, nil, nil, []int{503}, []int{486})
	g.HandoffOn = pick(s.dice, nil, nil, []int{486})
	g.NeverAdvance = pick(s.dice, nil, nil, nil, []int{484})
	for j := range 1 + s.IntN(5) {
		m := trunkgroup.MemberSpec{
			ID: fmt.Sprintf("m%d", j), Site: pick(s.dice, "dallas", "dallas", "ashburn"), Priority: s.IntN(2), Weight: 1 + s.IntN(4),
			LastResort: s.chance(10), Disabled: s.chance(5), Direction: s.direction(role), Transport: pick(s.dice, trunkgroup.UDP, trunkgroup.UDP, trunkgroup.TCP),
		}
		if m.Address = fmt.Sprintf("%s%d:5060", network[:len(network)-1], j); s.chance(10) {
			m.Address, m.FQDN = "", fmt.Sprintf("m%d.%s.example", j, name)
		} else if m.Transport == trunkgroup.UDP && role == trunkgroup.PSTNProvider {
			s.from, s.known = append(s.from, m.Address), append(s.known, m.Address)
		}
		g.Members = append(g.Members, m)
	}
	return g
}

// direction draws which calls a member takes part in.
func (s *scene) direction(role trunkgroup.Role) trunkgroup.Direction {
	if role != trunkgroup.PSTNProvider {
		return trunkgroup.DirectionBoth
	}
	return pick(s.dice, trunkgroup.DirectionBoth, trunkgroup.DirectionBoth, trunkgroup.DirectionBoth, trunkgroup.DirectionIn, trunkgroup.DirectionOut)
}

// distribution draws a method, and what it needs.
func (s *scene) distribution(role trunkgroup.Role) trunkgroup.DistributionSpec {
	var d trunkgroup.DistributionSpec
	_ = d.Method.UnmarshalText([]byte(pick(s.dice, trunkgroup.MethodNames()...)))
	if d.Method == trunkgroup.Parallel && role != trunkgroup.OriginationCustomer {
		d.Method = trunkgroup.RoundRobin
	}
	switch d.Method {
	case trunkgroup.Hash, trunkgroup.HashMod:
		d.Key = pick(s.dice, "call-id", "from", "to", "request-user", "auth-user", "source-ip", "caller", "called", "header:X-Room-Id")
	case trunkgroup.HashFrom, trunkgroup.HashTo:
		d.UserOnly = s.chance(50)
	}
	if d.Method != trunkgroup.HashMod && d.Method != trunkgroup.Parallel && s.chance(20) {
		d.SlowStart = trunkgroup.Duration(time.Minute)
	}
	if d.Method == trunkgroup.LeastSessions {
		d.Sessions = pick(s.dice, trunkgroup.SessionsMax, trunkgroup.SessionsOwn, trunkgroup.SessionsReported)
	}
	if role == trunkgroup.OriginationCustomer && d.Method != trunkgroup.Parallel && s.chance(50) {
		d.SessionAffinityHeader = "X-Room-Id"
	}
	return d
}

func (s *scene) customerIn(i int) trunkgroup.GroupSpec {
	g := s.group(fmt.Sprintf("in-%d", i), trunkgroup.OriginationCustomer, fmt.Sprintf("198.51.100.%d", 10*i))
	g.Customer = pick(s.dice, "acme", "globex")
	all := [][]string{{"+12145550100", "+1214555*"}, {"+14695550000..+14695550099", "+12145550150"}, {"+19725550100", "+1972*"}}
	g.Numbers = all[i]
	if s.chance(40) {
		user := fmt.Sprintf("pbx%d", i)
		g.Credentials = []trunkgroup.CredentialSpec{s.credential(user, "")}
		g.Members = append(g.Members, trunkgroup.MemberSpec{
			ID: "reg", Priority: s.IntN(2), Registration: &trunkgroup.RegistrationSpec{AOR: "sip:" + user + "@sip.local", Users: []string{user}},
		})
	}
	return g
}

func (s *scene) customerOut(i int) trunkgroup.GroupSpec {
	g := trunkgroup.GroupSpec{Name: fmt.Sprintf("out-%d", i), Role: trunkgroup.TerminationCustomer, Customer: pick(s.dice, "acme", "globex")}
	g.Numbering = pick(s.dice, trunkgroup.NumberingSpec{}, trunkgroup.NumberingSpec{CountryCode: "1", InternationalPrefix: "011", NationalLengths: []int{10}})
	ip := fmt.Sprintf("203.0.113.%d", 20+i)
	g.Sources = []trunkgroup.SourceSpec{{IP: ip, Port: 5060, TechPrefix: pick(s.dice, "", "", "", "9001")}}
	s.from, s.known = append(s.from, ip+":5060", ip+":5061"), append(s.known, ip+":5060", ip+":5060", ip+":5060")
	if len(s.known) > 2 && s.chance(30) { // a carrier that is a customer too (DEC-18)
		at := s.known[0]
		g.Sources = append(g.Sources, trunkgroup.SourceSpec{IP: at[:len(at)-len(":5060")], Port: 5060})
	}
	if s.chance(5) {
		g.ACL.Deny = []string{ip}
	}
	if s.chance(50) {
		g.Credentials = []trunkgroup.CredentialSpec{s.credential(fmt.Sprintf("user%d", i), pick(s.dice, "", "+13105551234", "+13105559999"))}
	}
	return g
}

func (s *scene) plan(name string, providers []string) trunkgroup.RoutePlanSpec {
	p := trunkgroup.RoutePlanSpec{Name: name}
	for _, prefix := range []string{"+1214", "+1", "911", "*"} {
		if s.chance(70) {
			some := slices.Clone(providers)
			s.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
			p.Routes = append(p.Routes, trunkgroup.RouteSpec{Prefix: prefix, Providers: some[:1+s.IntN(len(some))]})
		}
	}
	return p
}
