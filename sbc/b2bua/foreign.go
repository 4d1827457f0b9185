package b2bua

import (
	"maps"
	"net/netip"
	"strings"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// DomainCheck says whose calls must name one of our hosts in their Request-URI
// and Route: nobody else's calls are ours to relay.
type DomainCheck uint8

const (
	// DomainsOfUsers checks who is known by digest. Trunks that are known by
	// their address are believed: carriers write hosts of their own.
	DomainsOfUsers DomainCheck = iota
	// DomainsOfAll checks trunks too.
	DomainsOfAll
	// DomainsOfNobody checks nobody. Where a call goes is never read from a
	// host or a Route, whatever is set here.
	DomainsOfNobody
)

// foreign reports whether an INVITE asks for a host or a way that is not ours
// (an open relay would follow it). The caller is identified: a stranger learns
// nothing of what we serve.
func (s *Shard) foreign(p *Packet, who *caller) bool {
	if who.token != nil || !s.cfg.Domains.asks(who.user != "") {
		return false
	}
	table, _ := s.env.Routing()
	m := p.Message
	uri, err := sip.ParseURI(m.RequestURI())
	if err != nil || uri.Scheme != "tel" && !s.ours(table, p.Local, uri.Host) {
		return true
	}
	found := false
	m.EachOf(sip.Route, func(v []byte) bool {
		sip.EachValue(v, func(one []byte) bool {
			a, err := sip.ParseNameAddr(one)
			if err == nil {
				uri, err = sip.ParseURI(a.URI)
			}
			found = err != nil || !s.ours(table, p.Local, uri.Host)
			return !found
		})
		return !found
	})
	return found
}

// asks tells whether the check is of those who are known by digest, or else by
// their address.
func (d DomainCheck) asks(digest bool) bool {
	return d == DomainsOfAll || d == DomainsOfUsers && digest
}

// Foreign reports whether a call to a host that is received at local is refused,
// since neither the node nor the document serves that host: for those who ask what
// would become of a call.
func (s *Shard) Foreign(table *trunkgroup.Table, local netip.AddrPort, digest bool, host []byte) bool {
	return s.cfg.Domains.asks(digest) && !s.ours(table, local, host)
}

// ours reports whether a host is this node's, by address or by name, or a domain
// that the document serves. Ports do not matter.
func (s *Shard) ours(table *trunkgroup.Table, local netip.AddrPort, host []byte) bool {
	if _, ok := s.cfg.Hosts[string(host)]; ok {
		return true
	}
	if addr, err := netip.ParseAddr(strings.Trim(string(host), "[]")); err == nil {
		_, ok := s.cfg.Hosts[HostOf(addr)]
		return ok || addr.Unmap() == local.Addr().Unmap()
	}
	if _, ok := s.cfg.Hosts[strings.ToLower(string(host))]; ok {
		return true
	}
	return table != nil && table.ServesDomain(string(host))
}

// HostOf writes an address as it stands in a URI, for Config.Hosts.
func HostOf(a netip.Addr) string {
	if a = a.Unmap().WithZone(""); a.Is6() {
		return "[" + a.String() + "]"
	}
	return a.String()
}

// withAdvertised adds the hosts that the listeners tell far ends.
func withAdvertised(hosts map[string]struct{}, listeners []Listener) map[string]struct{} {
	all := make(map[string]struct{}, len(hosts)+len(listeners))
	maps.Copy(all, hosts)
	for _, l := range listeners {
		host := l.Advertise
		if at, err := netip.ParseAddrPort(host); err == nil {
			host = HostOf(at.Addr())
		} else if name, _, ok := strings.Cut(host, ":"); ok {
			host = strings.ToLower(name)
		}
		all[host] = struct{}{}
	}
	return all
}
