package sip

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseURI(t *testing.T) {
	for in, want := range map[string]string{
		"sip:alice@example.com":                          "sip|alice||example.com|0||",
		"SIPS:alice:secret@example.com:5061":             "sips|alice|secret|example.com|5061||",
		"sip:example.com":                                "sip|||example.com|0||",
		"sip:+1214;npdi;rn=+1@192.0.2.1:5060;user=phone": "sip|+1214;npdi;rn=+1||192.0.2.1|5060|user=phone|",
		"sip:[2001:db8::1]:5070;lr":                      "sip|||[2001:db8::1]|5070|lr|",
		"sip:u@[2001:db8:::192.0.2.1]":                   "sip|u||[2001:db8:::192.0.2.1]|0||",
		"sip:u@h;a=b;c?Subject=x&To=y":                   "sip|u||h|0|a=b;c|Subject=x&To=y",
		"sip:u@h?X=1":                                    "sip|u||h|0||X=1",
		"sip:%00@h":                                      "sip|%00||h|0||",
		"sip:a?b/c;d=e,f$&+@h":                           "sip|a?b/c;d=e,f$&+||h|0||",
		"sip:*72#@pbx_1.example.com":                     "sip|*72#||pbx_1.example.com|0||",
		"tel:+1-(214)-555.0100;ext=5":                    "tel|+1-(214)-555.0100|||0|ext=5|",
		"tel:911;phone-context=+1":                       "tel|911|||0|phone-context=+1|",
		"":                                               "malformed",
		":":                                              "malformed",
		"s":                                              "malformed",
		"sip":                                            "malformed",
		"sip:":                                           "malformed",
		"sip:@h":                                         "malformed",
		"sip::p@h":                                       "malformed",
		"sip:u@":                                         "malformed",
		"sip:u@h:":                                       "malformed",
		"sip:u@h:0":                                      "malformed",
		"sip:u@h:65536":                                  "malformed",
		"sip:u@h:5060x":                                  "malformed",
		"sip:u@h;":                                       "malformed",
		"sip:u@h;;lr":                                    "malformed",
		"sip:u@h;=x":                                     "malformed",
		"sip:u@h?":                                       "malformed",
		"sip:u v@h":                                      "malformed",
		"sip:u@h v":                                      "malformed",
		"sip:u@a@b":                                      "malformed",
		"sip:u%4@h":                                      "malformed",
		"sip:u%@h":                                       "malformed",
		"sip:u@h;p=%zz":                                  "malformed",
		"sip:<u@h>":                                      "malformed",
		"sip:2001:db8::10":                               "malformed",
		"sip:u@[[[[::1]":                                 "malformed",
		"sip:u@[::1":                                     "malformed",
		"sip:u@[]":                                       "malformed",
		"sip:u@[1234]":                                   "malformed",
		"tel:":                                           "malformed",
		"tel:+":                                          "malformed",
		"tel:12+3":                                       "malformed",
		"tel:bob!":                                       "malformed",
		"1sip:x":                                         "malformed",
		"http://example.com/?a":                          "scheme",
		"soap.beep://192.0.2.103:3002":                   "scheme",
		"nobodyKnowsThisScheme:totallyopaquecontent": "scheme",
		"urn:service:sos": "scheme",
		"urn:":            "malformed",
	} {
		if got := describeURI(ParseURI([]byte(in))); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func describeURI(u URI, err error) string {
	switch {
	case errors.Is(err, ErrURI):
		return "malformed"
	case errors.Is(err, ErrScheme):
		return "scheme"
	case err != nil:
		return err.Error()
	}
	return fmt.Sprintf("%s|%s|%s|%s|%d|%s|%s", u.Scheme, u.User, u.Password, u.Host, u.Port, u.Params, u.Headers)
}

func TestURINumber(t *testing.T) {
	u, err := ParseURI([]byte("sip:+12145550100;npdi;rn=+1@h;user=phone"))
	if v, ok := u.Param("USER"); err != nil || string(u.Number()) != "+12145550100" || string(v) != "phone" || !ok {
		t.Fatalf("%s %s %v", u.Number(), v, err)
	}
}

// TestURILinear: 59 KB of URI parameters, which a quadratic scan turns into a quarter of a second, are one pass without allocation.
func TestURILinear(t *testing.T) {
	raw := []byte("sip:u@h" + strings.Repeat(";p=v", 59<<10/4))
	if _, err := ParseURI(raw); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() { _, _ = ParseURI(raw) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if _, ok := Param(raw, "absent"); ok {
		t.Error("found an absent parameter")
	}
}
