package trunkgroup

// Table is a compiled document: immutable, swapped whole (DEC-14).
type Table struct {
	version     Version
	document    *Document
	groups      []*Group
	byName      map[string]*Group
	members     []*Member
	byKey       map[string]*Member
	sites       []string
	peers       map[string][]string
	numbers     *NumberIndex
	expressions []numberExpression
	bulk        *NumberTable // beside the document; nil when there is none
	bulkGroups  owners       // of the number table
	sources     *sourceIndex
	credentials map[userKey]credentialRef
	offers      map[string]Offer    // by realm
	realms      map[string]string   // of credentials, by themselves in lower case
	aors        map[string]*Member  // registration members by canonical AOR
	domains     map[string]struct{} // of those
	providers   []*Group
	reached     []*Group // origination-customer groups with numbers
	customers   []*Customer
	plans       []*RoutePlan
	policies    map[string]*WritingPolicy // by name
	dno         *NumberIndex
}

type userKey struct{ realm, username string }

type credentialRef struct {
	credential *Credential
	group      *Group
}

// Version returns the version that the table was compiled with.
func (t *Table) Version() Version { return t.version }

// Document returns the document that the table was compiled from. The caller
// must not change it.
func (t *Table) Document() *Document { return t.document }

// Groups returns all groups in document order. The caller must not change the
// slice.
func (t *Table) Groups() []*Group { return t.groups }

// Group returns the group of this name, or nil.
func (t *Table) Group(name string) *Group { return t.byName[name] }

// RoutePlans returns all route plans in document order. The caller must not change
// the slice.
func (t *Table) RoutePlans() []*RoutePlan { return t.plans }

// Members returns all members; each stands at its Index. The caller must not
// change the slice.
func (t *Table) Members() []*Member { return t.members }

// Member returns the member of this key, "group/member", or nil.
func (t *Table) Member(key string) *Member { return t.byKey[key] }

// Sites returns the names of all sites in document order.
func (t *Table) Sites() []string { return t.sites }

// PeerSites returns the sites that take over the calls of a site, in order of
// preference.
func (t *Table) PeerSites(site string) []string { return t.peers[site] }

// ListsOrigins reports whether the document has a do-not-originate list.
func (t *Table) ListsOrigins() bool { return t.dno.Len() > 0 }

// MayOriginate reports whether a call may show this caller, an E.164 number: it
// is not on the document's list of those that nobody may.
func (t *Table) MayOriginate(e164 []byte) bool {
	_, _, listed := t.dno.Lookup(e164)
	return !listed
}

// MatchCredential returns the digest user and the group that it stands for, or
// nil and nil.
func (t *Table) MatchCredential(realm, username string) (*Credential, *Group) {
	ref := t.credentials[userKey{realm, username}]
	return ref.credential, ref.group
}

// MatchAOR returns the member that registers under a canonical AOR, or nil.
func (t *Table) MatchAOR(aor string) *Member { return t.aors[aor] }

// Providers returns the groups that a customer's call to this number may go to,
// in order: those of the route with the longest prefix in the customer's plan,
// or, without a plan, all pstn-provider groups in document order (P-12). It
// returns nil when the plan has no route for the number. It does not allocate.
func (t *Table) Providers(customer *Group, e164 []byte) []*Group {
	if customer == nil || customer.plan == nil {
		return t.providers
	}
	_, groups := customer.plan.lookup(e164)
	return groups
}
