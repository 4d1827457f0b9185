package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tandem-sbc/tandem/importer/tree"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// RoutrOptions say of Routr's resources what they do not.
type RoutrOptions struct {
	Target
	// Realm is that of peers' digests, and the host of addresses of record that have
	// the scheme backend: and so no host. Default: the host of the address, and
	// backend.local. Agents have the realm of their domain.
	Realm string
	// TrunkRealms are the realms of carriers' challenges by the refs of their
	// trunks. Default: the host that the trunk names.
	TrunkRealms map[string]string
}

// resource is one of Routr's.
type resource struct {
	place
	kind string // lower case
	ref  string
	name string
	root *tree.Node
	spec *tree.Node
}

// label is how the report calls a resource.
func (s *resource) label() string { return s.kind + " " + s.ref }

// secret is what a Credentials resource holds.
type secret struct{ username, password string }

// routr is one import.
type routr struct {
	*Result
	o          RoutrOptions
	byKind     map[string][]*resource
	seen       map[string]bool // kind and ref
	acls       map[string]trunkgroup.ACLSpec
	secrets    map[string]secret
	trunks     map[string]string          // groups by ref
	numbers    map[string]*did            // by ref
	reached    map[string][]*did          // by address of record
	domains    map[string]*routrDomain    // by ref
	patterns   map[string]string          // labels of Numbers by their number
	networks   map[string]string          // groups of sources by network
	taken      names                      // of groups
	customers  map[string]bool            // of customers
	phones     map[string]*phones         // by customer
	registered map[string]bool            // addresses of record
	users      map[string]map[string]bool // users by realm
}

// kindOf reads the kind of a resource, which may have another name.
func kindOf(word string) string {
	switch word = strings.ToLower(word); word {
	case "credential":
		return "credentials"
	case "acl":
		return "accesscontrollist"
	}
	return word
}

// Routr imports resources of Routr, version 2: Agents, Domains, Numbers, Trunks,
// Peers, Credentials and AccessControlLists, one or several in each document or
// list.
func Routr(inputs []Input, o RoutrOptions) (*Result, error) {
	r := &routr{
		Result: newResult(o.Target), o: o, byKind: map[string][]*resource{}, seen: map[string]bool{}, acls: map[string]trunkgroup.ACLSpec{},
		secrets: map[string]secret{}, trunks: map[string]string{}, numbers: map[string]*did{}, reached: map[string][]*did{},
		domains: map[string]*routrDomain{}, networks: map[string]string{}, patterns: map[string]string{}, taken: names{}, customers: map[string]bool{},
		phones: map[string]*phones{}, registered: map[string]bool{}, users: map[string]map[string]bool{},
	}
	for _, in := range inputs {
		docs, err := parse(in)
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			r.collect(in.Name, doc)
		}
	}
	r.each("accesscontrollist", r.acl)
	r.each("credentials", r.credentials)
	r.each("trunk", r.trunk)
	r.each("number", r.number)
	r.each("domain", r.domain)
	r.each("peer", r.peer)
	r.each("agent", r.agent)
	r.finish()
	return r.Result, r.settle()
}

// collect takes the resources of one document.
func (r *routr) collect(file string, n *tree.Node) {
	list := n.List()
	if list == nil {
		list = []*tree.Node{n}
	}
	for _, n := range list {
		s := &resource{place: place{file, n.Line}, kind: kindOf(n.At("kind").Text()), ref: n.At("ref").Text(), root: n, spec: n.At("spec")}
		s.name = n.At("metadata", "name").Text()
		version := n.At("apiVersion").Text()
		switch {
		case !n.IsMap() || s.kind == "":
			r.Report.lost(s.place, fmt.Sprintf("line %d", n.Line), "is no resource of Routr: it has no kind", "")
			continue
		case !strings.HasPrefix(version, "v2"):
			r.Report.lost(s.place, s.label(), fmt.Sprintf("apiVersion %q is not read, only v2", clip(version)), "bring it to v2beta1 first")
			continue
		case s.ref == "" || r.seen[s.kind+" "+s.ref]:
			r.Report.lost(s.place, s.label(), "has no ref of its own", "give each resource one")
			continue
		}
		r.seen[s.kind+" "+s.ref] = true
		n.At("metadata").Pass()
		switch s.kind {
		case "agent", "domain", "number", "trunk", "peer", "credentials", "accesscontrollist":
			r.byKind[s.kind] = append(r.byKind[s.kind], s)
		default:
			r.Report.lost(s.place, s.label(), "is no kind of resource that is known here", "")
		}
	}
}

// each imports all resources of a kind, and reports what was not understood.
func (r *routr) each(kind string, fn func(*resource)) {
	for _, s := range r.byKind[kind] {
		fn(s)
	}
}

// finish adds the groups that gather many resources, and reports keys that nobody
// read.
func (r *routr) finish() {
	for _, s := range r.byKind["domain"] {
		if d := r.domains[s.ref]; d != nil && len(d.out.Credentials) > 0 {
			r.addGroup(d.out)
		}
	}
	for _, d := range r.Document.Customers {
		if p := r.phones[d.Name]; p != nil {
			r.addGroup(p.group)
		}
	}
	for _, s := range r.byKind["number"] {
		if d := r.numbers[s.ref]; d != nil && !d.taken {
			r.Report.lost(s.place, s.label()+" "+d.pattern, fmt.Sprintf("no Peer and no Agent that is here has the address %q", clip(d.aor)), "add the number to a group by hand")
		}
	}
	for _, kind := range []string{"accesscontrollist", "credentials", "trunk", "number", "domain", "peer", "agent"} {
		for _, s := range r.byKind[kind] {
			s.root.Rest(func(path string, n *tree.Node) {
				r.Report.lost(place{s.file, n.Line}, s.label()+": "+path, "is no key that is known here", "")
			})
		}
	}
}

// first returns the first of several places where a key may stand.
func first(n *tree.Node, paths ...[]string) *tree.Node {
	for _, p := range paths {
		if v := n.At(p...); v != nil {
			return v
		}
	}
	return nil
}

// customer returns the customer of this name, making it where there is none.
func (r *routr) customer(text string) string {
	name := nameOf(text, "customer")
	if !r.customers[name] {
		r.customers[name] = true
		r.Document.Customers = append(r.Document.Customers, trunkgroup.CustomerSpec{Name: name})
	}
	return name
}

// groupName picks a name for a group.
func (r *routr) groupName(text string) string { return r.taken.pick(nameOf(text, "group")) }

// user hands out each digest user of a realm once.
func (r *routr) user(realm, name string) bool {
	if r.users[realm] == nil {
		r.users[realm] = map[string]bool{}
	}
	if r.users[realm][name] {
		return false
	}
	r.users[realm][name] = true
	return true
}

// sortedUnique sorts texts and takes out what stands twice.
func sortedUnique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
