package trunkgroup

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// readCSV returns the changes of a list as "pattern group" and its faults.
func readCSV(o NumberCSV, text string) (changes []string, sum NumberCSVSum, faults []string) {
	sum, err := ReadNumberCSV(strings.NewReader(text), o, func(_ int, c NumberChange) error {
		changes = append(changes, strings.TrimSpace(c.Pattern.String()+" "+c.Group))
		return nil
	})
	if list, ok := errors.AsType[Faults](err); ok {
		for _, f := range list {
			faults = append(faults, f.String())
		}
	}
	return changes, sum, faults
}

func TestReadNumberCSV(t *testing.T) {
	for name, c := range map[string]struct {
		options NumberCSV
		text    string
		want    []string
	}{
		"plain":           {NumberCSV{}, "+12145550100,a\n+1469555*,b\n+13..+15,c\n", []string{"+12145550100 a", "+1469555* b", "+13..+15 c"}},
		"no end of line":  {NumberCSV{}, "+12,a", []string{"+12 a"}},
		"CRLF and BOM":    {NumberCSV{}, "\xef\xbb\xbf+12,a\r\n+13,b\r\n", []string{"+12 a", "+13 b"}},
		"nothing":         {NumberCSV{}, "", nil},
		"comments":        {NumberCSV{}, "# mine\n\n  # more\n+12,a\n", []string{"+12 a"}},
		"spaces":          {NumberCSV{}, " +12 , a \n\t+13,\tb ", []string{"+12 a", "+13 b"}},
		"semicolons":      {NumberCSV{}, "+12;a\n", []string{"+12 a"}},
		"tabs":            {NumberCSV{}, "+12\ta\n", []string{"+12 a"}},
		"quotes":          {NumberCSV{}, "\"+12\",\"a\"\n\"+13\" , b\n+14,\"c\"", []string{"+12 a", "+13 b", "+14 c"}},
		"header":          {NumberCSV{}, "Number,Group\n+12,a\n", []string{"+12 a"}},
		"header in order": {NumberCSV{}, "# x\nid,group,comment,number\n7,a,\"my, own\",+12\n", []string{"+12 a"}},
		"header alone":    {NumberCSV{Group: "d"}, "number\n+12\n+13\n", []string{"+12 d", "+13 d"}},
		"removal":         {NumberCSV{}, "+12,-\n", []string{"+12"}},
		"default group":   {NumberCSV{Group: "d"}, "+12\n+13,\n+14,a\n", []string{"+12 d", "+13 d", "+14 a"}},
		"said again":      {NumberCSV{}, "+12,a\n+12,a\n", []string{"+12 a"}},
		"one in another":  {NumberCSV{}, "+12*,a\n+12,b\n+12..+13,c\n", []string{"+12* a", "+12 b", "+12..+13 c"}},
		"range replaced":  {NumberCSV{}, "+10..+19,-\n+10..+14,a\n", []string{"+10..+19", "+10..+14 a"}},
	} {
		got, sum, faults := readCSV(c.options, c.text)
		if !slices.Equal(got, c.want) || faults != nil {
			t.Errorf("%s: %q, %q, want %q", name, got, faults, c.want)
		}
		if sum.Added+sum.Removed != len(c.want) || sum.Faults != 0 {
			t.Errorf("%s: %+v", name, sum)
		}
	}
}

