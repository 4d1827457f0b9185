package lcr

import (
	"strings"
	"testing"
)

// A name that stands twice in an answer counts where it stands last, whole: what was said
// before it is no part of it, neither of a route nor of its headers.
func TestS021_WhatStandsTwiceIsNotMixed(t *testing.T) {
	a, err := Parse([]byte(`{
		"routes":[{"carrier_id":"a","gateway_group":"ga","tech_prefix":"99","caller_id":"+1","rate":1,"headers":{"X-A":"1"},"reroute_causes":[404]}],
		"Routes":[{"carrier_id":"b","gateway_group":"gb","headers":{"X-B":"1"},"headers":{"X-C":"1"},"cdr_fields":{"a":"1"},"cdr_fields":{"b":"1"}}],
		"reject":{"code":403,"reason":"blocked"},"reject":{"code":404}}`))
	if err != nil {
		t.Fatal(err)
	}
	r := &a.Set.Routes[0]
	if len(a.Set.Routes) != 1 || r.CarrierID != "b" || r.GatewayGroup != "gb" || r.TechPrefix+r.CallerID != "" || r.Rated || !r.RerouteCauses.Empty() {
		t.Errorf("%+v", r)
	}
	if len(r.Headers) != 1 || r.Headers[0].Name != "X-C" || len(r.CDRFields) != 1 || r.CDRFields[0].Name != "b" {
		t.Errorf("%+v %+v", r.Headers, r.CDRFields)
	}
	if a.Set.Reject.Code != 404 || a.Set.Reject.Reason != "" {
		t.Errorf("%+v", a.Set.Reject)
	}
}

// Nothing that a server may send takes long, or gets through where it could say something
// else in a message.
func TestS021_HostileAnswers(t *testing.T) {
	route := func(rest string) string { return `{"routes":[{"carrier_id":"a","gateway_group":"g",` + rest + `}]}` }
	for name, tt := range map[string]struct {
		body string
		ok   bool
	}{
		"deep":                {`{"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, false},
		"deep, in bounds":     {`{"x":` + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000) + `}`, true},
		"rate out of float64": {route(`"rate":1e400`), false},
		"rate below zero":     {route(`"rate":-1`), true},
		"rate as text":        {route(`"rate":"1"`), false},
		"NaN":                 {route(`"rate":NaN`), false},
		"cause as text":       {route(`"reroute_causes":["503"]`), false},
		"cause of 17 bits":    {route(`"reroute_causes":[70000]`), false},
		"no such cause":       {route(`"reroute_causes":[0,99,503,600,603,700]`), true},
		"timeout below zero":  {route(`"timeout_secs":-1`), false},
		"timeout is huge":     {route(`"timeout_secs":4294967295`), true},
		"NUL":                 {route(`"ruri":"sip:a\u0000@h"`), false},
		"line":                {route(`"caller_id":"+1\r\nX-Evil: 1"`), false},
		"long":                {route(`"destination":"` + strings.Repeat("1", 10_000) + `"`), false},
		"65 routes":           {`{"routes":[` + strings.TrimSuffix(strings.Repeat(`{"carrier_id":"a"},`, 65), ",") + `]}`, false},
		"null routes":         {`{"routes":null}`, true},
		"a null route":        {`{"routes":[null]}`, false},
		"two values":          {`{} {}`, false},
		"UTF-16":              {"\xff\xfe{\x00}\x00", false},
		"BOM":                 {"\xef\xbb\xbf{}", false},
	} {
		if _, err := Parse([]byte(tt.body)); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	a, err := Parse([]byte(route(`"headers":{"v":"SIP/2.0/UDP evil","X:Y":"1","":"1","X-L":"a\r\nb","X-N":"a\u0000","X-OK":"ü"},"timeout_secs":0,"reroute_causes":[0,99,600]`)))
	if err != nil {
		t.Fatal(err)
	}
	r := &a.Set.Routes[0]
	if len(r.Headers) != 2 || r.Headers[0].Name != "X-OK" || r.Headers[1].Name != "v" || r.Timeout != 0 || !r.RerouteCauses.Empty() {
		t.Errorf("%+v", r)
	}
}
