package importer

import (
	"fmt"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/importer/tree"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// destinations makes the members of a group.
func (s *siphon) destinations(g *trunkgroup.GroupSpec, list *tree.Node) {
	ids := names{}
	index := make(map[string]string)
	for _, n := range list.List() {
		m, item, err := s.destination(n)
		if err != nil {
			s.Report.lost(s.at(n), item, err.Error(), "write uri: sip:HOST:PORT;transport=TRANSPORT, and address: IP:PORT where it goes elsewhere")
			n.Pass()
			continue
		}
		if first := index[far(&m)]; first != "" {
			s.Report.lost(s.at(n), item, "is the same far end as "+first, "give that one more weight")
			n.Pass()
			continue
		}
		m.ID = ids.pick(nameOf(far(&m), "member"))
		key := g.Name + "/" + m.ID
		index[far(&m)] = key
		s.from[key] = s.at(n)
		s.Report.same(s.at(n), item, key)
		s.ranks(&m, n, key)
		for _, name := range n.At("attrs").Keys() {
			attr := name + "=" + n.At("attrs", name).Text()
			s.Report.lost(s.at(n), "attrs "+attr, "was for the script", "it stands as a comment beside the member")
			s.comment(key, attr)
		}
		m.Account = s.account(n.At("auth"), &m, key)
		g.Members = append(g.Members, m)
	}
}

// destination reads where a member is: its address, or else the host of its URI.
func (s *siphon) destination(n *tree.Node) (trunkgroup.MemberSpec, string, error) {
	m := trunkgroup.MemberSpec{Site: s.site()}
	text := s.text(n.At("uri"))
	u, err := parseURI(text)
	if err != nil {
		return m, "destination " + text, err
	}
	if t := s.text(n.At("transport")); t != "" {
		u.transport = strings.ToLower(t)
	}
	name := u.host
	if address := s.text(n.At("address")); address != "" {
		to, err := parseURI("sip:" + address)
		if err != nil {
			return m, "destination " + text, fmt.Errorf("address %s: %w", clip(address), err)
		}
		u.host, u.port = to.host, to.port
	}
	err = u.member(&m, true)
	if m.Transport == trunkgroup.TLS && m.Address != "" && !strings.ContainsAny(name, ":") && strings.Trim(name, "0123456789.") != "" {
		m.ServerName = name
	}
	return m, "destination " + text, err
}

// ranks reads weight and priority; both systems begin with the lowest priority.
func (s *siphon) ranks(m *trunkgroup.MemberSpec, n *tree.Node, key string) {
	const most = 65535
	if w, ok := n.At("weight").Int(); ok && w > 0 && w <= most {
		m.Weight = w
	} else if n.At("weight") != nil {
		s.Report.lost(s.at(n), "weight "+n.At("weight").Text(), "is not 1 to 65535; "+key+" has 1", "set it, or disable the member")
	}
	if p, ok := n.At("priority").Int(); ok && p >= 0 && p <= most {
		m.Priority = p
	} else if n.At("priority") != nil {
		s.Report.lost(s.at(n), "priority "+n.At("priority").Text(), "is not 0 to 65535", "set it")
	} else {
		m.Priority = 1
	}
}

// account takes over what a destination lets us log in with, without its password.
func (s *siphon) account(n *tree.Node, m *trunkgroup.MemberSpec, key string) *trunkgroup.AccountSpec {
	if !n.IsMap() {
		return nil
	}
	user, password, ha1 := s.text(n.At("username")), n.At("password").Text(), n.At("ha1").Text()
	host, _, _ := strings.Cut(m.FQDN, ":")
	if host == "" {
		host = m.Address[:max(0, strings.LastIndexByte(m.Address, ':'))]
	}
	a := &trunkgroup.AccountSpec{AOR: "sip:" + user + "@" + host, Realm: s.o.Realm}
	switch algorithm := strings.ToLower(n.At("ha1_algorithm").Text()); {
	case a.Realm == "":
		s.Report.lost(s.at(n), key+" auth", "the realm of the carrier's challenge is not known: hashes are made for it", "give it: --realm REALM")
		return nil
	case strings.Contains(password+ha1, "${"):
		s.Report.lost(s.at(n), key+" auth", "the secret is a variable of the environment", "make the hashes with tandem credential hash, and add an account")
		return nil
	case password != "" && s.Result.hash != nil:
		c := s.hash(user, a.Realm, password)
		a.HA1MD5, a.HA1SHA256, a.HA1SHA512256 = c.HA1MD5, c.HA1SHA256, c.HA1SHA512256
	case ha1 != "" && (algorithm == "" || algorithm == "md5"):
		a.HA1MD5 = ha1
	case ha1 != "" && algorithm == "sha-256":
		a.HA1SHA256 = ha1
	case ha1 != "" && algorithm == "sha-512-256":
		a.HA1SHA512256 = ha1
	default:
		s.Report.lost(s.at(n), key+" auth", "there is no password and no hash that can be taken over", "make the hashes with tandem credential hash, and add an account")
		return nil
	}
	s.Report.adapted(s.at(n), key+" auth", key+": account", "only challenges of realm "+a.Realm+" are answered")
	return a
}

// probes are the profile siphon with the group's own times (G-01).
func (s *siphon) probes(g *trunkgroup.GroupSpec, n *tree.Node) trunkgroup.MonitoringSpec {
	interval, okInterval := n.At("interval_secs").Int()
	threshold, okThreshold := n.At("failure_threshold").Int()
	for _, name := range []string{"from_user", "from_domain"} {
		if v := n.At(name); v != nil {
			s.Report.lost(s.at(v), "probe."+name+" "+v.Text(), "probes come from the node's own address", "have the far end answer OPTIONS from there")
		}
	}
	if !n.At("enabled").Bool(true) {
		s.Report.same(s.at(n), "probe.enabled false", g.Name+": no monitoring")
		return trunkgroup.MonitoringSpec{}
	}
	m := trunkgroup.MonitoringSpec{Profile: "siphon"}
	if okInterval && interval > 0 && interval < 1<<20 {
		m.Interval = trunkgroup.Duration(time.Duration(interval) * time.Second)
	}
	if okThreshold && threshold > 0 {
		m.DownAfter = min(threshold, 1000)
	}
	s.Report.same(s.at(n), "probe", g.Name+": monitoring, profile siphon")
	return m
}
