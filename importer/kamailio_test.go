package importer

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

// whole checks what every Result promises: no fault, and YAML that reads back.
func whole(t testing.TB, r *Result) {
	t.Helper()
	text, err := r.YAML()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := yamldoc.Decode("document", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if !reflect.DeepEqual(doc, r.Document) {
		t.Fatalf("the YAML reads back as\n%+v, not\n%+v\n%s", doc, r.Document, text)
	}
}

// kamailioOf imports texts; names ending in .cfg and so on do not matter.
func kamailioOf(t testing.TB, o KamailioOptions, texts ...string) *Result {
	t.Helper()
	var in []Input
	for i, text := range texts {
		in = append(in, Input{Name: fmt.Sprintf("in%d", i), Text: []byte(text)})
	}
	r, err := Kamailio(in, o)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, r)
	return r
}

// says finds an item of the report.
func says(t testing.TB, r *Result, o Outcome, item string) Item {
	t.Helper()
	for _, it := range r.Report.Items {
		if it.Outcome == o && strings.Contains(it.Item, item) {
			return it
		}
	}
	t.Fatalf("no item %q is %s:\n%+v", item, o, r.Report.Items)
	return Item{}
}

func only(t testing.TB, r *Result) *trunkgroup.GroupSpec {
	t.Helper()
	if n := len(r.Document.TrunkGroups); n != 1 {
		t.Fatalf("%d groups, want 1", n)
	}
	return &r.Document.TrunkGroups[0]
}

func ids(g *trunkgroup.GroupSpec) string {
	var out []string
	for _, m := range g.Members {
		out = append(out, m.ID)
	}
	return strings.Join(out, " ")
}

// TestK01_ListTableAndDumpAreAlike: the same rows give the same document, however
// they are written.
func TestK01_ListTableAndDumpAreAlike(t *testing.T) {
	o := KamailioOptions{Algorithms: map[int]int{1: 9, 2: 8}, Params: map[string]string{"ds_ping_interval": "10"}}
	list := kamailioOf(t, o, "1 sip:198.51.100.1:5060 8 5 duid=a;weight=80\n\t1\tsip:198.51.100.2 0 5 duid=b;weight=20 # spare\n2 sips:gw.example.com 1 0 maxload=7\n")
	for name, text := range map[string]string{
		"csv": "id,setid,destination,flags,priority,attrs,description\r\n" +
			"1,1,sip:198.51.100.1:5060,8,5,\"duid=a;weight=80\",first\r\n2,1,sip:198.51.100.2,0,5,duid=b;weight=20,\r\n3,2,sips:gw.example.com,1,0,maxload=7,\\N\r\n",
		"csv in another order": "destination,attrs,setid,flags,priority\nsip:198.51.100.1:5060,duid=a;weight=80,1,8,5\nsip:198.51.100.2,duid=b;weight=20,1,0,5\nsips:gw.example.com,maxload=7,2,1,0\n",
		"tsv without a head":   "1\t1\tsip:198.51.100.1:5060\t8\t5\tduid=a;weight=80\tfirst\n2\t1\tsip:198.51.100.2\t0\t5\tduid=b;weight=20\t\n3\t2\tsips:gw.example.com\t1\t0\tmaxload=7\t\n",
		"sql": "-- a dump\nDROP TABLE IF EXISTS `dispatcher`;\nINSERT INTO `version` VALUES ('dispatcher',4);\n/* rows */ INSERT INTO `dispatcher` VALUES " +
			"(1,1,'sip:198.51.100.1:5060',8,5,'duid=a;weight=80','it''s (the) first'),(2,1,'sip:198.51.100.2',0,5,'duid=b;weight=20',NULL);\n" +
			"insert into public.dispatcher (setid, destination, flags, priority, attrs) values (2, 'sips:gw.example.com', 1, 0, 'maxload=7');\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got := kamailioOf(t, o, text); !reflect.DeepEqual(got.Document, list.Document) {
				t.Errorf("got\n%+v, want\n%+v", got.Document, list.Document)
			}
		})
	}
	if g := list.Document.TrunkGroups[0]; g.Name != "set-1" || ids(&g) != "b a" {
		t.Errorf("group %s has %s, want set-1 with the later line first", g.Name, ids(&g))
	}
}

