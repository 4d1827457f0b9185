package b2bua

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// eachMethodOnTheWire calls f with every method that a group of a role may have.
func eachMethodOnTheWire(t *testing.T, role trunkgroup.Role, f func(t *testing.T, d trunkgroup.DistributionSpec)) {
	for _, name := range trunkgroup.MethodNames() {
		var d trunkgroup.DistributionSpec
		if err := d.Method.UnmarshalText([]byte(name)); err != nil {
			t.Fatal(err)
		}
		switch {
		case d.Method == trunkgroup.Parallel && role != trunkgroup.OriginationCustomer:
			continue
		case d.Method == trunkgroup.Hash || d.Method == trunkgroup.HashMod:
			d.Key = "header:X-Room"
		}
		t.Run(name, func(t *testing.T) { f(t, d) })
	}
}

// A call goes through all of a large group when everybody refuses: each far end once,
// one record, nothing in use at the end. So does one of a group of one.
func TestHuntThroughLargeGroups(t *testing.T) {
	eachMethodOnTheWire(t, trunkgroup.OriginationCustomer, func(t *testing.T, d trunkgroup.DistributionSpec) {
		for _, n := range []int{1, 1000} {
			w := newWorldOf(t, "dal-1", "dallas", pbxs(func(g *trunkgroup.GroupSpec) {
				g.Distribution, g.Members = d, nil
				for i := range n {
					g.Members = append(g.Members, trunkgroup.MemberSpec{
						ID: fmt.Sprint("m", i), Site: "dallas", Address: fmt.Sprintf("198.51.%d.%d:5060", 100+i/250, 1+i%250), Weight: 1 + i%7,
					})
				}
			}))
			w.from(carrierAddr, invite{body: offer}.String())
			seen := map[string]bool{}
			order := w.refusedBy(503)
			for _, at := range order {
				seen[at] = true
			}
			w.take(carrierAddr, "SIP/2.0 500")
			w.quiet()
			if len(order) != n || len(seen) != n || len(w.records) != 1 || len(w.records[0].Attempts) != n {
				t.Errorf("of %d members %d were called, %d of them once; %d records", n, len(order), len(seen), len(w.records))
			}
			if used := w.used(); used != 0 {
				t.Errorf("%d in use at the end", used)
			}
		}
	})
}

// What strangers write into what is hashed ends nothing: the call is placed, and all
// far ends are tried.
func TestHostileKeys(t *testing.T) {
	froms := []string{
		"<sip:+13105551234@192.0.2.10>", "<sip:@>", "<sip:%00%00@h>", "<sip:a%40b@h:99999>", "<tel:+1>", "<sip:" + strings.Repeat("u", 4000) + "@h>",
		`"` + strings.Repeat(`\"`, 500) + `" <sip:x@h>`, "<urn:service:sos>", "<sip:anonymous@anonymous.invalid>", "<sip:[::1]>", "sip:;x@y",
	}
	rooms := []string{
		"", "X-Room: \r\n", "X-Room: 7\r\nX-Room: 8\r\n", "X-Room: " + strings.Repeat("r", 6000) + "\r\n", "X-Room: \xff\xfe%00\r\n", "x-room:\r\n 7\r\n",
	}
	eachMethodOnTheWire(t, trunkgroup.OriginationCustomer, func(t *testing.T, d trunkgroup.DistributionSpec) {
		for i, from := range froms {
			for j, room := range rooms {
				w := newWorldOf(t, "dal-1", "dallas", pbxs(func(g *trunkgroup.GroupSpec) {
					g.Distribution = d
					if d.Method != trunkgroup.Parallel && i%2 == 0 {
						g.Distribution.SessionAffinityHeader = "X-Room"
					}
				}))
				text := invite{body: offer, lines: room}.String()
				begin := strings.Index(text, "From: ")
				end := begin + strings.Index(text[begin:], "\r\n")
				text = text[:begin] + "From: " + from + ";tag=caller" + text[end:]
				if _, fault := sip.Parse([]byte(text)); fault != nil {
					continue
				}
				w.from(carrierAddr, text)
				if w.find(carrierAddr, "SIP/2.0 400") != nil {
					continue // no From that can be read
				}
				if order := w.refusedBy(503); len(order) != 3 {
					t.Errorf("from %d, room %d: %v were called", i, j, order)
				}
				w.quiet()
			}
		}
	})
}

// DEC-17: a call for help is dialled by every method although its members are full and
// barred for their quality, and holds nothing at the end.
func TestDEC17_EveryMethodDialsForHelp(t *testing.T) {
	eachMethodOnTheWire(t, trunkgroup.PSTNProvider, func(t *testing.T, d trunkgroup.DistributionSpec) {
		doc := vendors(func(a, _ *trunkgroup.GroupSpec) {
			a.Distribution = d
			a.Limits.Calls = 1
			for i := range a.Members {
				a.Members[i].Limits.Calls = 1
			}
		})
		doc.TrunkGroups[0].Numbering.Preserve = []string{"911"}
		doc.RoutePlans[0].Routes = append(doc.RoutePlans[0].Routes, trunkgroup.RouteSpec{Prefix: "911", Providers: []string{"vendor-a"}})
		w := newWorldOf(t, "dal-1", "dallas", doc)
		for _, m := range w.limits.All() {
			m.SetShare(0)
			m.SetFull(w.now.Add(time.Hour))
		}
		v := *w.view
		v.Barred = make([]string, len(v.States))
		for i := range v.Barred {
			v.Barred[i] = "quality"
		}
		w.view = &v
		w.from(customerAddr, invite{called: "911", host: customerAddr, body: offer}.String())
		if order := w.refusedBy(503); len(order) != 2 {
			t.Errorf("called %v", order)
		}
		w.take(customerAddr, "SIP/2.0 500")
		w.quiet()
		for k, m := range w.limits.All() {
			if _, used := m.Read(); used != 0 && k.Kind == limit.Calls {
				t.Errorf("%d in use of %v", used, k)
			}
		}
	})
}
