package trunkgroup

import (
	"strings"
	"testing"
)

// RFC 7118 section 5.2: "WS" and "WSS" in Via, "ws" alone in URIs, ports 80 and
// 443; RFC 3261 sections 19.1.2 and 20.42 for the others.
func TestTransportOnTheWire(t *testing.T) {
	for _, c := range []struct {
		transport  Transport
		via, param string
		port       uint16
		dialled    bool
		secure     bool
	}{
		{UDP, "UDP", "", 5060, true, false},
		{TCP, "TCP", ";transport=tcp", 5060, true, false},
		{TLS, "TLS", ";transport=tls", 5061, true, true},
		{WS, "WS", ";transport=ws", 80, false, false},
		{WSS, "WSS", ";transport=ws", 443, false, true},
		{Interconnect, "TCP", "", 5060, false, false},
	} {
		if got := c.transport.Via(); got != c.via {
			t.Errorf("%s: Via %q, want %q", c.transport, got, c.via)
		}
		if got := c.transport.URIParam(); got != c.param {
			t.Errorf("%s: parameter %q, want %q", c.transport, got, c.param)
		}
		if got := c.transport.DefaultPort(); got != c.port {
			t.Errorf("%s: port %d, want %d", c.transport, got, c.port)
		}
		if got := c.transport.Dialled(); got != c.dialled {
			t.Errorf("%s: dialled %v", c.transport, got)
		}
		if got := c.transport.Secure(); got != c.secure {
			t.Errorf("%s: secure %v", c.transport, got)
		}
	}
}

// A member by address cannot have a WebSocket: nothing could open it.
func TestWebSocketMemberRefused(t *testing.T) {
	for _, name := range []Transport{WS, WSS} {
		d := testDocument()
		d.TrunkGroups[0].Members[0].Transport = name
		err := d.Validate()
		if len(err) == 0 || !strings.Contains(err.Error(), "cannot be dialled") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