// TestK16_EachSetHasItsOwnMethod: carriers take turns, PBXs keep Call-IDs together.
func TestK16_EachSetHasItsOwnMethod(t *testing.T) {
	r := kamailioOf(t, KamailioOptions{Roles: map[int]trunkgroup.Role{2: trunkgroup.OriginationCustomer}, Names: map[int]string{2: "pbx"}},
		"1 sip:198.51.100.1\n2 sip:198.51.100.2\n", "request_route {\n ds_select_dst(\"1\", \"4\"); ds_select_domain(2, 0, 1); }\n")
	g := r.Document.TrunkGroups
	if g[0].Distribution.Method != trunkgroup.RoundRobin || g[0].Role != trunkgroup.PSTNProvider {
		t.Errorf("set 1 is %v, %v", g[0].Role, g[0].Distribution.Method)
	}
	if g[1].Name != "pbx" || g[1].Distribution.Method != trunkgroup.HashCallID || g[1].Role != trunkgroup.OriginationCustomer {
		t.Errorf("set 2 is %s, %v, %v", g[1].Name, g[1].Role, g[1].Distribution.Method)
	}
}

// TestK20_AlgorithmsBecomeMethods: the numbers are Kamailio's own (C1).
func TestK20_AlgorithmsBecomeMethods(t *testing.T) {
	const rows = "1 sip:198.51.100.1 0 7 weight=60;rweight=60\n1 sip:198.51.100.2 0 7 weight=40;rweight=40\n"
	for number, want := range map[int]trunkgroup.Method{
		0: trunkgroup.HashCallID, 1: trunkgroup.HashFrom, 2: trunkgroup.HashTo, 3: trunkgroup.HashRequestUser, 4: trunkgroup.RoundRobin,
		5: trunkgroup.HashAuthUser, 6: trunkgroup.Random, 7: trunkgroup.HashCallID, 8: trunkgroup.Failover, 9: trunkgroup.Weighted,
		10: trunkgroup.CallLoad, 11: trunkgroup.RelativeWeight, 12: trunkgroup.Failover, 13: trunkgroup.Latency, 14: trunkgroup.RoundRobin,
		64: trunkgroup.RoundRobin, 15: trunkgroup.Failover, 99: trunkgroup.Failover,
	} {
		g := only(t, kamailioOf(t, KamailioOptions{Algorithm: &number}, rows))
		if g.Distribution.Method != want {
			t.Errorf("algorithm %d is method %v, want %v", number, g.Distribution.Method, want)
		}
	}
}

// TestK20_UnequalsAreReported: what has no equal says so and what to do.
func TestK20_UnequalsAreReported(t *testing.T) {
	for number, words := range map[int]string{7: "hash_pvar", 12: "two carriers may bill", 64: "RFC 7339", 77: "is no algorithm"} {
		r := kamailioOf(t, KamailioOptions{Algorithm: &number}, "1 sip:198.51.100.1\n")
		it := says(t, r, Lost, fmt.Sprintf("algorithm %d", number))
		if !strings.Contains(it.Why, words) || it.Remedy == "" {
			t.Errorf("algorithm %d: %+v", number, it)
		}
	}
	r := kamailioOf(t, KamailioOptions{}, "1 sip:198.51.100.1\n")
	if it := says(t, r, Lost, "set 1: algorithm"); !strings.Contains(it.Remedy, "--algorithm 1=") {
		t.Errorf("without an algorithm: %+v", it)
	}
	customer := only(t, kamailioOf(t, KamailioOptions{Role: trunkgroup.OriginationCustomer, Algorithms: map[int]int{1: 12}}, "1 sip:198.51.100.1\n"))
	if customer.Distribution.Method != trunkgroup.Parallel {
		t.Errorf("algorithm 12 of a customer is %v", customer.Distribution.Method)
	}
}

// TestK20_HashKeys: what algorithm 7 hashes, and what is hashed exactly (C2).
func TestK20_HashKeys(t *testing.T) {
	for variable, want := range map[string]string{
		"$hdr(X-Room)": "header:X-Room", "$ci": "call-id", "$(fu)": "from", "$tU": "to", "$rU": "request-user", "$au": "auth-user", "$si": "source-ip",
	} {
		o := KamailioOptions{Algorithms: map[int]int{1: 7}, Params: map[string]string{"hash_pvar": variable}}
		if d := only(t, kamailioOf(t, o, "1 sip:198.51.100.1\n")).Distribution; d.Method != trunkgroup.Hash || d.Key != want || d.UserOnly != (variable == "$tU") {
			t.Errorf("%s is %+v, want key %s", variable, d, want)
		}
	}
	for number, want := range map[int]string{0: "call-id", 1: "from", 2: "to", 3: "request-user", 5: "auth-user"} {
		o := KamailioOptions{Algorithm: &number, ExactHash: true, Params: map[string]string{"flags": "3"}}
		d := only(t, kamailioOf(t, o, "1 sip:198.51.100.1\n")).Distribution
		if d.Method != trunkgroup.HashMod || d.Key != want || d.UserOnly != (number == 1 || number == 2) {
			t.Errorf("algorithm %d is exactly %+v, want key %s", number, d, want)
		}
	}
}

