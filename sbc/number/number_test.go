package number

import (
	"errors"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// policy compiles a numbering policy as a document would give it.
func policy(t testing.TB, s trunkgroup.NumberingSpec) trunkgroup.Numbering {
	t.Helper()
	d := &trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{{
			Name: "g", Role: trunkgroup.PSTNProvider, Numbering: s,
			Sources: []trunkgroup.SourceSpec{{IP: "192.0.2.1"}},
		}},
	}
	table, err := trunkgroup.Compile(d, trunkgroup.Version{})
	if err != nil {
		t.Fatal(err)
	}
	return table.Group("g").Numbering
}

func nanp(t testing.TB) trunkgroup.Numbering {
	return policy(t, trunkgroup.NumberingSpec{
		CountryCode: "1", StripPrefixes: []string{"9001#", "9"}, Preserve: []string{"911", "0800*"},
	})
}

type row struct {
	user, want string
	err        error
}

func check(t *testing.T, p trunkgroup.Numbering, rows []row) {
	t.Helper()
	for _, r := range rows {
		got, err := Normalise(p, []byte(r.user))
		if string(got) != r.want || !errors.Is(err, r.err) {
			t.Errorf("%q: %q, %v; want %q, %v", r.user, got, err, r.want, r.err)
		}
	}
}

// NUM-01: "Called number = part before the first ';' of the user; on inbound
// match by the dialled number, on outbound route by rn when npdi is present".
func TestNUM01_Portability(t *testing.T) {
	user := []byte("+12025550100;rn=+12025550999;npdi")
	check(t, nanp(t), []row{{string(user), "+12025550100", nil}})
	rn, npdi := Portability(user)
	if string(rn) != "+12025550999" || !npdi {
		t.Errorf("rn %q, npdi %t", rn, npdi)
	}
	number, params := Split(user)
	if string(number) != "+12025550100" || string(params) != "rn=+12025550999;npdi" {
		t.Errorf("number %q, params %q", number, params)
	}
	if rn, npdi := Portability([]byte("+12025550100;NPDI")); rn != nil || !npdi {
		t.Errorf("without rn: %q, %t", rn, npdi)
	}
	if rn, npdi := Portability([]byte("+12025550100")); rn != nil || npdi {
		t.Errorf("without a query: %q, %t", rn, npdi)
	}
}

// NUM-04: "User params are parsed apart; number compare ignores them. Check:
// caller = +12025550104".
func TestNUM04_UserParameters(t *testing.T) {
	user := []byte("+12025550104;tgrp=dal1;trunk-context=example.com")
	check(t, nanp(t), []row{{string(user), "+12025550104", nil}})
}

// NUM-05: "R-URI users +12025550105, 12025550105, 2025550105,
// 9001#12025550105, 0112025550105: first four -> +12025550105, the fifth is
// NOT." What does not normalise is an error, not a guess.
func TestNUM05_DialPlan(t *testing.T) {
	check(t, nanp(t), []row{
		{"+12025550105", "+12025550105", nil},
		{"12025550105", "+12025550105", nil},
		{"2025550105", "+12025550105", nil},
		{"9001#12025550105", "+12025550105", nil},
		{"0112025550105", "+2025550105", nil}, // a number in Egypt, and nobody's here
		{"011442079460000", "+442079460000", nil},
		{"912025550105", "+12025550105", nil}, // the shorter tech prefix
		{"#12025550105", "+12025550105", nil}, // P-28: a leading # goes
		{"%2B12025550105", "+12025550105", nil},
		{"+1-202-555-0105", "+12025550105", nil},
		{"(202)555.0105", "+12025550105", nil},
		{"911", "911", nil}, // 9 is a tech prefix here
		{"9911", "911", nil},
		{"08001234", "08001234", nil},
		{"112", "", ErrIncomplete},
		{"5550105", "", ErrIncomplete},
		{"1025550105", "", ErrUnknown}, // no area code begins with 0 or 1
		{"22025550105", "", ErrUnknown},
		{"alice", "", ErrNotNumber},
		{"+1202555O105", "", ErrNotNumber},
		{"+1202555", "+1202555", nil}, // seven digits may be a number somewhere
		{"+120255", "", ErrIncomplete},
		{"+0123456789", "", ErrNotNumber},
		{"+1234567890123456", "", ErrNotNumber},
		{"", "", ErrIncomplete},
		{"+", "", ErrIncomplete},
		{";npdi", "", ErrIncomplete},
		{"2025550105*12", "", ErrNotNumber},
		{"1111111111111111111111111111111111111111111111111111111111111111111111", "", ErrNotNumber},
	})
	if Code(ErrIncomplete) != 484 || Code(ErrNotNumber) != 404 || Code(ErrUnknown) != 404 {
		t.Error("codes")
	}
}

