package trunkgroup

import (
	"net/netip"

	"github.com/gaissmai/bart"
)

// ACLSpec says which addresses a trunk group takes callers and registrations
// from, as addresses or CIDRs. The longest one that covers an address decides;
// an address that none covers is denied when there is an allow list.
type ACLSpec struct {
	Allow []string `yaml:"allow,omitempty" json:"allow,omitempty"`
	Deny  []string `yaml:"deny,omitempty" json:"deny,omitempty"`
}

// ACL is a compiled access list. It never changes. A nil ACL admits everybody.
type ACL struct {
	networks bart.Table[bool] // whether it is allowed
	closed   bool             // who is in no network is denied
}

// NewACL makes an access list; nil when both lists are empty. A network in both
// is denied.
func NewACL(allow, deny []netip.Prefix) *ACL {
	if len(allow)+len(deny) == 0 {
		return nil
	}
	a := &ACL{closed: len(allow) > 0}
	for _, p := range allow {
		a.networks.Insert(p.Masked(), true)
	}
	for _, p := range deny {
		a.networks.Insert(p.Masked(), false)
	}
	return a
}

// Admits tells whether an address may come in. It does not allocate.
func (a *ACL) Admits(addr netip.Addr) bool {
	if a == nil {
		return true
	}
	allowed, found := a.networks.Lookup(addr.Unmap().WithZone(""))
	if !found {
		return !a.closed
	}
	return allowed
}

func compileACL(s ACLSpec) *ACL { return NewACL(networks(s.Allow), networks(s.Deny)) }

// networks reads addresses and CIDRs that Validate has seen.
func networks(list []string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range list {
		if p, err := parseNetwork(text); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func (v *validator) acl(path string, s *ACLSpec) {
	allowed := make(map[netip.Prefix]bool)
	for i, text := range s.Allow {
		if p, ok := v.network(index(path+".allow", i), text); ok {
			allowed[p] = true
		}
	}
	for i, text := range s.Deny {
		at := index(path+".deny", i)
		if p, ok := v.network(at, text); ok && allowed[p] {
			v.faults.addf(at, "take it out of one of the two lists", "%s is allowed as well", p)
		}
	}
}

// network checks one entry of a list of addresses.
func (v *validator) network(path, text string) (netip.Prefix, bool) {
	p, err := parseNetwork(text)
	if err != nil {
		v.faults.add(path, err.Error(), "write an address like 198.51.100.10 or a network like 198.51.100.0/28")
	}
	return p, err == nil
}

// keptOut says whose source a caller would be if the group's access list let it
// in.
func (e *explainer) keptOut(k *SourceKey) {
	at, _ := e.t.sources.networks.Lookup(k.Source.Addr().Unmap().WithZone(""))
	for ; at != nil; at = at.wider {
		for i := range at.tuples {
			if at.tuples[i].covers(k) {
				e.say("source", "%s fits, but the acl of its group keeps %s out", at.tuples[i].describe(), k.Source.Addr())
			}
		}
	}
}
