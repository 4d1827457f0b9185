package trunkgroup

// Document is the cluster document: what the cluster does. Its fields are the
// YAML keys. Zero values mean "not said"; Compile puts the defaults in.
type Document struct {
	Cluster     string          `yaml:"cluster" json:"cluster"` // id of the cluster (DEC-14)
	Sites       []SiteSpec      `yaml:"sites" json:"sites"`
	Customers   []CustomerSpec  `yaml:"customers,omitempty" json:"customers,omitempty"`
	TrunkGroups []GroupSpec     `yaml:"trunk_groups" json:"trunk_groups"`
	RoutePlans  []RoutePlanSpec `yaml:"route_plans,omitempty" json:"route_plans,omitempty"`
	// NumberPolicies are ways to write numbers, by name: groups and routes name them.
	NumberPolicies []NumberPolicySpec `yaml:"number_policies,omitempty" json:"number_policies,omitempty"`
	// DoNotOriginate lists callers that nobody may show; such calls are refused.
	DoNotOriginate []string `yaml:"do_not_originate,omitempty" json:"do_not_originate,omitempty"`
}

// SiteSpec is one data center and the peer sites that take its calls over, in
// order of preference.
type SiteSpec struct {
	Name  string   `yaml:"name" json:"name"`
	Peers []string `yaml:"peers,omitempty" json:"peers,omitempty"`
}

// GroupSpec is one trunk group.
type GroupSpec struct {
	Name         string           `yaml:"name" json:"name"`
	Role         Role             `yaml:"role" json:"role"`
	Customer     string           `yaml:"customer,omitempty" json:"customer,omitempty"`       // whose limits count too, see CustomerSpec
	Numbers      []string         `yaml:"numbers,omitempty" json:"numbers,omitempty"`         // called numbers, see ParsePattern
	Sources      []SourceSpec     `yaml:"sources,omitempty" json:"sources,omitempty"`         // a provider without any: the addresses of its members
	Credentials  []CredentialSpec `yaml:"credentials,omitempty" json:"credentials,omitempty"` // digest users
	ACL          ACLSpec          `yaml:"acl,omitempty" json:"acl,omitzero"`                  // where its callers and registrations may come from; default anywhere
	RoutePlan    string           `yaml:"route_plan,omitempty" json:"route_plan,omitempty"`   // none: all providers in document order (P-12)
	Distribution DistributionSpec `yaml:"distribution,omitempty" json:"distribution,omitzero"`
	Monitoring   MonitoringSpec   `yaml:"monitoring,omitempty" json:"monitoring,omitzero"`
	Limits       LimitsSpec       `yaml:"limits,omitempty" json:"limits,omitzero"`
	Timers       TimersSpec       `yaml:"timers,omitempty" json:"timers,omitzero"`
	AdvanceOn    []int            `yaml:"advance_on,omitempty" json:"advance_on,omitempty"`       // finals that try the next member; default 408, 500, 502, 503, 504
	NeverAdvance []int            `yaml:"never_advance,omitempty" json:"never_advance,omitempty"` // finals that end the hunt, whatever advance_on says
	HandoffOn    []int            `yaml:"handoff_on,omitempty" json:"handoff_on,omitempty"`       // finals that allow a hand-off (DEC-04); default 408, 503
	PassiveCodes []int            `yaml:"passive_codes,omitempty" json:"passive_codes,omitempty"` // call finals that count as evidence (DEC-11); default none
	// ExhaustedCode is the final towards a provider after both sites were
	// tried (DEC-06); default 503. Only for pstn-provider.
	ExhaustedCode int           `yaml:"exhausted_code,omitempty" json:"exhausted_code,omitempty"`
	MaxAttempts   int           `yaml:"max_attempts,omitempty" json:"max_attempts,omitempty"` // of this group in one call; default: all members
	Numbering     NumberingSpec `yaml:"numbering,omitempty" json:"numbering,omitzero"`
	// NumberPolicy names the number policy of routes to this group that name none (S-080).
	NumberPolicy string `yaml:"number_policy,omitempty" json:"number_policy,omitempty"`
	// AssertIdentity says whether we assert the caller towards this carrier (S-084); default true.
	AssertIdentity *bool         `yaml:"assert_identity,omitempty" json:"assert_identity,omitempty"`
	Charging       *ChargingSpec `yaml:"charging,omitempty" json:"charging,omitempty"`       // who is told, or asked, about calls of this customer
	Quality        *QualitySpec  `yaml:"quality,omitempty" json:"quality,omitempty"`         // what a member must achieve to get calls
	Maintenance    []WindowSpec  `yaml:"maintenance,omitempty" json:"maintenance,omitempty"` // when members take no new calls
	Members        []MemberSpec  `yaml:"members,omitempty" json:"members,omitempty"`
}

