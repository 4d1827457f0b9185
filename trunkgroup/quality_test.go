package trunkgroup

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestD10_QualityDefaults(t *testing.T) {
	d := testDocument()
	d.TrunkGroups[0].Quality = &QualitySpec{MinAnswerRatio: 30}
	d.TrunkGroups[2].Quality = &QualitySpec{
		MaxShortCalls: 20, ShortCall: Duration(3 * time.Second), Window: Duration(time.Hour), MinSamples: 7, Cooldown: Duration(time.Minute),
	}
	table := compile(t, d)
	for name, want := range map[string]Quality{
		"acme-in":   {30, 0, 6 * time.Second, 5 * time.Minute, 50, 5 * time.Minute, 0},
		"carrier-a": {0, 20, 3 * time.Second, time.Hour, 7, time.Minute, 0},
	} {
		if got := table.Group(name).Quality; got == nil || *got != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if table.Group("carrier-b").Quality != nil {
		t.Error("a group that demands nothing")
	}
}

func TestD10_QualityFaults(t *testing.T) {
	for want, s := range map[string]QualitySpec{
		"quality: demands nothing":                            {},
		"quality.min_answer_ratio: 100 is not":                {MinAnswerRatio: 100},
		"quality.max_short_calls: -1 is not":                  {MaxShortCalls: -1},
		"quality.short_call: means nothing without":           {MinAnswerRatio: 1, ShortCall: Duration(time.Second)},
		"quality.short_call: 11s is above window, 10s":        {MaxShortCalls: 1, ShortCall: Duration(11 * time.Second), Window: Duration(10 * time.Second)},
		"quality.min_samples: 1000001 is out of range":        {MinAnswerRatio: 1, MinSamples: 1_000_001},
		"quality.window: 9s is out of range":                  {MinAnswerRatio: 1, Window: Duration(9 * time.Second)},
		"quality.cooldown: 25h0m0s is out of range":           {MinAnswerRatio: 1, Cooldown: Duration(25 * time.Hour)},
		"quality.cooldown: \"off\" is not possible here":      {MinAnswerRatio: 1, Cooldown: Off},
		"quality: means nothing for members that register":    {MinAnswerRatio: 2},
		"quality: means nothing in a group of role terminati": {MinAnswerRatio: 3},
	} {
		d := testDocument()
		at := 0
		switch s.MinAnswerRatio {
		case 2:
			d.TrunkGroups[0].Members[0] = MemberSpec{ID: "d1", Registration: &RegistrationSpec{AOR: "sip:d1@sip.example.com"}}
			d.TrunkGroups[0].Credentials = []CredentialSpec{{Username: "d1", Realm: "sip.example.com", HA1MD5: someHash}}
		case 3:
			at = 1
		}
		d.TrunkGroups[at].Quality = &s
		if got := d.Validate(); len(got) != 1 || !strings.Contains(got.Error(), want) || got[0].Remedy == "" {
			t.Errorf("%s\nin %v", want, got)
		}
	}
}

func TestD10_Judge(t *testing.T) {
	q := &Quality{MinAnswerRatio: 30, MaxShortCalls: 20, ShortCall: 6 * time.Second, MinSamples: 50}
	for _, c := range []struct {
		tally CallTally
		want  string
	}{
		{CallTally{}, ""},
		{CallTally{Attempts: 49}, ""},
		{CallTally{Attempts: 60, Answered: 7}, "answer ratio 11 % of 60 calls is below 30 %"},
		{CallTally{Attempts: 60, Answered: 18}, ""},
		{CallTally{Attempts: 60, Answered: 60, Short: 12}, ""},
		{CallTally{Attempts: 60, Answered: 60, Short: 13}, "22 % of 60 answered calls were shorter than 6s, more than 20 %"},
		{CallTally{Attempts: 60, Answered: 50, Short: 500}, "100 % of 50 answered calls were shorter than 6s, more than 20 %"},
		{CallTally{Attempts: 60, Answered: 49, Short: 49}, ""},
	} {
		if got := q.Judge(c.tally); got != c.want {
			t.Errorf("%+v: %q, want %q", c.tally, got, c.want)
		}
	}
	if (&Quality{MinAnswerRatio: 30}).Judge(CallTally{Attempts: 9}) != "" {
		t.Error("no samples say something")
	}
}

// More answers never make a member worse, and what demands nothing bars nobody.
func TestD10_JudgeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := &Quality{
			MinAnswerRatio: rapid.IntRange(0, 99).Draw(t, "ratio"), ShortCall: time.Second, MinSamples: rapid.IntRange(1, 100).Draw(t, "samples"),
		}
		n := rapid.Uint64Range(0, 1<<32).Draw(t, "attempts")
		a := CallTally{Attempts: n, Answered: rapid.Uint64Range(0, n).Draw(t, "answered")}
		b := a
		b.Answered = rapid.Uint64Range(a.Answered, n).Draw(t, "more")
		if q.Judge(a) == "" && q.Judge(b) != "" {
			t.Fatalf("%+v passes %+v, and %+v does not", a, q, b)
		}
		if bad := n >= uint64(q.MinSamples) && float64(a.Answered) < float64(q.MinAnswerRatio)/100*float64(n); bad != (q.Judge(a) != "") {
			if exact := 100*a.Answered == uint64(q.MinAnswerRatio)*n; !exact {
				t.Fatalf("%+v by %+v: %q", a, q, q.Judge(a))
			}
		}
	})
}

// DEC-17: an emergency call asks for no quality; what operators and probes say holds.
func TestD10_EmergencyCallsSeeNoBar(t *testing.T) {
	table := compile(t, testDocument())
	v := NewView(table)
	if v.ForEmergency() != v {
		t.Error("another view without need")
	}
	d1, d2 := table.Member("acme-in/d1"), table.Member("acme-in/d2")
	v.Bar(d1, CauseQuality)
	v.States[d2.Index] = Draining
	causes := func(v *View) string {
		var all []string
		for _, c := range Plan(nil, table.Group("acme-in"), "dallas", v, Draw{}) {
			all = append(all, c.Member.ID+":"+c.Cause)
		}
		return strings.Join(all, " ")
	}
	if got := causes(v); got != "d1:quality d2:draining" {
		t.Errorf("a call: %s", got)
	}
	if got := causes(v.ForEmergency()); got != "d2:draining d1:" {
		t.Errorf("an emergency call: %s", got)
	}
}
