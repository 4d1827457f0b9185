package transport

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// ListenerConfig is one bound address.
type ListenerConfig struct {
	// Name appears in logs and errors.
	Name string
	// Transport is UDP, TCP, TLS, WS or WSS.
	Transport trunkgroup.Transport
	// Addr is the address to bind; port 0 = any, see Set.Addr. With an unspecified address the system picks the source
	// address of what is sent, so hosts with several addresses should name one.
	Addr netip.AddrPort
	// TLS is the server configuration of a TLS or WSS listener. Versions below 1.2 are not offered whatever it says.
	TLS *tls.Config
	// WebSocket is set for WS and WSS.
	WebSocket WebSocket
	// Sockets is the number of SO_REUSEPORT sockets of a UDP listener, each with its reader. The kernel keeps the datagrams of
	// one source on one socket. Default 1.
	Sockets int
}

// Config is the configuration of a Set. The zero value of every limit means its default.
type Config struct {
	Listeners []ListenerConfig
	// ClientTLS returns the configuration for dialling a peer of this server name; nil, or a nil result, refuses TLS targets.
	ClientTLS func(serverName string) *tls.Config
	Limits    Limits
	// Door is asked before the parser; nil lets everybody in.
	Door Door
	// Drop tells whether a datagram that the Door let in is dropped unread, because there is more than can even be refused. It
	// is called by every reader and must not block; nil drops nothing.
	Drop func(raw []byte) bool
	// Logger gets start, stop and accept trouble, nothing per packet. Default: discard.
	Logger *slog.Logger
}

// Limits bounds what peers can hold open. A zero field takes the value of DefaultLimits.
type Limits struct {
	// MaxConns is the number of accepted connections of the whole Set, and of dialled ones.
	MaxConns int
	// MaxConnsPerSource is the number of accepted connections per IPv4 address or IPv6 /64, and of dialled ones.
	MaxConnsPerSource int
	// Connect bounds a dial without its TLS handshake.
	Connect time.Duration
	// Handshake bounds a TLS handshake, as client and as server, and the HTTP request that opens a WebSocket.
	Handshake time.Duration
	// FirstMessage is how long an accepted connection may stay without a whole message.
	FirstMessage time.Duration
	// Incomplete is how long a message may take from its first to its last byte.
	Incomplete time.Duration
	// Idle closes a connection without traffic in either direction.
	Idle time.Duration
	// Ping is the silence after which the peer of a WebSocket is asked whether it lives, so that what stands between keeps the
	// connection.
	Ping time.Duration
	// Write bounds the time in which a peer must take, and acknowledge, what was written.
	Write time.Duration
	// CloseLinger is how long a connection stays for the answer to the fault that ends it.
	CloseLinger time.Duration
	// QueueMessages and QueueBytes bound what waits for one connection, dialling included.
	QueueMessages, QueueBytes int
	// Unanswered is how long a request that a pooled connection swallowed may be sent again over a fresh one.
	Unanswered time.Duration
	// ReceiveBuffer and SendBuffer are the kernel buffers of a UDP socket in bytes.
	ReceiveBuffer, SendBuffer int
}

// DefaultLimits returns the defaults.
func DefaultLimits() Limits {
	return Limits{
		MaxConns:          10_000,
		MaxConnsPerSource: 1_000,
		Connect:           3 * time.Second,
		Handshake:         5 * time.Second,
		FirstMessage:      10 * time.Second,
		Incomplete:        10 * time.Second,
		Idle:              30 * time.Minute,
		Ping:              30 * time.Second,
		Write:             10 * time.Second,
		CloseLinger:       time.Second,
		QueueMessages:     512,
		QueueBytes:        1 << 20,
		Unanswered:        32 * time.Second,
		ReceiveBuffer:     4 << 20,
		SendBuffer:        4 << 20,
	}
}

// withDefaults fills the zero fields.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	for _, f := range []struct{ have, def *int }{
		{&l.MaxConns, &d.MaxConns},
		{&l.MaxConnsPerSource, &d.MaxConnsPerSource},
		{&l.QueueMessages, &d.QueueMessages},
		{&l.QueueBytes, &d.QueueBytes},
		{&l.ReceiveBuffer, &d.ReceiveBuffer},
		{&l.SendBuffer, &d.SendBuffer},
	} {
		if *f.have == 0 {
			*f.have = *f.def
		}
	}
	for _, f := range []struct{ have, def *time.Duration }{
		{&l.Connect, &d.Connect},
		{&l.Handshake, &d.Handshake},
		{&l.FirstMessage, &d.FirstMessage},
		{&l.Incomplete, &d.Incomplete},
		{&l.Idle, &d.Idle},
		{&l.Ping, &d.Ping},
		{&l.Write, &d.Write},
		{&l.CloseLinger, &d.CloseLinger},
		{&l.Unanswered, &d.Unanswered},
	} {
		if *f.have == 0 {
			*f.have = *f.def
		}
	}
	return l
}

// validate reports every fault of the listeners.
func (c *Config) validate() error {
	var faults []error
	for i, l := range c.Listeners {
		fault := ""
		switch {
		case l.Transport < trunkgroup.UDP || l.Transport > trunkgroup.WSS:
			fault = "transport must be udp, tcp, tls, ws or wss"
		case !l.Addr.Addr().IsValid():
			fault = "address missing"
		case l.Transport.Secure() && l.TLS == nil:
			fault = l.Transport.String() + " listener without certificate"
		case l.Sockets < 0:
			fault = "negative number of sockets"
		default:
			if err := l.WebSocket.Validate(); err != nil {
				fault = err.Error()
				break
			}
			continue
		}
		faults = append(faults, fmt.Errorf("listener %d %s: %s", i, l.Name, fault))
	}
	return errors.Join(faults...)
}
