package trunkgroup

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// maxWindows bounds the windows of one group.
const maxWindows = 64

var dayNames = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// parseWindow reads a window. path names the key at fault.
func parseWindow(s *WindowSpec) (w Window, path string) {
	w.Reason = s.Reason
	if s.Start != "" || s.End != "" {
		return parseOnce(s)
	}
	var ok bool
	if w.From, ok = timeOfDay(s.From); !ok {
		return w, "from"
	}
	if w.To, ok = timeOfDay(s.To); !ok {
		return w, "to"
	}
	if w.To <= w.From {
		w.To += 24 * time.Hour
	}
	for _, day := range s.Days {
		i := slices.Index(dayNames[:], strings.ToLower(day))
		if i < 0 {
			return w, "days"
		}
		w.Days[i] = true
	}
	if len(s.Days) == 0 {
		w.Days = everyDay
	}
	zone, err := time.LoadLocation(cmp.Or(s.Timezone, "UTC"))
	if err != nil || s.Timezone == "Local" {
		return w, "timezone"
	}
	w.Zone = zone
	return w, ""
}

// everyDay is what a weekly window without days means.
var everyDay = [7]bool{true, true, true, true, true, true, true}

// parseOnce reads a window from one moment to another.
func parseOnce(s *WindowSpec) (w Window, path string) {
	w.Reason = s.Reason
	var err error
	if w.Start, err = time.Parse(time.RFC3339, s.Start); err != nil || w.Start.IsZero() {
		return w, "start"
	}
	if w.End, err = time.Parse(time.RFC3339, s.End); err != nil || !w.End.After(w.Start) {
		return w, "end"
	}
	w.Start, w.End = w.Start.UTC(), w.End.UTC()
	return w, ""
}

// timeOfDay reads hours and minutes like 02:30.
func timeOfDay(s string) (time.Duration, bool) {
	t, err := time.Parse("15:04", s)
	if err != nil {
		return 0, false
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, true
}

// ends tells whether a window leaves any time outside.
func (w *Window) ends() bool {
	return !w.weekly() || w.To-w.From < 24*time.Hour || w.Days != everyDay
}

// names tells whether a window is about a member.
func (s *WindowSpec) names(id string) bool {
	return len(s.Members) == 0 || slices.Contains(s.Members, id)
}

// windowsOf compiles the windows of a group that are about one member.
func windowsOf(list []WindowSpec, id string) (windows []Window) {
	for i := range list {
		if w, bad := parseWindow(&list[i]); bad == "" && list[i].names(id) {
			windows = append(windows, w)
		}
	}
	return windows
}
