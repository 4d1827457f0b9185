package guard

import (
	"net/netip"
	"testing"
	"time"
)

var t0 = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func digest(a netip.Addr) Offence { return Offence{Source: a, Reason: ReasonDigest, Weight: 1} }

// Ten within a minute are a ban, nine are not, whenever in the minute they come.
func TestTenOffencesInAMinuteAreABan(t *testing.T) {
	for _, c := range []struct {
		name  string
		pause time.Duration
		want  int // the offence that earns the ban, 0 = none of thirty
	}{
		{"at once", 0, 10},
		{"evenly over a minute", 6 * time.Second, 10},
		{"too slowly", 7 * time.Second, 0},
	} {
		j, got := NewJudge(Law{}), 0
		for i := range 30 {
			if _, banned := j.Offended(t0.Add(time.Duration(i)*c.pause), digest(four(1))); banned {
				got = i + 1
				break
			}
		}
		if got != c.want {
			t.Errorf("%s: banned at offence %d, want %d", c.name, got, c.want)
		}
	}
}

func TestBansOfRepeatersDouble(t *testing.T) {
	j, now := NewJudge(Law{}), t0
	ban := func() Ban {
		t.Helper()
		for range 9 {
			if _, early := j.Offended(now, digest(four(1))); early {
				t.Fatal("banned too early")
			}
		}
		b, ok := j.Offended(now, digest(four(1)))
		if !ok {
			t.Fatal("not banned")
		}
		return b
	}
	for i, want := range []float64{10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440} {
		b := ban()
		if got := b.Until.Sub(now).Minutes(); got != want || b.Level != i {
			t.Errorf("ban %d at level %d lasts %v minutes, want %v", i+1, b.Level, got, want)
		}
		now = b.Until.Add(time.Hour)
	}
	now = now.Add(25 * time.Hour)
	if b := ban(); b.Until.Sub(now) != 10*time.Minute {
		t.Errorf("a day after its last ban a source is banned for %s", b.Until.Sub(now))
	}
}

// The level that other nodes saw counts here too.
func TestBansOfOtherNodesCount(t *testing.T) {
	j := NewJudge(Law{})
	j.Banned(Ban{Prefix: sourceOf(four(1)), Auto: true, Level: 2, Until: t0.Add(time.Hour)})
	j.Banned(Ban{Prefix: sourceOf(four(2)), Level: 7, Until: t0.Add(time.Hour)}) // an operator's says nothing of what he did
	b, _ := j.Offended(t0.Add(2*time.Hour), Offence{Source: four(1), Reason: ReasonScanner, Weight: atOnce})
	if b.Level != 3 || b.Reason != ReasonScanner {
		t.Errorf("%+v, want level 3 for a scanner", b)
	}
	if b, _ = j.Offended(t0, Offence{Source: four(2), Weight: atOnce}); b.Level != 0 {
		t.Errorf("an operator's ban raised the level to %d", b.Level)
	}
	j.Pardoned(sourceOf(four(1)))
	if b, _ = j.Offended(t0.Add(3*time.Hour), Offence{Source: four(1), Weight: atOnce}); b.Level != 0 {
		t.Errorf("after a pardon the level is %d", b.Level)
	}
}

func TestJudgeIsBounded(t *testing.T) {
	j := NewJudge(Law{Sources: 100})
	for range 5 {
		j.Offended(t0, digest(four(1)))
	}
	for i := range uint32(99) {
		j.Offended(t0, digest(four(100+i)))
		if i == 50 {
			j.Offended(t0, digest(four(1))) // heard of lately: stays
		}
	}
	if len(j.sources) != 100 {
		t.Fatalf("%d sources are remembered, want 100", len(j.sources))
	}
	j.Offended(t0, digest(four(5000)))
	if len(j.sources) != 100 || j.recent.Len() != 100 {
		t.Errorf("%d sources are remembered, want 100", len(j.sources))
	}
	for i := range 4 {
		if _, banned := j.Offended(t0, digest(four(1))); banned != (i == 3) {
			t.Errorf("offence %d: banned %v", 7+i, banned)
		}
	}
}

func TestIPv6IsBannedByHousehold(t *testing.T) {
	j := NewJudge(Law{})
	b, _ := j.Offended(t0, Offence{Source: netip.MustParseAddr("2001:db8:1:2:3:4:5:6"), Weight: 10})
	if b.Prefix != netip.MustParsePrefix("2001:db8:1:2::/64") {
		t.Errorf("banned %s", b.Prefix)
	}
}
