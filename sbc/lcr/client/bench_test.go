package client

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// served is a client of a server on the loopback.
func served(b testing.TB, text string) (*Client, *Query, *httptest.Server) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, text)
	}))
	plan := planOf(b, func(s *trunkgroup.DecisionSpec) { s.URL = server.URL + "/route" })
	c := New(Config{})
	c.Use([]*trunkgroup.RoutePlan{plan})
	b.Cleanup(func() {
		c.Stop()
		server.Close()
	})
	return c, &Query{
		Plan: plan, Group: "cust-trunks", Dialed: "+12025550123", CallID: []byte("a84b4c76e66710@pc33.example.com"),
		From: []byte("sip:+13105550100@pbx.example.com"), To: []byte("sip:+12025550123@sbc.example.com"),
		Source: netip.MustParseAddr("198.51.100.1"), Transport: trunkgroup.UDP, Now: time.Now(),
	}, server
}

const threeRoutes = `{"routes":[{"carrier_id":"carrier-a","gateway_group":"carrier-a","rate":0.0042,"headers":{"X-Account":"42"}},` +
	`{"carrier_id":"carrier-b","gateway_group":"carrier-b","rate":0.005},{"carrier_id":"carrier-c","gateway_group":"carrier-c","rate":0.006}],"cache_ttl_secs":`

func inquire(c *Client, q *Query) *trunkgroup.RouteSet {
	got := make(chan *trunkgroup.RouteSet, 1)
	c.Ask(q, func(set *trunkgroup.RouteSet) { got <- set })
	return <-got
}

// A cached decision costs no allocation (the bound of 2 microseconds is the
// benchmark's: docs/performance.md).
func TestACachedDecisionAllocatesNothing(t *testing.T) {
	c, q, _ := served(t, threeRoutes+"300}")
	inquire(c, q)
	if n := testing.AllocsPerRun(1000, func() {
		if set := c.Known(q); set == nil || set.Source != trunkgroup.RoutesCached {
			t.Fatal("not kept")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCachedDecision(b *testing.B) {
	c, q, _ := served(b, threeRoutes+"300}")
	inquire(c, q)
	b.ReportAllocs()
	for b.Loop() {
		if c.Known(q) == nil {
			b.Fatal("not kept")
		}
	}
}

// BenchmarkLiveDecision puts a live decision beside the bare round trip of net/http to
// the same server; added-us is what the median of one takes longer than that of the other.
func BenchmarkLiveDecision(b *testing.B) {
	c, q, server := served(b, threeRoutes+"0}")
	bare := &http.Client{Transport: &http.Transport{}}
	defer bare.CloseIdleConnections()
	question := q.request()
	var live, trip []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		begin := time.Now()
		if set := inquire(c, q); set.Source != trunkgroup.RoutesLive {
			b.Fatalf("%+v", set)
		}
		live = append(live, time.Since(begin))
		begin = time.Now()
		r, err := bare.Post(server.URL+"/route", "application/json", bytes.NewReader(question))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		trip = append(trip, time.Since(begin))
	}
	slices.Sort(live)
	slices.Sort(trip)
	l, t := live[len(live)/2], trip[len(trip)/2]
	b.ReportMetric(float64(l.Nanoseconds())/1000, "live-us")
	b.ReportMetric(float64(t.Nanoseconds())/1000, "trip-us")
	b.ReportMetric(float64((l-t).Nanoseconds())/1000, "added-us")
}
