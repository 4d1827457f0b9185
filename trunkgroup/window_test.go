package trunkgroup

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func window(t testing.TB, s WindowSpec) Window {
	t.Helper()
	w, bad := parseWindow(&s)
	if bad != "" {
		t.Fatalf("%+v: %s", s, bad)
	}
	return w
}

func moment(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Clocks of Chicago go forward on 8 March 2026 at 02:00 and back on 1 November at
// 02:00; 8 March and 1 November are Sundays.
func TestWindowEdges(t *testing.T) {
	chicago := func(days, from, to string) WindowSpec {
		s := WindowSpec{From: from, To: to, Timezone: "America/Chicago"}
		if days != "" {
			s.Days = strings.Fields(days)
		}
		return s
	}
	for _, c := range []struct {
		name       string
		spec       WindowSpec
		after      string
		start, end string // the next two edges
	}{
		{"winter", chicago("tue", "02:00", "04:00"), "2026-01-05T00:00:00Z", "2026-01-06T08:00:00Z", "2026-01-06T10:00:00Z"},
		{"summer", chicago("tue", "02:00", "04:00"), "2026-07-06T00:00:00Z", "2026-07-07T07:00:00Z", "2026-07-07T09:00:00Z"},
		{"over midnight", chicago("sat", "23:00", "01:00"), "2026-01-09T00:00:00Z", "2026-01-11T05:00:00Z", "2026-01-11T07:00:00Z"},
		{"from the hour that is left out", chicago("sun", "02:30", "04:00"), "2026-03-08T00:00:00Z", "2026-03-08T08:00:00Z", "2026-03-08T09:00:00Z"},
		{"to the hour that is left out", chicago("sun", "01:00", "02:30"), "2026-03-08T00:00:00Z", "2026-03-08T07:00:00Z", "2026-03-08T08:00:00Z"},
		{"over the hour that comes twice", chicago("sun", "00:30", "03:00"), "2026-11-01T00:00:00Z", "2026-11-01T05:30:00Z", "2026-11-01T09:00:00Z"},
		{"within the hour that comes twice", chicago("sun", "01:15", "01:45"), "2026-11-01T00:00:00Z", "2026-11-01T06:15:00Z", "2026-11-01T06:45:00Z"},
		{"a whole day", chicago("sun", "00:00", "00:00"), "2026-11-01T00:00:00Z", "2026-11-01T05:00:00Z", "2026-11-02T06:00:00Z"},
		{"every day", WindowSpec{From: "02:00", To: "03:00"}, "2026-01-01T02:30:00Z", "2026-01-01T03:00:00Z", "2026-01-02T02:00:00Z"},
		{"once", WindowSpec{Start: "2026-12-05T02:00:00-06:00", End: "2026-12-05T04:00:00-06:00"}, "2026-01-01T00:00:00Z", "2026-12-05T08:00:00Z", "2026-12-05T10:00:00Z"},
	} {
		w := window(t, c.spec)
		start := w.Next(moment(t, c.after))
		end := w.Next(start)
		if got := start.UTC().Format(time.RFC3339); got != c.start {
			t.Errorf("%s: begins %s, want %s", c.name, got, c.start)
		}
		if got := end.UTC().Format(time.RFC3339); got != c.end {
			t.Errorf("%s: ends %s, want %s", c.name, got, c.end)
		}
		if c.name != "every day" && (!w.In(start) || w.In(start.Add(-1)) || !w.In(end.Add(-1)) || w.In(end) || !w.Since(end.Add(-1)).Equal(start)) {
			t.Errorf("%s: not from its beginning to before its end", c.name)
		}
	}
	once := window(t, WindowSpec{Start: "2026-01-01T00:00:00Z", End: "2026-01-01T01:00:00Z"})
	if at := once.Next(once.End); !at.IsZero() {
		t.Errorf("what is over comes again at %s", at)
	}
}

func anyWindow(t *rapid.T) WindowSpec {
	zone := rapid.SampledFrom([]string{"", "America/Chicago", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Auckland", "Pacific/Kiritimati"}).Draw(t, "zone")
	clock := func(name string) string {
		n := rapid.IntRange(0, 24*12-1).Draw(t, name) * 5
		return fmt.Sprintf("%02d:%02d", n/60, n%60)
	}
	return WindowSpec{
		From: clock("from"), To: clock("to"), Timezone: zone,
		Days: rapid.SliceOfNDistinct(rapid.SampledFrom(dayNames[:]), 0, 7, rapid.ID[string]).Draw(t, "days"),
	}
}

func anyMoment(t *rapid.T) time.Time {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return begin.Add(time.Duration(rapid.Int64Range(0, 2*366*24*3600).Draw(t, "second")) * time.Second)
}

// Between t and Next(t) nothing changes, and Next is a beginning or an end.
func TestWindowNextProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyWindow(t)
		w, bad := parseWindow(&s)
		if bad != "" {
			t.Fatal(bad)
		}
		at := anyMoment(t)
		next := w.Next(at)
		if !next.After(at) || next.After(at.Add(9*24*time.Hour)) {
			t.Fatalf("%+v: after %s comes %s", s, at, next)
		}
		was := w.In(at)
		for range 20 {
			between := at.Add(time.Duration(rapid.Int64Range(0, int64(next.Sub(at))-1).Draw(t, "between")))
			if w.In(between) != was {
				t.Fatalf("%+v: %v at %s, not at %s, next edge %s", s, was, at, between, next)
			}
		}
	})
}

