package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/sbc/dns"
	"github.com/tandem-sbc/tandem/sbc/lcr"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Config says how servers are asked. Zero fields mean the defaults.
type Config struct {
	// Env gives the variables that a document may name; nil: there are none.
	Env func(name string) (value string, ok bool)
	// Dial opens connections; nil: by TCP, with the system's names.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// TLS is for servers of https; nil: the system's authorities.
	TLS *tls.Config
	// Names resolves the hosts of next hops; nil: routes by name lead nowhere.
	Names Names
	// Entries and Octets bound the answers that are kept.
	Entries, Octets int
	UserAgent       string
	// Share tells the other nodes an answer that is kept, as it came; nil: nobody.
	// It may be called from any goroutine.
	Share func(key lcr.Key, body []byte, asked time.Time, ttl time.Duration)
	// OnServers is called when a server begins to fail or works again; Away says
	// which do. It may be called from any goroutine.
	OnServers func()
	Logger    *slog.Logger // nil: silence
}

// Names looks hosts up and keeps their addresses fresh; *dns.Resolver does.
type Names interface {
	// Lookup asks for one now, within ctx.
	Lookup(ctx context.Context, t dns.Target) ([]netip.AddrPort, error)
	// Watch sets those that are kept fresh: Client.Renamed is told of changes.
	Watch(targets []dns.Target)
}

func (c *Config) setDefaults() {
	c.Entries = cmp.Or(c.Entries, lcr.DefaultEntries)
	c.Octets = cmp.Or(c.Octets, lcr.DefaultBytes)
	c.UserAgent = cmp.Or(c.UserAgent, "Tandem")
	if c.Env == nil {
		c.Env = func(string) (string, bool) { return "", false }
	}
	if c.Dial == nil {
		c.Dial = (&net.Dialer{}).DialContext
	}
	if c.Share == nil {
		c.Share = func(lcr.Key, []byte, time.Time, time.Duration) {}
	}
	if c.OnServers == nil {
		c.OnServers = func() {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// Query is a call whose plan has a decision server.
type Query struct {
	Plan             *trunkgroup.RoutePlan
	Group            string // the customer's trunk group
	Dialed           string // normalised
	CallID, From, To []byte // of the A leg
	Source           netip.Addr
	Transport        trunkgroup.Transport
	Attributes       []trunkgroup.NameValue
	// Alone: the question is about this call only, and so is the answer.
	Alone bool
	Now   time.Time
}

// key is where the answer is kept.
func (q *Query) key() lcr.Key {
	return lcr.Key{Plan: q.Plan.Name, Edition: q.Plan.Decision.Edition, Group: q.Group, Number: q.Dialed}
}

// request is the question, as it is sent.
func (q *Query) request() []byte {
	r := lcr.Request{
		CallID: string(q.CallID), From: string(q.From), To: string(q.To), Dialed: q.Dialed,
		Source: q.Source, Transport: q.Transport, TrunkGroup: q.Group, Attributes: q.Attributes,
	}
	return r.AppendJSON(make([]byte, 0, 512))
}
