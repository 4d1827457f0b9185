package trunkgroup

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The whole numbers stand for -log2, also near zero, where shares are decided.
func TestExponential(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, word uint64) {
		word |= 1
		got := float64(exponential(word)) / unit
		want := -math.Log1p(-float64(^word+1)/math.Exp2(64)) * math.Log2E
		if word>>63 == 0 {
			want = -math.Log2(float64(word) / math.Exp2(64))
		}
		if math.Abs(got-want) > want*1e-9+3.0/unit {
			t.Fatalf("%#x: %.15g, want %.15g", word, got, want)
		}
		if low := atLeast(word); low > exponential(word) {
			t.Fatalf("%#x: at least %d, but %d", word, low, exponential(word))
		}
	}
	for _, word := range []uint64{0, 1, 2, 3, 1 << 32, topBit - 1, topBit, topBit + 1, ^uint64(0), ^uint64(0) - 1, math.MaxUint64 - 1<<20 + 1, 0xFF << 56, 0xFF<<56 - 1} {
		check(t, word)
	}
	for i := range uint64(1 << tailBits) {
		check(t, topBit+i*partSize)
		check(t, topBit+i*partSize-1)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, rapid.Uint64().Draw(t, "word")) })
}

// It is the same on every architecture: these are the numbers of this one.
func TestExponentialIsFixed(t *testing.T) {
	sum := uint64(0)
	for i := range uint64(10_000) {
		sum = mix(sum ^ exponential(mix(i)))
	}
	if want := uint64(0x4109d8256df6eda4); sum != want {
		t.Errorf("%#x, want %#x", sum, want)
	}
}
