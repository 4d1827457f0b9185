package number

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// writing compiles a number policy as a document would give it.
func writing(t testing.TB, s trunkgroup.NumberPolicySpec) *trunkgroup.WritingPolicy {
	t.Helper()
	s.Name = "p"
	d := &trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}}, NumberPolicies: []trunkgroup.NumberPolicySpec{s},
		TrunkGroups: []trunkgroup.GroupSpec{{Name: "g", Role: trunkgroup.PSTNProvider, Sources: []trunkgroup.SourceSpec{{IP: "192.0.2.1"}}}},
	}
	table, err := trunkgroup.Compile(d, trunkgroup.Version{})
	if err != nil {
		t.Fatal(err)
	}
	return table.NumberPolicy("p")
}

// Countries with a trunk prefix, without one, with one that is the country code, and with an
// international prefix that could begin a number.
func countries() map[string]trunkgroup.PolicyNumberingSpec {
	return map[string]trunkgroup.PolicyNumberingSpec{
		"nl": {CountryCode: "31", TrunkPrefix: "0", InternationalPrefix: "00"},
		"dk": {CountryCode: "45", InternationalPrefix: "00", MinNationalDigits: 8},
		"us": {CountryCode: "1"},
		"ru": {CountryCode: "7", TrunkPrefix: "8", InternationalPrefix: "810", MinNationalDigits: 10},
		"it": {CountryCode: "39", InternationalPrefix: "00", MinNationalDigits: 6},
	}
}

// Formats "e164 +31612345678, plain, international 0031…, national 06… (foreign =>
// international form)".
func TestS080_FormatsOfANumberPolicy(t *testing.T) {
	for _, c := range []struct {
		country, user string
		format        trunkgroup.Format
		want          string
	}{
		{"nl", "+31612345678", trunkgroup.FormatE164, "+31612345678"},
		{"nl", "+31612345678", trunkgroup.FormatPlain, "31612345678"},
		{"nl", "+31612345678", trunkgroup.FormatInternational, "0031612345678"},
		{"nl", "+31612345678", trunkgroup.FormatNational, "0612345678"},
		{"nl", "+12025550123", trunkgroup.FormatNational, "0012025550123"},
		{"nl", "0612345678", trunkgroup.FormatE164, "+31612345678"},
		{"nl", "0031612345678", trunkgroup.FormatE164, "+31612345678"},
		{"nl", "31612345678", trunkgroup.FormatE164, "+31612345678"},
		{"nl", "06-1234 5678", trunkgroup.FormatE164, ""}, // a blank is no visual separator
		{"nl", "06-1234.5678", trunkgroup.FormatPlain, "31612345678"},
		{"nl", "%2B31612345678;npdi", trunkgroup.FormatPlain, "31612345678"},
		{"nl", "612345678", trunkgroup.FormatE164, ""}, // nobody there writes it so
		{"nl", "0612", trunkgroup.FormatE164, ""},
		{"nl", "112", trunkgroup.FormatPlain, "112"},
		{"nl", "08001234", trunkgroup.FormatE164, "08001234"},
		{"nl", "alice", trunkgroup.FormatE164, ""},
		{"nl", "anonymous", trunkgroup.FormatPlain, ""},
		{"nl", "as-it-was", trunkgroup.FormatNone, "as-it-was"},
		{"us", "+12025550123", trunkgroup.FormatNational, "12025550123"},
		{"us", "2025550123", trunkgroup.FormatE164, "+12025550123"},
		{"us", "+442079460000", trunkgroup.FormatNational, "011442079460000"},
		{"dk", "+4545123456", trunkgroup.FormatNational, "45123456"},
		{"dk", "45123456", trunkgroup.FormatNational, "45123456"},
		{"dk", "4545123456", trunkgroup.FormatE164, ""}, // with country code, or ten digits without
		{"ru", "+74951234567", trunkgroup.FormatNational, "84951234567"},
		{"ru", "+71012345678", trunkgroup.FormatNational, "81071012345678"}, // 8 and 10... would read as 810 and 1...
	} {
		p := writing(t, trunkgroup.NumberPolicySpec{Format: c.format, Numbering: countries()[c.country], Preserve: []string{"112", "0800*"}})
		got, ok := AppendWritten(nil, p, trunkgroup.PlaceFrom, nil, []byte(c.user))
		if string(got) != c.want || ok != (c.want != "") {
			t.Errorf("%s: %s as %s: %q, %t; want %q", c.country, c.user, c.format, got, ok, c.want)
		}
	}
}

// "per-header formats": each place has its own, and those that are not named the policy's.
func TestS080_FormatsByPlace(t *testing.T) {
	p := writing(t, trunkgroup.NumberPolicySpec{
		Format: trunkgroup.FormatPlain, Numbering: countries()["nl"],
		Headers: trunkgroup.NumberHeadersSpec{
			RequestURI: trunkgroup.FormatNational, To: trunkgroup.FormatInternational, PAssertedIdentity: trunkgroup.FormatE164,
			RemotePartyID: trunkgroup.FormatNone,
		},
		Diversion: trunkgroup.DiversionSpec{Format: trunkgroup.FormatNational},
	})
	for place, want := range map[trunkgroup.NumberPlace]string{
		trunkgroup.PlaceRequestURI: "0612345678", trunkgroup.PlaceFrom: "31612345678", trunkgroup.PlaceTo: "0031612345678",
		trunkgroup.PlaceAsserted: "+31612345678", trunkgroup.PlacePreferred: "31612345678", trunkgroup.PlaceRemoteParty: "+31612345678",
		trunkgroup.PlaceDiversion: "0612345678",
	} {
		if got, ok := AppendWritten(nil, p, place, nil, []byte("+31612345678")); string(got) != want || !ok {
			t.Errorf("place %d: %q, want %q", place, got, want)
		}
	}
}

