package trunkgroup

import "strings"

// ServesDomain reports whether a host is one that the document names as ours: the
// realm of a credential or the domain of an address of record. It allocates only
// for a host in upper case.
func (t *Table) ServesDomain(host string) bool {
	if t.RealmOf(host) != "" {
		return true
	}
	if _, ok := t.domains[host]; ok {
		return true
	}
	_, ok := t.domains[strings.ToLower(host)]
	return ok
}

// aorDomains are the domains of the addresses of record.
func (t *Table) aorDomains() map[string]struct{} {
	domains := make(map[string]struct{})
	for aor := range t.aors {
		if _, _, host, err := ParseAOR(aor); err == nil {
			domains[host] = struct{}{}
		}
	}
	return domains
}
