package geo

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// site drives a SiteHealth with a sample per second.
type site struct {
	t   *testing.T
	h   *SiteHealth
	now time.Time
}

func newSite(t *testing.T) *site {
	now := time.Unix(0, 0)
	return &site{t: t, h: NewSiteHealth(SiteHealthConfig{}, now), now: now}
}

// sees takes n samples, one a second, and returns how long it took until the state changed, -1 if it
// did not.
func (s *site) sees(n, heard int, rtt time.Duration) time.Duration {
	start := s.now
	for range n {
		s.now = s.now.Add(time.Second)
		if s.h.Observe(s.now, heard, rtt) {
			return s.now.Sub(start)
		}
	}
	return -1
}

func (s *site) want(what string, got, want time.Duration) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

const fine = 30 * time.Millisecond

// A site that is not known yet is down: not enough samples are not healthy.
func TestSite_UpAfterHealthyInterval(t *testing.T) {
	s := newSite(t)
	if st, _ := s.h.State(); st != SiteDown {
		t.Errorf("a new site is %v", st)
	}
	s.want("up", s.sees(60, 2, fine), 16*time.Second) // 15 s after the first good sample
}

// Fail over fast: one sample without anybody.
func TestSite_DownAtOnce(t *testing.T) {
	s := newSite(t)
	s.sees(60, 2, fine)
	s.want("down", s.sees(10, 0, 0), time.Second)
	s.want("time up", s.h.TimeIn(SiteUp, s.now), time.Second)
	s.want("time down", s.h.TimeIn(SiteDown, s.now.Add(time.Second)), 17*time.Second)
	s.want("still down", s.sees(10, 0, 0), -1)
	s.want("up", s.sees(60, 1, fine), 16*time.Second)
}

// Fail back slowly: one bad sample begins the wait anew.
func TestSite_BrokenRecovery(t *testing.T) {
	s := newSite(t)
	s.want("14 good ones", s.sees(14, 1, fine), -1)
	s.want("a gap", s.sees(1, 0, 0), -1)
	s.want("up", s.sees(60, 1, fine), 16*time.Second)

	s = newSite(t)
	s.sees(14, 1, fine)
	s.want("a slow one", s.sees(1, 1, 1001*time.Millisecond), -1)
	s.want("up", s.sees(60, 1, fine), 16*time.Second)
}

// Mean and maximum both count.
func TestSite_MeanRoundTrip(t *testing.T) {
	s := newSite(t)
	s.want("slow on average", s.sees(120, 1, 600*time.Millisecond), -1)
	if s.sees(300, 1, fine) < 0 {
		t.Error("it does not come up when the link is good again")
	}
}

// A slow link is no reason to go down: heartbeats decide that.
func TestSite_SlowIsNotDown(t *testing.T) {
	s := newSite(t)
	s.sees(60, 2, fine)
	s.want("slow", s.sees(60, 2, 5*time.Second), -1)
}

// Too few samples in the time are not healthy.
func TestSite_NotEnoughSamples(t *testing.T) {
	now := time.Unix(0, 0)
	h := NewSiteHealth(SiteHealthConfig{}, now)
	for i := range 9 {
		if now = now.Add(10 * time.Second); h.Observe(now, 1, fine) {
			t.Errorf("up with sample %d", i+1)
		}
	}
	if !h.Observe(now.Add(time.Second), 1, fine) {
		t.Error("down with sample 10")
	}
}

// Flaps are damped: two are free, each further one doubles the wait up to five minutes; a site that was
// up for that long is forgiven.
func TestSite_Flapping(t *testing.T) {
	s := newSite(t)
	s.sees(60, 1, fine)
	for i, seconds := range []int{15, 15, 30, 60, 120, 240, 300, 300} {
		wait := time.Duration(seconds) * time.Second
		s.want("down", s.sees(1, 0, 0), time.Second)
		if got := s.h.Wait(); got != wait {
			t.Errorf("flap %d: wait %v, want %v", i+1, got, wait)
		}
		s.want("up", s.sees(400, 1, fine), wait+time.Second)
	}
	s.want("stays up", s.sees(300, 1, fine), -1)
	s.sees(1, 0, 0)
	if got := s.h.Wait(); got != 15*time.Second {
		t.Errorf("wait %v after five good minutes, want 15s", got)
	}
}

// The time in each state adds up to the time.
func TestSite_TimeIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := time.Unix(0, 0)
		h := NewSiteHealth(SiteHealthConfig{Healthy: time.Second, Samples: 2}, start)
		now := start
		for range rapid.IntRange(0, 50).Draw(t, "samples") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			heard := rapid.IntRange(0, 2).Draw(t, "heard")
			before, _ := h.State()
			changed := h.Observe(now, heard, fine)
			after, since := h.State()
			if changed != (before != after) || changed && !since.Equal(now) {
				t.Fatalf("%v to %v since %v, changed %v", before, after, since, changed)
			}
			if heard == 0 && after != SiteDown {
				t.Fatal("up without anybody")
			}
		}
		if up, down := h.TimeIn(SiteUp, now), h.TimeIn(SiteDown, now); up < 0 || down < 0 || up+down != now.Sub(start) {
			t.Fatalf("%v up, %v down of %v", up, down, now.Sub(start))
		}
	})
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		SiteUp.String(): "up", SiteDown.String(): "down", Try.String(): "try", Exhausted.String(): "exhausted", Kind(99).String(): "unknown",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