// The sender's own way of writing comes before the carrier's: ten digits of a customer in
// the United States are not a Dutch number.
func TestS080_SenderReadsFirst(t *testing.T) {
	p := writing(t, trunkgroup.NumberPolicySpec{Format: trunkgroup.FormatPlain, Numbering: countries()["nl"]})
	sender := nanp(t)
	for user, want := range map[string]string{
		"2025550105": "12025550105", "9001#12025550105": "12025550105", "911": "911", "0612345678": "31612345678", "x": "",
	} {
		got, ok := AppendWritten(nil, p, trunkgroup.PlaceRequestURI, &sender, []byte(user))
		if string(got) != want || ok != (want != "") {
			t.Errorf("%s: %q, %t; want %q", user, got, ok, want)
		}
	}
}

// What a policy has written, it writes again as it is; and however a number is written, all
// formats read it as the same one.
func TestS080_Idempotent(t *testing.T) {
	formats := []trunkgroup.Format{trunkgroup.FormatE164, trunkgroup.FormatPlain, trunkgroup.FormatInternational, trunkgroup.FormatNational, trunkgroup.FormatNone}
	rapid.Check(t, func(rt *rapid.T) {
		country := rapid.SampledFrom([]string{"nl", "dk", "us", "ru", "it"}).Draw(rt, "country")
		spec := trunkgroup.NumberPolicySpec{
			Format: rapid.SampledFrom(formats).Draw(rt, "format"), Numbering: countries()[country], Preserve: []string{"911", "0800*"},
		}
		p := writing(t, spec)
		user := rapid.OneOf(
			rapid.StringMatching(`\+[1-9][0-9]{6,14}`), rapid.StringMatching(`\+(1|7|31|39|45)[0-9]{5,12}`), rapid.StringMatching(`[0-9]{1,17}`),
		).Draw(rt, "user")
		once, ok := AppendWritten(nil, p, trunkgroup.PlaceFrom, nil, []byte(user))
		if !ok {
			return
		}
		twice, ok := AppendWritten(nil, p, trunkgroup.PlaceFrom, nil, once)
		if !ok || string(twice) != string(once) {
			rt.Fatalf("%s: %s gives %s, and that %s (%t)", country, user, once, twice, ok)
		}
		if user[0] != '+' || spec.Format == trunkgroup.FormatNone || matches(p.Preserve, once) {
			return
		}
		back, ok := read(nil, p, spec.Format, nil, once)
		if !ok || string(back) != user {
			rt.Fatalf("%s: %s as %s is %s, which reads as %s (%t)", country, user, spec.Format, once, back, ok)
		}
	})
}

// Whatever the user is: what is written is digits, a plus before them at most, or a number
// that passes as it is, and nothing is written of what is no number.
func FuzzAppendWritten(f *testing.F) {
	for i, s := range []string{"+12025550100", "9001#12025550105", "0112025550105", "%2B1%", "911", "08001234", "(1)-", "a\r\nX: y", "\"><sip:x@y>", "+٣١٦", "anonymous"} {
		f.Add(s, uint8(i), i%2 == 0)
	}
	var policies []*trunkgroup.WritingPolicy
	for _, n := range countries() {
		for format := trunkgroup.FormatE164; format < trunkgroup.FormatNone; format++ {
			policies = append(policies, writing(f, trunkgroup.NumberPolicySpec{Format: format, Numbering: n, Preserve: []string{"911", "0800*"}}))
		}
	}
	sender := nanp(f)
	f.Fuzz(func(t *testing.T, user string, n uint8, known bool) {
		p := policies[int(n)%len(policies)]
		from := &sender
		if !known {
			from = nil
		}
		got, ok := AppendWritten([]byte("x"), p, trunkgroup.PlaceFrom, from, []byte(user))
		if got = got[1:]; !ok {
			if len(got) > 0 {
				t.Fatalf("%q leaves %q", user, got)
			}
			return
		}
		if digits([]byte(strings.TrimPrefix(string(got), "+"))) != nil {
			t.Fatalf("%q gives %q", user, got)
		}
	})
}

func TestAppendWrittenAllocates(t *testing.T) {
	p, sender := writing(t, trunkgroup.NumberPolicySpec{Format: trunkgroup.FormatNational, Numbering: countries()["us"]}), nanp(t)
	user, buffer := []byte("9001#12025550105;npdi"), make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() { _, _ = AppendWritten(buffer, p, trunkgroup.PlaceRequestURI, &sender, user) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAppendWritten(b *testing.B) {
	p, sender := writing(b, trunkgroup.NumberPolicySpec{Format: trunkgroup.FormatNational, Numbering: countries()["us"]}), nanp(b)
	user, buffer := []byte("9001#12025550105;npdi"), make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := AppendWritten(buffer, p, trunkgroup.PlaceRequestURI, &sender, user); !ok {
			b.Fatal("not written")
		}
	}
}
