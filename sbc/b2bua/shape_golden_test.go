package b2bua

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

var update = flag.Bool("update", false, "rewrite testdata/shape/*.out.sip; only commit the changes when you know what caused them")

// shapedDocument has one carrier of each kind, and a number policy of each format.
func shapedDocument() *trunkgroup.Document {
	doc := document()
	us := trunkgroup.PolicyNumberingSpec{CountryCode: "1"}
	doc.NumberPolicies = []trunkgroup.NumberPolicySpec{
		{Name: "plain", Format: trunkgroup.FormatPlain, Numbering: us},
		{Name: "national", Format: trunkgroup.FormatNational, Numbering: us, Preserve: []string{"911"}},
		{Name: "international", Format: trunkgroup.FormatInternational, Numbering: us},
		{
			Name: "mixed@2026", Format: trunkgroup.FormatE164, Numbering: us,
			Headers: trunkgroup.NumberHeadersSpec{
				RequestURI: trunkgroup.FormatNational, From: trunkgroup.FormatPlain, To: trunkgroup.FormatNational,
				PPreferredIdentity: trunkgroup.FormatInternational, RemotePartyID: trunkgroup.FormatNone,
			},
			Diversion: trunkgroup.DiversionSpec{Format: trunkgroup.FormatPlain},
		},
		{Name: "strict", Numbering: us, OnUnparseable: "strip", Diversion: trunkgroup.DiversionSpec{RespectPrivacy: true}},
	}
	no := false
	for i := range doc.TrunkGroups {
		if g := &doc.TrunkGroups[i]; g.Name == "acme-out" {
			g.Numbering = trunkgroup.NumberingSpec{CountryCode: "1", Preserve: []string{"911"}}
		}
	}
	for i, s := range []trunkgroup.GroupSpec{
		{Name: "carrier-plain", NumberPolicy: "plain"}, {Name: "carrier-stranger", AssertIdentity: &no},
	} {
		s.Role = trunkgroup.PSTNProvider
		s.Members = []trunkgroup.MemberSpec{{ID: "dal", Site: "dallas", Address: fmt.Sprintf("192.0.2.%d:5060", 20+i)}}
		doc.TrunkGroups = append(doc.TrunkGroups, s)
	}
	return doc
}

// attempted is an attempt of a call to one carrier.
type attempted struct {
	group string // default carrier-a
	route *trunkgroup.CarrierRoute
	// answer is what the decision says for all of its routes; ani the override of the user.
	answer, ani string
}

// shapeInvite returns the INVITE of an attempt as it leaves, and the faults that it met.
func (w *world) shapeInvite(m *sip.Message, a attempted) (out []byte, faults []string) {
	uri, err := sip.ParseURI(m.RequestURI())
	if err != nil {
		w.t.Fatal(err)
	}
	customer := w.table.Group("acme-out")
	called, err := number.Normalise(customer.Numbering, uri.User)
	if err != nil {
		w.t.Fatal(err)
	}
	c := &Call{
		s: w.s, msg: m, dir: outbound, customer: customer, ingress: customer, called: string(called), calledRaw: string(uri.User), ani: a.ani,
	}
	if a.answer != "" {
		c.routes = &trunkgroup.RouteSet{Destination: a.answer}
	}
	member := w.table.Member(a.group + "/dal")
	t := &try{call: c, node: -1, cand: trunkgroup.Candidate{Member: member, Addr: member.Addr, Dialable: true, Route: a.route}}
	hop := transport.Target{Transport: trunkgroup.UDP, Addr: member.Addr}
	w.events = nil
	sh := c.shape(t, hop)
	o := c.legOutline(hop, sh.lines)
	o.uri = sh.uri
	c.legIdentity(&o, sh.from, sh.to)
	for _, e := range w.events {
		if e.Kind == EventRouteFault {
			faults = append(faults, e.Reason+" of "+e.Carrier+": "+e.Detail)
		}
	}
	return w.s.appendRequest(&o), faults
}

func headersOf(pairs ...string) (list []trunkgroup.NameValue) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, trunkgroup.NameValue{Name: pairs[i], Value: pairs[i+1]})
	}
	return list
}

