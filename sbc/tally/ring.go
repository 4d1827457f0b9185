package tally

import "time"

// spans are the slots of the rings: each window is a ring of so many slots.
var spans = [windows]struct {
	slot  time.Duration
	slots int64
}{
	FiveMinutes: {15 * time.Second, 20},
	Hour:        {3 * time.Minute, 20},
	Day:         {time.Hour, 24},
}

// maxSlots is that of the longest ring.
const maxSlots = 24

// ring counts over one window.
type ring struct {
	slots  [maxSlots]Sum
	number [maxSlots]int64 // which slot of time it is of
}

// add counts something at a time.
func (r *ring) add(now time.Time, w Window, s Sum) {
	at, i := place(now, w)
	if r.number[i] != at {
		r.number[i], r.slots[i] = at, Sum{}
	}
	r.slots[i].Add(s)
}

// sum is what is in the window.
func (r *ring) sum(now time.Time, w Window) (total Sum) {
	at, _ := place(now, w)
	for i, n := range r.number[:spans[w].slots] {
		if n > at-spans[w].slots && n <= at { // what a clock that was set back left in the future counts not
			total.Add(r.slots[i])
		}
	}
	return total
}

// place returns the number of the slot of a time, and where it stands. Times before 1970
// have none.
func place(now time.Time, w Window) (number, index int64) {
	n := max(now.UnixNano(), 0)/int64(spans[w].slot) + 1
	return n, n % spans[w].slots
}