// QualitySpec takes a member out for a while whose calls do badly (D10).
type QualitySpec struct {
	MinAnswerRatio int      `yaml:"min_answer_ratio,omitempty" json:"min_answer_ratio,omitempty"` // percent of attempts that must be answered
	MaxShortCalls  int      `yaml:"max_short_calls,omitempty" json:"max_short_calls,omitempty"`   // percent of answered calls that may be short
	ShortCall      Duration `yaml:"short_call,omitempty" json:"short_call,omitempty"`             // what is short; default 6s
	Window         Duration `yaml:"window,omitempty" json:"window,omitempty"`                     // how far back calls count; default 5m
	MinSamples     int      `yaml:"min_samples,omitempty" json:"min_samples,omitempty"`           // fewer say nothing; default 50
	Cooldown       Duration `yaml:"cooldown,omitempty" json:"cooldown,omitempty"`                 // for how long it is out; default 5m
}

// WindowSpec is a time of maintenance: once, from start to end, or on days of the
// week from one time of day to another.
type WindowSpec struct {
	Start    string   `yaml:"start,omitempty" json:"start,omitempty"`       // RFC 3339
	End      string   `yaml:"end,omitempty" json:"end,omitempty"`           // RFC 3339
	Days     []string `yaml:"days,omitempty" json:"days,omitempty"`         // mon, tue, ...; none: every day
	From     string   `yaml:"from,omitempty" json:"from,omitempty"`         // 02:00
	To       string   `yaml:"to,omitempty" json:"to,omitempty"`             // 04:00; not after from: of the next day
	Timezone string   `yaml:"timezone,omitempty" json:"timezone,omitempty"` // America/Chicago; default UTC
	Members  []string `yaml:"members,omitempty" json:"members,omitempty"`   // ids; none: all of the group
	Reason   string   `yaml:"reason,omitempty" json:"reason,omitempty"`
}

// DistributionSpec says how members are ordered. The default is load-balance.
type DistributionSpec struct {
	Method   Method        `yaml:"method,omitempty" json:"method,omitzero"`
	Sessions SessionSource `yaml:"sessions,omitempty" json:"sessions,omitzero"` // what least-sessions counts; default max
	// Key is what the methods hash and hash-mod go by: call-id, from, to,
	// request-user, auth-user, source-ip, caller, called or header:NAME.
	Key string `yaml:"key,omitempty" json:"key,omitempty"`
	// UserOnly takes of From and To the user alone, without the host (K-21).
	UserOnly bool `yaml:"user_only,omitempty" json:"user_only,omitempty"`
	// SlowStart is how long a member that comes back gets less than its share.
	SlowStart Duration `yaml:"slow_start,omitempty" json:"slow_start,omitempty"`
	// SessionAffinityHeader names the header whose value keeps calls together:
	// calls with the same value go to the same far end.
	SessionAffinityHeader string `yaml:"session_affinity_header,omitempty" json:"session_affinity_header,omitempty"`
}

// SourceSpec is one tuple of the source index (P-10, P-28, DEC-18).
type SourceSpec struct {
	IP         string    `yaml:"ip" json:"ip"`                                       // address or CIDR
	Port       int       `yaml:"port,omitempty" json:"port,omitempty" zero:"ok"`     // 0 or 1 = any port; always for tcp and tls (P-26)
	Transport  Transport `yaml:"transport,omitempty" json:"transport,omitzero"`      // default udp
	TechPrefix string    `yaml:"tech_prefix,omitempty" json:"tech_prefix,omitempty"` // start of the Request-URI's user, removed
	Local      string    `yaml:"local,omitempty" json:"local,omitempty"`             // our own address:port that received it; empty = any
}