// goldenShapes are the cases of testdata/shape: what comes in stands in NAME.in.sip, what
// goes out in NAME.out.sip.
func goldenShapes() map[string]attempted {
	route := func(r trunkgroup.CarrierRoute) attempted { r.CarrierID = "a"; return attempted{route: &r} }
	stranger := func(a attempted) attempted { a.group = "carrier-stranger"; return a }
	return map[string]attempted{
		"tech-prefix-plain":           route(trunkgroup.CarrierRoute{TechPrefix: "1010288", NumberPolicy: "plain"}),
		"tech-prefix-as-it-came":      route(trunkgroup.CarrierRoute{TechPrefix: "1010288"}),
		"tech-prefix-hash":            route(trunkgroup.CarrierRoute{TechPrefix: "#31#"}),
		"national-by-place":           route(trunkgroup.CarrierRoute{NumberPolicy: "mixed@2026"}),
		"foreign-number":              route(trunkgroup.CarrierRoute{NumberPolicy: "national"}),
		"preserved":                   route(trunkgroup.CarrierRoute{NumberPolicy: "plain"}),
		"ported":                      route(trunkgroup.CarrierRoute{NumberPolicy: "plain", TechPrefix: "77"}),
		"destination":                 route(trunkgroup.CarrierRoute{NumberPolicy: "plain", Destination: "+442079460000", TechPrefix: "77"}),
		"destination-of-the-decision": {route: &trunkgroup.CarrierRoute{CarrierID: "a"}, answer: "+442079460000"},
		"destination-uri":             {route: &trunkgroup.CarrierRoute{CarrierID: "a", Destination: "sip:+442079460000@elsewhere.example:5070;transport=tcp"}, answer: "+15"},
		"ruri":                        route(trunkgroup.CarrierRoute{RURI: "sip:+12025550123@gw.carrier.example:5070;transport=tcp", NumberPolicy: "plain", TechPrefix: "77"}),
		"ruri-without-user":           route(trunkgroup.CarrierRoute{RURI: "sip:gw.carrier.example", NumberPolicy: "plain"}),
		"ruri-bad":                    route(trunkgroup.CarrierRoute{RURI: "sip:x@y>\r\nX-Evil: 1"}),
		"headers":                     route(trunkgroup.CarrierRoute{Headers: headersOf("X-Account", "42", "Proxy-Authorization", "Digest username=\"a\"", "x-trace", "9")}),
		"headers-refused": route(trunkgroup.CarrierRoute{Headers: headersOf(
			"Via", "x", "Call-ID", "x", "i", "x", "CSeq", "x", "Max-Forwards", "1", "Content-Length", "9", "l", "9", "From", "x", "To", "x", "Contact", "x",
			"Record-Route", "x", "Route", "x", "Require", "100rel", "X-Two\r\nX-Evil", "1", "X-Evil", "1\r\nX-Worse: 2", "", "x", "X-Account", "42")}),
		"caller-id":                  route(trunkgroup.CarrierRoute{CallerID: "+13105550100"}),
		"caller-id-replaces":         route(trunkgroup.CarrierRoute{CallerID: "+13105550100", NumberPolicy: "plain"}),
		"caller-id-of-anonymous":     route(trunkgroup.CarrierRoute{CallerID: "+13105550100"}),
		"caller-id-not-asserted":     stranger(route(trunkgroup.CarrierRoute{CallerID: "+13105550100"})),
		"caller-id-hostile":          route(trunkgroup.CarrierRoute{CallerID: "\">\r\nX-Evil: é1"}),
		"restricted":                 route(trunkgroup.CarrierRoute{Restricted: true}),
		"restricted-asserted":        route(trunkgroup.CarrierRoute{Restricted: true, Headers: headersOf("Privacy", "none", "Remote-Party-ID", "<sip:+13105551234@x>")}),
		"restricted-caller-id-plain": route(trunkgroup.CarrierRoute{Restricted: true, CallerID: "+13105550100", NumberPolicy: "plain"}),
		"restricted-anonymous":       route(trunkgroup.CarrierRoute{Restricted: true}),
		"restricted-not-asserted":    stranger(route(trunkgroup.CarrierRoute{Restricted: true})),
		"unparseable-kept":           route(trunkgroup.CarrierRoute{NumberPolicy: "plain"}),
		"unparseable-stripped":       route(trunkgroup.CarrierRoute{NumberPolicy: "strict"}),
		"anonymous-is-no-number":     route(trunkgroup.CarrierRoute{NumberPolicy: "strict"}),
		"tel-national":               route(trunkgroup.CarrierRoute{NumberPolicy: "national"}),
		"diversion-private":          route(trunkgroup.CarrierRoute{NumberPolicy: "strict"}),
		"unknown-policy":             route(trunkgroup.CarrierRoute{NumberPolicy: "carrier-a@2025", TechPrefix: "77"}),
		"group-policy":               {group: "carrier-plain", route: &trunkgroup.CarrierRoute{CarrierID: "a"}},
		"group-policy-without-route": {group: "carrier-plain"},
		"plain-call":                 {},
		"ani-override":               {ani: "+13105550177", route: &trunkgroup.CarrierRoute{CarrierID: "a"}},
	}
}

// Each file pair is an INVITE as the caller sent it and as the carrier gets it: S-080 to
// S-087, C8.
func TestS080_S087_Golden(t *testing.T) {
	seen := map[string]bool{}
	for name, a := range goldenShapes() {
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(t, "dal-1", "dallas", shapedDocument())
			if a.group == "" {
				a.group = "carrier-a"
			}
			out, faults := w.shapeInvite(goldenInvite(t, name), a)
			got := normalised(out)
			for _, f := range faults {
				got += "# fault: " + fmt.Sprintf("%.60q", f) + "\n"
			}
			path := filepath.Join("testdata", "shape", name+".out.sip")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil { //nolint:gosec // a test's own file
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || got != string(want) {
				t.Errorf("%v\ngot:\n%s\nwant:\n%s", err, got, want)
			}
		})
	}
	files, _ := filepath.Glob("testdata/shape/*.sip")
	for _, f := range files {
		if name, _, _ := strings.Cut(filepath.Base(f), "."); !seen[name] {
			t.Errorf("%s belongs to no case", f)
		}
	}
}

func goldenInvite(t testing.TB, name string) *sip.Message {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "shape", name+".in.sip"))
	if err != nil {
		t.Fatal(err)
	}
	raw := bytes.ReplaceAll(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"), []byte("\r\n"))
	m, fault := sip.Parse(raw)
	if fault != nil {
		t.Fatal(fault)
	}
	return m
}

var chance = regexp.MustCompile(`(branch=z9hG4bK|;tag=|Call-ID: )[^\r\n;]+`)

// normalised takes out what chance gives to an INVITE. What we send must parse.
func normalised(raw []byte) string {
	text := string(raw)
	if m, fault := sip.Parse(bytes.Clone(raw)); fault != nil {
		text += fmt.Sprintf("\n# does not parse: %v", fault)
	} else if len(m.Raw()) != len(raw) {
		text += "\n# has something behind its body"
	}
	return chance.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "${1}X") + "\n"
}
