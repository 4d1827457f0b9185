package policy

import (
	"errors"
	"strings"
	"testing"
)

func kinds() map[string]func(string) error {
	return map[string]func(string) error{
		"filter":    func(s string) error { _, err := CompileFilter(s); return err },
		"order":     func(s string) error { _, err := CompileOrder(s); return err },
		"field":     func(s string) error { _, err := CompileField(s); return err },
		"condition": func(s string) error { _, err := CompileCondition(s); return err },
	}
}

// TestS014_ExpressionsThatAreRefused: what is wrong is found when the document is applied, with its column.
func TestS014_ExpressionsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		column     int
		word       string
	}{
		{"filter", "", 0, "unexpected"},
		{"filter", "route.rate <= ", 0, "unexpected"},
		{"filter", "route.rat <= 0.02", 7, "rat"},
		{"filter", "rout.rate <= 0.02", 1, "rout"},
		{"filter", "route.rate", 0, "bool"},
		{"filter", "route.rate <= 'x'", 12, "mismatched"},
		{"filter", "failure.code == 503", 1, "failure"},
		{"filter", "let x = route.rate; x < 1", 5, "variables"},
		{"filter", "route.place in 1..1000000000", 17, "ranges"},
		{"filter", "call.called matches call.from", 13, "written out"},
		{"filter", "call.called matches '[+'", 0, "missing closing"},
		{"filter", "call.called matches '(x{30}){30}'", 13, "too large"},
		{"filter", "len(map([1, 2], 1)) > 0", 5, "map"},
		{"filter", "repeat('a', 1000000000) == ''", 1, "repeat"},
		{"filter", "now().Hour() > 3", 1, "now"},
		{"filter", "{'a': 1}.a == 1", 0, "maps"},
		{"filter", strings.Repeat("true && ", 200) + "true", 0, "nodes"},
		{"filter", strings.Repeat(" ", MaxText) + "true", 0, "2000"},
		{"order", "route.carrier_id", 0, "string"},
		{"order", "route.rated", 0, "bool"},
		{"field", "route", 0, "neither"},
		{"field", "attempts", 0, "neither"},
		{"field", "nil", 0, "neither"},
		{"filter", "call.called | upper() | repeat(9) == ''", 25, "repeat"},
		{"condition", "any(attempts, any(attempts, true))", 1, "another loop"},
		{"condition", "route.rate > 1", 1, "route"},
		{"condition", "all(attempts, .statu == 1)", 16, "statu"},
	} {
		err := kinds()[c.kind](c.text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s %q: got %v, want an *Error", c.kind, c.text, err)
			continue
		}
		if c.column != 0 && e.Column != c.column || !strings.Contains(e.Problem, c.word) {
			t.Errorf("%s %q: got %v, want column %d and the word %q", c.kind, c.text, e, c.column, c.word)
		}
		if strings.Contains(e.Error(), "\n") {
			t.Errorf("%s %q: %q has several lines", c.kind, c.text, e)
		}
	}
}

// TestErrorNamesTheLine: an expression may stand over several lines of YAML.
func TestErrorNamesTheLine(t *testing.T) {
	_, err := CompileFilter("route.rate < 1 &&\n  route.foo")
	if err == nil || !strings.HasPrefix(err.Error(), "line 2, column 9: ") {
		t.Errorf("got %v, want line 2, column 9", err)
	}
}

// TestEveryNameIsReadable: each name of each environment compiles and can be read from a zero value.
func TestEveryNameIsReadable(t *testing.T) {
	call, route := "call.id call.sip_call_id call.plan call.group call.customer call.caller call.called call.called_raw call.from call.to "+
		"call.source_ip call.transport call.user call.site call.node call.route_source call.hour call.weekday call.test",
		"route.place route.carrier_id route.gateway_group route.next_hop route.ruri route.destination route.tech_prefix route.number_policy "+
			"route.caller_id route.restricted route.rate route.rated route.currency route.billing_increment route.min_duration "+
			"route.timeout route.reroute_after_progress route.headers[\"X\"] route.cdr_fields[\"region\"] route.cdr_fields.region"
	var m Machine
	for name := range strings.FieldsSeq(call + " " + route) {
		f, err := CompileFilter("string(" + name + ") != 'x'")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if keep, err := m.Keep(f, &Call{}, &Route{}); err != nil || !keep {
			t.Errorf("%s: got %t, %v", name, keep, err)
		}
	}
	for name := range strings.FieldsSeq("carrier_id group member site status cause elapsed_ms dialed progress") {
		c, err := CompileCondition("count(attempts, string(." + name + ") != 'x') == 1 && failure.code == 503 && failure.cause == '' && failure.dialed + failure.reroutes == 0")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if holds, err := m.Holds(c, &Call{}, &Failure{Code: 503}, []Attempt{{}}); err != nil || !holds {
			t.Errorf("%s: got %t, %v", name, holds, err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"route.rate <= 0.02", "route.cdr_fields.region == 'us' ? 0 : route.rate", "any(attempts, .status == 503)", "count(attempts, not .dialed) > 1",
		"call.called startsWith '+1' and call.hour in [8, 9, 10]", "call.called matches '^\\\\+1(214|469)'", "string(len(attempts)) + ' tried'",
		"failure.code % 0 == 1", "attempts[5].status == 1", "1..9", "let a = 1; a", "route?.rate ?? 1", "((((((((", "\"\\u12", "#", "1 | 2", "call[route.currency]",
	} {
		f.Add(s)
	}
	call := &Call{Called: "+12145550100", From: "sip:+19725550199@example.com", Hour: 3, Weekday: "mon"}
	route := &Route{CarrierID: "a", Rate: 0.01, Fields: map[string]string{"region": "us"}}
	attempts := []Attempt{{CarrierID: "b", Status: 503}, {CarrierID: "c", Status: 408, Dialed: true}}
	f.Fuzz(func(t *testing.T, text string) {
		var m Machine
		if r, err := CompileFilter(text); err == nil {
			_, _ = m.Keep(r, call, route)
		}
		if r, err := CompileOrder(text); err == nil {
			if key, err := m.Key(r, call, route); err == nil && key != key {
				t.Error("an order that is not a number")
			}
		}
		if r, err := CompileField(text); err == nil {
			if out, err := m.Text(r, call, route, attempts); err == nil && len(out) > maxNodes*(MaxText+MaxURI) {
				t.Errorf("%d bytes came out of %d", len(out), len(text))
			}
		}
		if r, err := CompileCondition(text); err == nil {
			_, _ = m.Holds(r, call, &Failure{Code: 503}, attempts)
		}
	})
}
