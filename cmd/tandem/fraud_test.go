package main

import "testing"

// The table shows the bound that calls are judged by, which is less at night.
func TestFraudBoundsAreThoseInForce(t *testing.T) {
	for _, c := range []struct {
		n              uint64
		bound, percent int
		want           string
	}{{1, 3, 100, "1 of 3"}, {1, 3, 20, "1 of 1"}, {7, 500, 20, "7 of 100"}, {7, 0, 20, "7"}} {
		if got := of(c.n, c.bound, c.percent); got != c.want {
			t.Errorf("%d of %d at %d percent: %q, want %q", c.n, c.bound, c.percent, got, c.want)
		}
	}
}
