package trunkgroup

import (
	"cmp"
	"iter"
	"net/netip"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Defaults of the document (DEC-04, DEC-05, DEC-06, P-35).
const (
	defaultBTimer        = 4 * time.Second
	defaultProgress      = 10 * time.Second
	defaultMaxPDD        = 15 * time.Second
	defaultRing          = 30 * time.Second
	defaultRetryAfterMax = 60 * time.Second
	defaultMaxDuration   = 4 * time.Hour
	defaultEmergencyCPS  = 10
	defaultExhausted     = 503
	reserveShare         = 3 // handoff_reserve is max_pdd divided by this
)

func defaultAdvanceOn() []int { return []int{408, 500, 502, 503, 504} } // S-035
func defaultHandoffOn() []int { return []int{408, 503} }                // DEC-04

// Compile validates the document and makes the table of it. The error is
// Faults. The table keeps the document, which must not change any more.
func Compile(d *Document, v Version) (*Table, error) {
	if err := d.Validate().Err(); err != nil {
		return nil, err
	}
	t := &Table{
		version:     v,
		document:    d,
		byName:      make(map[string]*Group),
		byKey:       make(map[string]*Member),
		peers:       make(map[string][]string),
		credentials: make(map[userKey]credentialRef),
		offers:      make(map[string]Offer),
		realms:      make(map[string]string),
		aors:        make(map[string]*Member),
	}
	for _, s := range d.Sites {
		t.sites = append(t.sites, s.Name)
		t.peers[s.Name] = s.Peers
	}
	for i := range d.TrunkGroups {
		t.addGroup(&d.TrunkGroups[i])
	}
	t.nest(d)
	t.domains = t.aorDomains()
	t.addRoutePlans(d)
	t.addNumberPolicies(d)
	t.addCustomers(d)
	sources := make(map[sourceTuple]SourceMatch)
	for i := range d.TrunkGroups {
		addSources(sources, &d.TrunkGroups[i], t.groups[i])
	}
	t.sources = buildSources(sources)
	numbers, err := BuildNumbers(d.patterns())
	if err != nil {
		return nil, err
	}
	t.numbers = numbers
	t.expressions = t.compileExpressions()
	if t.dno, err = BuildNumbers(eachPattern(d.DoNotOriginate)); err != nil {
		return nil, err
	}
	return t, nil
}

// patterns yields all called numbers with the index of their group. Validate
// has read each of them before.
func (d *Document) patterns() iter.Seq2[Pattern, int] {
	return func(yield func(Pattern, int) bool) {
		for i := range d.TrunkGroups {
			for _, text := range d.TrunkGroups[i].Numbers {
				if p, err := ParsePattern(text); err == nil && !yield(p, i) {
					return
				}
			}
		}
	}
}

// eachPattern yields patterns that Validate has read, all of one owner.
func eachPattern(list []string) iter.Seq2[Pattern, int] {
	return func(yield func(Pattern, int) bool) {
		for _, text := range list {
			if p, err := ParsePattern(text); err == nil && !yield(p, 0) {
				return
			}
		}
	}
}

func (t *Table) addGroup(s *GroupSpec) {
	g := &Group{
		Index:          len(t.groups),
		Name:           s.Name,
		Role:           s.Role,
		Customer:       s.Customer,
		Method:         cmp.Or(s.Distribution.Method, LoadBalance),
		Sessions:       cmp.Or(s.Distribution.Sessions, SessionsMax),
		AffinityHeader: s.Distribution.SessionAffinityHeader,
		Timers:         compileTimers(s.Role, s.Timers),
		AdvanceOn:      causesOr(s.AdvanceOn, defaultAdvanceOn()),
		UserOnly:       s.Distribution.UserOnly,
		SlowStart:      s.Distribution.SlowStart.or(0),
		NeverAdvance:   Causes(s.NeverAdvance...),
		HandoffOn:      causesOr(s.HandoffOn, defaultHandoffOn()),
		PassiveCodes:   Causes(s.PassiveCodes...),
		ExhaustedCode:  s.ExhaustedCode,
		Quality:        compileQuality(s.Quality),
		Charging:       compileCharging(s.Charging),
		MaxAttempts:    s.MaxAttempts,
		ACL:            compileACL(s.ACL),
		Limits:         compileLimits(s.Limits),
		Monitoring:     compileMonitoring(s.Monitoring),
		Numbering:      compileNumbering(s.Numbering),
		sites:          make(map[string]*siteMembers),
	}
	g.Limits.MaxDuration = cmp.Or(g.Limits.MaxDuration, defaultMaxDuration)
	g.Limits.EmergencyCPS = cmp.Or(s.Limits.EmergencyCPS, defaultEmergencyCPS)
	g.Monitoring.CallRetryAfterMax = g.Timers.RetryAfterMax
	if g.Role == PSTNProvider {
		g.ExhaustedCode = cmp.Or(g.ExhaustedCode, defaultExhausted)
		t.providers = append(t.providers, g)
	}
	if len(s.Numbers) > 0 {
		t.reached = append(t.reached, g)
	}
	t.groups = append(t.groups, g)
	t.byName[g.Name] = g
	t.addCredentials(g, s.Credentials)
	for i := range s.Members {
		if s.Members[i].Group != "" {
			continue // see nest
		}
		m := t.addMember(g, &s.Members[i])
		m.Maintenance = windowsOf(s.Maintenance, m.ID)
	}
	g.compileKey(&s.Distribution)
}

func (t *Table) addMember(g *Group, s *MemberSpec) *Member {
	m := &Member{
		Index:      len(t.members),
		ID:         s.ID,
		Key:        g.Name + "/" + s.ID,
		hash:       xxhash.Sum64String(g.Name + "/" + s.ID),
		Group:      g,
		Site:       s.Site,
		Transport:  cmp.Or(s.Transport, UDP),
		ServerName: s.ServerName,
		Weight:     cmp.Or(s.Weight, 1),
		Priority:   s.Priority,
		LastResort: s.LastResort,
		Direction:  s.Direction,
		Disabled:   s.Disabled,
		Limits:     compileLimits(s.Limits),
	}
	m.Account = compileAccount(s.Account, m.Transport)
	sites := []string{m.Site}
	switch {
	case s.Registration != nil:
		m.Registration = compileRegistration(s.Registration)
		t.aors[m.Registration.AOR] = m
		sites = t.sites
	case s.FQDN != "":
		m.FQDN, m.Port, _ = parseFQDN(s.FQDN)
		m.ServerName = cmp.Or(m.ServerName, m.FQDN)
	default:
		m.Addr, _ = parseAddress(s.Address, m.Transport)
	}
	t.members = append(t.members, m)
	t.byKey[m.Key] = m
	g.Members = append(g.Members, m)
	if m.Direction == DirectionIn {
		return m // it stands in no site where calls could go to it
	}
	for _, site := range sites {
		at := g.sites[site]
		if at == nil {
			at = &siteMembers{}
			g.sites[site] = at
		}
		at.members = append(at.members, m)
		at.registers = at.registers || m.Registration != nil
	}
	return m
}

func (t *Table) addRoutePlans(d *Document) {
	plans := make(map[string]*RoutePlan)
	for i := range d.RoutePlans {
		plan := compileRoutePlan(&d.RoutePlans[i], t.byName)
		plans[plan.Name], t.plans = plan, append(t.plans, plan)
	}
	for i := range d.TrunkGroups {
		t.groups[i].plan = plans[d.TrunkGroups[i].RoutePlan]
	}
}

// addSources enters the tuples of a group.
func addSources(sources map[sourceTuple]SourceMatch, s *GroupSpec, g *Group) {
	for _, src := range s.tuples() {
		m := sources[src.tuple]
		if g.Role == PSTNProvider {
			m.Provider = g
		} else {
			m.Customer = g
		}
		sources[src.tuple] = m
	}
}

func compileTimers(role Role, s TimersSpec) Timers {
	var pdd time.Duration
	if role == OriginationCustomer {
		pdd = defaultMaxPDD
	}
	t := Timers{
		BTimer:        s.BTimer.or(defaultBTimer),
		Progress:      s.Progress.or(defaultProgress),
		MaxPDD:        s.MaxPDD.or(pdd),
		Setup:         s.Setup.or(0),
		Ring:          s.Ring.or(defaultRing),
		RetryAfterMax: s.RetryAfterMax.or(defaultRetryAfterMax),
	}
	t.HandoffReserve = s.HandoffReserve.or(t.MaxPDD / reserveShare)
	return t
}

func compileLimits(s LimitsSpec) Limits {
	return Limits{Calls: s.Calls, CPS: s.CPS, MaxDuration: s.MaxDuration.or(0), StaticShare: s.StaticShare}
}

func causesOr(codes, def []int) CauseSet {
	if len(codes) == 0 {
		return Causes(def...)
	}
	return Causes(codes...)
}

// sourceRef is a tuple of a group and where in the document it stands.
type sourceRef struct {
	tuple sourceTuple
	path  string // from the group: sources[0] or members[1].address
}

// tuples returns the source tuples of a group. A provider that lists none is
// known by the addresses of its members: the port too on UDP, any on streams
// (P-26). What cannot be read is left out; Validate reports it.
func (s *GroupSpec) tuples() []sourceRef {
	var refs []sourceRef
	for i, src := range s.Sources {
		if t, ok := src.tuple(); ok {
			refs = append(refs, sourceRef{t, index("sources", i)})
		}
	}
	if s.Role != PSTNProvider || len(s.Sources) > 0 {
		return refs
	}
	for i, m := range s.Members {
		transport := cmp.Or(m.Transport, UDP)
		addr, err := parseAddress(m.Address, transport)
		if m.Address == "" || err != nil || m.Direction == DirectionOut {
			continue
		}
		t := sourceTuple{network: netip.PrefixFrom(addr.Addr(), addr.Addr().BitLen()), transport: transport}
		if transport == UDP {
			t.port = addr.Port()
		}
		refs = append(refs, sourceRef{t, index("members", i) + ".address"})
	}
	return refs
}
