package trunkgroup

import (
	"cmp"
	"strings"
)

// claim is who has a source tuple: at most one provider and one customer.
type claim struct {
	provider, customer string // paths
}

// sources checks the tuples of all groups together. The same tuple in two
// groups is a fault, except provider and customer on one tuple (DEC-18).
func (v *validator) sources() {
	claims := make(map[sourceTuple]claim)
	for i := range v.document.TrunkGroups {
		g := &v.document.TrunkGroups[i]
		group := index("trunk_groups", i)
		for j := range g.Sources {
			v.source(index(group+".sources", j), &g.Sources[j])
		}
		own := make(map[sourceTuple]bool)
		for _, ref := range g.tuples() {
			v.claim(claims, own, ref, group, g)
		}
	}
}

func (v *validator) claim(claims map[sourceTuple]claim, own map[sourceTuple]bool, ref sourceRef, group string, g *GroupSpec) {
	path := group + "." + ref.path
	if own[ref.tuple] {
		if len(g.Sources) > 0 {
			v.faults.add(path, "the group has this source already", "take it out")
		}
		return
	}
	own[ref.tuple] = true
	c := claims[ref.tuple]
	mine := &c.customer
	if g.Role == PSTNProvider {
		mine = &c.provider
	}
	if *mine == "" {
		*mine = path
		claims[ref.tuple] = c
		return
	}
	remedy := "tell them apart by port, transport, local or tech_prefix, or remove one"
	if len(g.Sources) == 0 {
		remedy = "list the sources of one of the two carriers: a carrier without sources is known by its members' addresses"
	}
	v.faults.addf(path, remedy, "is the same source as %s", *mine)
}

func (v *validator) source(path string, s *SourceSpec) {
	v.transport(path+".transport", s.Transport)
	if s.IP == "" {
		v.faults.add(path+".ip", "is missing", "write an address or a CIDR")
	} else if _, err := parseNetwork(s.IP); err != nil {
		v.faults.add(path+".ip", err.Error(), "write an address like 198.51.100.10 or a network like 198.51.100.0/28")
	}
	transport := cmp.Or(s.Transport, UDP)
	switch {
	case s.Port < 0 || s.Port > 65535:
		v.faults.addf(path+".port", "use 1 to 65535; 1 means any", "%d is not a port", s.Port)
	case s.Port > 1 && transport != UDP:
		v.faults.addf(path+".port", "take it out: a client connects from any port", "%d cannot be matched over %s (P-26)", s.Port, transport)
	}
	if s.Local != "" {
		if _, err := parseAddress(s.Local, transport); err != nil {
			v.faults.add(path+".local", err.Error(), `write the listener's address and port, like "192.0.2.10:5060"`)
		}
	}
	v.techPrefix(path+".tech_prefix", s.TechPrefix)
}

// techPrefix checks a start of the Request-URI's user.
func (v *validator) techPrefix(path, s string) {
	if len(s) > 32 || strings.Trim(s, "0123456789#*+") != "" {
		v.faults.addf(path, "use at most 32 of: digits # * +", "%q is not a tech prefix", s)
	}
}
