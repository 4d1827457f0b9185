package importer

import (
	"cmp"
	"strings"

	"github.com/tandem-sbc/tandem/importer/tree"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// trunk makes a carrier of a Trunk.
func (r *routr) trunk(s *resource) {
	g := trunkgroup.GroupSpec{Name: r.groupName(s.ref), Role: trunkgroup.PSTNProvider}
	g.Distribution.Method = trunkgroup.Failover
	r.from[g.Name] = s.place
	r.comment(g.Name, "Trunk "+cmp.Or(s.name, s.ref)+" of Routr.")
	out := s.spec.At("outbound")
	ids := names{}
	index := make(map[string]string)
	for _, n := range out.At("uris").List() {
		m, item, err := r.outbound(n)
		if err != nil {
			r.Report.lost(place{s.file, n.Line}, s.label()+" "+item, err.Error(), "a URI has host, port, and transport udp, tcp or tls")
			n.Pass()
			continue
		}
		if index[far(&m)] != "" {
			r.Report.lost(place{s.file, n.Line}, s.label()+" "+item, "is the same far end as "+index[far(&m)], "")
			n.Pass()
			continue
		}
		m.ID = ids.pick(nameOf(far(&m), "member"))
		key := g.Name + "/" + m.ID
		index[far(&m)] = key
		r.from[key] = place{s.file, n.Line}
		r.Report.same(place{s.file, n.Line}, s.label()+" "+item, key)
		for _, word := range []string{"priority", "weight"} {
			if v := n.At(word); v != nil {
				r.Report.adapted(place{s.file, v.Line}, s.label()+" "+word+" "+v.Text(), key, "Routr knows it and does not go by it: members are tried in their order")
			}
		}
		m.Account = r.account(s, out, n, &m, key)
		g.Members = append(g.Members, m)
	}
	r.inbound(s, &g)
	r.Report.same(s.place, s.label(), g.Name)
	r.trunks[s.ref] = g.Name
	r.addGroup(g)
}

// outbound reads one entry of outbound.uris.
func (r *routr) outbound(n *tree.Node) (trunkgroup.MemberSpec, string, error) {
	m := trunkgroup.MemberSpec{Site: r.site(), Disabled: !n.At("enabled").Bool(true)}
	uri := n.At("uri")
	if uri == nil {
		uri = n
	}
	text := uri.Text()
	if uri.IsMap() {
		text = uri.At("host").Text()
		if strings.Contains(text, ":") {
			text = "[" + strings.Trim(text, "[]") + "]"
		}
		text = "sip:" + text
		if port := uri.At("port").Text(); port != "" {
			text += ":" + port
		}
		if t := uri.At("transport").Text(); t != "" {
			text += ";transport=" + t
		}
	}
	u, err := parseURI(text)
	if err != nil {
		return m, text, err
	}
	return m, text, u.member(&m, true)
}

// account is what a trunk logs in with.
func (r *routr) account(s *resource, out, uri *tree.Node, m *trunkgroup.MemberSpec, key string) *trunkgroup.AccountSpec {
	ref := out.At("credentialsRef")
	register := out.At("sendRegister").Bool(false)
	user := first(uri, []string{"uri", "user"}, []string{"user"}).Text()
	if ref == nil && !register {
		return nil
	}
	c, ok := r.secretOf(s, ref)
	if !ok {
		return nil
	}
	host, _, _ := strings.Cut(m.FQDN, ":")
	if host == "" {
		host = m.Address[:max(0, strings.LastIndexByte(m.Address, ':'))]
	}
	realm := cmp.Or(r.o.TrunkRealms[s.ref], strings.Trim(host, "[]"))
	h := r.hash(c.username, realm, c.password)
	why := "only challenges of realm " + realm + " are answered"
	if r.o.TrunkRealms[s.ref] == "" {
		why += ", which is a guess: look what the carrier's challenge has, and say --trunk-realm " + s.ref + "=REALM"
	}
	r.Report.adapted(s.place, s.label()+" outbound.credentialsRef", key+": account", why)
	return &trunkgroup.AccountSpec{
		AOR: "sip:" + cmp.Or(user, c.username) + "@" + host, Username: c.username, Realm: realm, Register: register,
		HA1MD5: h.HA1MD5, HA1SHA256: h.HA1SHA256, HA1SHA512256: h.HA1SHA512256,
	}
}

// inbound says where the calls of a carrier come from. Routr knows a trunk by the
// host that its calls name; here it is known by its addresses, each of which is of
// one carrier.
func (r *routr) inbound(s *resource, g *trunkgroup.GroupSpec) {
	in := s.spec.At("inbound")
	if uri := in.At("uri").Text(); uri != "" {
		r.Report.elsewhere(s.place, s.label()+" inbound.uri "+uri, "a carrier is known by its addresses; the name goes into sip.domains of the node files")
	}
	if ref := in.At("credentialsRef"); ref.Text() != "" {
		r.Report.lost(place{s.file, ref.Line}, s.label()+" inbound.credentialsRef", "carriers are known by their addresses, not by digest", "list its addresses as sources")
	}
	acl := r.aclOf(s, in.At("accessControlListRef"))
	g.ACL.Deny = acl.Deny
	for _, n := range acl.Allow {
		if other := r.networks[n]; other != "" {
			r.Report.adapted(s.place, s.label()+" "+n, "", "calls from there are known as those of "+other+"; where they go is decided by the called number")
			continue
		}
		r.networks[n] = g.Name
		for _, t := range []trunkgroup.Transport{0, trunkgroup.TCP, trunkgroup.TLS} {
			g.Sources = append(g.Sources, trunkgroup.SourceSpec{IP: n, Transport: t})
		}
	}
}