// TestK20_WeightsFillAHundredPlaces: the rest is the last entry's, what is beyond
// gets nothing, and without a first weight all calls go to the first.
func TestK20_WeightsFillAHundredPlaces(t *testing.T) {
	weigh := func(algorithm int, rows string) (string, trunkgroup.Method) {
		g := only(t, kamailioOf(t, KamailioOptions{Algorithm: &algorithm}, rows))
		var out []string
		for _, m := range g.Members {
			out = append(out, fmt.Sprintf("%s:%d/%d", m.ID, m.Weight, m.Priority))
		}
		return strings.Join(out, " "), g.Distribution.Method
	}
	for _, c := range []struct {
		algorithm int
		rows      string
		want      string
		method    trunkgroup.Method
	}{
		{9, "1 sip:h1 0 0 duid=c;weight=20\n1 sip:h2 0 0 duid=b;weight=30\n1 sip:h3 0 0 duid=a;weight=30\n", "a:30/0 b:30/0 c:40/0", trunkgroup.Weighted},
		{9, "1 sip:h1 0 0 duid=c;weight=50\n1 sip:h2 0 0 duid=b;weight=70\n1 sip:h3 0 0 duid=a;weight=50\n", "a:50/0 b:50/0 c:0/1", trunkgroup.Weighted},
		{9, "1 sip:h1 0 0 duid=b;weight=50\n1 sip:h2 0 0 duid=a\n", "a:0/0 b:0/0", trunkgroup.Failover},
		{11, "1 sip:h1 0 0 duid=c;rweight=1\n1 sip:h2 0 0 duid=b;rweight=2\n1 sip:h3 0 0 duid=a;rweight=1\n", "a:1/0 b:2/0 c:1/0", trunkgroup.RelativeWeight},
		{11, "1 sip:h1 0 0 duid=b;rweight=101\n1 sip:h2 0 0 duid=a;rweight=5\n", "a:5/0 b:0/1", trunkgroup.RelativeWeight},
		{11, "1 sip:h1 0 0 duid=b\n1 sip:h2 0 0 duid=a\n", "a:0/0 b:0/0", trunkgroup.Failover},
	} {
		if got, method := weigh(c.algorithm, c.rows); got != c.want || method != c.method {
			t.Errorf("algorithm %d of %q: %s by %v, want %s by %v", c.algorithm, c.rows, got, method, c.want, c.method)
		}
	}
}

// TestK20_PrioritiesAreTiersOnlyWhereTheyAre: serial goes by them, all others only
// by their order.
func TestK20_PrioritiesAreTiersOnlyWhereTheyAre(t *testing.T) {
	const rows = "1 sip:h1 0 5 duid=low\n1 sip:h2 0 50 duid=high\n1 sip:h3 0 5 duid=later\n"
	for number, want := range map[int]string{8: "0 1 1", 13: "0 1 1", 14: "0 1 1", 4: "0 0 0", 0: "0 0 0", 6: "0 0 0"} {
		g := only(t, kamailioOf(t, KamailioOptions{Algorithm: &number}, rows))
		if got := fmt.Sprint(g.Members[0].Priority, g.Members[1].Priority, g.Members[2].Priority); got != want || ids(g) != "high later low" {
			t.Errorf("algorithm %d: %s with priorities %s, want %s", number, ids(g), got, want)
		}
	}
	even := 14
	if g := only(t, kamailioOf(t, KamailioOptions{Algorithm: &even}, "1 sip:h1 0 0\n1 sip:h2 0 0\n")); g.Distribution.Method != trunkgroup.Failover {
		t.Errorf("algorithm 14 with priorities 0 is %v, want failover", g.Distribution.Method)
	}
}

