package fraud

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// A clock that was wrong for a moment must not open the bounds: neither for the time
// that it was wrong nor until it comes there once more.
func TestBoundsHoldWhenTheClockIsSetBack(t *testing.T) {
	for _, ahead := range []time.Duration{6 * time.Minute, 50 * time.Minute, 61 * time.Minute, 25 * time.Hour, 400 * 24 * time.Hour} {
		w, f := watch(t, trunkgroup.FraudSpec{Calls: trunkgroup.FraudWindowsSpec{Hour: 3, Day: 100}})
		for i := range 24 { // every slot has seen the wrong time
			w.Screen(epoch.Add(ahead+time.Duration(i)*5*time.Minute), f, number, false)
		}
		let := 0
		for i := range 10 {
			if w.Screen(epoch.Add(time.Duration(i)*time.Second), f, number, false).Action == 0 {
				let++
			}
		}
		if let > 3 {
			t.Errorf("clock was %v ahead: %d calls within an hour, the bound is 3", ahead, let)
		}
		// It does not stay closed for good either.
		if v := w.Screen(epoch.Add(49*time.Hour), f, number, false); ahead < 24*time.Hour && v.Action != 0 {
			t.Errorf("clock was %v ahead: closed two days later by %s", ahead, v.Bound)
		}
	}
}

// What another node tells is added up, and no number makes the sum small.
func TestNoNumberOfOthersMakesCountsSmall(t *testing.T) {
	w, f := watch(t, trunkgroup.FraudSpec{Minutes: trunkgroup.FraudWindowsSpec{Day: 10}})
	garbage := []byte{version}
	garbage = append(binary.AppendUvarint(garbage, 60_000), 0, 1, 3)
	garbage = append(garbage, "all"...)
	garbage = append(garbage, 0, 0, 0, 0)
	garbage = binary.AppendUvarint(garbage, math.MaxUint64)
	bad := w.Collect(epoch, func(fn func(string, []byte)) {
		for range 3 {
			fn("acme", garbage)
		}
	})
	if v := w.Screen(epoch, f, number, false); bad != 0 || v.Bound != "minutes.day" {
		t.Errorf("%d unreadable, %+v", bad, v)
	}
}
