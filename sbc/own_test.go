package sbc

import (
	"net/netip"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/sim"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// What claims to come from one of our own UDP addresses is forged or came back: it
// would go round for ever.
func TestOwnAddressesSendUsNothing(t *testing.T) {
	n := startNode(t, trunkgroup.UDP, sim.AnswersAtOnce())
	own, other := n.Addr(0), netip.MustParseAddrPort("127.0.0.1:9")
	batch := []transport.Packet{
		{Source: own, Transport: trunkgroup.UDP},
		{Source: other, Transport: trunkgroup.UDP},
		{Source: netip.AddrPortFrom(netip.AddrFrom16(own.Addr().As16()), own.Port()), Transport: trunkgroup.UDP},
		{Source: own, Transport: trunkgroup.TCP}, // a connection is proof enough
		{Source: netip.AddrPortFrom(own.Addr(), own.Port()+1), Transport: trunkgroup.UDP},
	}
	var kept []netip.AddrPort
	for _, p := range n.foreignOnly(batch) {
		kept = append(kept, p.Source)
	}
	if len(kept) != 3 || kept[0] != other || kept[1] != own {
		t.Errorf("kept %v", kept)
	}
	hosts := n.hosts()
	for _, host := range []string{"127.0.0.1", "sip.example.com"} {
		if _, ok := hosts[host]; !ok {
			t.Errorf("%s is not among our hosts %v", host, hosts)
		}
	}
}