// TestK21_FlagsOfTheModule: user only, failover, limit and the last entry.
func TestK21_FlagsOfTheModule(t *testing.T) {
	const rows = "1 sip:h1\n1 sip:h2\n1 sip:h3\n"
	of := func(cfg string) *trunkgroup.GroupSpec { return only(t, kamailioOf(t, KamailioOptions{}, rows, cfg)) }
	g := of("modparam(\"dispatcher\", \"flags\", 1)\nroute { ds_select_dst(1, 1); }\n")
	if !g.Distribution.UserOnly || g.MaxAttempts != 1 {
		t.Errorf("flags 1: user_only %v, max_attempts %d", g.Distribution.UserOnly, g.MaxAttempts)
	}
	g = of("modparam(\"dispatcher|other\", \"flags\", 2)\nmodparam(\"dispatcher\", \"use_default\", 1)\nroute { ds_select_dst(1, 1, 2); }\n")
	if g.Distribution.UserOnly || g.MaxAttempts != 2 {
		t.Errorf("flags 2, limit 2: user_only %v, max_attempts %d", g.Distribution.UserOnly, g.MaxAttempts)
	}
	if !g.Members[2].LastResort || g.Members[0].LastResort || g.Members[1].LastResort {
		t.Errorf("use_default: %+v", g.Members)
	}
	if g := only(t, kamailioOf(t, KamailioOptions{}, rows)); g.MaxAttempts != 0 {
		t.Errorf("without a configuration max_attempts is %d", g.MaxAttempts)
	}
}

// TestK21_RoutesOfSetsAreAPlan: ds_select_routes tries sets one after the other.
func TestK21_RoutesOfSetsAreAPlan(t *testing.T) {
	r := kamailioOf(t, KamailioOptions{}, "1 sip:h1\n2 sip:h2\n3 sip:h3\n", "route { ds_select_routes(\"2=4;1=8\", \"0\"); ds_select_routes(\"7=0\", \"0\"); }\n")
	want := []trunkgroup.RoutePlanSpec{{Name: "routes-2-1", Routes: []trunkgroup.RouteSpec{{Prefix: "*", Providers: []string{"set-2", "set-1"}}}}}
	if !reflect.DeepEqual(r.Document.RoutePlans, want) {
		t.Errorf("route plans %+v, want %+v", r.Document.RoutePlans, want)
	}
	says(t, r, Lost, "7=0")
}

// TestK22_FlagsOfDestinations: each flag has its meaning or its remedy.
func TestK22_FlagsOfDestinations(t *testing.T) {
	r := kamailioOf(t, KamailioOptions{Params: map[string]string{"ds_ping_interval": "10"}},
		"1 sip:h1 1 0 duid=inactive\n1 sip:h2 2 0 duid=trying\n1 sip:h3 4 0 duid=disabled\n1 sip:h4 8 0 duid=probing\n1 sip:h5 16 0 duid=nodns\n1 sip:h6 32 0 duid=noping\n1 sip:h7 64\n")
	for _, m := range only(t, r).Members {
		if m.Disabled != (m.ID == "disabled") {
			t.Errorf("%s: disabled %v", m.ID, m.Disabled)
		}
	}
	for flag, o := range map[string]Outcome{"flag 1 ": Adapted, "flag 2 ": Adapted, "flag 4 ": Same, "flag 16 ": Same, "flag 32 ": Lost, "flag 64 ": Lost} {
		says(t, r, o, flag)
	}
	// Nothing probes it: only an operator brings it back.
	if g := only(t, kamailioOf(t, KamailioOptions{}, "1 sip:h1 1\n1 sip:h2\n")); !g.Members[1].Disabled || g.Members[0].Disabled {
		t.Errorf("inactive without probes: %+v", g.Members)
	}
	if g := only(t, kamailioOf(t, KamailioOptions{Params: map[string]string{"ds_ping_interval": "10"}}, "1 sip:h1 32\n")); g.Monitoring.Profile != "" {
		t.Errorf("flag 32 everywhere: %+v", g.Monitoring)
	}
}

// TestK22_AttributesAreNeverDroppedInSilence: every one is in the report.
func TestK22_AttributesAreNeverDroppedInSilence(t *testing.T) {
	attrs := []string{"duid=x", "maxload=40", "weight=10", "rweight=10", "socket=udp:192.0.2.1:5060", "sockname=a", "ping_socket=b", "ping_from=sip:c", "obproxy=sip:d", "latency=5", "ocmin=10", "ocrate=100", "cc=1", "own=\"a;b\""}
	r := kamailioOf(t, KamailioOptions{Algorithms: map[int]int{1: 10}}, "1 sip:h1 0 0 "+strings.Join(attrs, ";")+"\n")
	for _, a := range attrs {
		found := false
		for _, it := range r.Report.Items {
			found = found || it.Item == strings.ReplaceAll(a, `"`, "") && it.Line == 1
		}
		if !found {
			t.Errorf("the report says nothing of %s", a)
		}
	}
	if m := only(t, r).Members[0]; m.ID != "x" || m.Limits.Calls != 40 {
		t.Errorf("the member is %+v", m)
	}
	if text, _ := r.YAML(); !strings.Contains(string(text), "# own=a;b\n") {
		t.Errorf("the free attribute is no comment:\n%s", text)
	}
}

