package trunkgroup

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseExpressionRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`/^\+1800[0-9]{7}$`:                    "does not stand between slashes",
		`/`:                                    "does not stand between slashes",
		`/\+1800[0-9]{7}/`:                     "does not say the whole number",
		`/^\+1800[0-9]{7}/`:                    "does not say the whole number",
		`/^\+1800|\+1888$/`:                    "does not say the whole number",
		`/^\+1(800|888$/`:                      "is no regular expression",
		`/^\+1(\d)\1$/`:                        "is no regular expression",
		`/^1800[0-9]{7}$/`:                     "matches no number that begins with +",
		`/^alice$/`:                            "matches no number that begins with +",
		`/^\+$/`:                               "matches no number that begins with +",
		`/^\+1\b800$/`:                         "asks for the border of a word",
		`/^\+[0-9]*1[0-9]{12}$/`:               "is too complex",
		`/^\+([0-9]{15}|[1-9]{40}){20}$/`:      "is too complex",
		`/^` + strings.Repeat("1", 300) + `$/`: "is longer than 200 characters",
	} {
		if _, err := ParseExpression(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

var someExpressions = []string{
	`/^\+1800[0-9]{7}$/`, `/^\+1(?:800|888|877)\d*$/`, `/^\+(?i:12|3)+$/`, `/^\+.*7$/`, `/^\+1?2*[^5-9]$/`,
	`/^(?:\+1[0-4]|\+2.{2})$/`, `/^\+(?m:^1|1$)1*$/`, `/^\+(?:[0-9]{2}){1,4}$/`, `/^\+?[1-5]+$/`, `/^\+1\z$/`,
	`/^\+(1|12|123)*?4$/`,
}

// The automaton says what Go's regexp says.
func TestExpressionEqualsRegexp(t *testing.T) {
	for _, text := range someExpressions {
		x, err := ParseExpression(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want := regexp.MustCompile(text[1 : len(text)-1])
		rapid.Check(t, func(t *rapid.T) {
			called := rapid.StringMatching(`\+?(1800|1|2)?[0-9]{0,8}`).Draw(t, "called")
			if got := x.Matches([]byte(called)); got != want.MatchString(called) {
				t.Fatalf("%s matches %s: %t", text, called, got)
			}
		})
	}
}

func FuzzParseExpression(f *testing.F) {
	for _, text := range someExpressions {
		f.Add(text, "+18005550100")
	}
	f.Fuzz(func(t *testing.T, text, called string) {
		x, err := ParseExpression(text)
		if err != nil {
			return
		}
		if strings.Trim(called, "+0123456789") != "" {
			if x.Matches([]byte(called)) {
				t.Fatalf("%q matches %q", text, called)
			}
			return
		}
		if got, want := x.Matches([]byte(called)), regexp.MustCompile(text[1:len(text)-1]).MatchString(called); got != want {
			t.Fatalf("%q matches %q: %t, want %t", text, called, got, want)
		}
	})
}
