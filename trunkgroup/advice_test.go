package trunkgroup

import (
	"fmt"
	"testing"
	"time"
)

func TestAdviceOnWindowsThatMeet(t *testing.T) {
	now := moment(t, "2026-03-02T00:00:00Z") // a Monday
	night := WindowSpec{From: "02:00", To: "04:00"}
	later := WindowSpec{From: "03:30", To: "05:00"}
	for name, c := range map[string]struct {
		windows []WindowSpec
		want    string // when nobody takes calls
	}{
		"all at once":            {[]WindowSpec{night}, "2026-03-02 at 02:00Z"},
		"one after the other":    {[]WindowSpec{named(night, "d1", "d2"), named(WindowSpec{From: "04:00", To: "06:00"}, "a1")}, ""},
		"half an hour":           {[]WindowSpec{named(night, "d1", "d2"), named(later, "a1")}, "2026-03-02 at 03:30Z"},
		"on other days":          {[]WindowSpec{named(WindowSpec{From: "02:00", To: "04:00", Days: []string{"sun"}}, "d1", "d2"), named(WindowSpec{From: "02:00", To: "04:00", Days: []string{"sat"}}, "a1")}, ""},
		"one left":               {[]WindowSpec{named(night, "d1", "a1")}, ""},
		"over":                   {[]WindowSpec{{Start: "2026-01-01T00:00:00Z", End: "2026-01-02T00:00:00Z"}}, ""},
		"now":                    {[]WindowSpec{{Start: "2026-03-01T00:00:00Z", End: "2026-03-03T00:00:00Z"}}, "2026-03-02 at 00:00Z"},
		"once, far away":         {[]WindowSpec{{Start: "2027-01-01T00:00:00Z", End: "2027-01-02T00:00:00Z"}}, "2027-01-01 at 00:00Z"},
		"once, and every night":  {[]WindowSpec{named(WindowSpec{Start: "2027-01-01T00:00:00Z", End: "2027-01-02T00:00:00Z"}, "d1", "d2"), named(night, "a1")}, "2027-01-01 at 02:00Z"},
		"once, two on their own": {[]WindowSpec{named(WindowSpec{Start: "2027-01-01T00:00:00Z", End: "2027-01-02T00:00:00Z"}, "d1", "d2"), named(WindowSpec{Start: "2027-01-02T00:00:00Z", End: "2027-01-03T00:00:00Z"}, "a1")}, ""},
	} {
		d := testDocument()
		d.TrunkGroups[0].Maintenance = c.windows
		if err := d.Validate().Err(); err != nil {
			t.Fatal(err)
		}
		list := d.Advice(now)
		if c.want == "" && len(list) != 0 || c.want != "" && (len(list) != 1 ||
			list[0].Problem != "no member of acme-in takes calls, in any site, on "+c.want || list[0].Remedy == "") {
			t.Errorf("%s: %v", name, list)
		}
	}
}

func named(w WindowSpec, ids ...string) WindowSpec {
	w.Members = ids
	return w
}

// The largest document of windows is looked at in a bounded time.
func TestAdviceIsBounded(t *testing.T) {
	d := testDocument()
	g := &d.TrunkGroups[0]
	for i := range maxWindows {
		g.Maintenance = append(g.Maintenance, named(WindowSpec{From: fmt.Sprintf("%02d:%02d", i/4%24, i%4*15), To: "01:07"}, "d1"))
	}
	begin := time.Now()
	if list := d.Advice(begin); len(list) != 0 {
		t.Errorf("%v", list)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}
