package metrics

import (
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// methodNames are the methods with series of their own; all others count as OTHER.
var methodNames = [...]string{
	"OTHER", "INVITE", "ACK", "CANCEL", "BYE", "OPTIONS", "REGISTER", "UPDATE", "INFO", "PRACK", "REFER", "NOTIFY", "SUBSCRIBE", "MESSAGE", "PUBLISH",
}

func methodIndex(name string) int {
	switch name {
	case "INVITE":
		return 1
	case "ACK":
		return 2
	case "CANCEL":
		return 3
	case "BYE":
		return 4
	case "OPTIONS":
		return 5
	case "REGISTER":
		return 6
	case "UPDATE":
		return 7
	case "INFO":
		return 8
	case "PRACK":
		return 9
	case "REFER":
		return 10
	case "NOTIFY":
		return 11
	case "SUBSCRIBE":
		return 12
	case "MESSAGE":
		return 13
	case "PUBLISH":
		return 14
	}
	return 0
}

const (
	transports = int(trunkgroup.Interconnect) + 1
	firstCode  = 100
	lastCode   = 699
	codes      = lastCode - firstCode + 1
)

// Way is whether a message came in or went out.
type Way uint8

// The ways.
const (
	In Way = iota
	Out
	ways
)

// String is the label.
func (w Way) String() string {
	if w == In {
		return "in"
	}
	return "out"
}

// SIP counts the messages of one shard; each shard has its own, so that no two cores share a counter. Its methods may still be called from any
// goroutine.
type SIP struct {
	requests        [ways][len(methodNames)][transports]atomic.Uint64
	responses       [ways][len(methodNames)][codes]atomic.Uint64
	retransmissions [ways][len(methodNames)]atomic.Uint64
	parseErrors     [transports][codes + 1]atomic.Uint64 // the last one: no answer
	durations       [sides][len(methodNames)]durations
}

// NewSIP returns the counters of another shard.
func (m *Metrics) NewSIP() *SIP {
	s := &SIP{}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sip = append(m.sip, s)
	return s
}

// Request counts a request.
func (s *SIP) Request(w Way, method string, t trunkgroup.Transport) {
	s.requests[w][methodIndex(method)][transportIndex(t)].Add(1)
}

// Response counts a response to a request of this method.
func (s *SIP) Response(w Way, method string, code int) {
	if code >= firstCode && code <= lastCode {
		s.responses[w][methodIndex(method)][code-firstCode].Add(1)
	}
}

// Retransmission counts a request that was received again, or sent again.
func (s *SIP) Retransmission(w Way, method string) { s.retransmissions[w][methodIndex(method)].Add(1) }

// ParseError counts a message that the gate refused, by the code that it was answered with; 0 = with silence.
func (s *SIP) ParseError(t trunkgroup.Transport, code int) {
	i := codes
	if code >= firstCode && code <= lastCode {
		i = code - firstCode
	}
	s.parseErrors[transportIndex(t)][i].Add(1)
}

func transportIndex(t trunkgroup.Transport) int {
	if int(t) < transports {
		return int(t)
	}
	return 0
}

var (
	descRequests    = desc("sip_requests_total", "SIP requests, repeated ones included.", "direction", "method", "transport")
	descResponses   = desc("sip_responses_total", "SIP responses, repeated ones included.", "direction", "method", "code")
	descRepeats     = desc("sip_retransmissions_total", "SIP requests that were received again.", "direction", "method")
	descParseErrors = desc("sip_parse_errors_total", "Messages that the gate refused, by the code of the answer.", "transport", "code")
)

// sipCollector shows the sums over all shards; what never happened is left out.
type sipCollector struct{ m *Metrics }

// Describe implements prometheus.Collector.
func (c *sipCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- descRequests
	ch <- descResponses
	ch <- descRepeats
	ch <- descParseErrors
}

// Collect implements prometheus.Collector.
func (c *sipCollector) Collect(ch chan<- prometheus.Metric) {
	c.m.mu.Lock()
	shards := c.m.sip
	c.m.mu.Unlock()
	show := func(d *prometheus.Desc, pick func(*SIP) *atomic.Uint64, labels ...string) {
		var sum uint64
		for _, s := range shards {
			sum += pick(s).Load()
		}
		if sum > 0 {
			ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(sum), labels...)
		}
	}
	for w := range ways {
		for i, method := range methodNames {
			for t := range transports {
				show(descRequests, func(s *SIP) *atomic.Uint64 { return &s.requests[w][i][t] }, w.String(), method, transportName(t))
			}
			for code := range codes {
				show(descResponses, func(s *SIP) *atomic.Uint64 { return &s.responses[w][i][code] }, w.String(), method, strconv.Itoa(code+firstCode))
			}
			show(descRepeats, func(s *SIP) *atomic.Uint64 { return &s.retransmissions[w][i] }, w.String(), method)
		}
	}
	for t := range transports {
		for code := range codes + 1 {
			label := "none"
			if code < codes {
				label = strconv.Itoa(code + firstCode)
			}
			show(descParseErrors, func(s *SIP) *atomic.Uint64 { return &s.parseErrors[t][code] }, transportName(t), label)
		}
	}
}

func transportName(t int) string {
	if name := trunkgroup.Transport(t).String(); name != "" {
		return name
	}
	return "unknown"
}
