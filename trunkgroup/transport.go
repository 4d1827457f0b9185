package trunkgroup

import "fmt"

// Transport says how SIP travels to or from a far end.
type Transport uint8

// The transports. WS and WSS are WebSockets (RFC 7118), without and with TLS:
// the far end opens them, so that listeners, sources and bindings have them and
// no member by address does. Interconnect is the stream between two nodes of the cluster;
// it is a property of received traffic and never configured.
const (
	UDP          Transport = 1
	TCP          Transport = 2
	TLS          Transport = 3
	WS           Transport = 4
	WSS          Transport = 5
	Interconnect Transport = 9
)

// String returns the name as it stands in YAML and metrics; empty for the zero
// value.
func (t Transport) String() string {
	switch t {
	case UDP:
		return "udp"
	case TCP:
		return "tcp"
	case TLS:
		return "tls"
	case WS:
		return "ws"
	case WSS:
		return "wss"
	case Interconnect:
		return "interconnect"
	}
	return ""
}

// Dialled reports whether connections of the transport, or datagrams, may be
// sent to an address. What came over a WebSocket is reached by that one alone,
// since a browser cannot be dialled.
func (t Transport) Dialled() bool { return t == UDP || t == TCP || t == TLS }

// Secure reports whether the transport is encrypted.
func (t Transport) Secure() bool { return t == TLS || t == WSS }

// Reliable reports whether the transport delivers by itself, so that SIP timers
// A, E and G stay off (RFC 3261 section 17).
func (t Transport) Reliable() bool { return t != UDP }

// DefaultPort returns the port that a SIP URI without one means: 5061 for TLS,
// 80 and 443 for WebSockets (RFC 7118 section 5.2.4), and 5060
// for the others (RFC 3261 section 19.1.2).
func (t Transport) DefaultPort() uint16 {
	switch t {
	case TLS:
		return 5061
	case WS:
		return 80
	case WSS:
		return 443
	}
	return 5060
}

// Via returns the name as it stands in a Via header (RFC 3261 section 20.42, RFC
// 7118 section 5.2.1). What goes between nodes calls itself TCP.
func (t Transport) Via() string {
	switch t {
	case TCP, Interconnect:
		return "TCP"
	case TLS:
		return "TLS"
	case WS:
		return "WS"
	case WSS:
		return "WSS"
	}
	return "UDP"
}

// URIParam returns the transport parameter of a SIP URI, with its semicolon.
// Both kinds of WebSocket are "ws" there (RFC 7118 section 5.2.2); UDP, which is
// meant without one, and Interconnect have none.
func (t Transport) URIParam() string {
	switch t {
	case TCP, TLS:
		return ";transport=" + t.String()
	case WS, WSS:
		return ";transport=ws"
	}
	return ""
}

// TransportNames lists the transports that can be configured.
func TransportNames() []string { return []string{"udp", "tcp", "tls", "ws", "wss"} }

// dialledNames lists those that a member by address may have.
func dialledNames() []string { return []string{"udp", "tcp", "tls"} }

// ParseTransport reads one of TransportNames.
func ParseTransport(name string) (Transport, error) {
	switch name {
	case "udp":
		return UDP, nil
	case "tcp":
		return TCP, nil
	case "tls":
		return TLS, nil
	case "ws":
		return WS, nil
	case "wss":
		return WSS, nil
	}
	return 0, fmt.Errorf("unknown transport %q", name)
}

// MarshalText writes the name.
func (t Transport) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the name; empty text leaves the zero value.
func (t *Transport) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*t = 0
		return nil
	}
	*t, err = ParseTransport(string(b))
	return err
}
