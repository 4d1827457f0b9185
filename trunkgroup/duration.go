package trunkgroup

import (
	"fmt"
	"time"
)

// Duration is a length of time in a document: "4s", "1m30s", or "off". Zero
// means that the document does not say, so the default holds.
type Duration time.Duration

// Off is the written value "off": the timer is not used. Only timers.max_pdd
// and timers.ring allow it.
const Off Duration = -1

// ParseDuration reads a Go duration string that is above zero, or "off".
func ParseDuration(s string) (Duration, error) {
	if s == "off" {
		return Off, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration", s)
	}
	if d <= 0 {
		return 0, fmt.Errorf("%q is not above zero", s)
	}
	return Duration(d), nil
}

// String returns what ParseDuration reads; empty for zero.
func (d Duration) String() string {
	switch {
	case d == Off:
		return "off"
	case d == 0:
		return ""
	}
	return time.Duration(d).String()
}

// MarshalText writes String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what ParseDuration reads; empty text leaves zero.
func (d *Duration) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*d = 0
		return nil
	}
	*d, err = ParseDuration(string(b))
	return err
}

// or returns the duration, or def where the document does not say, or zero
// where it says "off".
func (d Duration) or(def time.Duration) time.Duration {
	switch d {
	case 0:
		return def
	case Off:
		return 0
	}
	return time.Duration(d)
}
