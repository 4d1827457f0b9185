package trunkgroup

import (
	"net/netip"
	"time"
)

// Reach says which nodes can send a request to a binding (DEC-15).
type Reach uint8

// The reaches.
const (
	// ReachAny: UDP without NAT; any node of either site.
	ReachAny Reach = 1
	// ReachSocket: UDP behind a NAT; only by the listener that took the
	// registration, also after a restart of its node.
	ReachSocket Reach = 2
	// ReachFlow: a stream; only by the live connection of its node.
	ReachFlow Reach = 3
)

// String returns the name as it stands in the API and the CLI.
func (r Reach) String() string {
	switch r {
	case ReachAny:
		return "any"
	case ReachSocket:
		return "socket"
	case ReachFlow:
		return "flow"
	}
	return ""
}

// Causes of a binding that gets no call.
const (
	// CauseUnregistered: nobody is registered under the member's AOR.
	CauseUnregistered = "unregistered"
	// CauseNodeDown: the node that alone can reach the binding is away.
	CauseNodeDown = "node_down"
	// CauseFlowGone: the connection of the binding has ended.
	CauseFlowGone = "flow_gone"
	// CauseUserGone: the digest user of the binding may not register under its
	// AOR any more.
	CauseUserGone = "user_gone"
)

// Binding is one registered far end of a registration member. It never
// changes: a refresh makes another.
type Binding struct {
	AOR       string    // canonical: sip:user@host, the host in lower case
	ID        string    // what tells it from the AOR's others (R-21, DEC-15)
	Contact   string    // URI for the Request-URI
	Path      []string  // Route values, in order (RFC 3327)
	Transport Transport // by which requests reach it
	Addr      netip.AddrPort
	Reach     Reach
	Node      string         // that took the registration
	Site      string         // of that node
	Boot      uint32         // of that node's process
	Local     netip.AddrPort // listener of that node
	Advertise string         // host:port by which that listener is known to far ends; empty = Local
	Flow      uint64         // connection of that process; 0 = none, or ended
	Q         int            // preference in thousandths, higher first (RFC 3261 20.10)
	Sessions  int            // as its REGISTER reported them; -1 = not
	Bulk      bool           // stands for all numbers of the group (RFC 6140)
	Instance  string         // +sip.instance, if any
	Agent     string         // User-Agent, for people
	User      string         // digest user
	Since     time.Time      // first registration, by this node's clock
	Expires   time.Time      // by this node's clock
}

// Key names the binding in the cluster.
func (b *Binding) Key() string { return b.AOR + "\x00" + b.ID }

// Registry knows the bindings. Its methods are called for every call to a
// registration member: they take no lock and do not allocate.
type Registry interface {
	// Bindings returns the live bindings of an AOR, the first registered first.
	// The slice must not be changed.
	Bindings(aor string) []*Binding
	// Reach returns the site whose calls a binding takes now and, when this node
	// cannot send to it, why: one of the causes.
	Reach(b *Binding) (site, cause string)
}

// Registration makes a member one that registers; its far ends are the
// bindings of its AOR.
type Registration struct {
	AOR        string         // canonical
	Users      []string       // digest users that may register; ask Member.MayRegister, names alone are not unique
	Contacts   int            // most bindings
	MinExpires time.Duration  // shorter ones get a 423
	MaxExpires time.Duration  // longer ones are cut
	NATExpires time.Duration  // cap for UDP behind a NAT: the refresh keeps its pinhole open
	BoundIP    []netip.Prefix // where REGISTERs may come from; empty = anywhere (P-29)
	ByNumber   bool           // the Request-URI has the called number as its user, not the contact's
}

// RegistrationSpec is the registration of a MemberSpec.
type RegistrationSpec struct {
	AOR        string   `yaml:"aor" json:"aor"`                                     // sip:user@host
	Users      []string `yaml:"users,omitempty" json:"users,omitempty"`             // digest users; default the AOR's user
	Contacts   int      `yaml:"contacts,omitempty" json:"contacts,omitempty"`       // most bindings; default 10
	MinExpires Duration `yaml:"min_expires,omitempty" json:"min_expires,omitempty"` // default 60s
	MaxExpires Duration `yaml:"max_expires,omitempty" json:"max_expires,omitempty"` // default 1h
	NATExpires Duration `yaml:"nat_expires,omitempty" json:"nat_expires,omitempty"` // cap for UDP behind a NAT; default 60s
	BoundIP    []string `yaml:"bound_ip,omitempty" json:"bound_ip,omitempty"`       // addresses or CIDRs; default anywhere
	RequestURI string   `yaml:"request_uri,omitempty" json:"request_uri,omitempty"` // contact (default) or number
}
