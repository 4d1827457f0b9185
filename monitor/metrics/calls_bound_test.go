package metrics

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A document with 20,000 groups must not make a page of 230 MB: groups beyond a bound share their histograms, and keep their counters.
func TestHistogramsAreBounded(t *testing.T) {
	r := prometheus.NewRegistry()
	c := newCalls(r, maxMembers)
	for i := range 3 * maxHistograms {
		c.group(fmt.Sprintf("g%d", i)).setup[Inbound].Observe(time.Second.Seconds())
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		n, others := 0, uint64(0)
		for _, m := range f.GetMetric() {
			n++
			for _, l := range m.GetLabel() {
				if l.GetValue() == "other" {
					others += m.GetHistogram().GetSampleCount()
				}
			}
		}
		switch f.GetName() {
		case "tandem_calls_active":
			if n < 3*maxHistograms {
				t.Errorf("%d groups have a gauge", n/2)
			}
		case "tandem_call_setup_seconds":
			if n > 2*(maxHistograms+1) || others != 2*maxHistograms+1 {
				t.Errorf("%d histograms, %d calls in the shared one", n, others)
			}
		}
	}
}
