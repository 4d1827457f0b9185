package trunkgroup

import (
	"strings"
	"testing"
	"time"
)

func decidedDocument(change func(*RoutePlanSpec)) *Document {
	d := testDocument()
	d.RoutePlans = append(d.RoutePlans, RoutePlanSpec{Name: "lcr", Decision: &DecisionSpec{URL: "http://127.0.0.1:8080/route"}})
	d.TrunkGroups[1].RoutePlan = "lcr"
	change(&d.RoutePlans[1])
	return d
}

func TestS094_DecisionDefaults(t *testing.T) {
	d := decidedDocument(func(*RoutePlanSpec) {})
	s := compile(t, d).Group("acme-out").plan.Decision
	if s.Timeout != 2*time.Second || s.CacheTTL != 300*time.Second || s.MaxPending != 1000 || s.BreakAfter != 5 || s.BreakFor != 10*time.Second || s.Edition == 0 {
		t.Errorf("%+v", s)
	}
	off := compile(t, decidedDocument(func(p *RoutePlanSpec) { p.Decision.CacheTTL = Off })).Group("acme-out").plan
	if off.Decision.CacheTTL != 0 { // C6
		t.Errorf("cache_ttl: off is %s", off.Decision.CacheTTL)
	}
	other := compile(t, decidedDocument(func(p *RoutePlanSpec) { p.Decision.URL = "http://127.0.0.2/route" })).Group("acme-out").plan
	if other.Decision.Edition == s.Edition {
		t.Error("another server is of the same edition")
	}
}

func TestS094_DecisionFaults(t *testing.T) {
	for want, change := range map[string]func(*RoutePlanSpec){
		"decision.url: is missing":                                        func(p *RoutePlanSpec) { p.Decision.URL = "" },
		"decision.url: is not a URL of http or https":                     func(p *RoutePlanSpec) { p.Decision.URL = "ftp://lcr.example/route" },
		"decision.url: names no host":                                     func(p *RoutePlanSpec) { p.Decision.URL = "http:///route" },
		"decision.url: holds a user or a password":                        func(p *RoutePlanSpec) { p.Decision.URL = "http://u:p@lcr.example/" },
		"decision.url: has a fragment":                                    func(p *RoutePlanSpec) { p.Decision.URL = "http://lcr.example/#x" },
		"decision.url: is not a URL":                                      func(p *RoutePlanSpec) { p.Decision.URL = "http://[lcr" },
		"decision.url: has 2049 octets":                                   func(p *RoutePlanSpec) { p.Decision.URL = "http://" + strings.Repeat("x", 2042) },
		`decision.url: a variable is not closed: "${LCR"`:                 func(p *RoutePlanSpec) { p.Decision.URL = "http://${LCR" },
		"decision.url: is not a URL of http":                              func(p *RoutePlanSpec) { p.Decision.URL = "${LCR_API_URL:-lcr.example}" },
		`decision.auth_header: "a b" is not the name of a variable`:       func(p *RoutePlanSpec) { p.Decision.AuthHeader = "Bearer ${a b}" },
		"decision.auth_header: variable TANDEM_CLUSTER_KEY belongs":       func(p *RoutePlanSpec) { p.Decision.AuthHeader = "${TANDEM_CLUSTER_KEY}" },
		"decision.auth_header: holds a line end":                          func(p *RoutePlanSpec) { p.Decision.AuthHeader = "Bearer x\r\nHost: y" },
		"decision.auth_header: has 4097 octets":                           func(p *RoutePlanSpec) { p.Decision.AuthHeader = strings.Repeat("x", 4097) },
		"decision.timeout: 10ms is out of range":                          func(p *RoutePlanSpec) { p.Decision.Timeout = Duration(10 * time.Millisecond) },
		"decision.timeout: 31s is out of range":                           func(p *RoutePlanSpec) { p.Decision.Timeout = Duration(31 * time.Second) },
		`decision.timeout: "off" is not possible`:                         func(p *RoutePlanSpec) { p.Decision.Timeout = Off },
		"decision.cache_ttl: 25h0m0s is out of range":                     func(p *RoutePlanSpec) { p.Decision.CacheTTL = Duration(25 * time.Hour) },
		"decision.cache_ttl: 1ms is out of range":                         func(p *RoutePlanSpec) { p.Decision.CacheTTL = Duration(time.Millisecond) },
		`decision.fallback_group: there is no trunk group "carrier-c"`:    func(p *RoutePlanSpec) { p.Decision.FallbackGroup = "carrier-c" },
		`decision.fallback_group: trunk group "acme-in" has role`:         func(p *RoutePlanSpec) { p.Decision.FallbackGroup = "acme-in" },
		"decision.max_pending: -1 is not 1 to 100000":                     func(p *RoutePlanSpec) { p.Decision.MaxPending = -1 },
		"decision.break_after: 10001 is not":                              func(p *RoutePlanSpec) { p.Decision.BreakAfter = 10_001 },
		"decision.break_for: 2h0m0s is out of range":                      func(p *RoutePlanSpec) { p.Decision.BreakFor = Duration(2 * time.Hour) },
		"reroute_causes[1]: 299 is not a code":                            func(p *RoutePlanSpec) { p.RerouteCauses = []int{503, 299} },
		"ring: 2h0m0s is out of range":                                    func(p *RoutePlanSpec) { p.Ring = Duration(2 * time.Hour) },
		"max_members: 101 is not 1 to 100":                                func(p *RoutePlanSpec) { p.MaxMembers = 101 },
		`routes[0].prefix: "*" covers all numbers, and rows come first: `: func(p *RoutePlanSpec) { p.Routes = []RouteSpec{{Prefix: "*", Providers: []string{"carrier-a"}}} },
		"deck: stands beside decision":                                    func(p *RoutePlanSpec) { p.Deck = &DeckSpec{Name: "d"} },
	} {
		got := decidedDocument(change).Validate()
		found := false
		for _, f := range got {
			text := f.Path + ": " + f.Problem
			found = found || strings.HasPrefix(text, "route_plans[1]."+want) && f.Remedy != ""
		}
		if !found {
			t.Errorf("%s\nin %v", want, got)
		}
	}
}

