package trunkgroup

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// sourceDocument makes one group per source: "p..." is a provider, everything
// else a customer.
func sourceDocument(sources ...namedSource) *Document {
	d := &Document{Cluster: "test", Sites: []SiteSpec{{Name: "dallas"}}}
	for _, s := range sources {
		g := GroupSpec{Name: s.name, Role: TerminationCustomer, Sources: []SourceSpec{s.SourceSpec}}
		if s.name[0] == 'p' {
			g.Role = PSTNProvider
		}
		d.TrunkGroups = append(d.TrunkGroups, g)
	}
	return d
}

type namedSource struct {
	name string
	SourceSpec
}

func matched(m SourceMatch) string {
	var s string
	if m.Provider != nil {
		s = m.Provider.Name
	}
	if m.Customer != nil {
		s += "+" + m.Customer.Name
	}
	return s + m.Prefix
}

// DEC-18: "One index over all roles; the most specific tuple wins, whatever its
// role." P-10, P-26, P-28: IP, port, transport, tech prefix, our own address.
func TestDEC18_K25_MostSpecificWins(t *testing.T) {
	table := compile(t, sourceDocument(
		namedSource{"provider", SourceSpec{IP: "192.0.2.0/24"}},
		namedSource{"wide", SourceSpec{IP: "192.0.0.0/16", Transport: TCP}},
		namedSource{"host", SourceSpec{IP: "192.0.2.7"}},
		namedSource{"udp5080", SourceSpec{IP: "192.0.2.7", Port: 5080}},
		namedSource{"tech", SourceSpec{IP: "192.0.2.7", Port: 1, TechPrefix: "9001#"}},
		namedSource{"longer", SourceSpec{IP: "192.0.2.7", TechPrefix: "9001#1"}},
		namedSource{"local", SourceSpec{IP: "192.0.2.7", Local: "203.0.113.1:5060"}},
		namedSource{"tls", SourceSpec{IP: "192.0.2.7", Transport: TLS}},
		namedSource{"six", SourceSpec{IP: "2001:db8::/32"}},
		namedSource{"both", SourceSpec{IP: "192.0.2.9"}},
		namedSource{"pboth", SourceSpec{IP: "192.0.2.9"}},
	))
	const local, other = "203.0.113.1:5060", "203.0.113.2:5060"
	for _, c := range []struct {
		source, local string
		transport     Transport
		user          string
		want          string
	}{
		{"192.0.2.1:5060", other, UDP, "+1", "provider"},
		{"192.0.2.7:5060", other, UDP, "+1", "+host"},    // a customer inside a carrier's network
		{"192.0.2.7:5080", other, UDP, "+1", "+udp5080"}, // a port before any port
		{"192.0.2.7:5080", other, UDP, "9001#1", "+udp5080"},
		{"192.0.2.7:5060", other, UDP, "9001#2145550100", "+tech9001#"},
		{"192.0.2.7:5060", other, UDP, "9001#12145550100", "+longer9001#1"},
		{"192.0.2.7:5060", local, UDP, "9001#1", "+local"},
		{"192.0.2.7:40001", other, TLS, "+1", "+tls"},
		{"192.0.2.7:40001", other, TCP, "+1", "+wide"}, // no TCP tuple nearer
		{"192.0.9.9:40001", other, TCP, "+1", "+wide"},
		{"192.0.9.9:5060", other, UDP, "+1", ""},
		{"[::ffff:192.0.2.7]:5060", other, UDP, "+1", "+host"}, // as a dual-stack socket shows it
		{"[2001:db8::5]:5060", other, UDP, "+1", "+six"},
		{"[2001:db9::5]:5060", other, UDP, "+1", ""},
		{"192.0.2.9:5060", other, UDP, "+1", "pboth+both"},
	} {
		m, ok := table.MatchSource(SourceKey{addrPort(c.local), addrPort(c.source), c.transport, []byte(c.user)})
		if got := matched(m); got != c.want || ok != (c.want != "") {
			t.Errorf("%s over %s at %s for %s: %q, want %q", c.source, c.transport, c.local, c.user, got, c.want)
		}
	}
}

