package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/sbc/dns"
	"github.com/tandem-sbc/tandem/sbc/lcr"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pipes is a network in memory with one listener, so that time may be virtual.
type pipes struct {
	mu     sync.Mutex
	closed bool
	queue  chan net.Conn
	dials  int
	// dial, when it is set, is asked before a connection is made.
	dial func(ctx context.Context) error
}

func newPipes() *pipes { return &pipes{queue: make(chan net.Conn, 1024)} }

func (p *pipes) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if p.dial != nil {
		if err := p.dial(ctx); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("connection refused")
	}
	p.dials++
	here, there := net.Pipe()
	p.queue <- there
	return here, nil
}

func (p *pipes) Accept() (net.Conn, error) {
	c, ok := <-p.queue
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p *pipes) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		close(p.queue)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// world is a decision server and a client of it.
type world struct {
	t      *testing.T
	net    *pipes
	server *http.Server
	client *Client
	plan   *trunkgroup.RoutePlan

	mu       sync.Mutex
	asked    []question
	headers  []http.Header
	turns    int
	sharings []sharing
	names    fakeNames
}

// question is what the server reads of a request.
type question struct {
	Version string `json:"version"`
	CallID  string `json:"call_id"`
	Dialed  string `json:"dialed_number"`
	Source  struct {
		TrunkGroup string `json:"trunk_group"`
	} `json:"source"`
}

type sharing struct {
	key  lcr.Key
	body string
	ttl  time.Duration
}

// newWorld makes one whose server is handle; s, when it is not nil, changes the plan.
func newWorld(t *testing.T, handle http.HandlerFunc, change func(*trunkgroup.DecisionSpec)) *world {
	t.Helper()
	w := &world{t: t, net: newPipes()}
	w.names.addrs = map[string][]netip.AddrPort{}
	w.plan = planOf(t, change)
	var serving sync.WaitGroup
	w.server = &http.Server{IdleTimeout: 30 * time.Second, Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		serving.Add(1)
		defer serving.Done()
		b, _ := io.ReadAll(r.Body)
		var q question
		if err := json.Unmarshal(b, &q); err != nil {
			t.Errorf("%v: %s", err, b)
		}
		w.mu.Lock()
		w.asked = append(w.asked, q)
		w.headers = append(w.headers, r.Header)
		w.mu.Unlock()
		handle(rw, r)
	})}
	serving.Go(func() { _ = w.server.Serve(w.net) })
	w.client = New(Config{
		Env:  func(name string) (string, bool) { return "s3cret", name == "LCR_TOKEN" },
		Dial: w.net.Dial, Names: &w.names,
		Share: func(k lcr.Key, body []byte, _ time.Time, ttl time.Duration) {
			w.mu.Lock()
			w.sharings = append(w.sharings, sharing{k, string(body), ttl})
			w.mu.Unlock()
		},
		OnServers: func() {
			w.mu.Lock()
			w.turns++
			w.mu.Unlock()
		},
	})
	w.client.Use([]*trunkgroup.RoutePlan{w.plan})
	w.client.Start()
	t.Cleanup(func() {
		w.client.Stop()
		_ = w.server.Close()
		_ = w.net.Close()
		serving.Wait()
	})
	return w
}

// planOf compiles the plan of a document whose decision section is changed.
func planOf(t testing.TB, change func(*trunkgroup.DecisionSpec)) *trunkgroup.RoutePlan {
	t.Helper()
	s := &trunkgroup.DecisionSpec{URL: "http://lcr.example/route", FallbackGroup: "carrier-a"}
	if change != nil {
		change(s)
	}
	table, err := trunkgroup.Compile(&trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{
			{Name: "carrier-a", Role: trunkgroup.PSTNProvider, Members: []trunkgroup.MemberSpec{{ID: "gw", Site: "dallas", Address: "192.0.2.1"}}},
			{Name: "cust", Role: trunkgroup.TerminationCustomer, RoutePlan: "lcr", Sources: []trunkgroup.SourceSpec{{IP: "198.51.100.1"}}},
		},
		RoutePlans: []trunkgroup.RoutePlanSpec{{Name: "lcr", Decision: s}},
	}, trunkgroup.Version{Cluster: "test", Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	return table.RoutePlans()[0]
}

func (w *world) query(number string) *Query {
	return &Query{
		Plan: w.plan, Group: "cust-trunks", Dialed: number, CallID: []byte("call-1@a"), From: []byte("sip:a@b"), To: []byte("sip:c@d"),
		Source: netip.MustParseAddr("198.51.100.1"), Transport: trunkgroup.UDP, Now: time.Now(),
	}
}

// route is what a shard does: what is known, or else asked.
func (w *world) route(number string) *trunkgroup.RouteSet {
	w.t.Helper()
	if set := w.client.Known(w.query(number)); set != nil {
		return set
	}
	return w.live(number)
}

func (w *world) live(number string) *trunkgroup.RouteSet {
	w.t.Helper()
	got := make(chan *trunkgroup.RouteSet, 2)
	q := w.query(number)
	w.client.Ask(q, func(set *trunkgroup.RouteSet) { got <- set })
	*q = Query{} // the shard's again
	return <-got
}

func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.asked)
}

func (w *world) status() Status { return w.client.Status()[0] }

func body(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

const oneRoute = `{"routes":[{"carrier_id":"carrier-a","gateway_group":"carrier-a","rate":0.0042}],"cache_ttl_secs":60}`

func isFallback(set *trunkgroup.RouteSet) bool {
	return set.Source == trunkgroup.RoutesFallback && len(set.Routes) == 1 && set.Routes[0].CarrierID == "fallback:carrier-a" &&
		set.Routes[0].GatewayGroup == "carrier-a" && set.Destination == "" && !set.Absent && set.Why != ""
}

// fakeNames resolves what it is told to.
type fakeNames struct {
	mu      sync.Mutex
	addrs   map[string][]netip.AddrPort
	slow    time.Duration
	lookups int
	watched []dns.Target
}

func (n *fakeNames) Lookup(ctx context.Context, t dns.Target) ([]netip.AddrPort, error) {
	n.mu.Lock()
	n.lookups++
	addrs, slow := n.addrs[t.Name], n.slow
	n.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if addrs == nil {
		return nil, errors.New("no such name")
	}
	return addrs, nil
}

func (n *fakeNames) Watch(list []dns.Target) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watched = list
}

// first is the first name that is watched.
func (n *fakeNames) first() dns.Target {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.watched[0]
}

// asked is how many lookups there were.
func (n *fakeNames) asked() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lookups
}

func addr(s string) []netip.AddrPort { return []netip.AddrPort{netip.MustParseAddrPort(s)} }

func has(s, part string) bool { return strings.Contains(s, part) }