func TestOtherPlans(t *testing.T) {
	britain := policy(t, trunkgroup.NumberingSpec{CountryCode: "44", TrunkPrefix: "0", InternationalPrefix: "00", NationalLengths: []int{9, 10}})
	check(t, britain, []row{
		{"02079460000", "+442079460000", nil},
		{"2079460000", "+442079460000", nil},
		{"442079460000", "+442079460000", nil},
		{"0012025550105", "+12025550105", nil},
		{"0207946000", "+44207946000", nil}, // trunk prefix and nine digits
		{"20794600001", "", ErrUnknown},
	})
	// Nine digits, or country code and seven: two readings are none.
	unclear := policy(t, trunkgroup.NumberingSpec{CountryCode: "47", NationalLengths: []int{7, 9}})
	check(t, unclear, []row{{"471234567", "", ErrAmbiguous}, {"571234567", "+47571234567", nil}})
	none := policy(t, trunkgroup.NumberingSpec{})
	check(t, none, []row{{"+12025550105", "+12025550105", nil}, {"12025550105", "", ErrUnknown}})
}

// NUM-08 leaves To as it is; what is written are numbers in a member's format.
func TestAppendFormatted(t *testing.T) {
	for _, c := range []struct {
		format       trunkgroup.Format
		number, want string
	}{
		{0, "+442079460000", "+442079460000"},
		{trunkgroup.FormatE164, "+442079460000", "+442079460000"},
		{trunkgroup.FormatPlain, "+442079460000", "442079460000"},
		{trunkgroup.FormatInternational, "+442079460000", "00442079460000"},
		{trunkgroup.FormatNational, "+442079460000", "02079460000"},
		{trunkgroup.FormatNational, "+12025550105", "0012025550105"},
		{trunkgroup.FormatNone, "+442079460000", "as-dialled"},
		{trunkgroup.FormatPlain, "911", "911"},
		{trunkgroup.FormatNone, "911", "as-dialled"},
	} {
		p := policy(t, trunkgroup.NumberingSpec{CountryCode: "44", TrunkPrefix: "0", InternationalPrefix: "00", Format: c.format})
		if got := string(AppendFormatted(nil, &p, []byte(c.number), []byte("as-dialled"))); got != c.want {
			t.Errorf("%s as %s: %s, want %s", c.number, c.format, got, c.want)
		}
	}
}

func TestNormaliseAllocates(t *testing.T) {
	p := nanp(t)
	user, buffer := []byte("9001#12025550105;npdi"), make([]byte, 0, 32)
	if n := testing.AllocsPerRun(100, func() { _, _ = AppendE164(buffer, &p, user) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAppendE164(b *testing.B) {
	p := nanp(b)
	user, buffer := []byte("9001#12025550105;npdi"), make([]byte, 0, 32)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := AppendE164(buffer, &p, user); err != nil {
			b.Fatal(err)
		}
	}
}

// Whatever the user part is: what was read is a plus and 7 to 15 digits, or a
// number that the policy preserves, and reads as itself again.
func FuzzNormalise(f *testing.F) {
	for _, s := range []string{"+12025550100;rn=+12025550999;npdi", "9001#12025550105", "0112025550105", "%2B1%", "911", "08001234", "(1)-", "alice;tgrp=a;trunk-context=b"} {
		f.Add(s)
	}
	p := nanp(f)
	f.Fuzz(func(t *testing.T, user string) {
		Portability([]byte(user))
		got, err := Normalise(p, []byte(user))
		if err != nil {
			if len(got) != 0 {
				t.Fatalf("%q gives %q with %v", user, got, err)
			}
			return
		}
		if got[0] == '+' {
			if digits(got[1:]) != nil || len(got) < minDigits+1 || len(got) > maxDigits+1 {
				t.Fatalf("%q gives %q", user, got)
			}
		} else if string(got) != "911" && string(got[:4]) != "0800" {
			t.Fatalf("%q gives %q", user, got)
		}
		if again, err := Normalise(p, got); err != nil || string(again) != string(got) {
			t.Fatalf("%q gives %q, that gives %q, %v", user, got, again, err)
		}
	})
}
