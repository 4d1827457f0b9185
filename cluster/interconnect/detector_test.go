package interconnect

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// ms is a moment after epoch.
func ms(n int) time.Time { return epoch.Add(time.Duration(n) * time.Millisecond) }

func detector(rtt time.Duration) *Detector {
	d := NewDetector(DefaultHeartbeat, DefaultMisses, epoch)
	d.Connected(epoch, rtt)
	return &d
}

// "heartbeat 250 ms on the warm stream, lost after 4 misses or srtt + 4 x rttvar
// if longer, or at once on stream reset" (DEC-21).
func TestDEC21_LostAfterFourMisses(t *testing.T) {
	d := detector(time.Millisecond)
	d.Heard(ms(250), 0)
	if d.Expire(ms(1249)) || !d.Up() {
		t.Fatal("lost after 999 ms of silence")
	}
	if got := d.Deadline(); got != ms(1250) {
		t.Fatalf("deadline %v, want 1250 ms", got.Sub(epoch))
	}
	if !d.Expire(ms(1250)) || d.Up() {
		t.Fatal("not lost after four heartbeats of silence")
	}
	if !d.Deadline().IsZero() || d.Since() != ms(1250) {
		t.Error("a lost peer has a deadline, or the loss has another time")
	}
}

func TestDEC21_LongerOnASlowLink(t *testing.T) {
	d := detector(300 * time.Millisecond) // srtt 300, rttvar 150
	d.Answered(ms(900), 900*time.Millisecond)
	// rttvar = 3/4*150 + 1/4*600 = 262.5; srtt = 7/8*300 + 1/8*900 = 375
	if got, want := d.Patience(), 1425*time.Millisecond; got != want {
		t.Fatalf("patience %v, want srtt + 4*rttvar = %v", got, want)
	}
	if d.Expire(ms(2324)) || !d.Expire(ms(2325)) {
		t.Error("the longer patience is not the one that counts")
	}
	for range 100 {
		d.Answered(ms(2000), 30*time.Second)
	}
	if got := d.Patience(); got != 4*time.Second {
		t.Errorf("patience %v on a link without end, want at most 4 s", got)
	}
}

func TestDEC21_ResetAtOnce(t *testing.T) {
	d := detector(time.Millisecond)
	d.Reset(ms(10))
	if d.Up() || d.Since() != ms(10) {
		t.Error("a reset stream does not lose the peer at once")
	}
	d.Heard(ms(20), 0)
	if d.Up() {
		t.Error("a sign of life without a stream brought the peer back")
	}
	d.Connected(ms(30), time.Millisecond)
	if !d.Up() || d.Since() != ms(30) {
		t.Error("a new stream does not bring the peer back")
	}
}

// A link that is cut from us to the peer: its pings still come, but say for how
// long it has not heard us.
func TestDEC21_OneWayCutIsALoss(t *testing.T) {
	d := detector(time.Millisecond)
	for n := 250; n < 1000; n += 250 {
		if d.Expire(ms(n)) {
			t.Fatalf("lost after %d ms", n)
		}
		d.Heard(ms(n), time.Duration(n)*time.Millisecond)
	}
	if !d.Expire(ms(1000)) {
		t.Error("a peer that does not hear us is held to live")
	}
}

// A process that was stopped for five seconds finds the answers unread.
func TestDEC21_ASleeperJudgesNobody(t *testing.T) {
	d := detector(time.Millisecond)
	if d.Expire(ms(6000)) {
		t.Fatal("judged right after the sleep")
	}
	if got := d.Deadline(); got != ms(6250) {
		t.Fatalf("deadline %v, want one interval more", got.Sub(epoch))
	}
	d.Heard(ms(6001), 0)
	if d.Expire(ms(6250)) || !d.Up() {
		t.Error("lost although an answer was found")
	}
	d = detector(time.Millisecond)
	d.Expire(ms(6000))
	if !d.Expire(ms(6250)) {
		t.Error("the grace does not end")
	}
}

// Whatever happens: a detector that is up has a deadline, and one that hears
// nothing from some moment on is lost within the patience and one interval.
func TestDetectorProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := epoch
		d := NewDetector(DefaultHeartbeat, DefaultMisses, now)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			switch rapid.IntRange(0, 4).Draw(t, "event") {
			case 0:
				d.Connected(now, time.Duration(rapid.IntRange(0, 2000).Draw(t, "rtt"))*time.Millisecond)
			case 1:
				d.Answered(now, time.Duration(rapid.IntRange(0, 2000).Draw(t, "rtt"))*time.Millisecond)
			case 2:
				d.Heard(now, time.Duration(rapid.IntRange(-10, 5000).Draw(t, "age"))*time.Millisecond)
			case 3:
				d.Reset(now)
			case 4:
				d.Expire(now)
			}
			if d.Up() == d.Deadline().IsZero() {
				t.Fatal("up without a deadline, or lost with one")
			}
		}
		silence := now
		for d.Up() {
			d.Expire(d.Deadline())
		}
		if late := d.Since().Sub(silence); d.Since().After(silence) && late > d.Patience()+DefaultHeartbeat {
			t.Fatalf("lost %v after the last sign of life", late)
		}
	})
}