// A carrier that lists no sources is known by its members: with their port on
// UDP, with any port on streams (P-26).
func TestProviderKnownByMembers(t *testing.T) {
	d := testDocument()
	d.TrunkGroups[2].Members = append(d.TrunkGroups[2].Members, MemberSpec{ID: "s", Site: "dallas", Address: "192.0.2.2", Transport: TLS})
	table := compile(t, d)
	for _, c := range []struct {
		source    string
		transport Transport
		want      string
	}{
		{"192.0.2.1:5060", UDP, "carrier-a"},
		{"192.0.2.1:5070", UDP, ""},
		{"192.0.2.2:40000", TLS, "carrier-a"},
		{"192.0.2.2:5061", UDP, ""},
	} {
		m, _ := table.MatchSource(SourceKey{addrPort("203.0.113.1:5060"), addrPort(c.source), c.transport, nil})
		if got := matched(m); got != c.want {
			t.Errorf("%s over %s: %q, want %q", c.source, c.transport, got, c.want)
		}
	}
}

// The index says what a search through all tuples would say.
func TestMatchSourceProperty(t *testing.T) {
	ips := []string{"10.0.0.0/8", "10.1.0.0/16", "10.1.1.0/24", "10.1.1.1", "10.1.1.2", "10.2.0.0/16"}
	rapid.Check(t, func(t *rapid.T) {
		claims := make(map[sourceTuple]SourceMatch)
		for i := range rapid.IntRange(0, 12).Draw(t, "tuples") {
			s := SourceSpec{
				IP:         rapid.SampledFrom(ips).Draw(t, "ip"),
				Transport:  rapid.SampledFrom([]Transport{UDP, TCP}).Draw(t, "transport"),
				TechPrefix: rapid.SampledFrom([]string{"", "9", "91"}).Draw(t, "tech"),
				Local:      rapid.SampledFrom([]string{"", "203.0.113.1:5060"}).Draw(t, "local"),
			}
			if s.Transport == UDP {
				s.Port = rapid.SampledFrom([]int{0, 5060}).Draw(t, "port")
			}
			tuple, _ := s.tuple()
			claims[tuple] = SourceMatch{Customer: &Group{Index: i}}
		}
		x := buildSources(claims)
		k := SourceKey{
			Local:     addrPort(rapid.SampledFrom([]string{"203.0.113.1:5060", "203.0.113.2:5060"}).Draw(t, "at")),
			Source:    addrPort(rapid.SampledFrom([]string{"10.1.1.1:5060", "10.1.1.2:5061", "10.1.9.9:5060", "11.0.0.1:5060"}).Draw(t, "from")),
			Transport: rapid.SampledFrom([]Transport{UDP, TCP}).Draw(t, "over"),
			User:      []byte(rapid.SampledFrom([]string{"9111", "911", "8"}).Draw(t, "user")),
		}
		got, _ := x.find(&k)
		if want := searchAll(claims, k); (got == nil) != (want == nil) || got != nil && got.match.Customer != want.match.Customer {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func searchAll(claims map[sourceTuple]SourceMatch, k SourceKey) *tuple {
	var best *tuple
	for s, m := range claims {
		one := &tuple{s, m}
		if !s.network.Contains(k.Source.Addr()) || !one.fits(&k) {
			continue
		}
		if best == nil || s.network.Bits() > best.network.Bits() ||
			s.network.Bits() == best.network.Bits() && moreSpecific(*one, *best) < 0 {
			best = one
		}
	}
	return best
}

func benchmarkSources(tb testing.TB) (*Table, SourceKey) {
	d := sourceDocument(namedSource{"provider", SourceSpec{IP: "198.18.0.0/15"}})
	for i := range 1000 {
		addr := netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)})
		d.TrunkGroups[0].Sources = append(d.TrunkGroups[0].Sources, SourceSpec{IP: addr.String(), Port: 5060})
	}
	return compile(tb, d), SourceKey{addrPort("203.0.113.1:5060"), addrPort("198.18.2.2:5060"), UDP, []byte("+12145550100")}
}

func TestMatchSourceAllocates(t *testing.T) {
	table, k := benchmarkSources(t)
	if n := testing.AllocsPerRun(100, func() { table.MatchSource(k) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkMatchSource(b *testing.B) {
	table, k := benchmarkSources(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := table.MatchSource(k); !ok {
			b.Fatal("not found")
		}
	}
}