// Where no clock is set, a window is what the wall clock says.
func TestWindowIsTheWallClockProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyWindow(t)
		w, _ := parseWindow(&s)
		at := anyMoment(t)
		for _, near := range []time.Duration{-49 * time.Hour, 25 * time.Hour} {
			_, here := at.In(w.Zone).Zone()
			if _, there := at.Add(near).In(w.Zone).Zone(); here != there {
				return
			}
		}
		local := at.In(w.Zone)
		since := time.Duration(local.Hour())*time.Hour + time.Duration(local.Minute())*time.Minute + time.Duration(local.Second())*time.Second
		today, yesterday := local.Weekday(), (local.Weekday()+6)%7
		want := w.Days[today] && since >= w.From && since < w.To || w.Days[yesterday] && since+24*time.Hour < w.To
		if got := w.In(at); got != want {
			t.Fatalf("%+v at %s: %v", s, local, got)
		}
	})
}

func TestMaintenanceOfAMember(t *testing.T) {
	d := testDocument()
	d.TrunkGroups[0].Maintenance = []WindowSpec{
		{From: "02:00", To: "03:00", Reason: "weekly"},
		{Start: "2026-03-01T03:00:00Z", End: "2026-03-01T05:30:00Z", Members: []string{"d1"}},
	}
	table := compile(t, d)
	d1, d2 := table.Member("acme-in/d1"), table.Member("acme-in/d2")
	now := moment(t, "2026-03-01T02:30:00Z")
	w, until := d1.UnderMaintenance(now)
	if w == nil || w.Reason != "weekly" || !until.Equal(moment(t, "2026-03-01T05:30:00Z")) {
		t.Errorf("two windows that meet: until %s", until)
	}
	if _, until := d2.UnderMaintenance(now); !until.Equal(moment(t, "2026-03-01T03:00:00Z")) {
		t.Errorf("the other one: until %s", until)
	}
	if next := d1.NextMaintenance(now); !next.Equal(moment(t, "2026-03-01T03:00:00Z")) {
		t.Errorf("next edge %s", next)
	}
	if w, _ := table.Member("carrier-a/d").UnderMaintenance(now); w != nil {
		t.Error("a window of another group")
	}
	// What never ends is told to the end of what is looked at, and in time.
	for _, day := range []string{"00:00", "12:00"} {
		d1.Maintenance = append(d1.Maintenance, window(t, WindowSpec{From: day, To: day}))
	}
	if _, until := d1.UnderMaintenance(now); until.Before(now.Add(24 * time.Hour)) {
		t.Errorf("always: until %s", until)
	}
}

func TestMaintenanceFaults(t *testing.T) {
	for want, s := range map[string]WindowSpec{
		"maintenance[0]: is once and weekly":        {Start: "2026-01-01T00:00:00Z", From: "02:00"},
		"maintenance[0].start: cannot be read":      {Start: "2026-01-01", End: "2026-01-02T00:00:00Z"},
		"maintenance[0].end: cannot be read":        {Start: "2026-01-01T00:00:00Z", End: "2026-01-01T00:00:00Z"},
		"maintenance[0].from: cannot be read":       {To: "03:00"},
		"maintenance[0].to: cannot be read":         {From: "03:00", To: "25:00"},
		"maintenance[0].timezone: cannot be read":   {From: "03:00", To: "04:00", Timezone: "Local"},
		"maintenance[0].days: [\"mo\"]":             {From: "03:00", To: "04:00", Days: []string{"mo"}},
		"maintenance[0]: never ends":                {From: "00:00", To: "00:00"},
		"maintenance[0].reason: \"a\\nb\"... is to": {From: "00:00", To: "01:00", Reason: "a\nb"},
		"maintenance[0].members[1]: the group has":  {From: "00:00", To: "01:00", Members: []string{"d1", "d3"}},
		"maintenance[0].members[1]: \"d1\" stands":  {From: "00:00", To: "01:00", Members: []string{"d1", "d1"}},
	} {
		d := testDocument()
		d.TrunkGroups[0].Maintenance = []WindowSpec{s}
		if got := d.Validate(); len(got) != 1 || !strings.Contains(got.Error(), want) || got[0].Remedy == "" {
			t.Errorf("%s\nin %v", want, got)
		}
	}
	d := testDocument()
	d.TrunkGroups[0].Maintenance = make([]WindowSpec, maxWindows+1)
	d.TrunkGroups[1].Maintenance = []WindowSpec{{From: "00:00", To: "01:00"}}
	got := d.Validate().Error()
	for _, want := range []string{"65 windows are more than 64", "trunk_groups[1].maintenance: means nothing"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