// The reference's own configuration (S-094) is one of ours.
func TestS094_ReferenceConfiguration(t *testing.T) {
	d := decidedDocument(func(p *RoutePlanSpec) {
		*p.Decision = DecisionSpec{
			URL: "${LCR_API_URL:-http://127.0.0.1:8080/route}", Timeout: Duration(2 * time.Second), CacheTTL: Duration(300 * time.Second),
			AuthHeader: "Bearer ${LCR_TOKEN}", FallbackGroup: "carrier-a",
		}
		p.RerouteCauses = []int{408, 500, 502, 503, 504}
		p.Routes = []RouteSpec{{Prefix: "911", Providers: []string{"carrier-b"}}} // emergencies need nobody's word
	})
	if err := d.Validate().Err(); err != nil {
		t.Fatal(err)
	}
	d.RoutePlans[1].Decision.URL = "${LCR_API_URL}" // only a node knows
	if err := d.Validate().Err(); err != nil {
		t.Fatal(err)
	}
}

func TestC7_SixHundredsInRerouteCausesAreAdvisedAgainst(t *testing.T) {
	d := decidedDocument(func(p *RoutePlanSpec) { p.RerouteCauses = []int{503, 603} })
	if err := d.Validate().Err(); err != nil {
		t.Fatal(err)
	}
	list := d.Advice(time.Unix(0, 0))
	if len(list) != 1 || list[0].Path != "route_plans[1].reroute_causes[1]" || list[0].Remedy == "" {
		t.Errorf("%v", list)
	}
}

func TestS094_ExpandEnv(t *testing.T) {
	env := map[string]string{"TOKEN": "secret", "EMPTY": ""}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	for text, want := range map[string]string{
		"":                                "",
		"plain $5 }":                      "plain $5 }",
		"Bearer ${TOKEN}":                 "Bearer secret",
		"${TOKEN}${EMPTY}${TOKEN}":        "secretsecret",
		"${EMPTY:-other}":                 "other",
		"${NONE:-http://h:80/p?a=:-b}/x":  "http://h:80/p?a=:-b/x",
		"${NONE:-}":                       "",
		"${TOKEN:-x}":                     "secret",
		"${NONE}":                         "!there is no variable NONE, and no default",
		"Bearer ${TOKEN:-hush":            `!a variable is not closed: "${TOKEN"`,
		"${TOKEN":                         `!a variable is not closed: "${TOKEN"`,
		"${}":                             `!"" is not the name of a variable`,
		"${9X}":                           `!"9X" is not the name of a variable`,
		"${TANDEM_ADMIN_TOKEN:-x}":        "!variable TANDEM_ADMIN_TOKEN belongs to the node",
		"${TOKEN-x}":                      `!"TOKEN-x" is not the name of a variable`,
		"before ${TOKEN:-a} between ${NO": `!a variable is not closed: "${NO"`,
	} {
		got, err := ExpandEnv(text, lookup)
		if err != nil {
			got = "!" + err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzExpandEnv(f *testing.F) {
	for _, s := range []string{"", "${A}", "x${A:-b}y", "${", "${A:-${B}}", "$${A}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ExpandEnv(text, func(string) (string, bool) { return "v", true })
		if err == nil && !strings.Contains(text, "${") && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
