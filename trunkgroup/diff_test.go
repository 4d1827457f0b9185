package trunkgroup

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// told writes differences one a line, as the command line does.
func told(d Diff) string {
	var b strings.Builder
	for _, x := range d.List {
		fmt.Fprintf(&b, "%s %s %s", x.Op, x.What, x.Name)
		for _, p := range []struct{ name, text string }{{"of", x.Group}, {"field", x.Field}, {"was", x.Was}, {"would", x.Would}} {
			if p.text != "" {
				fmt.Fprintf(&b, " %s=%s", p.name, p.text)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestDEC25_CompareNamesEverythingThatChanges(t *testing.T) {
	for _, x := range []struct {
		name string
		edit func(*Document)
		want string
	}{
		{"nothing", func(*Document) {}, ""},
		{"a member's weight", func(d *Document) { d.TrunkGroups[0].Members[0].Weight = 5 }, "changed member acme-in/d1 field=weight would=5\n"},
		{"a timer", func(d *Document) { d.TrunkGroups[0].Timers.BTimer = 2e9 }, "changed group acme-in field=timers.b_timer would=2s\n"},
		{"a list of codes", func(d *Document) { d.TrunkGroups[0].AdvanceOn = []int{408, 503} }, "changed group acme-in field=advance_on would=408, 503\n"},
		{"a new member", func(d *Document) {
			d.TrunkGroups[0].Members = append(d.TrunkGroups[0].Members, MemberSpec{ID: "d3", Site: "dallas", Address: "198.51.100.3"})
		}, "added member acme-in/d3 would=site dallas, address 198.51.100.3\n"},
		{"a member that registers", func(d *Document) {
			d.TrunkGroups[0].Members = append(d.TrunkGroups[0].Members, MemberSpec{ID: "r", Registration: &RegistrationSpec{AOR: "sip:acme@sip.example.net"}})
		}, "added member acme-in/r would=registers as sip:acme@sip.example.net\n"},
		{"a member less", func(d *Document) { d.TrunkGroups[0].Members = d.TrunkGroups[0].Members[:2] }, "removed member acme-in/a1\n"},
		{
			"a carrier's address is its source", func(d *Document) { d.TrunkGroups[2].Members[0].Address = "192.0.2.9" },
			"changed member carrier-a/d field=address was=192.0.2.1 would=192.0.2.9\n" +
				"removed source 192.0.2.1/32 port 5060 udp of=carrier-a\nadded source 192.0.2.9/32 port 5060 udp of=carrier-a\n",
		},
		{"members change places", func(d *Document) { slices.Reverse(d.TrunkGroups[0].Members) }, "reordered group acme-in field=members was=d1, d2, a1 would=a1, d2, d1\n"},
		{"a number", func(d *Document) { d.TrunkGroups[0].Numbers = []string{"+1469555*", "+1972*"} }, "removed number +12145550100..+12145550199 of=acme-in\nadded number +1972* of=acme-in\n"},
		{"a secret is not shown", func(d *Document) { d.TrunkGroups[1].Credentials[0].HA1MD5 = strings.Repeat("f", 32) }, "changed credential acme@sip.example.com of=acme-out field=ha1_md5\n"},
		{"a secret of a decision server is not shown", func(d *Document) {
			d.RoutePlans[0].Decision = &DecisionSpec{URL: "https://lcr.example.net/route?key=hush", AuthHeader: "Bearer hush"}
		}, "changed route_plan domestic field=decision.auth_header\nchanged route_plan domestic field=decision.url would=https://lcr.example.net/route?...\n"},
		{"the secrets of webhooks are not shown", func(d *Document) {
			d.RoutePlans[0].Policy = &PolicySpec{Webhooks: []WebhookSpec{{URL: "https://hook.example.net", AuthHeader: "${A:-hush}", Secret: "${S:-hush}"}}}
		}, "changed route_plan domestic field=policy.webhooks would=auth_header ..., secret ..., url https://hook.example.net\n"},
		{"a route", func(d *Document) { d.RoutePlans[0].Routes[1].Providers = []string{"carrier-a"} }, "changed route domestic/+1214 field=providers was=carrier-b would=carrier-a\n"},
		{"a group less", func(d *Document) { d.TrunkGroups = d.TrunkGroups[:4] }, "removed group globex-out\nremoved source 203.0.113.0/24 any port tls of=globex-out\n"},
		{"a customer's limit", func(d *Document) { d.Customers = []CustomerSpec{{Name: "acme", Limits: LimitsSpec{Calls: 100}}} }, "added customer acme\n"},
		{"the peers of a site", func(d *Document) { d.Sites[0].Peers = nil }, "changed site dallas field=peers was=ashburn\n"},
	} {
		would := testDocument()
		x.edit(would)
		d := Compare(testDocument(), would, 100)
		if got := told(d); got != x.want || d.Equal() != (x.want == "") {
			t.Errorf("%s:\n%swant\n%s", x.name, got, x.want)
		}
	}
}

// A number that goes from one group to another is one difference, not two.
func TestCompareMovedNumber(t *testing.T) {
	was, would := testDocument(), testDocument()
	would.TrunkGroups[0].Numbers = would.TrunkGroups[0].Numbers[1:]
	would.TrunkGroups = append(would.TrunkGroups, GroupSpec{Name: "new", Role: OriginationCustomer, Numbers: []string{"+12145550100..+12145550199"}})
	d := Compare(was, would, 100)
	if want := "added group new would=role origination-customer\nmoved number +12145550100..+12145550199 of=new was=acme-in would=new\n"; told(d) != want {
		t.Errorf("%swant\n%s", told(d), want)
	}
	if x := d.Tallies["number"]; x.Changed != 1 || x.Added+x.Removed != 0 {
		t.Errorf("%+v", x)
	}
}

// Everything is counted, not everything is listed.
func TestCompareIsBounded(t *testing.T) {
	was, would := testDocument(), testDocument()
	for i := range 1000 {
		would.TrunkGroups[0].Numbers = append(would.TrunkGroups[0].Numbers, fmt.Sprintf("+1972555%04d", i))
	}
	d := Compare(was, would, 10)
	if len(d.List) != 10 || d.More != 990 || d.Tallies["number"].Added != 1000 || d.Equal() {
		t.Errorf("%d listed, %d more, %+v", len(d.List), d.More, d.Tallies["number"])
	}
	if d := Compare(nil, testDocument(), 100); d.Tallies["group"].Added != 5 || d.Tallies["member"].Added != 5 {
		t.Errorf("from nothing: %s", told(d))
	}
}

// Equal documents compare equal and others do not; what one direction adds the
// other removes.
func TestCompareProperties(t *testing.T) {
	edits := []func(*Document, int){
		func(d *Document, n int) { d.TrunkGroups[n%3].MaxAttempts = n + 1 },
		func(d *Document, n int) { d.TrunkGroups[0].Members[n%3].Priority = n + 1 },
		func(d *Document, n int) {
			d.TrunkGroups[0].Numbers = d.TrunkGroups[0].Numbers[min(n%2, len(d.TrunkGroups[0].Numbers)):]
		},
		func(d *Document, n int) { d.TrunkGroups = d.TrunkGroups[:4-n%2] },
		func(d *Document, n int) {
			d.RoutePlans[0].Routes = d.RoutePlans[0].Routes[min(n%3, len(d.RoutePlans[0].Routes)):]
		},
		func(d *Document, n int) { d.TrunkGroups[2].Members[0].Address = fmt.Sprintf("192.0.2.%d", n+10) },
	}
	rapid.Check(t, func(t *rapid.T) {
		was, would := testDocument(), testDocument()
		for _, doc := range []*Document{was, would} {
			for range rapid.IntRange(0, 3).Draw(t, "edits") {
				rapid.SampledFrom(edits).Draw(t, "edit")(doc, rapid.IntRange(0, 6).Draw(t, "n"))
			}
		}
		forth, back := Compare(was, would, 1000), Compare(would, was, 1000)
		a, _ := json.Marshal(was)
		b, _ := json.Marshal(would)
		if forth.Equal() != (string(a) == string(b)) {
			t.Fatalf("equal %v of\n%s\n%s", forth.Equal(), a, b)
		}
		for what, x := range forth.Tallies {
			y := back.Tallies[what]
			if y == nil || x.Added != y.Removed || x.Removed != y.Added || x.Changed != y.Changed {
				t.Fatalf("%s: %+v and %+v", what, x, y)
			}
		}
	})
}

func BenchmarkCompareMillion(b *testing.B) {
	was, would := testDocument(), testDocument()
	for i := range 1_000_000 {
		n := fmt.Sprintf("+1972%07d", i)
		was.TrunkGroups[0].Numbers = append(was.TrunkGroups[0].Numbers, n)
		if i%2 == 0 {
			would.TrunkGroups[0].Numbers = append(would.TrunkGroups[0].Numbers, n)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		Compare(was, would, 100)
	}
}
