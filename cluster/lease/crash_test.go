package lease

import (
	"testing"
	"time"
)

// TestDEC10_ANodeThatCrashesAgainAndAgain has no calls to lose, so it keeps nobody
// else from using the limit: each of its lives ends with its own lease, and gets no
// more than it needs while those before are counted.
func TestDEC10_ANodeThatCrashesAgainAndAgain(t *testing.T) {
	for _, life := range []time.Duration{300 * time.Millisecond, 1300 * time.Millisecond, 4 * time.Second} {
		w := ready(t, 7, fourNodes, ports(map[string]int{"ash": 10, "dal": 10}, time.Hour))
		crashing, placed := w.node("ash2"), 0
		others := []*sim{w.node("ash1"), w.node("dal1"), w.node("dal2")}
		begin := w.now
		crash := w.now.Add(life)
		for w.now.Before(begin.Add(2 * time.Minute)) {
			if !w.now.Before(crash) {
				if crashing.alive {
					w.kill(crashing)
					crash = w.now.Add(200 * time.Millisecond)
				} else {
					w.boot(crashing)
					crash = w.now.Add(life)
				}
			}
			if w.now.Sub(begin) > 30*time.Second { // 12 of the 20 at a time
				w.place(others[placed%3], portsKey, 3*time.Second)
				placed++
			}
			w.pass(250 * time.Millisecond)
		}
		if share := float64(w.granted) / float64(placed); share < 0.95 {
			t.Errorf("lives of %v: %d of %d calls were taken, 12 of 20 at a time", life, w.granted, placed)
		}
		w.kill(crashing)
		w.pass(13 * time.Second)
		if n := w.fill(others[0], time.Hour); n != 20 {
			t.Errorf("lives of %v: %d rights are left of 20", life, n)
		}
	}
}
