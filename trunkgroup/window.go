package trunkgroup

import "time"

// Window is a time of maintenance, compiled: once, or on days of the week by the
// wall clock of a zone.
type Window struct {
	Start, End time.Time // once; zero for a weekly one
	Days       [7]bool   // by time.Weekday: on which it begins
	From       time.Duration
	To         time.Duration // after the midnight before From; above From, at most a day later
	Zone       *time.Location
	Reason     string
}

// weekly tells whether the window comes again.
func (w *Window) weekly() bool { return w.Start.IsZero() }

// In tells whether a time is within the window, its first moment included.
func (w *Window) In(t time.Time) bool {
	_, end := w.around(t)
	return !end.IsZero()
}

// Next returns the next moment after t at which In may change: a beginning or an
// end. Zero: there is none.
func (w *Window) Next(t time.Time) time.Time {
	if !w.weekly() {
		for _, edge := range [...]time.Time{w.Start, w.End} {
			if edge.After(t) {
				return edge
			}
		}
		return time.Time{}
	}
	var next time.Time
	// The window of yesterday may last until tonight, and the next one is a week
	// away at most.
	for day := -1; day <= 8; day++ {
		start, end, ok := w.on(t, day)
		if !ok {
			continue
		}
		for _, edge := range [...]time.Time{start, end} {
			if edge.After(t) && (next.IsZero() || edge.Before(next)) {
				next = edge
			}
		}
	}
	return next
}

// around returns the latest end of what of the window covers a time; zero when it is
// outside.
func (w *Window) around(t time.Time) (start, end time.Time) {
	if !w.weekly() {
		if t.Before(w.Start) || !t.Before(w.End) {
			return time.Time{}, time.Time{}
		}
		return w.Start, w.End
	}
	for day := -1; day <= 0; day++ {
		from, to, ok := w.on(t, day)
		if ok && !t.Before(from) && t.Before(to) && to.After(end) {
			start, end = from, to
		}
	}
	return start, end
}

// on returns the window that begins so many days after the day that it is at t in
// the window's zone.
func (w *Window) on(t time.Time, days int) (start, end time.Time, ok bool) {
	year, month, day := t.In(w.Zone).Date()
	date := time.Date(year, month, day+days, 0, 0, 0, 0, time.UTC)
	if !w.Days[date.Weekday()] {
		return start, end, false
	}
	return wallClock(date, w.From, w.Zone), wallClock(date, w.To, w.Zone), true
}

// wallClock returns the first moment at which the clocks of a zone show a time of
// day, or, where they are set forward over it, at which they are set. time.Date
// promises neither, and all nodes must agree.
func wallClock(date time.Time, of time.Duration, zone *time.Location) time.Time {
	wall := date.Add(of) // as if the zone were UTC
	var first, after time.Time
	for _, near := range [...]time.Duration{-26 * time.Hour, 26 * time.Hour} {
		_, offset := wall.Add(near).In(zone).Zone()
		at := wall.Add(-time.Duration(offset) * time.Second)
		if shows(at.In(zone), wall) && (first.IsZero() || at.Before(first)) {
			first = at
		}
		if at.After(after) {
			after = at
		}
	}
	if !first.IsZero() {
		return first
	}
	set, _ := after.In(zone).ZoneBounds()
	return set.UTC()
}

// shows tells whether a local time reads like wall, which is in UTC.
func shows(local, wall time.Time) bool {
	_, offset := local.Zone()
	return local.Add(time.Duration(offset) * time.Second).Equal(wall)
}

// UnderMaintenance returns the window that a member is in, and until when it takes no
// calls: windows that meet or overlap are one. nil when it is in none.
func (m *Member) UnderMaintenance(now time.Time) (w *Window, until time.Time) {
	until = now
	for range maxWindows { // a chain of windows that never ends is cut
		longer := false
		for i := range m.Maintenance {
			if _, end := m.Maintenance[i].around(until); end.After(until) {
				if w == nil {
					w = &m.Maintenance[i]
				}
				until, longer = end, true
			}
		}
		if !longer {
			break
		}
	}
	if w == nil {
		return nil, time.Time{}
	}
	return w, until
}

// Since returns when what of the window covers a time began; zero outside.
func (w *Window) Since(t time.Time) time.Time {
	start, _ := w.around(t)
	return start
}

// NextMaintenance returns when the next window of a member begins or ends; zero for
// never.
func (m *Member) NextMaintenance(now time.Time) (next time.Time) {
	for i := range m.Maintenance {
		if edge := m.Maintenance[i].Next(now); !edge.IsZero() && (next.IsZero() || edge.Before(next)) {
			next = edge
		}
	}
	return next
}
