package lcr

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func parse(t testing.TB, body string) *Answer {
	t.Helper()
	a, err := Parse([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return a
}

// Every field of rules 1.2.d has its place.
func TestS021_EveryFieldOfAnAnswer(t *testing.T) {
	a := parse(t, `{"version":"1","cache_ttl_secs":60,"destination":"+12025550199","routes":[{
		"carrier_id":"carrier-a","gateway_group":"group-a","next_hop":"gw.carrier-a.example","ruri":"sip:+1@host","destination":"+1202",
		"tech_prefix":"1010288","number_policy":"plain","caller_id":"+13105550100","caller_id_presentation":"restricted",
		"rate":0.0042,"currency":"usd","billing_increment":6,"min_duration":30,"timeout_secs":6,"reroute_after_progress":true,
		"headers":{"X-Tag":"b","X-Account":"42"},"cdr_fields":{"deal":"7"},"reroute_causes":[404,503],"unknown":{"x":[1]}}]}`)
	want := trunkgroup.CarrierRoute{
		CarrierID: "carrier-a", GatewayGroup: "group-a", NextHop: "gw.carrier-a.example", RURI: "sip:+1@host", Destination: "+1202",
		TechPrefix: "1010288", NumberPolicy: "plain", CallerID: "+13105550100", Restricted: true, Rate: 0.0042, Rated: true, Currency: "USD",
		BillingIncrement: 6, MinDuration: 30, Timeout: 6 * time.Second, RerouteAfterProgress: true,
		Headers:   []trunkgroup.NameValue{{Name: "X-Account", Value: "42"}, {Name: "X-Tag", Value: "b"}},
		CDRFields: []trunkgroup.NameValue{{Name: "deal", Value: "7"}}, RerouteCauses: trunkgroup.Causes(404, 503),
	}
	if got := a.Set.Routes[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if a.Set.Destination != "+12025550199" || !a.Says || a.TTL != time.Minute || len(a.Notes) != 0 || a.Set.Reject.Code != 0 {
		t.Errorf("%+v", a)
	}
}

func TestS021_DefaultsOfWhatIsMissing(t *testing.T) {
	for _, body := range []string{
		`{"routes":[{"carrier_id":"a","gateway_group":"a"}]}`,
		`{"routes":[{"carrier_id":"a","gateway_group":"a","next_hop":null,"rate":null,"headers":null,"reroute_causes":null,"timeout_secs":null}],"reject":null,"cache_ttl_secs":null,"destination":null}`,
		`{"routes":[{"carrier_id":"a","gateway_group":"a","reroute_causes":[],"headers":{},"caller_id_presentation":"allowed"}]}`, // S-036: empty is unset
	} {
		a := parse(t, body)
		want := trunkgroup.RouteSet{Routes: []trunkgroup.CarrierRoute{{CarrierID: "a", GatewayGroup: "a"}}}
		if !reflect.DeepEqual(a.Set, want) || a.Says || len(a.Notes) > 0 {
			t.Errorf("%s: %+v", body, a)
		}
	}
	for _, body := range []string{`{}`, `{"routes":null}`, " \n{\"routes\":[]} "} {
		if a := parse(t, body); len(a.Set.Routes) != 0 || a.Set.Reject.Code != 0 { // S-013: 404
			t.Errorf("%s: %+v", body, a)
		}
	}
}

func TestS012_Reject(t *testing.T) {
	for body, want := range map[string]trunkgroup.Rejection{
		`{"reject":{"code":403,"reason":"Blocked"},"routes":[{"carrier_id":"a","gateway_group":"a"}]}`: {Code: 403, Reason: "Blocked"},
		`{"reject":{"code":603}}`:                          {Code: 603},
		`{"reject":{"code":200,"reason":"OK"}}`:            {Code: 503, Reason: "OK"},
		`{"reject":{}}`:                                    {Code: 503},
		`{"reject":{"code":404,"reason":"a\r\nVia: b"}}`:   {Code: 404, Reason: "aVia: b"},
		`{"reject":{"code":404,"reason":"Kein Anschluß"}}`: {Code: 404, Reason: "Kein Anschluß"},
	} {
		if a := parse(t, body); a.Set.Reject != want {
			t.Errorf("%s: %+v", body, a.Set.Reject)
		}
	}
}

func TestS021_WrongAnswersAreFailures(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(`{"carrier_id":"a"},`, MaxRoutes+1), ",")
	for body, want := range map[string]string{
		"":                               "no JSON object",
		"null":                           "no JSON object",
		"[]":                             "no JSON object",
		"<html>busy</html>":              "no JSON object",
		`{"routes":[}`:                   "no JSON at octet",
		`{"routes":[]`:                   "no JSON at octet",
		`{"routes":[]} {}`:               "no JSON at octet",
		`{"routes":{}}`:                  "routes: a JSON object stands",
		`{"routes":[{}]}`:                "routes[0].carrier_id: is missing",
		`{"routes":[{"carrier_id":""}]}`: "routes[0].carrier_id: is missing",
		`{"routes":[{"carrier_id":7}]}`:  "carrier_id: a JSON number stands",
		`{"cache_ttl_secs":-1}`:          "cache_ttl_secs: a JSON number stands",
		`{"cache_ttl_secs":"60"}`:        "cache_ttl_secs: a JSON string stands",
		`{"reject":{"code":70000}}`:      "code: a JSON number stands",
		`{"routes":[` + many + `]}`:      "routes: there are 65",
		strings.Repeat(" ", MaxBody+1):   "more than 262144 octets",
		`{"destination":"+1\r\nX: y"}`:   "destination: holds a control character",
		`{"routes":[{"carrier_id":"a","ruri":"sip:a@b\u0000"}]}`:                                           "routes[0].ruri: holds a control character",
		`{"routes":[{"carrier_id":"a","tech_prefix":"` + strings.Repeat("1", maxText+1) + `"}]}`:           "routes[0].tech_prefix: has more than 1024 octets",
		`{"routes":[{"carrier_id":"a","headers":` + mapOf(maxFields+1) + `}]}`:                             "routes[0].headers: are more",
		`{"routes":[{"carrier_id":"a","cdr_fields":` + mapOf(maxFields+1) + `}]}`:                          "routes[0].cdr_fields: are more",
		`{"routes":[{"carrier_id":"a","rate":1e999}]}`:                                                     "rate: a JSON number stands",
		`{"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`:                          "no JSON at octet",
		`{"routes":[{"carrier_id":"a","timeout_secs":4294967296}]}`:                                        "timeout_secs: a JSON number stands",
		`{"routes":[{"carrier_id":"a","gateway_group":"x\u007f"}]}`:                                        "routes[0].gateway_group: holds a control character",
		`{"routes":[{"carrier_id":"ok","gateway_group":"g"},{"carrier_id":"b","reroute_causes":["503"]}]}`: "reroute_causes: a JSON string stands",
	} {
		_, err := Parse([]byte(body))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", body, err, want)
		}
	}
}

func mapOf(n int) string {
	m := map[string]string{}
	for i := range n {
		m["X-"+strconv.Itoa(i)] = "v"
	}
	b, _ := json.Marshal(m)
	return string(b)
}

// What is wrong with one field of a route costs that field, and its author hears of it.
func TestS081_S085_C7_WhatIsDoneWithoutIsNoted(t *testing.T) {
	a := parse(t, `{"routes":[{"carrier_id":"a","gateway_group":"g","caller_id_presentation":"hidden","rate":-1,"currency":"dollars",
		"reroute_causes":[603,200,503],"headers":{"X-Good":"tab\tin","X Bad":"v","X-Injected":"a\r\nRoute: b","X-Nul":"\u0000"},
		"cdr_fields":{"ok":"v","":"v","line":"a\nb"}},{"carrier_id":"nowhere"}]}`)
	r := a.Set.Routes[0]
	if !r.Restricted || r.Rated || r.Currency != "" || r.RerouteCauses != trunkgroup.Causes(503) {
		t.Errorf("%+v", r)
	}
	if len(r.Headers) != 1 || r.Headers[0].Name != "X-Good" || len(r.CDRFields) != 1 || r.CDRFields[0].Name != "ok" {
		t.Errorf("%v %v", r.Headers, r.CDRFields)
	}
	if a.Set.Routes[1].Routable() {
		t.Error("S-020: a route without a way is routable")
	}
	var texts []string
	for _, n := range a.Notes {
		texts = append(texts, n.Carrier+": "+n.Text)
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{
		`a: caller_id_presentation "hidden" is not known`, "a: rate is out of range", `a: currency "dollars" is no code`, "a: reroute_causes: 603 ends",
		"a: reroute_causes: 200 is not", `a: headers: "X Bad" is no name`, "a: headers: X-Injected holds", "a: headers: X-Nul holds",
		`a: cdr_fields: "" is no name`, "a: cdr_fields: line holds", "nowhere: has no gateway_group",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no note %q in\n%s", want, all)
		}
	}
	if len(a.Notes) != 11 {
		t.Errorf("%d notes:\n%s", len(a.Notes), all)
	}
}

func TestC6_S091_HowLongAnAnswerIsKept(t *testing.T) {
	for _, c := range []struct {
		body      string
		def, want time.Duration
	}{
		{`{"cache_ttl_secs":60}`, 300 * time.Second, time.Minute},
		{`{"cache_ttl_secs":60}`, 0, time.Minute},
		{`{"cache_ttl_secs":0}`, 300 * time.Second, 0}, // explicit zero: not kept
		{`{}`, 300 * time.Second, 300 * time.Second},   // absent: the configured default
		{`{}`, 0, 0}, // configured default off
		{`{"cache_ttl_secs":18446744073709551615}`, 0, MaxTTL},
		{`{"reject":{"code":403}}`, 300 * time.Second, 0}, // a refusal only when it says so
		{`{"reject":{"code":403},"cache_ttl_secs":5}`, 0, 5 * time.Second},
	} {
		if got := parse(t, c.body).Keep(c.def); got != c.want {
			t.Errorf("%s with default %s: %s, want %s", c.body, c.def, got, c.want)
		}
	}
}

func TestS071_NextHop(t *testing.T) {
	for _, c := range []struct {
		route trunkgroup.CarrierRoute
		want  string
	}{
		{trunkgroup.CarrierRoute{NextHop: "198.51.100.11:5070"}, "198.51.100.11:5070/udp"},
		{trunkgroup.CarrierRoute{NextHop: "198.51.100.11"}, "198.51.100.11:5060/udp"},
		{trunkgroup.CarrierRoute{NextHop: "198.51.100.11;transport=TCP"}, "198.51.100.11:5060/tcp"},
		{trunkgroup.CarrierRoute{NextHop: "sips:198.51.100.11"}, "198.51.100.11:5061/tls"},
		{trunkgroup.CarrierRoute{NextHop: "<sip:gw@[2001:db8::1]:5062;lr;transport=tls>"}, "[2001:db8::1]:5062/tls"},
		{trunkgroup.CarrierRoute{NextHop: "2001:db8::1"}, "[2001:db8::1]:5060/udp"},
		{trunkgroup.CarrierRoute{NextHop: "[2001:db8::1]"}, "[2001:db8::1]:5060/udp"},
		{trunkgroup.CarrierRoute{NextHop: "GW1.Carrier-A.example."}, "gw1.carrier-a.example:0/udp"},
		{trunkgroup.CarrierRoute{NextHop: "sip:gw_1.example:5080"}, "gw_1.example:5080/udp"},
		{trunkgroup.CarrierRoute{RURI: "sip:+1202;npdi@gw.example;user=phone?x=y"}, "gw.example:0/udp"},
		{trunkgroup.CarrierRoute{RURI: "sip:+1202@gw.example", NextHop: "192.0.2.1"}, "192.0.2.1:5060/udp"},
		{trunkgroup.CarrierRoute{RURI: "sip:+1202@gw.example", GatewayGroup: "g"}, ""}, // the group says where
		{trunkgroup.CarrierRoute{GatewayGroup: "g"}, ""},
		{trunkgroup.CarrierRoute{NextHop: "gw.example", GatewayGroup: "g"}, "gw.example:0/udp"}, // S-072: when the group is unknown
		{trunkgroup.CarrierRoute{NextHop: "tel:+1202"}, "!next_hop: is no sip or sips URI"},
		{trunkgroup.CarrierRoute{NextHop: "gw.example:99999"}, "!next_hop: has a port that is none"},
		{trunkgroup.CarrierRoute{NextHop: "gw.example:0"}, "!next_hop: has a port that is none"},
		{trunkgroup.CarrierRoute{NextHop: "gw.example;transport=sctp"}, "!next_hop: has a transport that is none of udp, tcp, tls"},
		{trunkgroup.CarrierRoute{NextHop: "1.2.3"}, "!next_hop: names no host"},
		{trunkgroup.CarrierRoute{NextHop: "a b"}, "!next_hop: names no host"},
		{trunkgroup.CarrierRoute{RURI: "sip:+1202@"}, "!ruri: names no host"},
		{trunkgroup.CarrierRoute{NextHop: "[1.2.3.4]"}, "!next_hop: names no host"},
		{trunkgroup.CarrierRoute{NextHop: "[::1"}, "!next_hop: names no host"},
	} {
		hop, name, ok, err := NextHop(&c.route)
		got := ""
		switch {
		case err != nil:
			got = "!" + err.Error()
		case ok && name.Name == "":
			got = hop.Addr.String() + "/" + hop.Transport.String()
		case ok:
			got = name.Name + ":" + strconv.Itoa(int(name.Port)) + "/" + name.Transport.String()
		}
		if got != c.want {
			t.Errorf("%+v: %s, want %s", c.route, got, c.want)
		}
	}
}

// Resolving makes another set: what calls hold does not change under them.
func TestResolveLeavesTheSetAlone(t *testing.T) {
	a := parse(t, `{"routes":[{"carrier_id":"a","next_hop":"gw.example:5070;transport=tcp"},{"carrier_id":"b","next_hop":"192.0.2.9"},{"carrier_id":"c","next_hop":"gw.example:5070;transport=tcp"}]}`)
	names := a.Names()
	if len(names) != 1 || names[0] != (HopName{"gw.example", 5070, trunkgroup.TCP}) {
		t.Fatalf("%v", names)
	}
	addr := netip.MustParseAddrPort("192.0.2.1:5070")
	got := Resolve(&a.Set, func(HopName) []netip.AddrPort { return []netip.AddrPort{addr} })
	want := trunkgroup.Hop{Addr: addr, Transport: trunkgroup.TCP, Name: "gw.example"}
	if len(got.Routes[0].Hops) != 1 || got.Routes[0].Hops[0] != want || got.Routes[2].Hops[0] != want || got.Routes[1].Hops[0].Addr.String() != "192.0.2.9:5060" {
		t.Errorf("%+v", got.Routes)
	}
	if a.Set.Routes[0].Hops != nil {
		t.Error("the set has changed")
	}
	if gone := Resolve(got, func(HopName) []netip.AddrPort { return nil }); gone.Routes[0].Hops != nil || got.Routes[0].Hops == nil {
		t.Error("a name without an address keeps its hops, or the older set has lost them")
	}
}

// The reference's own answers.
func TestS080_S084_S085_ReferenceExamples(t *testing.T) {
	for _, body := range []string{
		`{"routes":[{ "carrier_id": "carrier-a", "gateway_group": "carrier-a", "timeout_secs": 6 }]}`,
		`{"routes":[{ "carrier_id": "carrier-x", "gateway_group": "carrier-x", "timeout_secs": 6, "reroute_after_progress": true }]}`,
		`{"routes":[{ "carrier_id": "carrier-a", "gateway_group": "carrier-a", "tech_prefix": "1010288", "headers": { "X-Account": "42" }, "rate": 0.0042 }]}`,
		`{"routes": [ { "carrier_id": "carrier-a", "gateway_group": "carrier-a", "caller_id": "+13105550100" },
		 { "carrier_id": "wholesale-b", "gateway_group": "wholesale-b", "caller_id": "+13105550100", "caller_id_presentation": "restricted" } ]}`,
	} {
		if a := parse(t, body); len(a.Notes) > 0 || !a.Set.Routes[0].Routable() {
			t.Errorf("%s: %v", body, a.Notes)
		}
	}
}

func TestS010_RequestToTheField(t *testing.T) {
	r := Request{
		CallID: "abc@host", From: "sip:+13105550100@pbx.example", To: "sip:+12025550123@sbc.example", Dialed: "+12025550123",
		Source: netip.MustParseAddr("::ffff:198.51.100.10"), Transport: trunkgroup.TLS, TrunkGroup: "cust-trunks",
		Attributes: []trunkgroup.NameValue{{Name: "asr", Value: "41"}, {Name: "b", Value: `"`}},
	}
	want := `{"version":"1","call_id":"abc@host","from":"sip:+13105550100@pbx.example","to":"sip:+12025550123@sbc.example",` +
		`"dialed_number":"+12025550123","source":{"ip":"198.51.100.10","transport":"tls","trunk_group":"cust-trunks"},"attributes":{"asr":"41","b":"\""}}`
	if got := string(r.AppendJSON(nil)); got != want {
		t.Errorf("%s", got)
	}
	r.TrunkGroup, r.Attributes = "", nil
	if got := string(r.AppendJSON(nil)); strings.Contains(got, "trunk_group") || strings.Contains(got, "attributes") || !json.Valid([]byte(got)) {
		t.Errorf("%s", got)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add("call", "sip:a@b", "x")
	f.Add("\x00\"\\\r\n", "\xff\xfeé", "\u2028\x7f")
	f.Fuzz(func(t *testing.T, callID, from, attribute string) {
		r := Request{CallID: callID, From: from, Attributes: []trunkgroup.NameValue{{Name: attribute, Value: attribute}}}
		b := r.AppendJSON(nil)
		var got struct {
			CallID string `json:"call_id"`
			From   string `json:"from"`
		}
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if got.CallID != strings.ToValidUTF8(callID, "\ufffd") && utf8.ValidString(callID) {
			t.Errorf("%q became %q", callID, got.CallID)
		}
	})
}

func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"routes":[{"carrier_id":"a","gateway_group":"g","headers":{"X":"y"},"rate":1.5,"reroute_causes":[503]}],"cache_ttl_secs":1}`,
		`{"reject":{"code":403,"reason":"no"}}`, `{"routes":[{"carrier_id":"a","next_hop":"sip:[::1]:1;transport=tls"}]}`, `{"routes":[{"carrier_id":"a","ruri":"sip:x@y"}],"destination":"1"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := Parse(body)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("an error of two lines: %q", err)
			}
			return
		}
		if len(a.Set.Routes) > MaxRoutes || a.Keep(time.Hour) > MaxTTL || a.Keep(time.Hour) < 0 {
			t.Errorf("%+v", a)
		}
		for _, n := range a.Names() {
			if n.Name == "" || len(n.Name) > 253 {
				t.Errorf("%+v", n)
			}
		}
		for i := range a.Set.Routes {
			r := &a.Set.Routes[i]
			for _, s := range []string{r.CarrierID, r.GatewayGroup, r.NextHop, r.RURI, r.Destination, r.TechPrefix, r.NumberPolicy, r.CallerID, a.Set.Destination, a.Set.Reject.Reason} {
				if strings.ContainsAny(s, "\r\n\x00") {
					t.Errorf("%q goes into a message", s)
				}
			}
			for _, h := range append(r.Headers, r.CDRFields...) {
				if strings.ContainsAny(h.Name+h.Value, "\r\n\x00") || h.Name == "" {
					t.Errorf("%q goes into a message", h)
				}
			}
		}
	})
}
