package sbc

import (
	"crypto/tls"
	"log/slog"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/fraud"
	"github.com/tandem-sbc/tandem/sbc/transaction"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Listener is one address on which the node speaks SIP.
type Listener struct {
	transport.ListenerConfig
	// Advertise is the "host:port" that Via and Contact name; empty means
	// the bound address.
	Advertise string
}

// DefaultMaxCalls is the load at which a node without a configured limit calls
// itself full towards the other nodes.
const DefaultMaxCalls = 100_000

// Config is what a Server is built from. It must not change after New.
type Config struct {
	// Node and Site name this node and where it stands.
	Node, Site string
	// Boot is this node's boot number (DEC-13).
	Boot uint32
	// Key is the cluster key, at least 16 bytes: identifiers, nonces and
	// hand-off tokens are made under keys derived from it.
	Key []byte
	// OlderKeys are still accepted, while the cluster changes its key.
	OlderKeys [][]byte
	// Seed keys the hashes that all nodes compute alike (DEC-03) and outlives the keys; 0 means Seed(Key).
	Seed uint64
	// Realm is the digest realm; empty refuses unknown sources with 403
	// instead of challenging them.
	Realm string
	// Domains are further hosts, in lower case, that calls to this node may name
	// beside its addresses, its realm and the domains of the document.
	Domains []string
	// StrictDomains says whose calls must name one of them.
	StrictDomains b2bua.DomainCheck
	// AllowNoQOP accepts digest answers without qop (RFC 2069).
	AllowNoQOP bool
	// ClockOffset is added to the clock of nonces: tests put it wrong (DEC-25).
	ClockOffset time.Duration
	// Listeners are the addresses to bind.
	Listeners []Listener
	// ClientTLS returns the configuration for a TLS member by server name.
	ClientTLS func(serverName string) *tls.Config
	// CallLimits say what calls may use; nil means that nothing has a limit.
	CallLimits Limits
	// Routes decides for plans that ask others; nil answers that nobody does.
	Routes Routes
	// Charging has calls charged; nil charges none.
	Charging Charging
	// Hooks is told what becomes of calls whose plan has webhooks; nil: nobody is. It is
	// called by shards and must not block.
	Hooks b2bua.Hooks
	// Bindings keeps what is registered; nil takes no registrations.
	Bindings Bindings
	// Limits bound what strangers can hold open.
	Limits transport.Limits
	// Door is asked before the parser; nil lets everybody in.
	Door transport.Door
	// Timers are the SIP timers; the zero value means RFC 3261's.
	Timers transaction.Timers
	// Fraud counts what customers do; nil bounds nothing.
	Fraud *fraud.Watch
	// Sessions counts calls by far end; nil counts none, and nothing sticks.
	Sessions b2bua.Sessions
	// Interim is how often a call that is up has a record of kind interim, which goes to
	// Interims; 0 means never. It is called by shards and must not block.
	Interim  time.Duration
	Interims func(*cdr.Record)
	// Shards is the number of call goroutines; 0 means one per core.
	Shards int
	// MaxCalls bounds the calls of the node; 0 means 100,000 per shard.
	MaxCalls int
	// UserAgent is sent in User-Agent and Server; empty sends neither.
	UserAgent string
	// Traffic returns what counts the messages of a shard; nil counts none.
	Traffic func(shard int) Traffic
	// Logger gets what an operator should know; nil discards it.
	Logger *slog.Logger
}

// Traffic counts messages as they arrive and leave, repeated ones included. Its
// methods may be called by several goroutines and must not block.
type Traffic interface {
	Request(out bool, method string, t trunkgroup.Transport)
	Response(out bool, method string, code int)
	// Refused counts a message that the gate did not let in, by the code of
	// the answer; 0 is silence.
	Refused(t trunkgroup.Transport, code int)
	// Transaction counts a transaction that had its final response after d; asked
	// tells that the request was ours.
	Transaction(asked bool, method string, d time.Duration)
}

// noTraffic counts nothing.
type noTraffic struct{}

func (noTraffic) Request(bool, string, trunkgroup.Transport) {}
func (noTraffic) Response(bool, string, int)                 {}
func (noTraffic) Refused(trunkgroup.Transport, int)          {}
func (noTraffic) Transaction(bool, string, time.Duration)    {}

// Peer is another node of the cluster as the interconnect sees it.
type Peer struct {
	Name, Site string
	// Boot is its boot number; 0 before its first hello.
	Boot uint32
	// Up: its heartbeats arrive (DEC-21).
	Up bool
	// Since is when Up last changed.
	Since time.Time
	// RTT is the smoothed round trip.
	RTT time.Duration
	// Witness: it takes no calls.
	Witness bool
	// Draining: it would rather not take calls (DEC-19).
	Draining bool
	// TakesPassed: it knows what to do with an INVITE that a draining sibling
	// passes to it (DEC-19).
	TakesPassed bool
	// Load is its number of calls.
	Load int
}

// Interconnect carries frames between nodes. Send must not block; false means
// that the frame was not accepted.
type Interconnect interface {
	Send(node string, kind byte, payload []byte) bool
}

// Observer hears what calls do. Its methods are called by shards and must not
// block.
type Observer interface {
	// Finished takes a call's record; it is the observer's to keep.
	Finished(r *cdr.Record)
	// Calls takes the answered calls that began and ended since a shard's last turn,
	// in that order; the list is the observer's to keep. The end of a call comes
	// after its Finished.
	Calls(changes []CallChange)
	// Evidence takes what a call saw of a member (DEC-11).
	Evidence(m *trunkgroup.Member, addr netip.AddrPort, ok bool, cause string)
	// Paused takes a member's Retry-After in a call's 503 (DEC-11).
	Paused(m *trunkgroup.Member, addr netip.AddrPort, d time.Duration)
	// Count takes one event for the metrics.
	Count(e b2bua.Event)
}

// key derives a key for one purpose, so that no two uses share one.
func (c *Config) key(purpose string) []byte { return derive(c.Key, purpose) }