// MonitoringSpec says how members are probed. Without a profile, or with
// profile "off", they are not, and all of them are active (P-08). The other
// keys override the profile's values.
type MonitoringSpec struct {
	Profile       string   `yaml:"profile,omitempty" json:"profile,omitempty"` // off, peeredge, kamailio, siphon
	Interval      Duration `yaml:"interval,omitempty" json:"interval,omitempty"`
	DownInterval  Duration `yaml:"down_interval,omitempty" json:"down_interval,omitempty"`   // between probes of a member that is down
	Timeout       Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`               // wait for one reply
	Repeats       *int     `yaml:"repeats,omitempty" json:"repeats,omitempty"`               // further probes at once after a failed one
	DownAfter     int      `yaml:"down_after,omitempty" json:"down_after,omitempty"`         // failed cycles
	UpAfter       int      `yaml:"up_after,omitempty" json:"up_after,omitempty"`             // good replies in a row
	EvidenceAfter int      `yaml:"evidence_after,omitempty" json:"evidence_after,omitempty"` // failed calls in a row that ask for a probe (DEC-11); default 1
	GoodCodes     []int    `yaml:"good_codes,omitempty" json:"good_codes,omitempty"`         // only these replies are good
	BadCodes      []int    `yaml:"bad_codes,omitempty" json:"bad_codes,omitempty"`           // all replies but these are good
}

// LimitsSpec bounds what a customer, a group or a member carries at one time
// (DEC-10).
// Zero means no limit, except for MaxDuration.
type LimitsSpec struct {
	Calls       int      `yaml:"calls,omitempty" json:"calls,omitempty"`
	CPS         int      `yaml:"cps,omitempty" json:"cps,omitempty"`                   // new calls per second
	MaxDuration Duration `yaml:"max_duration,omitempty" json:"max_duration,omitempty"` // default 4h (P-35)
	// EmergencyCPS is the rate of emergency calls per node above which an alarm is
	// raised; nothing is refused (DEC-17). Of groups alone; default 10.
	EmergencyCPS int            `yaml:"emergency_cps,omitempty" json:"emergency_cps,omitempty"`
	StaticShare  map[string]int `yaml:"static_share,omitempty" json:"static_share,omitempty"` // of calls, by site: its own part, and all it has while sites cannot see each other; default by the weight of the members
}

// TimersSpec holds the call timers (DEC-05).
type TimersSpec struct {
	BTimer         Duration `yaml:"b_timer,omitempty" json:"b_timer,omitempty"`                 // INVITE to any 1xx; default 4s
	Progress       Duration `yaml:"progress,omitempty" json:"progress,omitempty"`               // INVITE to 101-199; default 10s
	MaxPDD         Duration `yaml:"max_pdd,omitempty" json:"max_pdd,omitempty"`                 // whole call to the first 18x or 2xx; default 15s for origination-customer, else off
	HandoffReserve Duration `yaml:"handoff_reserve,omitempty" json:"handoff_reserve,omitempty"` // part of max_pdd kept for the peer site; default a third
	Setup          Duration `yaml:"setup,omitempty" json:"setup,omitempty"`                     // what the members of one group may take together until one rings; default off
	Ring           Duration `yaml:"ring,omitempty" json:"ring,omitempty"`                       // INVITE to answer once it rings (S-062); default 30s
	RetryAfterMax  Duration `yaml:"retry_after_max,omitempty" json:"retry_after_max,omitempty"` // cap of a call's Retry-After (DEC-11); default 60s
}

// NumberingSpec says how a group writes numbers; see Numbering.
type NumberingSpec struct {
	CountryCode         string   `yaml:"country_code,omitempty" json:"country_code,omitempty"`
	TrunkPrefix         string   `yaml:"trunk_prefix,omitempty" json:"trunk_prefix,omitempty"`
	InternationalPrefix string   `yaml:"international_prefix,omitempty" json:"international_prefix,omitempty"`
	NationalLengths     []int    `yaml:"national_lengths,omitempty" json:"national_lengths,omitempty"`
	StripPrefixes       []string `yaml:"strip_prefixes,omitempty" json:"strip_prefixes,omitempty"`
	Preserve            []string `yaml:"preserve,omitempty" json:"preserve,omitempty"`
	Format              Format   `yaml:"format,omitempty" json:"format,omitzero"`
}

// MemberSpec is one far end: an address or a name, in one site, or whoever
// registers under an AOR, in the site where he does.
type MemberSpec struct {
	ID           string            `yaml:"id" json:"id"`
	Site         string            `yaml:"site,omitempty" json:"site,omitempty"`
	Address      string            `yaml:"address,omitempty" json:"address,omitempty"`    // 198.51.100.10:5060 or [2001:db8::1]:5060
	FQDN         string            `yaml:"fqdn,omitempty" json:"fqdn,omitempty"`          // name or name:port; without port by SRV (RFC 3263)
	Transport    Transport         `yaml:"transport,omitempty" json:"transport,omitzero"` // default udp
	Registration *RegistrationSpec `yaml:"registration,omitempty" json:"registration,omitempty"`
	ServerName   string            `yaml:"server_name,omitempty" json:"server_name,omitempty"`     // name in the far end's certificate; default the fqdn
	Weight       int               `yaml:"weight,omitempty" json:"weight,omitempty"`               // default 1
	Priority     int               `yaml:"priority,omitempty" json:"priority,omitempty" zero:"ok"` // lower first; default 0
	LastResort   bool              `yaml:"last_resort,omitempty" json:"last_resort,omitempty"`     // tried when all others are out or have failed (K-21)
	Direction    Direction         `yaml:"direction,omitempty" json:"direction,omitzero"`          // in, out or both
	Group        string            `yaml:"group,omitempty" json:"group,omitempty"`                 // in place of an address: another group, whose members take this one's place
	Disabled     bool              `yaml:"disabled,omitempty" json:"disabled,omitempty"`
	Limits       LimitsSpec        `yaml:"limits,omitempty" json:"limits,omitzero"`
	Account      *AccountSpec      `yaml:"account,omitempty" json:"account,omitempty"` // of a carrier: what it lets us log in with
}

// RoutePlanSpec says where the calls of a customer go: by rows of its own, by what a
// decision server says, or by rate decks. Rows come before the other two, so that 911
// needs nobody's word.
type RoutePlanSpec struct {
	Name     string        `yaml:"name" json:"name"`
	Routes   []RouteSpec   `yaml:"routes,omitempty" json:"routes,omitempty"`
	Decision *DecisionSpec `yaml:"decision,omitempty" json:"decision,omitempty"` // a server decides
	Deck     *DeckSpec     `yaml:"deck,omitempty" json:"deck,omitempty"`         // rate decks decide
	// RerouteCauses are the finals that try the next route where neither the route nor its
	// group says (S-036); default 408, 500, 502, 503, 504.
	RerouteCauses  []int               `yaml:"reroute_causes,omitempty" json:"reroute_causes,omitempty"`
	Ring           Duration            `yaml:"ring,omitempty" json:"ring,omitempty"`               // dial to answer once it rings (S-062); default 30s; off
	MaxMembers     int                 `yaml:"max_members,omitempty" json:"max_members,omitempty"` // of a route's group, one after the other; default 1 (S-070)
	CarrierQuality *CarrierQualitySpec `yaml:"carrier_quality,omitempty" json:"carrier_quality,omitempty"`
	Policy         *PolicySpec         `yaml:"policy,omitempty" json:"policy,omitempty"`
}

// RouteSpec is one row of a route plan; the longest prefix wins. The prefix is
// "+1214", a preserved short number like "911", or "*" for all other numbers.
type RouteSpec struct {
	Prefix    string   `yaml:"prefix" json:"prefix"`
	Providers []string `yaml:"providers" json:"providers"`
}
