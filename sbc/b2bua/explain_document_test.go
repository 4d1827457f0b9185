package b2bua

import (
	"fmt"
	"net/netip"
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
	s.from, s.known, s.carriers, s.owned = []string{strangerAddr}, nil, nil, nil
	s.outs, s.users, s.registrants = nil, nil, nil
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
	first := len(d.TrunkGroups)
	for i := range 1 + s.IntN(3) {
		g := s.customerIn(i)
		if i > 0 && g.Distribution.Method != trunkgroup.Parallel && d.TrunkGroups[first].Distribution.Method != trunkgroup.Parallel && s.chance(20) {
			g.Members = append(g.Members, trunkgroup.MemberSpec{ID: "inner", Group: "in-0", Priority: s.IntN(2), Weight: 1 + s.IntN(4)})
		}
		d.TrunkGroups = append(d.TrunkGroups, g)
	}
	for i := range 1 + s.IntN(2) {
		g := s.customerOut(i)
		if s.chance(60) {
			g.RoutePlan = fmt.Sprintf("plan-%d", i)
			d.RoutePlans = append(d.RoutePlans, s.plan(g.RoutePlan, providers))
		}
		d.TrunkGroups = append(d.TrunkGroups, g)
	}
	if s.chance(5) {
		d.DoNotOriginate = []string{"+13105551234"}
	}
	return d
}

// group makes a group with members in both sites.
func (s *scene) group(name string, role trunkgroup.Role, network string) trunkgroup.GroupSpec {
	g := trunkgroup.GroupSpec{Name: name, Role: role, MaxAttempts: pick(s.dice, 0, 0, 0, 1, 2)}
	g.Distribution = s.distribution(role)
	g.Monitoring.Profile = pick(s.dice, "off", "kamailio")
	s.causes(&g)
	if s.chance(15) {
		g.Maintenance = []trunkgroup.WindowSpec{{Start: "2025-12-31T00:00:00Z", End: "2026-01-02T00:00:00Z", Members: pick(s.dice, nil, []string{"m0"}), Reason: "new cards"}}
	}
	if s.chance(25) {
		g.Quality = &trunkgroup.QualitySpec{MinAnswerRatio: 30}
	}
	for j := range 1 + s.IntN(6) {
		m := trunkgroup.MemberSpec{
			ID: fmt.Sprintf("m%d", j), Site: pick(s.dice, "dallas", "dallas", "ashburn"), Priority: s.IntN(2), Weight: 1 + s.IntN(4),
			LastResort: s.chance(15), Disabled: s.chance(5), Limits: trunkgroup.LimitsSpec{Calls: pick(s.dice, 0, 0, 0, 2, 4)}, Direction: s.direction(role, j), Transport: pick(s.dice, trunkgroup.UDP, trunkgroup.UDP, trunkgroup.TCP),
		}
		m.Address = fmt.Sprintf("%s%d:5060", network[:len(network)-1], j)
		if m.Direction == trunkgroup.DirectionIn { // it gets no calls that these would be about
			m.Priority, m.Weight, m.LastResort, m.Limits = 0, 0, false, trunkgroup.LimitsSpec{}
		} else if s.chance(10) {
			m.Address, m.FQDN = "", fmt.Sprintf("m%d.%s.example", j, name)
		}
		if m.Address != "" && m.Transport == trunkgroup.UDP && role == trunkgroup.PSTNProvider {
			s.from, s.known = append(s.from, m.Address), append(s.known, m.Address)
			if m.Direction != trunkgroup.DirectionOut {
				s.carriers = append(s.carriers, m.Address)
			}
		}
		g.Members = append(g.Members, m)
	}
	return g
}

// causes draws what leads from one member to the next, and the timers.
func (s *scene) causes(g *trunkgroup.GroupSpec) {
	g.AdvanceOn = pick(s.dice, nil, nil, []int{503}, []int{486}, []int{404, 486, 500, 503})
	g.HandoffOn = pick(s.dice, nil, nil, []int{486}, []int{404, 503})
	for _, code := range pick(s.dice, nil, nil, nil, []int{484}, []int{503}, []int{500, 408}) {
		if !slices.Contains(g.AdvanceOn, code) && !slices.Contains(g.HandoffOn, code) {
			g.NeverAdvance = append(g.NeverAdvance, code)
		}
	}
	g.Timers.BTimer = trunkgroup.Duration(pick(s.dice, 0, 0, 0, 2*time.Second))
	g.Timers.Setup = trunkgroup.Duration(pick(s.dice, 0, 5*time.Second, 6*time.Second, 7*time.Second))
}

// direction draws which calls a member takes part in.
func (s *scene) direction(role trunkgroup.Role, j int) trunkgroup.Direction {
	if role != trunkgroup.PSTNProvider || j == 0 { // the first one is called
		return trunkgroup.DirectionBoth
	}
	return pick(s.dice, trunkgroup.DirectionBoth, trunkgroup.DirectionBoth, trunkgroup.DirectionBoth, trunkgroup.DirectionIn, trunkgroup.DirectionOut)
}

