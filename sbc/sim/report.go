package sim

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Report is the outcome of a run, for people (WriteText) and machines (JSON).
type Report struct {
	Config   LoadConfig    `json:"config"`
	Elapsed  time.Duration `json:"elapsed_ns"`
	Achieved float64       `json:"achieved_cps"` // calls started per second while calls were started
	Counts   Counts        `json:"counts"`
	Skipped  int           `json:"skipped"`    // calls not started: the generator was late or MaxActive was reached
	Left     int           `json:"unfinished"` // calls that had not ended when Grace was over
	PDD      Summary       `json:"pdd"`        // INVITE to the first 101-199 or 2xx
	Setup    Summary       `json:"setup"`      // INVITE to 2xx
	Bye      Summary       `json:"bye"`        // BYE to its answer
	Failures []CallRecord  `json:"failures,omitempty"`
	Calls    []CallRecord  `json:"calls,omitempty"` // with KeepAll
	Faults   []Fault       `json:"faults,omitempty"`
	FaultsN  int           `json:"fault_count"`
}

// FailedShare is the share of calls that failed, did not end, or were skipped.
func (r *Report) FailedShare() float64 {
	all := r.Counts.Started + r.Skipped
	if all == 0 {
		return 0
	}
	return float64(r.Counts.Failed+r.Left+r.Skipped) / float64(all)
}

// Report tells how the run stands now.
func (l *Load) Report() *Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.caller
	r := &Report{
		Config: l.cfg, Elapsed: time.Since(l.began), Counts: c.Counts(), Skipped: l.pace.skipped, Left: c.counts.Active,
		PDD: c.pdd.Summary(), Setup: c.setup.Summary(), Bye: c.bye.Summary(),
		Failures: slices.Clone(l.list.failures), Calls: slices.Clone(l.list.calls),
	}
	r.Faults, r.FaultsN = c.Faults()
	if span := l.pace.lastCall.Sub(l.began).Seconds(); span > 0 {
		r.Achieved = float64(c.counts.Started) / span
	}
	return r
}

// recordList keeps the records of a run.
type recordList struct {
	all      bool
	limit    int
	failures []CallRecord
	calls    []CallRecord
	next     func(*CallRecord)
}

func (l *recordList) add(r *CallRecord) {
	if r.Failed() && len(l.failures) < l.limit {
		l.failures = append(l.failures, *r)
	}
	if l.all {
		l.calls = append(l.calls, *r)
	}
	if l.next != nil {
		l.next(r)
	}
}

// WriteText writes the report for people: totals, where calls went, the delays,
// and each failed call by name.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	c := &r.Counts
	fmt.Fprintf(&b, "calls      %d started in %.1f s (%.1f/s), %d answered, %d failed, %d unfinished, %d skipped; seed %d\n",
		c.Started, r.Elapsed.Seconds(), r.Achieved, c.Answered, c.Failed, r.Left, r.Skipped, r.Config.Seed)
	fmt.Fprintf(&b, "results    %s\n", join(c.Results))
	fmt.Fprintf(&b, "finals     %s\n", join(c.Finals))
	fmt.Fprintf(&b, "nodes      %s\n", join(c.Nodes))
	fmt.Fprintf(&b, "members    %s\n", join(c.Members))
	fmt.Fprintf(&b, "extra      %d failovers, %d CANCELs, %d repeated requests, %d late responses, %d calls answered twice, %d faults\n",
		c.Failovers, c.Cancels, c.Repeats, c.Late, c.Answers2, r.FaultsN)
	for _, h := range []struct {
		name string
		s    Summary
	}{{"ringing", r.PDD}, {"answer", r.Setup}, {"bye", r.Bye}} {
		if h.s.Count == 0 {
			fmt.Fprintf(&b, "%-10s none\n", h.name)
			continue
		}
		fmt.Fprintf(&b, "%-10s p50 %s  p90 %s  p99 %s  max %s\n", h.name, ms(h.s.P50), ms(h.s.P90), ms(h.s.P99), ms(h.s.Max))
	}
	for i := range r.Failures {
		f := &r.Failures[i]
		fmt.Fprintf(&b, "failed     #%d %s -> %s at %s via %s: %s %s (%s)\n",
			f.N, f.From, f.To, f.Started.Format("15:04:05.000"), f.Node, f.Result, f.Why, f.CallID)
	}
	for _, f := range r.Faults {
		fmt.Fprintf(&b, "fault      %s %s (%s)\n", f.Kind, f.Detail, f.CallID)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func ms(us float64) string { return fmt.Sprintf("%.3f ms", us/1000) }

// join writes a map of counts in the order of its keys.
func join[K int | string | Result](m map[K]int) string {
	if len(m) == 0 {
		return "none"
	}
	parts := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%v %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}
