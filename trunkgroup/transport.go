package trunkgroup

import "fmt"

// Transport says how SIP travels to or from a far end.
type Transport uint8

// The transports. WS and WSS are reserved numbers: no listener or member may
// name them yet. Interconnect is the stream between two nodes of the cluster;
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

// Reliable reports whether the transport delivers by itself, so that SIP timers
// A, E and G stay off (RFC 3261 section 17).
func (t Transport) Reliable() bool { return t != UDP }

// DefaultPort returns the port that a SIP URI without one means: 5061 for TLS
// and 5060 for the others (RFC 3261 section 19.1.2).
func (t Transport) DefaultPort() uint16 {
	if t == TLS || t == WSS {
		return 5061
	}
	return 5060
}

// TransportNames lists the transports that a document may name.
func TransportNames() []string { return []string{"udp", "tcp", "tls"} }

// ParseTransport reads one of TransportNames.
func ParseTransport(name string) (Transport, error) {
	switch name {
	case "udp":
		return UDP, nil
	case "tcp":
		return TCP, nil
	case "tls":
		return TLS, nil
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
