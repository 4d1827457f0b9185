package sim

import (
	"encoding/json"
	"math/bits"
	"time"
)

// The histogram is log-linear over nanoseconds: 64 equal steps within each power
// of two, so that every recorded value is off by less than 1.6 %.
const (
	subBits  = 6
	subCount = 1 << subBits
	octaves  = 36 // up to 2^(36+6) ns, more than an hour
)

// Histogram counts durations with a resolution better than 1.6 %. The zero value
// is ready to use. It is not safe for concurrent use.
type Histogram struct {
	counts []uint32
	n      uint64
	sum    time.Duration
	min    time.Duration
	max    time.Duration
}

// Add records one duration; a negative one counts as zero.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	if h.counts == nil {
		h.counts = make([]uint32, (octaves+1)*subCount)
	}
	h.counts[bucket(d)]++
	if h.n == 0 || d < h.min {
		h.min = d
	}
	h.max = max(h.max, d)
	h.n++
	h.sum += d
}

// Merge adds all that other has recorded.
func (h *Histogram) Merge(other *Histogram) {
	if other.n == 0 {
		return
	}
	if h.counts == nil {
		h.counts = make([]uint32, (octaves+1)*subCount)
	}
	for i, c := range other.counts {
		h.counts[i] += c
	}
	if h.n == 0 || other.min < h.min {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
	h.n += other.n
	h.sum += other.sum
}

// Count returns how many durations were recorded.
func (h *Histogram) Count() uint64 { return h.n }

// Mean returns the exact mean, 0 when empty.
func (h *Histogram) Mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return h.sum / time.Duration(h.n)
}

// Max returns the exact maximum, 0 when empty.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile returns the duration below which the share q (0..1) of the recorded
// ones lie, 0 when empty.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	rank := uint64(q * float64(h.n-1))
	var seen uint64
	for i, c := range h.counts {
		seen += uint64(c)
		if c > 0 && seen > rank {
			return min(max(middle(i), h.min), h.max)
		}
	}
	return h.max
}

// Clone returns an independent copy.
func (h *Histogram) Clone() Histogram {
	c := *h
	c.counts = append([]uint32(nil), h.counts...)
	return c
}

// Summary is what a histogram says in a report; all durations in microseconds.
type Summary struct {
	Count uint64  `json:"n"`
	Mean  float64 `json:"mean_us"`
	P50   float64 `json:"p50_us"`
	P90   float64 `json:"p90_us"`
	P99   float64 `json:"p99_us"`
	P999  float64 `json:"p999_us"`
	Max   float64 `json:"max_us"`
}

// Summary condenses the histogram.
func (h *Histogram) Summary() Summary {
	return Summary{
		Count: h.n, Mean: micros(h.Mean()), P50: micros(h.Quantile(.5)), P90: micros(h.Quantile(.9)),
		P99: micros(h.Quantile(.99)), P999: micros(h.Quantile(.999)), Max: micros(h.max),
	}
}

// MarshalJSON writes the [Summary].
func (h *Histogram) MarshalJSON() ([]byte, error) { return json.Marshal(h.Summary()) }

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()/100) / 10 }

func bucket(d time.Duration) int {
	v := uint64(d)
	if v < subCount {
		return int(v)
	}
	octave := bits.Len64(v) - subBits // >= 1
	if octave > octaves {
		return (octaves+1)*subCount - 1
	}
	return octave*subCount + int(v>>(octave-1)) - subCount
}

// middle is the middle of bucket i.
func middle(i int) time.Duration {
	octave, sub := i/subCount, i%subCount
	if octave == 0 {
		return time.Duration(sub)
	}
	low := uint64(sub+subCount) << (octave - 1)
	return time.Duration(low + uint64(1)<<(octave-1)/2)
}
