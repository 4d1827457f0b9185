package trunkgroup

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"

	"github.com/gaissmai/bart"
)

// SourceKey is what is known of a request before anybody is identified.
type SourceKey struct {
	Local     netip.AddrPort // our address that received it
	Source    netip.AddrPort // where it came from
	Transport Transport
	User      []byte // user of the Request-URI, for tech prefixes
}

// SourceMatch says who sent a request. Provider and Customer are both set only
// when a carrier is also a customer on one tuple; then the called number
// decides: a number that an origination group owns makes it inbound, any other
// outbound (DEC-18).
type SourceMatch struct {
	Provider *Group
	Customer *Group
	Prefix   string // tech prefix that matched; to be removed from the user
}

// sourceIndex is the one index over the sources of all roles (DEC-18).
type sourceIndex struct {
	networks bart.Table[*network]
	count    int
}

// network holds the tuples of one CIDR, the most specific first. When none of
// them fits, the next wider CIDR is asked.
type network struct {
	tuples []tuple
	wider  *network
}

// tuple is one source (P-28).
type tuple struct {
	sourceTuple
	match SourceMatch
}

// fits tells whether a request comes from this source, and may.
func (t *tuple) fits(k *SourceKey) bool { return t.covers(k) && t.admits(k.Source.Addr()) }

// admits asks the access lists of those whose source it is, of both when a
// carrier is a customer as well.
func (t *tuple) admits(a netip.Addr) bool {
	return (t.match.Provider == nil || t.match.Provider.ACL.Admits(a)) &&
		(t.match.Customer == nil || t.match.Customer.ACL.Admits(a))
}

func (t *tuple) covers(k *SourceKey) bool {
	return t.transport == k.Transport &&
		(t.port == 0 || t.port == k.Source.Port()) &&
		(!t.local.IsValid() || t.local == k.Local) &&
		(t.techPrefix == "" || bytes.HasPrefix(k.User, []byte(t.techPrefix)))
}

// MatchSource returns who sent a request. The most specific tuple wins,
// whatever its role (DEC-18): the longest CIDR, then a port before any port,
// then a local address before any, then the longest tech prefix. A group whose
// ACL keeps the address out is not asked. It does not allocate.
func (t *Table) MatchSource(k SourceKey) (SourceMatch, bool) {
	tuple, _ := t.sources.find(&k)
	if tuple == nil {
		return SourceMatch{}, false
	}
	return tuple.match, true
}

func (x *sourceIndex) find(k *SourceKey) (*tuple, *network) {
	k.Local = netip.AddrPortFrom(k.Local.Addr().Unmap(), k.Local.Port())
	at, _ := x.networks.Lookup(k.Source.Addr().Unmap().WithZone(""))
	for ; at != nil; at = at.wider {
		for i := range at.tuples {
			if at.tuples[i].fits(k) {
				return &at.tuples[i], at
			}
		}
	}
	return nil, nil
}

// sourceTuple is the identity of a tuple; two groups may not share one, except
// a provider and a customer (DEC-18).
type sourceTuple struct {
	network    netip.Prefix
	port       uint16 // 0 = any
	transport  Transport
	techPrefix string
	local      netip.AddrPort // of ours; zero = any
}

func buildSources(sources map[sourceTuple]SourceMatch) *sourceIndex {
	x := &sourceIndex{}
	byNetwork := make(map[netip.Prefix]*network)
	for s, m := range sources {
		n := byNetwork[s.network]
		if n == nil {
			n = &network{}
			byNetwork[s.network] = n
			x.networks.Insert(s.network, n)
		}
		m.Prefix = s.techPrefix
		n.tuples = append(n.tuples, tuple{s, m})
	}
	for prefix, n := range byNetwork {
		slices.SortFunc(n.tuples, moreSpecific)
		if prefix.Bits() > 0 {
			n.wider, _ = x.networks.LookupPrefix(netip.PrefixFrom(prefix.Addr(), prefix.Bits()-1).Masked())
		}
	}
	x.count = len(sources)
	return x
}

func moreSpecific(a, b tuple) int {
	return cmp.Or(
		cmp.Compare(anyPort(a), anyPort(b)),
		cmp.Compare(anyLocal(a), anyLocal(b)),
		cmp.Compare(len(b.techPrefix), len(a.techPrefix)),
		cmp.Compare(a.transport, b.transport),
		cmp.Compare(a.port, b.port),
		a.local.Compare(b.local),
		cmp.Compare(a.techPrefix, b.techPrefix),
	)
}

func anyPort(t tuple) int {
	if t.port == 0 {
		return 1
	}
	return 0
}

func anyLocal(t tuple) int {
	if !t.local.IsValid() {
		return 1
	}
	return 0
}
