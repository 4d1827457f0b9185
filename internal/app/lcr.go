package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/dns"
	"github.com/tandem-sbc/tandem/sbc/lcr/client"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// alarmDecision: a plan's decision server brings no decisions.
const alarmDecision = "decision_server_away"

// callRoutes says where calls go whose plan leaves it to others. It implements
// sbc.Routes.
type callRoutes struct {
	app    *App
	log    *slog.Logger
	soft   *cluster.Soft
	names  *dns.Resolver
	client *client.Client

	// deck answers for plans with rate decks; nil: none are kept. It is set before the
	// first call.
	deck func(q *b2bua.RouteQuery) *trunkgroup.RouteSet
	// attributes are what a server is told beside the call; nil: nothing. It is set
	// before the first call.
	attributes func(q *b2bua.RouteQuery) []trunkgroup.NameValue

	untold  atomic.Uint64 // kept answers that the other nodes do not know of
	useless atomic.Uint64 // answers of other nodes that are none
}

func newCallRoutes(a *App, build string) (*callRoutes, error) {
	r := &callRoutes{app: a, log: a.log.With("component", "lcr"), soft: a.soft}
	var servers []string
	for _, s := range a.cfg.DNS.Servers {
		servers = append(servers, s.String())
	}
	var err error
	r.names, err = dns.New(dns.Config{
		Servers: servers, Logger: a.log.With("component", "dns"),
		OnChange: func(t dns.Target, addrs []netip.AddrPort) { r.client.Renamed(t, addrs) },
	})
	if err != nil {
		return nil, fmt.Errorf("resolver of next hops: %w", err)
	}
	r.client = client.New(client.Config{
		Env: os.LookupEnv, Dial: dialer(servers), Names: r.names, UserAgent: "tandem/" + build,
		Share: r.share, OnServers: r.alarm, Logger: r.log,
	})
	a.soft.OnChange(r.changed)
	return r, nil
}

// dialer opens connections to decision servers, by the name servers of the node file
// where it has some.
func dialer(servers []string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := &net.Dialer{}
	if len(servers) > 0 {
		var turn atomic.Uint32
		d.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, servers[int(turn.Add(1))%len(servers)])
		}}
	}
	return d.DialContext
}

func (r *callRoutes) start() { r.client.Start() }

func (r *callRoutes) stop(context.Context) error {
	r.client.Stop()
	r.names.Stop()
	return nil
}

// use takes the plans of a new table, before calls are routed by it.
func (r *callRoutes) use(t *trunkgroup.Table) { r.client.Use(t.RoutePlans()) }

// Known implements sbc.Routes.
func (r *callRoutes) Known(q *b2bua.RouteQuery) *trunkgroup.RouteSet {
	if q.Plan.Decision == nil {
		if r.deck == nil {
			return &trunkgroup.RouteSet{Absent: true, Why: "this node has no rate decks"}
		}
		return r.deck(q)
	}
	if q.Failed != 0 { // it was told what is known, and that has failed
		return nil
	}
	return r.client.Known(clientQuery(q))
}

// clientQuery is what the key of an answer is made from.
func clientQuery(q *b2bua.RouteQuery) *client.Query {
	return &client.Query{Plan: q.Plan, Group: q.Group, Dialed: q.Dialed, Now: q.Now}
}

// Ask implements sbc.Routes.
func (r *callRoutes) Ask(q *b2bua.RouteQuery, done func(*trunkgroup.RouteSet)) {
	x := client.Query{
		Plan: q.Plan, Group: q.Group, Dialed: q.Dialed, CallID: q.CallID, From: q.From, To: q.To,
		Source: q.Source.Addr(), Transport: q.Transport, Now: q.Now,
	}
	if r.attributes != nil && q.Plan.Decision.SendQuality {
		x.Attributes = r.attributes(q)
	}
	if q.Failed != 0 {
		x.Alone = true
		x.Attributes = append(x.Attributes, trunkgroup.NameValue{Name: "failed_code", Value: strconv.Itoa(q.Failed)},
			trunkgroup.NameValue{Name: "failed_cause", Value: q.FailedCause})
	}
	r.client.Ask(&x, done)
}

// alarm says which servers bring no decisions.
func (r *callRoutes) alarm() {
	var list []string
	for _, s := range r.client.Status() {
		if !s.Away {
			continue
		}
		then := "calls whose answer is not kept get 503"
		if g := s.Server.FallbackGroup; g != "" {
			then = "calls whose answer is not kept go to " + g
		}
		list = append(list, fmt.Sprintf("plan %s, since %s: %s; %s", s.Plan, s.Since.UTC().Format(time.RFC3339), s.Why, then))
	}
	detail := ""
	if len(list) > 0 {
		detail = strings.Join(list, " / ") + ": look at the server and the way there; try it with tandem lcr ask NUMBER"
	}
	r.app.alarmIf(alarmDecision, detail)
}
