package importer

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/tandem-sbc/tandem/importer/tree"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// SiphonOptions say of Siphon's gateways what its file does not.
type SiphonOptions struct {
	Target
	// Role of the groups; default pstn-provider. Roles are for single groups.
	Role  trunkgroup.Role
	Roles map[string]trunkgroup.Role
	// Realm of the carriers' challenges, for destinations with auth.
	Realm string
}

// siphon is one import.
type siphon struct {
	*Result
	o      SiphonOptions
	file   string
	root   *tree.Node
	taken  names
	groups map[string]string // their names there, and here
}

// Siphon imports the gateway groups of siphon.yaml, and what of lcr, numbering and
// number_policies has to do with them.
func Siphon(inputs []Input, o SiphonOptions) (*Result, error) {
	if o.Role == 0 {
		o.Role = trunkgroup.PSTNProvider
	}
	s := &siphon{Result: newResult(o.Target), o: o, taken: names{}, groups: map[string]string{}}
	for _, in := range inputs {
		docs, err := parse(in)
		if err != nil {
			return nil, err
		}
		for _, root := range docs {
			s.file, s.root = in.Name, root
			s.document()
		}
	}
	return s.Result, s.settle()
}

func parse(in Input) ([]*tree.Node, error) {
	if len(in.Text) > MaxInput {
		return nil, fmt.Errorf("%s has more than %d octets", in.Name, MaxInput)
	}
	docs, err := tree.Parse(in.Text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	return docs, nil
}

func (s *siphon) at(n *tree.Node) place {
	if n == nil {
		return place{file: s.file}
	}
	return place{s.file, n.Line}
}

// document imports one YAML document.
func (s *siphon) document() {
	for _, n := range s.root.At("gateway", "groups").List() {
		s.group(n)
	}
	s.lcr()
	for _, key := range s.root.Keys() {
		switch key {
		case "gateway", "lcr", "numbering", "number_policies":
			continue
		}
		n := s.root.At(key)
		n.Pass()
		s.Report.elsewhere(s.at(n), key, "is no part of the gateways: listeners, timers and logs stand in the node file, and scripts are not read")
	}
	s.root.Rest(func(path string, n *tree.Node) {
		s.Report.lost(s.at(n), path, "is no key that is known here", "")
	})
}

// text returns a scalar with its variables of the environment: ${NAME:-default}
// is the default.
func (s *siphon) text(n *tree.Node) string {
	text := n.Text()
	begin, rest, ok := strings.Cut(text, "${")
	if !ok {
		return text
	}
	variable, end, ok := strings.Cut(rest, "}")
	if !ok {
		return text
	}
	name, otherwise, found := strings.Cut(variable, ":-")
	if !found {
		s.Report.lost(s.at(n), "${"+name+"}", "is a variable of the environment that was not there", "put its value into the file before the import")
		return ""
	}
	s.Report.adapted(s.at(n), "${"+name+"}", "", "is a variable of the environment; its default is taken")
	return begin + otherwise + end
}

func (s *siphon) role(name string) trunkgroup.Role {
	if r := s.o.Roles[name]; r != 0 {
		return r
	}
	return s.o.Role
}

// group makes a trunk group of a gateway group.
func (s *siphon) group(n *tree.Node) {
	name := s.text(n.At("name"))
	if s.groups[name] != "" {
		s.Report.lost(s.at(n), "group "+name, "stands twice", "merge the two")
		n.Pass()
		return
	}
	g := trunkgroup.GroupSpec{Name: s.taken.pick(nameOf(name, "group")), Role: s.role(name)}
	s.groups[name] = g.Name
	s.from[g.Name] = s.at(n)
	s.Report.same(s.at(n), "group "+name, g.Name)
	if name != g.Name {
		s.comment(g.Name, "Group "+name+" of Siphon.")
	}
	s.algorithm(&g, n.At("algorithm"))
	g.Monitoring = s.probes(&g, n.At("probe"))
	s.numbering(&g)
	s.causes(&g, n.At("reroute_causes"))
	if s.root.At("lcr").IsMap() {
		g.MaxAttempts = 1
		s.Report.same(s.at(n), "group "+name+" in a route", g.Name+": max_attempts 1; a route that fails is followed by the next one, not by another member of the group")
	}
	s.destinations(&g, n.At("destinations"))
	s.sources(&g, n.At("source_networks"))
	s.addGroup(g)
}

func (s *siphon) algorithm(g *trunkgroup.GroupSpec, n *tree.Node) {
	item := "algorithm " + n.Text()
	switch word := strings.ReplaceAll(strings.ToLower(s.text(n)), "-", "_"); word {
	case "", "weighted":
		g.Distribution.Method = trunkgroup.Weighted
		s.Report.same(s.at(n), item, g.Name+": method weighted")
	case "round_robin", "roundrobin", "rr":
		g.Distribution.Method = trunkgroup.RoundRobin
		s.Report.same(s.at(n), item, g.Name+": method round-robin")
	case "hash", "consistent_hash":
		g.Distribution.Method = trunkgroup.HashCallID
		s.Report.adapted(s.at(n), item, g.Name+": method hash-call-id", "what is hashed stands in the script (key=); the Call-ID stands in. When a far end is out only its own keys move")
	default:
		g.Distribution.Method = trunkgroup.Weighted
		s.Report.lost(s.at(n), item, "is no algorithm of Siphon's; weighted, its default, stands in", "choose a method")
	}
}

// causes are the finals after which a call goes on, from the group, from lcr, or
// the default, which is ours too (S-035, S-036).
func (s *siphon) causes(g *trunkgroup.GroupSpec, own *tree.Node) {
	n := own
	if len(n.List()) == 0 {
		n = s.root.At("lcr", "reroute_causes")
	}
	for _, c := range n.List() {
		code, ok := c.Int()
		item := "reroute cause " + c.Text()
		switch {
		case !ok || code < 300 || code > 699:
			s.Report.lost(s.at(c), item, "is not a code of a failed call", "")
		case code >= 600:
			s.Report.lost(s.at(c), item, "a 6xx ends every hunt (C7)", "")
		case !slices.Contains(g.AdvanceOn, code):
			g.AdvanceOn = append(g.AdvanceOn, code)
		}
	}
	slices.Sort(g.AdvanceOn)
	if len(g.AdvanceOn) > 0 {
		s.Report.same(s.at(n), "reroute_causes", g.Name+": advance_on")
	}
}

// sources are the networks that a group's calls come from, beside its own
// addresses: any port, any transport (G-06).
func (s *siphon) sources(g *trunkgroup.GroupSpec, n *tree.Node) {
	var networks []netip.Prefix
	for _, c := range n.List() {
		p, err := prefixOf(s.text(c))
		if err != nil || p.Bits() == 0 {
			s.Report.lost(s.at(c), "source network "+c.Text(), "is not a network of single hosts", "write a CIDR")
			continue
		}
		if !slices.Contains(networks, p) {
			networks = append(networks, p)
		}
	}
	if len(networks) == 0 {
		return
	}
	if g.Role == trunkgroup.OriginationCustomer {
		s.Report.lost(s.at(n), "source_networks", "calls of a customer come by a termination-customer group", "add one with these sources")
		return
	}
	for _, m := range g.Members {
		if at, err := netip.ParseAddrPort(m.Address); err == nil && !slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(at.Addr()) }) {
			networks = append(networks, netip.PrefixFrom(at.Addr(), at.Addr().BitLen()))
		}
	}
	for _, p := range networks {
		text := p.String()
		if p.IsSingleIP() {
			text = p.Addr().String()
		}
		for _, t := range []trunkgroup.Transport{0, trunkgroup.TCP, trunkgroup.TLS} {
			g.Sources = append(g.Sources, trunkgroup.SourceSpec{IP: text, Transport: t})
		}
	}
	s.Report.same(s.at(n), "source_networks", g.Name+": sources, with the addresses of its members")
}

// prefixOf reads an address or a network, and takes bits of hosts away.
func prefixOf(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		a = a.Unmap().WithZone("")
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%q is no address and no network", clip(text))
	}
	return p.Masked(), nil
}