func TestReadNumberCSVFaults(t *testing.T) {
	known := NumberCSV{Known: func(group string) (string, bool) { return "did you mean acme-in?", group == "acme-in" }}
	for text, want := range map[string]string{
		"+12,acme-on":                          `line 1: +12 is for group "acme-on", which cannot have numbers; did you mean acme-in?`,
		"+12":                                  `line 1: +12 has no group; name the group in the second column, or write "-" to take the number out`,
		"+12,":                                 `line 1: +12 has no group; name the group in the second column, or write "-" to take the number out`,
		"+12,no name":                          `line 1: +12 is for group "no name", which cannot have numbers; names are at most 63 letters, digits, and - . _ inside`,
		",acme-in":                             `line 1: the number is missing; write "+12145550100", "+1469555*" or "+12145550100..+12145550199"`,
		"12145550100,acme-in":                  `line 1: "12145550100": does not begin with +; write the number with + and country code: "+12145550100" if it has the code already`,
		"0214555,acme-in":                      `line 1: "0214555": does not begin with +; write the number with + and country code, without the 0 in front`,
		"0012145550100,acme-in":                `line 1: "0012145550100": does not begin with +; write + in place of 00: "+12145550100"`,
		"+1 (214) 555-0100,acme-in":            `line 1: "+1 (214) 555-0100" is not + and digits; write "+12145550100"`,
		"tel:+12145550100,acme-in":             `line 1: "tel:+12145550100" is not + and digits; write "+12145550100"`,
		"1.21456E+10,acme-in":                  `line 1: "1.21456E+10" is not + and digits; a spreadsheet has rounded the number: format the column as text and fill it again`,
		"+1234567890123456,acme-in":            `line 1: "+1234567890123456" has more than 15 digits; write "+12145550100", "+1469555*" or "+12145550100..+12145550199"`,
		"+19..+10,acme-in":                     `line 1: "+19..+10": low end "+19" is above high end "+10"; write "+12145550100", "+1469555*" or "+12145550100..+12145550199"`,
		"+12,acme-in,x":                        `line 1: the line has 3 columns; write number,group or name the columns in the first line`,
		"\"+12,acme-in":                        `line 1: a quote is not closed; quote a field as a whole, like "acme-in", or not at all`,
		"\"+12\"x,acme-in":                     `line 1: there is text behind a quote; quote a field as a whole, like "acme-in", or not at all`,
		"\xff\xfe+\x001\x00":                   `line 1: the list is UTF-16; save it as UTF-8`,
		"+12,acme-in\n\n+12,-":                 `line 3: +12 stands on line 1 for group acme-in; keep the number in one group`,
		"+12,-\n+12,acme-in":                   `line 2: +12 stands on line 1 for removal; keep the number in one group`,
		"+15..+19,acme-in\n+10..+15,acme-in":   `line 2: +10..+15 overlaps with +15..+19 on line 1; keep each number in one range`,
		strings.Repeat("+1", 600) + ",acme-in": `line 1: the line is longer than 1024 characters; write one number and one group on a line`,
		strings.Repeat("1", 100000):            `line 1: the line is longer than 1024 characters; write one number and one group on a line`,
		strings.Repeat("+1", 30) + ",acme-in":  `line 1: "+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1" and so on is no number; write "+12145550100", "+1469555*" or "+12145550100..+12145550199"`,
	} {
		_, sum, faults := readCSV(known, text)
		if len(faults) != 1 || faults[0] != want || sum.Faults != 1 {
			t.Errorf("%.50q:\n%q\nwant\n%q", text, faults, want)
		}
	}
}

// All lines are read however many are wrong; a bounded number of faults is told.
func TestReadNumberCSVTellsAllFaults(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "+%d,a\n%d,a\n", 1000+i, i)
	}
	changes, sum, faults := readCSV(NumberCSV{MaxFaults: 10}, text.String())
	if sum.Lines != 2000 || sum.Faults != 1000 || len(changes) != 1000 {
		t.Errorf("%+v", sum)
	}
	if len(faults) != 11 || !strings.HasPrefix(faults[9], "line 20: ") || faults[10] != "990 more lines have faults; correct the lines above and read the list again" {
		t.Errorf("%q", faults)
	}
	// A range that lies behind others in the list is compared with the widest before it.
	_, sum, faults = readCSV(NumberCSV{}, "+10..+19,a\n+11..+12,a\n+15..+16,a\n")
	if sum.Faults != 2 || !strings.Contains(faults[1], "line 3: +15..+16 overlaps with +10..+19 on line 1") {
		t.Errorf("%q", faults)
	}
}

func TestReadNumberCSVStops(t *testing.T) {
	full := errors.New("full")
	_, err := ReadNumberCSV(strings.NewReader("+12,a\n+13,a\n"), NumberCSV{}, func(line int, _ NumberChange) error {
		if line == 2 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || !strings.HasPrefix(err.Error(), "line 2: ") {
		t.Errorf("%v", err)
	}
	broken := io.MultiReader(strings.NewReader("+12,a\n+13"), readerOf(full))
	if _, err := ReadNumberCSV(broken, NumberCSV{}, func(int, NumberChange) error { return nil }); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

func readerOf(err error) io.Reader { return failing{err} }

func FuzzReadNumberCSV(f *testing.F) {
	for _, text := range []string{
		"+12145550100,a\n+1469555*;b\r\n\"+13..+15\"\t-\n", "number,group\n+1,a\n+1,b", "\xef\xbb\xbf# x\n\"", "+1..+9,a\n+5..+7,a\n,\n",
	} {
		f.Add(text, "")
		f.Add(text, "d")
	}
	f.Fuzz(func(t *testing.T, text, group string) {
		changes := 0
		rows := make(map[Pattern]bool)
		sum, err := ReadNumberCSV(strings.NewReader(text), NumberCSV{Group: group}, func(line int, c NumberChange) error {
			if problem, _ := c.fault(); problem != "" || line < 1 || rows[c.Pattern] {
				t.Fatalf("line %d gives %s to %q: %s", line, c.Pattern, c.Group, problem)
			}
			rows[c.Pattern] = true
			changes++
			return nil
		})
		if sum.Added+sum.Removed != changes || (err != nil) != (sum.Faults > 0) || sum.Lines > strings.Count(text, "\n")+1 {
			t.Fatalf("%d changes: %+v, %v", changes, sum, err)
		}
	})
}
