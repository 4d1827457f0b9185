package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Transactions are those under way.
type Transactions struct{ Client, Server int }

// side is which part a node has in a transaction.
type side uint8

const (
	client side = iota
	server
	sides
)

var sideNames = [sides]string{"client", "server"}

// transactionBuckets are the upper bounds of what transactions take. Behind the last one everything counts until the end of an INVITE that rings.
var transactionBuckets = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
	250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
}

// durations is a histogram of one method.
type durations struct {
	counts [len(transactionBuckets) + 1]atomic.Uint64
	sum    atomic.Int64
}

// Transaction counts a transaction that had its final response after d. asked tells that this node sent the request.
func (s *SIP) Transaction(asked bool, method string, d time.Duration) {
	which := server
	if asked {
		which = client
	}
	h := &s.durations[which][methodIndex(method)]
	at := 0
	for at < len(transactionBuckets) && d > transactionBuckets[at] {
		at++
	}
	h.counts[at].Add(1)
	h.sum.Add(int64(d))
}

var (
	descTransactions = desc("sip_transactions", "Transactions under way: requests that were sent, and those that wait for our answer.", "kind")
	descDurations    = desc("sip_transaction_duration_seconds", "From a request to its final response.", "method", "kind")
)

func (p page) transactions(t Transactions) {
	p.gauge(descTransactions, float64(t.Client), sideNames[client])
	p.gauge(descTransactions, float64(t.Server), sideNames[server])
}

// transactionCollector shows the sums over all shards; methods that never were are left out.
type transactionCollector struct{ m *Metrics }

// Describe implements prometheus.Collector.
func (c *transactionCollector) Describe(ch chan<- *prometheus.Desc) { ch <- descDurations }

// Collect implements prometheus.Collector.
func (c *transactionCollector) Collect(ch chan<- prometheus.Metric) {
	c.m.mu.Lock()
	shards := c.m.sip
	c.m.mu.Unlock()
	for which := range sides {
		for i, method := range methodNames {
			var total uint64
			var sum time.Duration
			below := make(map[float64]uint64, len(transactionBuckets))
			for at := range len(transactionBuckets) + 1 {
				for _, s := range shards {
					total += s.durations[which][i].counts[at].Load()
				}
				if at < len(transactionBuckets) {
					below[transactionBuckets[at].Seconds()] = total
				}
			}
			for _, s := range shards {
				sum += time.Duration(s.durations[which][i].sum.Load())
			}
			if total > 0 {
				ch <- prometheus.MustNewConstHistogram(descDurations, total, sum.Seconds(), below, method, sideNames[which])
			}
		}
	}
}
