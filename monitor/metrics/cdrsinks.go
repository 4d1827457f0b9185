package metrics

import "time"

// CDRSink is how a sink of call records does.
type CDRSink struct {
	Name                         string
	Sent, Unusable, Errors, Gaps uint64
	Backlog                      uint64
	// Waits is how long the record that waits longest does, counted from the end of its call.
	Waits   time.Duration
	Failing bool
}

var (
	descCDROldest = desc("cdr_oldest_unsent_seconds", "Time since the end of the call whose record waits longest for the sink.", "sink")
	descCDRGaps   = desc("cdr_gaps_total", "Numbers missing in the spool of call records, as the sink read it: lost records.", "sink")
)

func (p page) sinks(list []CDRSink) {
	for _, s := range list {
		p.counter(descCDRWritten, s.Sent, s.Name)
		p.counter(descCDRFailed, s.Unusable, s.Name, "unusable")
		p.counter(descCDRErrors, s.Errors, s.Name)
		p.gauge(descCDRBacklog, float64(s.Backlog), s.Name)
		p.flag(descCDRFailing, s.Failing, s.Name)
		p.gauge(descCDROldest, s.Waits.Seconds(), s.Name)
		p.counter(descCDRGaps, s.Gaps, s.Name)
	}
}
