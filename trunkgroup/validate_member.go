package trunkgroup

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"
)

// maxRank bounds weights and priorities, as in SRV records (RFC 2782).
const maxRank = 65535

func (v *validator) members(group string, g *GroupSpec) {
	ids := make(map[string]int)
	targets := make(map[string]int)
	list := group + ".members"
	for i := range g.Members {
		m := &g.Members[i]
		path := index(list, i)
		if v.name(path+".id", m.ID) {
			v.unique(ids, m.ID, i, path+".id", list)
		}
		if m.Group != "" {
			v.nested(path, g, m, i, targets)
			continue
		}
		if m.Registration != nil {
			v.registration(path, m)
		} else if m.Site == "" {
			v.faults.add(path+".site", "is missing", Suggest("", v.siteNames))
		} else {
			v.knownSite(path+".site", m.Site)
		}
		if target := v.target(path, m); target != "" {
			if first, ok := targets[target]; ok {
				v.faults.addf(path, "remove one of them, or give the first more weight", "is the same far end as %s", index(list, first))
			} else {
				targets[target] = i
			}
		}
		v.dialled(path+".transport", m.Transport)
		v.rank(path+".weight", m.Weight)
		v.rank(path+".priority", m.Priority)
		v.memberLimits(path+".limits", &m.Limits)
		v.account(path, g, m)
		v.direction(path, g, m)
	}
}

// target checks address and fqdn, and returns what tells two far ends apart.
func (v *validator) target(path string, m *MemberSpec) string {
	transport := cmp.Or(m.Transport, UDP)
	if m.ServerName != "" {
		if transport != TLS {
			v.faults.addf(path+".server_name", "take it out, or use transport: tls", "means nothing over %s", transport)
		} else if err := checkHost(m.ServerName); err != nil {
			v.faults.add(path+".server_name", err.Error(), "write the name that the certificate has")
		}
	}
	switch {
	case m.Registration != nil:
		return ""
	case m.Address != "" && m.FQDN != "":
		v.faults.add(path, "has address and fqdn", "keep one of the two")
	case m.Address != "":
		return v.address(path, m.Address, transport, m.Site)
	case m.FQDN != "":
		host, port, err := parseFQDN(m.FQDN)
		if err != nil {
			v.faults.add(path+".fqdn", err.Error(), "write a name like pbx.example.com, or use address")
			return ""
		}
		return fmt.Sprintf("%s %s:%d %s", m.Site, strings.ToLower(host), port, transport)
	default:
		v.faults.add(path, "has neither address nor fqdn nor registration", `add one, like: address: "198.51.100.10:5060"`)
	}
	return ""
}

func (v *validator) address(path, text string, transport Transport, site string) string {
	addr, err := parseAddress(text, transport)
	if err == nil {
		return fmt.Sprintf("%s %s %s", site, addr, transport)
	}
	remedy := `write it like "198.51.100.10:5060" or "[2001:db8::10]:5060"`
	if ip, bad := netip.ParseAddr(text); bad == nil && ip.Is6() {
		remedy = fmt.Sprintf(`write it like "[%s]:%d"`, ip, transport.DefaultPort())
	} else if host, _, bad := parseFQDN(text); bad == nil && strings.Trim(host, "0123456789.") != "" {
		remedy = fmt.Sprintf("for a name write fqdn: %s", text)
	}
	v.faults.add(path+".address", err.Error(), remedy)
	return ""
}

func (v *validator) transport(path string, t Transport) {
	if t > WSS {
		v.faults.addf(path, Suggest("", TransportNames()), "%q cannot be configured", t)
	}
}

// dialled checks the transport of a member: calls to it open the connection.
func (v *validator) dialled(path string, t Transport) {
	switch {
	case t == 0 || t.Dialled():
	case t == WS || t == WSS:
		v.faults.addf(path, "use registration: a phone with a WebSocket registers", "%q cannot be dialled", t)
	default:
		v.faults.addf(path, Suggest("", dialledNames()), "%q cannot be configured", t)
	}
}

func (v *validator) rank(path string, n int) {
	if n < 0 || n > maxRank {
		v.faults.addf(path, "use 0 to 65535", "%d is out of range", n)
	}
}

func (v *validator) memberLimits(path string, l *LimitsSpec) {
	v.bounded(path+".calls", l.Calls)
	v.bounded(path+".cps", l.CPS)
	if l.MaxDuration != 0 {
		v.faults.add(path+".max_duration", "means nothing for a member", "set it in the group's limits")
	}
	if l.EmergencyCPS != 0 {
		v.faults.add(path+".emergency_cps", "means nothing for a member", "set it in the group's limits")
	}
	if len(l.StaticShare) > 0 {
		v.faults.add(path+".static_share", "means nothing for a member", "a member stands in one site only; take it out")
	}
}
