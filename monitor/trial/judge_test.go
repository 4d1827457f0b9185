package trial

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/cdr"
)

func TestFailed(t *testing.T) {
	dialed := []cdr.Attempt{{Dialed: true}}
	for _, x := range []struct {
		name           string
		r              cdr.Record
		failed, counts bool
	}{
		{"answered", cdr.Record{Kind: cdr.KindCall, SIPCode: 200, Answer: time.Unix(1, 0), Attempts: dialed}, false, true},
		{"busy", cdr.Record{Kind: cdr.KindCall, SIPCode: 486, Attempts: dialed}, false, true},
		{"no route", cdr.Record{Kind: cdr.KindCall, SIPCode: 404}, true, true},
		{"unknown at the far end", cdr.Record{Kind: cdr.KindCall, SIPCode: 404, Attempts: dialed}, false, true},
		{"all members down", cdr.Record{Kind: cdr.KindCall, SIPCode: 503, Attempts: []cdr.Attempt{{}}}, true, true},
		{"a carrier's 503", cdr.Record{Kind: cdr.KindCall, SIPCode: 503, Attempts: dialed}, true, true},
		{"declined", cdr.Record{Kind: cdr.KindCall, SIPCode: 603, Attempts: dialed}, false, true},
		{"taken back", cdr.Record{Kind: cdr.KindCall, SIPCode: 487, Attempts: dialed}, false, false},
		{"a test", cdr.Record{Kind: cdr.KindCall, Test: true, SIPCode: 503}, false, false},
		{"a peer's part", cdr.Record{Kind: cdr.KindHandoff, SIPCode: 503}, false, false},
	} {
		if failed, counts := Failed(&x.r); failed != x.failed || counts != x.counts {
			t.Errorf("%s: %v %v", x.name, failed, counts)
		}
	}
}

// play observes a second at a time: so many calls of which so many fail.
func play(j *Judge, total *Tally, canary uint64, seconds int, calls, failed uint64) (reasons []string) {
	for range seconds {
		total.Calls += calls
		total.Failed += failed
		if r := j.Observe(*total, canary); r != "" {
			reasons = append(reasons, r)
		}
	}
	return reasons
}

func TestDEC25_CanaryIsJudged(t *testing.T) {
	for _, x := range []struct {
		name              string
		before, failed    uint64 // per second
		seconds           int
		canary, badCanary uint64 // per second
		want              string
	}{
		{"as before", 10, 1, 100, 10, 1, ""},
		{"all fail", 10, 0, 100, 10, 10, "20 of 20 calls failed, before it were 0 of 990"},
		{"a bad carrier before and now", 10, 4, 100, 10, 5, ""},
		{"much worse than a bad carrier", 10, 4, 100, 10, 7, "14 of 20 calls failed, before it were 396 of 990"},
		{"no calls before, half fail", 0, 0, 100, 10, 5, "10 of 20 calls failed, before it were 0 of 0"},
		{"no calls before, few fail", 0, 0, 100, 10, 4, ""},
		{"no calls", 10, 0, 100, 0, 0, ""},
	} {
		var j Judge
		var total Tally
		if got := play(&j, &total, 0, x.seconds, x.before, x.failed); got != nil {
			t.Errorf("%s: judged without a canary: %q", x.name, got)
		}
		// The second in which the canary begins belongs to nobody.
		play(&j, &total, 7, 1, 0, 0)
		got := play(&j, &total, 7, 60, x.canary, x.badCanary)
		if x.want == "" && got != nil || x.want != "" && (len(got) != 1 || got[0] != x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// A carrier that the canary forgot has no calls any more: its INVITEs are
// refused. Strangers who knock while calls go on are no reason.
func TestDEC25_CanaryThatKnowsNobody(t *testing.T) {
	for _, x := range []struct {
		name             string
		calls, strangers uint64 // per second, before
		let, refused     uint64 // per second, under the canary
		want             string
	}{
		{"a carrier is forgotten", 10, 0, 0, 10, "20 of 20 INVITEs came from nobody known, before it were 0 of 990"},
		{"one of two carriers is forgotten", 10, 1, 4, 7, "14 of 22 INVITEs came from nobody known, before it were 99 of 1089"},
		{"a stranger floods", 10, 0, 10, 100, ""},
		{"digest: each call is refused once", 10, 10, 10, 10, ""},
		{"a quiet hour", 10, 0, 1, 0, ""},
		{"strangers at a node without calls", 0, 10, 0, 20, ""},
	} {
		j := Judge{Doors: true}
		var total Tally
		play(&j, &total, 0, 100, x.calls+x.strangers, x.strangers)
		play(&j, &total, 7, 1, 0, 0)
		got := play(&j, &total, 7, 60, x.let+x.refused, x.refused)
		if x.want == "" && got != nil || x.want != "" && (len(got) != 1 || got[0] != x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// A canary goes bad after a good hour; another one after it is judged anew.
func TestLateBreach(t *testing.T) {
	var j Judge
	var total Tally
	play(&j, &total, 0, 100, 10, 0)
	if got := play(&j, &total, 7, 3600, 10, 0); got != nil {
		t.Fatalf("%q", got)
	}
	if got := play(&j, &total, 7, Window, 10, 10); len(got) != 1 {
		t.Errorf("%q", got)
	}
	play(&j, &total, 0, Window, 10, 0)
	if got := play(&j, &total, 8, 10, 10, 10); len(got) != 1 {
		t.Errorf("the next one: %q", got)
	}
}

// However calls come: no canary, no word; at most one word for each; and never
// for a canary under which nothing failed.
func TestJudgeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var j Judge
		var total Tally
		said := map[uint64]int{}
		for canary := range uint64(4) {
			bad := rapid.Bool().Draw(t, "bad")
			for range rapid.IntRange(1, 900).Draw(t, "seconds") {
				calls := rapid.Uint64Range(0, 5).Draw(t, "calls")
				total.Calls += calls
				if bad {
					total.Failed += calls
				}
				if j.Observe(total, canary) != "" {
					said[canary]++
					if canary == 0 || !bad {
						t.Fatalf("canary %d, bad %v", canary, bad)
					}
				}
			}
			if said[canary] > 1 {
				t.Fatalf("said %d times", said[canary])
			}
		}
	})
}
