//go:build linux

package main

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab/wan"
)

// What cannot be a link is refused before a device is made.
func TestOpenRefuses(t *testing.T) {
	ends := []string{"tl-none-a", "wan", "10.0.0.1/30", "tl-none-b", "wan", "10.0.0.2/30"}
	for name, tc := range map[string]struct {
		shape wan.Shape
		args  []string
	}{
		"one end":           {wan.Shape{}, ends[:3]},
		"a negative delay":  {wan.Shape{Delay: -time.Second}, ends},
		"a negative jitter": {wan.Shape{Jitter: -time.Second}, ends},
		"more than all":     {wan.Shape{Loss: 1.5}, ends},
		"no such namespace": {wan.Shape{}, ends},
	} {
		if link, err := open(tc.shape, tc.args); err == nil {
			t.Errorf("%s: a link was made", name)
			link.Close()
		}
	}
}