// distribution draws a method, and what it needs.
func (s *scene) distribution(role trunkgroup.Role) trunkgroup.DistributionSpec {
	var d trunkgroup.DistributionSpec
	_ = d.Method.UnmarshalText([]byte(pick(s.dice, trunkgroup.MethodNames()...)))
	switch {
	case role != trunkgroup.OriginationCustomer && d.Method == trunkgroup.Parallel:
		d.Method = trunkgroup.RoundRobin
	case role == trunkgroup.OriginationCustomer && s.chance(15):
		d.Method = trunkgroup.Parallel
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
	if role == trunkgroup.OriginationCustomer && d.Method != trunkgroup.Parallel && s.chance(70) {
		d.SessionAffinityHeader = "X-Room-Id"
	}
	return d
}

func (s *scene) customerIn(i int) trunkgroup.GroupSpec {
	g := s.group(fmt.Sprintf("in-%d", i), trunkgroup.OriginationCustomer, fmt.Sprintf("198.51.100.%d", 10*i))
	g.Customer = pick(s.dice, "acme", "globex")
	all := [][]string{{"+12145550100", "+1214555*"}, {"+14695550000..+14695550099", "+12145550150"}, {"+19725550100", "+1972*"}}
	g.Numbers = slices.Clone(all[i])
	s.owned = append(s.owned, [][]string{{"+12145550100", "+12145557777"}, {"+14695550001", "+12145550150"}, {"+19725550100", "+19725557777"}}[i]...)
	if s.chance(50) { // narrow ones before wide ones, and one of another group that covers the same
		g.Numbers = append(g.Numbers, pick(s.dice, fmt.Sprintf(`/^\+130355%d[0-9]{4}$/`, i), `/^\+1303555[0-9]*$/`, `/^\+1(?:303|214)[0-9]{7}$/`))
		s.owned = append(s.owned, fmt.Sprintf("+130355%d0100", i), "+13035550100", "+13035550101")
	}
	g.Timers.MaxPDD = trunkgroup.Duration(pick(s.dice, 0, 8*time.Second))
	g.Timers.HandoffReserve = trunkgroup.Duration(pick(s.dice, 0, 0, 2*time.Second))
	if s.chance(40) {
		user := fmt.Sprintf("pbx%d", i)
		g.Credentials, g.Quality = []trunkgroup.CredentialSpec{s.credential(user, "")}, nil
		s.registrants = append(s.registrants, user)
		g.Members = append(g.Members, trunkgroup.MemberSpec{
			ID: "reg", Priority: s.IntN(2), Registration: &trunkgroup.RegistrationSpec{AOR: "sip:" + user + "@sip.local", Users: []string{user}},
		})
	}
	return g
}

func (s *scene) customerOut(i int) trunkgroup.GroupSpec {
	g := trunkgroup.GroupSpec{Name: fmt.Sprintf("out-%d", i), Role: trunkgroup.TerminationCustomer, Customer: pick(s.dice, "acme", "globex")}
	g.Numbering = pick(s.dice, trunkgroup.NumberingSpec{}, trunkgroup.NumberingSpec{CountryCode: "1", InternationalPrefix: "011", NationalLengths: []int{10}})
	if s.chance(70) {
		g.Numbering.Preserve = []string{"911"}
	}
	ip := fmt.Sprintf("203.0.113.%d", 20+i)
	g.Sources = []trunkgroup.SourceSpec{{IP: ip, Port: 5060, TechPrefix: pick(s.dice, "", "", "", "9001")}}
	g.HandoffOn = pick(s.dice, nil, nil, []int{486})
	g.Timers.MaxPDD = trunkgroup.Duration(pick(s.dice, 0, 6*time.Second))
	s.outs = append(s.outs, customer{from: ip + ":5060", prefix: g.Sources[0].TechPrefix})
	s.from, s.known = append(s.from, ip+":5060", ip+":5061"), append(s.known, ip+":5060", ip+":5060", ip+":5060")
	if len(s.known) > 2 && s.chance(30) { // a carrier that is a customer too (DEC-18)
		at := s.known[0]
		g.Sources = append(g.Sources, trunkgroup.SourceSpec{IP: at[:len(at)-len(":5060")], Port: 5060})
	}
	if s.chance(8) {
		g.ACL.Deny = []string{pick(s.dice, ip, netip.MustParseAddrPort(strangerAddr).Addr().String())}
	}
	if s.chance(50) {
		user := fmt.Sprintf("user%d", i)
		g.Credentials = []trunkgroup.CredentialSpec{s.credential(user, pick(s.dice, "", "+13105551234", "+13105559999"))}
		s.outs = append(s.outs, customer{from: strangerAddr, user: user})
	}
	return g
}

func (s *scene) plan(name string, providers []string) trunkgroup.RoutePlanSpec {
	p := trunkgroup.RoutePlanSpec{Name: name}
	for _, prefix := range []string{"+1214", "+1", "911", "*"} {
		if s.chance(70) || prefix == "*" && s.chance(80) {
			some := slices.Clone(providers)
			s.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
			p.Routes = append(p.Routes, trunkgroup.RouteSpec{Prefix: prefix, Providers: some[:1+s.IntN(len(some))]})
		}
	}
	return p
}
