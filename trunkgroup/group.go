package trunkgroup

import (
	"net/netip"
	"time"
)

// Group is a compiled trunk group. It is part of a Table and never changes.
type Group struct {
	Index    int // position in Table.Groups
	Name     string
	Role     Role
	Customer string    // whose limits count too; empty for none
	Members  []*Member // document order
	Method   Method
	Sessions SessionSource // what least-sessions goes by
	// Key is what the method hashes; of methods that hash nothing, KeyNone.
	Key      Key
	UserOnly bool // of From and To (K-21)
	// KeyHeader is the name of the header of KeyHeader.
	KeyHeader string
	SlowStart time.Duration // 0 = a member that comes back has its full share at once
	// AffinityHeader names the header whose value keeps calls at one far end;
	// empty = none does.
	AffinityHeader string
	Timers         Timers
	AdvanceOn      CauseSet
	NeverAdvance   CauseSet // stronger than AdvanceOn
	HandoffOn      CauseSet
	PassiveCodes   CauseSet
	ExhaustedCode  int // 503 for providers unless configured, 0 for customers (DEC-06)
	MaxAttempts    int // of this group in one call; 0 = all members
	Limits         Limits
	Monitoring     Monitoring
	Numbering      Numbering
	Credentials    []Credential
	ACL            *ACL     // nil admits everybody
	Fraud          *Fraud   // of the customer; nil when nothing is bounded
	Quality        *Quality // nil demands nothing
	// Writing is how the carrier wants to see numbers, where a route does not say; nil for
	// Numbering.Format alone.
	Writing *WritingPolicy
	// Unasserted: it stands outside of the trust domain, and nobody's identity is asserted
	// there (S-084).
	Unasserted bool
	// Charging says who is asked and told of calls of this customer; nil: nobody.
	Charging *Charging

	sites map[string]*siteMembers
	plan  *RoutePlan
	nests []*Member // places of other groups, in document order
	// counts: somebody goes by the calls of the members.
	counts bool
	// needsTraits: see NeedsTraits.
	needsTraits bool
}

// siteMembers is what Plan needs of the members of one site.
type siteMembers struct {
	members []*Member  // document order
	ranked  []*Member  // by priority, then document order; also the places of groups
	places  []standing // of those
	tiers   []int      // how many of them stand in each tier
	// registers tells that one of them registers.
	registers bool
}

// At returns the members in one site, in document order; nil when there is
// none. The caller must not change the slice.
func (g *Group) At(site string) []*Member {
	if s := g.sites[site]; s != nil {
		return s.members
	}
	return nil
}

// Timers are the call timers of a group (DEC-05). Zero means that the timer is
// not used.
type Timers struct {
	BTimer         time.Duration // attempt start to any 1xx; never zero
	Progress       time.Duration // attempt start to 101-199
	MaxPDD         time.Duration // the caller's INVITE to the first 18x or 2xx relayed
	HandoffReserve time.Duration // what the local hunt leaves of MaxPDD to the peer site
	Setup          time.Duration // the first attempt in the group to the first progress of any
	Ring           time.Duration // attempt start to the answer, once there is progress (S-062)
	RetryAfterMax  time.Duration // the most that a call's Retry-After counts (DEC-11)
}

// Limits bound what a group or a member carries at one time (DEC-10). Zero
// means no limit.
type Limits struct {
	Calls       int
	CPS         int
	MaxDuration time.Duration
	// EmergencyCPS is the rate of emergency calls per node above which somebody
	// should look; it refuses none (DEC-17). Set for groups alone.
	EmergencyCPS int
	StaticShare  map[string]int // of Calls, by site, as the document says
	// CallShares and RateShares are the sites' own parts of Calls and CPS, which
	// add up to them; nil without a limit.
	CallShares, RateShares map[string]int
}

// Member is one far end of a group, in one site.
type Member struct {
	// What plans read of each member stands first and together.

	Index        int // position in Table.Members; slices of a View use it
	Group        *Group
	Nested       *Group        // whose members take this one's place, see Group.Nests; nil for all others
	Registration *Registration // nil unless the member registers
	hash         uint64        // of Key, for methods that hash
	Weight       int           // at least 1
	Priority     int           // lower first
	LastResort   bool          // after all others, whatever its priority (K-21)
	Disabled     bool          // by the document
	Direction    Direction
	Transport    Transport

	ID          string         // unique in the group
	Key         string         // "group/member", unique in the cluster
	Site        string         // empty for a registration: it stands where it registers
	Addr        netip.AddrPort // zero for a member by name
	FQDN        string         // empty for a member by address
	Port        uint16         // of a member by name; 0 = by SRV (RFC 3263)
	ServerName  string         // TLS: the name that the certificate must have
	Maintenance []Window       // when it takes no new calls
	Limits      Limits
	Account     *Account // what it lets us log in with; nil for most
}
