package trunkgroup

import "time"

// Window is a time of maintenance, compiled.
type Window struct {
	Start, End time.Time // once; zero for a weekly one
	Days       [7]bool   // by time.Weekday
	From, To   time.Duration
	Zone       *time.Location
	Reason     string
}
