package trunkgroup

import (
	"testing"
)

func TestParsePattern(t *testing.T) {
	for _, c := range []struct {
		text, inside, outside string
	}{
		{"+12145550100", "+12145550100", "+121455501000"},
		{"+1469555*", "+14695550000", "+1469556"},
		{"+1469555*", "+1469555", "+146955"},
		{"+12145550100..+12145550199", "+12145550150", "+12145550200"},
		{"+12145550100..+12145550199", "+12145550100", "+1214555010"},
		{"+0012*", "+00123", "+123"}, // zeros count
	} {
		p, err := ParsePattern(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if p.String() != c.text || !p.Matches([]byte(c.inside)) || p.Matches([]byte(c.outside)) {
			t.Errorf("%s: reads as %s, has %s %t, has %s %t", c.text, p,
				c.inside, p.Matches([]byte(c.inside)), c.outside, p.Matches([]byte(c.outside)))
		}
	}
	one, err := ParsePattern("+1214..+1214")
	if err != nil || one.Kind != Exact {
		t.Errorf("a range of one number is %v, %v", one, err)
	}
	for _, bad := range []string{"", "+", "*", "+*", "..", "+1..", "..+1", "12145550100", "+1 214", "+1214..1214", "1..2", "+12..+1", "+2..+1", "+1234567890123456", "+1**"} {
		if p, err := ParsePattern(bad); err == nil {
			t.Errorf("%q is read as %s", bad, p)
		}
	}
}

func TestParseLocalPattern(t *testing.T) {
	p, err := ParseLocalPattern("0800*")
	if err != nil || !p.Matches([]byte("08001234")) || p.Matches([]byte("+08001234")) || p.Matches([]byte("8001234")) {
		t.Errorf("0800*: %v, %v", p, err)
	}
	for _, bad := range []string{"+911", "1..2", "", "x"} {
		if p, err := ParseLocalPattern(bad); err == nil {
			t.Errorf("%q is read as %s", bad, p)
		}
	}
}

// Whatever the text is, a pattern that was read writes itself as text of the
// same meaning, and covers its own ends.
func FuzzParsePattern(f *testing.F) {
	for _, s := range []string{"+12145550100", "+1469555*", "+12145550100..+12145550199", "911", "0800*", "..", "+*", "+0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parsePattern(s)
		if err != nil {
			return
		}
		again, err := parsePattern(p.String())
		if err != nil || again != p {
			t.Fatalf("%q reads as %s, that as %s, %v", s, p, again, err)
		}
		if !p.Matches([]byte(p.low.String())) || !p.Matches([]byte(p.high.String())) {
			t.Fatalf("%s does not cover its ends", p)
		}
	})
}
