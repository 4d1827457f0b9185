package b2bua

import (
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// TestFlow stands for the caller of a test call, who is inside the node: nothing of
// his leg is on a socket.
const TestFlow = ^transport.Flow(0)

// TestCall is a call that the node itself makes in the name of a trunk, to see what
// becomes of it. It is routed, dialled, limited and recorded like the trunk's own;
// its record says that it is a test, and no quality is judged by it.
type TestCall struct {
	Message   *sip.Message
	Source    netip.AddrPort // of the trunk
	Transport trunkgroup.Transport
	Who       trunkgroup.SourceMatch // as Explain has identified it
	User      string                 // digest user, taken as proven
	ANI       string                 // shown in place of what the caller says (P-29)
}

// TestPacket is a message of the caller of a test call.
func TestPacket(m *sip.Message, source netip.AddrPort) Packet {
	// Over a WebSocket a far end is reached by its flow alone (RFC 7118 section 5),
	// whatever its Contact says.
	return Packet{Packet: transport.Packet{Message: m, Source: source, Transport: trunkgroup.WS, Flow: TestFlow}}
}

// Test begins a test call.
func (s *Shard) Test(now time.Time, t *TestCall) {
	s.now, s.hot = now, nil
	p := TestPacket(t.Message, t.Source)
	s.beginAs(&p, s.serverKey(t.Message, sip.INVITE), caller{
		provider: t.Who.Provider, customer: t.Who.Customer, prefix: t.Who.Prefix, user: t.User, ani: t.ANI, test: true, proto: t.Transport,
	})
}