// TestK23_ProbesOfTheModule: intervals, thresholds and codes.
func TestK23_ProbesOfTheModule(t *testing.T) {
	r := kamailioOf(t, KamailioOptions{}, "1 sip:h1\n", `
modparam("tm", "fr_timer", 1500)
modparam("dispatcher", "ds_ping_interval", 20)
modparam("dispatcher", "ds_probing_mode", 1)
modparam("dispatcher", "ds_probing_threshold", 4)
modparam("dispatcher", "ds_inactive_threshold", 2)
modparam("dispatcher", "ds_ping_reply_codes", "class=2;code=403;code=408;class=9")
modparam("dispatcher", "ds_ping_method", "INFO")
modparam("dispatcher", "ds_unheard_of", 1)
route { ds_select_dst("1", "4"); }`)
	want := trunkgroup.MonitoringSpec{
		Profile: "kamailio", Interval: trunkgroup.Duration(20 * time.Second), Timeout: trunkgroup.Duration(1500 * time.Millisecond),
		DownAfter: 4, UpAfter: 2, GoodCodes: []int{200, 202, 204, 403},
	}
	if got := only(t, r).Monitoring; !reflect.DeepEqual(got, want) {
		t.Errorf("monitoring %+v, want %+v", got, want)
	}
	for _, item := range []string{"class=9", "ds_ping_method=INFO", "ds_unheard_of"} {
		says(t, r, Lost, item)
	}
	off := kamailioOf(t, KamailioOptions{}, "1 sip:h1\n", "modparam(\"dispatcher\", \"flags\", 2)\nroute { ds_select_dst(\"1\", \"4\"); }\n")
	if g := only(t, off); g.Monitoring.Profile != "" {
		t.Errorf("ds_ping_interval 0 gives %+v", g.Monitoring)
	}
	says(t, kamailioOf(t, KamailioOptions{}, "1 sip:h1\n"), Lost, "set 1: probes")
}

// TestK01_WhatCannotBeADestination is left out with its line, and the rest stays.
func TestK01_WhatCannotBeADestination(t *testing.T) {
	r := kamailioOf(t, KamailioOptions{}, "1 sip:h1\n1\n1 tel:+1214\n1 sip:h2;transport=sctp\n1 sip:0.0.0.0\n1 sip:h1:5060\n1 sip:-bad-\n1 sip:h3 0 0 a=b c=d\n1 sip:h4:99999\n")
	if got := ids(only(t, r)); got != "h3-5060 h1-5060" {
		t.Errorf("members %s", got)
	}
	if n := r.Report.Count(Lost); n < 8 {
		t.Errorf("%d things are lost: %+v", n, r.Report.Items)
	}
	for _, it := range r.Report.Items {
		if it.Outcome == Lost && it.Why == "" {
			t.Errorf("%q is lost without a reason", it.Item)
		}
	}
	if _, err := Kamailio([]Input{{Name: "empty", Text: []byte("# nothing\n")}}, KamailioOptions{}); !errors.Is(err, ErrNothing) {
		t.Errorf("nothing gives %v", err)
	}
}

// TestK18_ASecondImportNamesMembersAlike: whoever is added or moved changes
// nobody's name, so that calls and states stay with their members.
func TestK18_ASecondImportNamesMembersAlike(t *testing.T) {
	first := kamailioOf(t, KamailioOptions{}, "1 sip:h1:5060\n1 sip:[2001:db8::1]:5061;transport=tls\n")
	second := kamailioOf(t, KamailioOptions{}, "1 sip:h0:5060\n1 sip:[2001:db8::1]:5061;transport=tls 0 9\n1 sip:h1:5060\n")
	for _, m := range only(t, first).Members {
		if !strings.Contains(ids(only(t, second)), m.ID) {
			t.Errorf("%s is not among %s", m.ID, ids(only(t, second)))
		}
	}
}

// TestD14_Samples imports the sample files whole.
func TestD14_Samples(t *testing.T) {
	var in []Input
	for _, name := range []string{"dispatcher.list", "kamailio.cfg"} {
		text, err := os.ReadFile("testdata/kamailio/" + name)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, Input{Name: name, Text: text})
	}
	r, err := Kamailio(in, KamailioOptions{Roles: map[int]trunkgroup.Role{2: trunkgroup.OriginationCustomer}})
	if err != nil {
		t.Fatal(err)
	}
	whole(t, r)
	if n := len(r.Document.TrunkGroups); n != 4 {
		t.Errorf("%d groups, want 4", n)
	}
	for _, it := range r.Report.Items {
		if strings.Contains(it.Item+it.Why, "geheim") {
			t.Errorf("the report shows a password: %+v", it)
		}
	}
}
