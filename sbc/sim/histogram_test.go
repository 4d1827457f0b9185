package sim

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestHistogramQuantilesAreWithinTwoPercent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Hour)), 1, 200).Draw(t, "values")
		var h Histogram
		for _, v := range values {
			h.Add(time.Duration(v))
		}
		slices.Sort(values)
		for _, q := range []float64{0, .5, .9, .99, 1} {
			want := values[int(q*float64(len(values)-1))]
			got := int64(h.Quantile(q))
			if diff := max(got-want, want-got); diff > want/50+1 {
				t.Fatalf("quantile %v: got %d, want %d", q, got, want)
			}
		}
		if int64(h.Max()) != values[len(values)-1] || h.Count() != uint64(len(values)) {
			t.Fatalf("max %d count %d", h.Max(), h.Count())
		}
	})
}

func TestHistogramMergeEqualsOneHistogram(t *testing.T) {
	var a, b, all Histogram
	for i := range 1000 {
		d := time.Duration(i*i) * time.Microsecond
		all.Add(d)
		if i%3 == 0 {
			a.Add(d)
		} else {
			b.Add(d)
		}
	}
	a.Merge(&b)
	if a.Summary() != all.Summary() {
		t.Fatalf("merged %+v, want %+v", a.Summary(), all.Summary())
	}
	var empty Histogram
	if empty.Quantile(.5) != 0 || empty.Mean() != 0 {
		t.Fatal("an empty histogram has values")
	}
}
