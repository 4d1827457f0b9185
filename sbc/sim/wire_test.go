package sim

import (
	"net/netip"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// A dialog that another node has taken over goes on there, and it is that node's certificate that
// is asked for (RFC 5922, 7.1: the host of the URI), unless one name was given for all nodes.
func TestHopServerName(t *testing.T) {
	first := netip.MustParseAddrPort("10.91.1.11:5061")
	for _, x := range []struct{ given, uri, want string }{
		{"10.91.1.11", "sip:10.91.1.12:5061;transport=tls", "10.91.1.12"},
		{"10.91.1.11", "sips:[2001:db8::1]", "2001:db8::1"},
		{"10.91.1.11", "sip:10.91.1.11:5061;transport=tls", "10.91.1.11"},
		{"sip.example.net", "sip:10.91.1.12:5061;transport=tls", "sip.example.net"},
		{"sip.example.net", "sip:dal-2.example.net;transport=tls", "sip.example.net"},
		{"", "sip:10.91.1.12:5061;transport=tls", ""},
	} {
		got := hop([]byte(x.uri), transport.Target{Transport: trunkgroup.TLS, Addr: first, Listener: -1, ServerName: x.given})
		if got.ServerName != x.want {
			t.Errorf("%s after %q: the certificate must name %q, want %q", x.uri, x.given, got.ServerName, x.want)
		}
	}
}
