package trunkgroup

import (
	"iter"
	"testing"

	"pgregory.net/rapid"
)

// asked yields calls to numbers, from the source of a group.
func asked(site string, from string, transport Transport, called ...string) iter.Seq2[string, Query] {
	return func(yield func(string, Query) bool) {
		for _, number := range called {
			q := Query{Site: site, Called: []byte(number), Source: SourceKey{Source: addrPort(from), Transport: transport}}
			if !yield("call to "+number, q) {
				return
			}
		}
	}
}

func TestDEC25_RerunSaysWhichCallsRouteDifferently(t *testing.T) {
	const carrier = "192.0.2.1:5060"
	for _, x := range []struct {
		name       string
		edit       func(*Document)
		different  int
		was, would string
	}{
		{"nothing", func(*Document) {}, 0, "", ""},
		{
			"a member more", func(d *Document) {
				d.TrunkGroups[0].Members = append(d.TrunkGroups[0].Members, MemberSpec{ID: "d3", Site: "dallas", Address: "198.51.100.3"})
			}, 2,
			"inbound from carrier-a to acme-in [dallas: d1 d2] [ashburn: a1]", "inbound from carrier-a to acme-in [dallas: d1 d2 d3] [ashburn: a1]",
		},
		{
			"a member of the peer site less", func(d *Document) { d.TrunkGroups[0].Members = d.TrunkGroups[0].Members[:2] }, 2,
			"inbound from carrier-a to acme-in [dallas: d1 d2] [ashburn: a1]", "inbound from carrier-a to acme-in [dallas: d1 d2]",
		},
		{
			"half of the numbers", func(d *Document) { d.TrunkGroups[0].Numbers = d.TrunkGroups[0].Numbers[:1] }, 1,
			"inbound from carrier-a to acme-in [dallas: d1 d2] [ashburn: a1]", "inbound from carrier-a: 404",
		},
		{
			"the carrier moves", func(d *Document) { d.TrunkGroups[2].Members[0].Address = "192.0.2.7" }, 3,
			"inbound from carrier-a to acme-in [dallas: d1 d2] [ashburn: a1]", "nobody is identified: 401",
		},
		{
			"a method", func(d *Document) { d.TrunkGroups[0].Distribution.Method = HashCallID }, 2,
			"inbound from carrier-a to acme-in [dallas: d1 d2] [ashburn: a1]",
			"inbound from carrier-a to acme-in [dallas: d1 d2] [ashburn: a1], called, chosen or reached in another way: see what changes",
		},
		{"a timer", func(d *Document) { d.TrunkGroups[0].Timers.Ring = 2e9 }, 0, "", ""},
		{"members that take turns change places", func(d *Document) {
			m := d.TrunkGroups[0].Members
			m[0], m[1] = m[1], m[0]
		}, 0, "", ""},
	} {
		doc := testDocument()
		x.edit(doc)
		r := Rerun(compile(t, testDocument()), compile(t, doc), asked("dallas", carrier, UDP, "+12145550123", "+14695550000", "+13105550000"))
		if r.Asked != 3 || r.Different != x.different {
			t.Errorf("%s: %+v", x.name, r)
			continue
		}
		if x.different > 0 && (r.Shifts[0].Was != x.was || r.Shifts[0].Would != x.would || len(r.Shifts[0].Examples) == 0) {
			t.Errorf("%s: %+v", x.name, r.Shifts)
		}
	}
}

func TestRerunOutbound(t *testing.T) {
	doc := testDocument()
	doc.RoutePlans[0].Routes[1].Providers = []string{"carrier-a"}
	r := Rerun(compile(t, testDocument()), compile(t, doc), asked("dallas", "198.51.100.1:5060", UDP, "+12145550123", "+13105550000"))
	if r.Different != 1 || r.Shifts[0].Was != "outbound from acme-out to carrier-b [dallas: d]" || r.Shifts[0].Would != "outbound from acme-out to carrier-a [dallas: d]" {
		t.Errorf("%+v", r)
	}
	if r := Rerun(nil, compile(t, doc), asked("dallas", "198.51.100.1:5060", UDP, "+12145550123")); r.Different != 1 {
		t.Errorf("from no document: %+v", r)
	}
}

// Decide and Explain are one piece of code, and so they agree.
func TestDecideAgreesWithExplain(t *testing.T) {
	table := compile(t, testDocument())
	view := NewView(table)
	rapid.Check(t, func(t *rapid.T) {
		q := Query{
			Site:   rapid.SampledFrom([]string{"dallas", "ashburn"}).Draw(t, "site"),
			Called: []byte(rapid.SampledFrom([]string{"+12145550123", "+14695550000", "911", "+442055550000", "", "x"}).Draw(t, "called")),
			Source: SourceKey{
				Source:    addrPort(rapid.SampledFrom([]string{"192.0.2.1:5060", "198.51.100.1:5060", "203.0.113.9:5060", "10.0.0.1:1"}).Draw(t, "source")),
				Transport: rapid.SampledFrom([]Transport{UDP, TCP, TLS}).Draw(t, "transport"),
			},
			Username: rapid.SampledFrom([]string{"", "acme"}).Draw(t, "user"), Realm: "sip.example.com",
		}
		d, e := Decide(table, q), Explain(table, view, q)
		ingress := ""
		if d.Ingress != nil {
			ingress = d.Ingress.Name
		}
		if d.Code != e.Code || d.Direction != e.Direction || ingress != e.Ingress || d.Called != e.Called {
			t.Fatalf("%+v\n%+v", d, e)
		}
		members := 0
		for _, g := range d.Groups {
			members += len(Plan(nil, g, q.Site, view, Draw{}))
		}
		if members != len(e.Order) {
			t.Fatalf("%d members and %d lines", members, len(e.Order))
		}
	})
}

func BenchmarkRerun10000(b *testing.B) {
	table := compile(b, testDocument())
	doc := testDocument()
	doc.TrunkGroups[0].Members[0].Weight = 3
	other := compile(b, doc)
	q := Query{Site: "dallas", Called: []byte("+12145550123"), Source: SourceKey{Source: addrPort("192.0.2.1:5060"), Transport: UDP}}
	b.ReportAllocs()
	for b.Loop() {
		Rerun(table, other, func(yield func(string, Query) bool) {
			for range 10_000 {
				if !yield("a call", q) {
					return
				}
			}
		})
	}
}
