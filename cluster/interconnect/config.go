package interconnect

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/tandem-sbc/tandem/cluster/dialmap"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/cluster/pki"
)

// Defaults of the fields of Config.
const (
	DefaultHeartbeat  = 250 * time.Millisecond
	DefaultMisses     = 4
	DefaultQueueBytes = 4 << 20
)

// Config says who this node is and how it meets the others. It must not be
// changed after New.
type Config struct {
	Cluster string // name of the cluster; streams of another cluster are refused
	Node    string // name of this node, unique in the cluster
	Site    string
	Boot    uint64           // boot number of this process (DEC-13)
	Keys    *keyring.Keyring // cluster secrets
	// Identity is the certificate of this node and the authorities that it trusts; nil:
	// streams are without TLS. With it, streams without TLS are refused, unless Plain.
	Identity *pki.Identity
	// Plain takes and makes streams without TLS where the other side has none: for the
	// time in which a cluster changes over.
	Plain bool

	// Listeners take streams of every purpose; the Interconnect closes them.
	Listeners []net.Listener
	// Packets carries the datagrams beside the streams, best on the port of
	// Advertise; nil: none are sent. The Interconnect closes it.
	Packets net.PacketConn
	// Advertise is the host:port at which the others reach one of them.
	Advertise string
	// DialMap says which addresses are reached through a relay.
	DialMap dialmap.Map
	// Dial opens a TCP connection; nil means net.Dialer.
	Dial func(ctx context.Context, address string) (net.Conn, error)

	// Heartbeat is the time between pings; 0 means DefaultHeartbeat.
	Heartbeat time.Duration
	// Misses is how many heartbeats may fail to come; 0 means DefaultMisses.
	Misses int
	// ClockOffset is added to the clock that peers are told: tests put it wrong.
	ClockOffset time.Duration
	// QueueBytes bounds what waits for one peer's stream; 0 means DefaultQueueBytes.
	QueueBytes int
	// Forget is how long a peer that is not in SetPeers' list (any more) is still
	// dialled after it was lost; 0 means five minutes.
	Forget time.Duration

	Logger *slog.Logger // nil means silence
}

// Times that bound what a peer or a stranger can hold up.
const (
	connectTimeout   = 1500 * time.Millisecond // a lost SYN is repeated after 1 s; then a fresh dial is better
	handshakeTimeout = 5 * time.Second
	writeTimeout     = 5 * time.Second
	idleTimeout      = time.Minute // an accepted stream without a ping; a lost segment may hold one up for long
	minBackOff       = 50 * time.Millisecond
	maxBackOff       = time.Second
)

// Bounds on streams that have not proved themselves yet: a stranger can hold some
// of them for the time of the handshake and no more.
const (
	maxHandshakes     = 256
	maxHandshakesByIP = 64
)

func (c *Config) withDefaults() (Config, error) {
	d := *c
	var faults []error
	for _, f := range []struct {
		missing bool
		field   string
	}{
		{d.Cluster == "", "Cluster"},
		{d.Node == "", "Node"},
		{d.Boot == 0, "Boot"},
		{d.Keys == nil, "Keys"},
		{len(d.Listeners) == 0, "Listeners"},
		{d.Advertise == "", "Advertise"},
	} {
		if f.missing {
			faults = append(faults, errors.New("interconnect: "+f.field+" is not set"))
		}
	}
	if d.Dial == nil {
		d.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	d.Heartbeat = or(d.Heartbeat, DefaultHeartbeat)
	d.Misses = or(d.Misses, DefaultMisses)
	d.QueueBytes = or(d.QueueBytes, DefaultQueueBytes)
	d.Forget = or(d.Forget, 5*time.Minute)
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	return d, errors.Join(faults...)
}

func or[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}
