package guard

import (
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var testHasher = hasher{0x0123456789abcdef, 0xfedcba9876543210}

func four(n uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}

// A source gets its burst and then its rate, whatever it sends and when.
func TestBucketsHoldTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rate{PerSecond: rapid.IntRange(1, 2000).Draw(t, "rate"), Burst: rapid.IntRange(1, 500).Draw(t, "burst")}
		b := newBuckets(r, 64, testHasher)
		at, first, passed := time.Duration(0), time.Duration(-1), 0
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			at += time.Duration(rapid.IntRange(0, 50_000).Draw(t, "pause")) * time.Microsecond
			for range rapid.IntRange(1, 50).Draw(t, "messages") {
				if b.take(four(1), false, at, 1) {
					if passed++; first < 0 {
						first = at
					}
				}
			}
			// An interval is cut to whole ticks, so the rate may be that much higher.
			exact := float64(r.Burst) + (at-first).Seconds()*1e9/float64(b.interval<<tickBits) + 2
			if float64(passed) > exact {
				t.Fatalf("%d passed in %s, rate %+v allows %.1f", passed, at-first, r, exact)
			}
		}
	})
}

func TestBucketsFillAgain(t *testing.T) {
	b := newBuckets(Rate{PerSecond: 10, Burst: 5}, 64, testHasher)
	drain := func(at time.Duration) (n int) {
		for b.take(four(7), false, at, 1) {
			n++
		}
		return n
	}
	for _, c := range []struct {
		at   time.Duration
		want int
	}{{0, 5}, {0, 0}, {99 * time.Millisecond, 0}, {101 * time.Millisecond, 1}, {400 * time.Millisecond, 3}, {time.Hour, 5}} {
		if got := drain(c.at); got != c.want {
			t.Errorf("at %s %d pass, want %d", c.at, got, c.want)
		}
	}
	if !b.take(four(8), false, time.Hour, 5) || b.take(four(8), false, time.Hour, 1) {
		t.Error("a message that costs five does not take the whole burst")
	}
	if b.take(four(9), false, time.Hour, 6) {
		t.Error("more than the burst passed at once")
	}
}

// Forged addresses come once each: their buckets are full again in an interval, and who
// really floods stays in debt.
func TestBucketsManySourcesPushNoDebtorOut(t *testing.T) {
	b := newBuckets(Rate{PerSecond: 100, Burst: 100}, 1024, testHasher)
	flooder, passed, forged := four(1), 0, uint32(1000)
	const seconds = 20
	for ms := range seconds * 1000 {
		at := time.Duration(ms) * time.Millisecond
		for range 10 { // ten times the rate
			if b.take(flooder, false, at, 1) {
				passed++
			}
		}
		for range 100 { // a hundred times as many senders in a second as the table has places
			b.take(four(forged), false, at, 1)
			forged++
		}
	}
	if most := 100 + seconds*100 + seconds*10; passed > most {
		t.Errorf("the flooder got %d through in %d s, want at most %d", passed, seconds, most)
	}
	if got := len(b.cells); got != 1024 {
		t.Errorf("the table has %d cells now", got)
	}
}

func TestBucketsCountIPv6ByHousehold(t *testing.T) {
	b := newBuckets(Rate{PerSecond: 1, Burst: 10}, 64, testHasher)
	n := 0
	for i := range 100 {
		a := netip.MustParseAddr("2001:db8:1:2::").As16()
		a[15] = byte(i)
		if b.take(netip.AddrFrom16(a), false, 0, 1) {
			n++
		}
	}
	if n != 10 {
		t.Errorf("a /64 got %d through, want 10", n)
	}
	if !b.take(netip.MustParseAddr("2001:db8:1:3::1"), false, 0, 1) {
		t.Error("the next /64 is in the same bucket")
	}
	if got := testHasher.hash(netip.MustParseAddr("::ffff:192.0.2.1")); got != testHasher.hash(netip.MustParseAddr("192.0.2.1")) {
		t.Error("an IPv4 address in IPv6 form is another source")
	}
}

func TestBucketsAreSafeTogether(t *testing.T) {
	b := newBuckets(Rate{PerSecond: 1, Burst: 1000}, 64, testHasher)
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if b.take(four(3), false, time.Second, 1) {
					passed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if got := passed.Load(); got != 1000 {
		t.Errorf("%d passed, want 1000", got)
	}
}

func TestNoRateIsNoBucket(t *testing.T) {
	if newBuckets(Rate{}, 64, testHasher) != nil {
		t.Error("a rate of 0 has a bucket")
	}
}

func TestKnown(t *testing.T) {
	k := newKnown(64, testHasher)
	k.note(four(1), time.Minute)
	k.note(four(1), time.Second)
	if !k.has(four(1), 59*time.Second) || k.has(four(1), 61*time.Second) || k.has(four(2), 0) {
		t.Error("an address is not known for the longest time that was said")
	}
	for i := range uint32(10_000) {
		k.note(four(100+i), 2*time.Minute)
	}
	if got := len(k.cells); got != 64 {
		t.Errorf("the table has %d cells now", got)
	}
	found := 0
	for i := range uint32(10_000) {
		if k.has(four(100+i), 0) {
			found++
		}
	}
	if found == 0 || found > 64 {
		t.Errorf("%d of 10,000 are known in a table of 64", found)
	}
}

// Half full, nobody is pushed out: that is what four places per source are for.
func TestKnownHoldsWhatItIsMadeFor(t *testing.T) {
	k := newKnown(4*1024, testHasher)
	for i := range uint32(2048) {
		k.note(four(i+1), time.Hour)
	}
	lost := 0
	for i := range uint32(2048) {
		if !k.has(four(i+1), time.Minute) {
			lost++
		}
	}
	if lost > 20 {
		t.Errorf("%d of 2,048 were pushed out of 4,096 places", lost)
	}
}
