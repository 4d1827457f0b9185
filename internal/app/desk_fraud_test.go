package app

import (
	"context"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// A call that a bound of its customer stops is not explained as one that goes out.
func TestExplainSaysWhichBoundIsPassed(t *testing.T) {
	b := newClusterOf(t, "127.88.47", registering(1)+`  - name: globex-out
    role: termination-customer
    customer: globex
    sources: [{ip: 127.0.0.9}]
    numbering: {country_code: "1", preserve: ["911"]}
customers:
  - {name: globex, fraud: {destinations: [{name: premium, prefixes: ["+1900*"]}]}}
`, 1)[0]
	b.start()
	defer b.stop()
	ready(b)
	for called, want := range map[string]string{
		"+19005550100": "rule premium of customer globex lets no call there (block): 603 to the caller",
		"+12025550100": "",
		"911":          "",
	} {
		e, err := b.app.desk.Explain(context.Background(), admin.Question{Called: called, Source: "127.0.0.9:5060"})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range e.Steps {
			if s.Name == "fraud" {
				got = s.Text
			}
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q in %+v", called, got, want, e.Steps)
		}
	}
}
