package policy

import (
	"strings"
	"testing"
)

func filter(t testing.TB, text string) *Filter {
	t.Helper()
	f, err := CompileFilter(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestS014_Keep(t *testing.T) {
	call := &Call{Called: "+12145550100", Group: "acme", Hour: 23, Weekday: "sat", From: "sip:alice@example.com"}
	route := &Route{Place: 2, CarrierID: "carrier-a", Rate: 0.0042, Rated: true, Currency: "USD", Fields: map[string]string{"region": "us-east"}}
	var m Machine
	for text, want := range map[string]bool{
		"route.rate <= 0.02":                                    true,
		"route.rate > 0.02":                                     false,
		"not route.rated or route.rate <= 0.004":                false,
		"route.cdr_fields.region == 'us-east'":                  true,
		"route.cdr_fields.nothing == ''":                        true,
		"route.headers[\"X-Account\"] == ''":                    true,
		"call.called startsWith '+1214' && route.place < 3":     true,
		"call.called matches '^\\\\+1(214|469)[0-9]{7}$'":       true,
		"call.weekday in ['sat', 'sun'] and call.hour >= 22":    true,
		"call.group == 'acme' ? route.currency == 'USD' : true": true,
	} {
		if got, err := m.Keep(filter(t, text), call, route); err != nil || got != want {
			t.Errorf("%s: got %t, %v, want %t", text, got, err, want)
		}
	}
}

func TestS014_Order(t *testing.T) {
	var m Machine
	for text, want := range map[string]float64{
		"route.rate":                      0.5,
		"-route.rate":                     -0.5,
		"route.place":                     3,
		"route.currency == 'USD' ? 0 : 1": 1,
		"route.rate * (call.hour < 6 ? 0.5 : 1.5)": 0.25,
	} {
		o, err := CompileOrder(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := m.Key(o, &Call{Hour: 3}, &Route{Rate: 0.5, Place: 3}); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
	o, err := CompileOrder("(route.rate - route.rate) / (route.rate - route.rate)")
	if err != nil {
		t.Fatal(err)
	}
	if key, err := m.Key(o, &Call{}, &Route{}); err == nil {
		t.Errorf("0/0 orders by %v", key)
	}
}

func TestS015_Text(t *testing.T) {
	attempts := []Attempt{{CarrierID: "b", Status: 503, ElapsedMS: 120}, {CarrierID: "c", Status: 408, Dialed: true}}
	var m Machine
	for text, want := range map[string]string{
		"route.carrier_id":                          "a",
		"upper(route.carrier_id) + '-' + call.site": "A-dallas",
		"len(attempts)":                             "2",
		"route.rate":                                "0.0042",
		"route.rate < 1":                            "true",
		"attempts[0].carrier_id":                    "b",
		"count(attempts, .dialed)":                  "1",
		"string(route.rate * 2)":                    "0.0084",
	} {
		f, err := CompileField(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := m.Text(f, &Call{Site: "dallas"}, &Route{CarrierID: "a", Rate: 0.0042}, attempts); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestS045_Conditions(t *testing.T) {
	attempts := []Attempt{{CarrierID: "b", Status: 503}, {CarrierID: "c", Status: 408, Dialed: true}}
	var m Machine
	for text, want := range map[string]bool{
		"failure.code in [408, 503]":                           true,
		"failure.code == 503 and failure.dialed > 1":           false,
		"none(attempts, .dialed)":                              false,
		"any(attempts, .carrier_id == 'c' and .status == 408)": true,
		"len(attempts) == 2 && failure.reroutes == 0":          true,
		"failure.cause == 'undialable'":                        true,
	} {
		c, err := CompileCondition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := m.Holds(c, &Call{}, &Failure{Code: 503, Cause: "undialable", Dialed: 1}, attempts); err != nil || got != want {
			t.Errorf("%s: got %t, %v, want %t", text, got, err, want)
		}
	}
}

// TestErrorsOfAnEvaluation: what cannot be said before shows as an error with its place, and the machine is
// good for the next one.
func TestErrorsOfAnEvaluation(t *testing.T) {
	var m Machine
	c, err := CompileCondition("failure.code % failure.dialed == 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Holds(c, &Call{}, &Failure{}, nil); err == nil || !strings.Contains(err.Error(), "column ") {
		t.Errorf("remainder by zero: got %v", err)
	}
	if c, err = CompileCondition("attempts[3].status == 503"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Holds(c, &Call{}, &Failure{}, nil); err == nil {
		t.Error("an attempt that is not there has a status")
	}
	if keep, err := m.Keep(filter(t, "true"), &Call{}, &Route{}); err != nil || !keep {
		t.Errorf("afterwards: %t, %v", keep, err)
	}
}

// TestMachineForgets: what a call was is not kept after its evaluation.
func TestMachineForgets(t *testing.T) {
	var m Machine
	if _, err := m.Keep(filter(t, "call.from == ''"), &Call{From: "sip:a@b"}, &Route{}); err != nil {
		t.Fatal(err)
	}
	if m.route.Call != nil {
		t.Error("the machine holds the call")
	}
}

// TestLoopsSeeTheLastAttempts: a list of any length costs no more than MaxAttempts.
func TestLoopsSeeTheLastAttempts(t *testing.T) {
	c, err := CompileCondition("len(attempts) == 64 and attempts[63].status == 500")
	if err != nil {
		t.Fatal(err)
	}
	list := make([]Attempt, 1000)
	list[999].Status = 500
	var m Machine
	if holds, err := m.Holds(c, &Call{}, &Failure{}, list); err != nil || !holds {
		t.Errorf("got %t, %v", holds, err)
	}
}

func BenchmarkKeep(b *testing.B) {
	var m Machine
	f := filter(b, "route.rate <= 0.02 and route.currency == 'USD'")
	call, route := &Call{}, &Route{Rate: 0.01, Currency: "USD"}
	b.ReportAllocs()
	for b.Loop() {
		if keep, err := m.Keep(f, call, route); err != nil || !keep {
			b.Fatal(keep, err)
		}
	}
}

// BenchmarkWorstKeep is the most work that routes can be: 64 of them, each with the largest pattern, over the longest texts.
func BenchmarkWorstKeep(b *testing.B) {
	const term = "call.from matches '(.{0,20}a.{0,20}b)$'"
	f := filter(b, term)
	call, route := &Call{From: strings.Repeat("ab", MaxURI/2-1) + "ac"}, &Route{}
	var m Machine
	b.ReportAllocs()
	for b.Loop() {
		for range 64 {
			if _, err := m.Keep(f, call, route); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkWorstCondition is the most work that a failure can be: a loop over all attempts.
func BenchmarkWorstCondition(b *testing.B) {
	const term = "call.from matches '(.{0,20}a.{0,20}b)$'"
	c, err := CompileCondition("all(attempts, not (" + term + "))")
	if err != nil {
		b.Fatal(err)
	}
	call := &Call{From: strings.Repeat("ab", MaxURI/2-1) + "ac"}
	var m Machine
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Holds(c, call, &Failure{}, make([]Attempt, MaxAttempts)); err != nil {
			b.Fatal(err)
		}
	}
}
