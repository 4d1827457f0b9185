package b2bua

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// FuzzShard gives a shard with calls in every phase whatever parses, from a
// carrier, a customer, a stranger and a peer node: it must not panic, what it
// sends must parse, and in the end nothing may be left.
func FuzzShard(f *testing.F) {
	for _, s := range []string{
		invite{body: offer}.String(),
		invite{callID: "other", branch: "z9hG4bKother"}.String(),
		strings.Replace(invite{}.String(), "INVITE", "CANCEL", 2),
		strings.Replace(invite{}.String(), "INVITE", "OPTIONS", 2),
		strings.Replace(invite{}.String(), "INVITE", "REGISTER", 2),
		strings.Replace(invite{}.String(), ";branch=z9hG4bKa1", "", 1),
		invite{lines: "Authorization: Digest username=\"a\", realm=\"sip.example.com\", nonce=\"x\", uri=\"sip:x\", response=\"y\"\r\n"}.String(),
		"SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP x;branch=z9hG4bKT0000000000000001\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>;tag=2\r\nCall-ID: x\r\nCSeq: 1 INVITE\r\nContent-Length: 0\r\n\r\n",
	} {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(7))
	}
	f.Fuzz(func(t *testing.T, b []byte, where uint8) {
		m, fault := sip.Parse(bytes.Clone(b))
		if fault != nil {
			return
		}
		w := newWorld(t)
		if where&4 != 0 {
			w.from(carrierAddr, invite{body: offer}.String())
		}
		p := &Packet{Packet: transport.Packet{Message: m, Transport: trunkgroup.UDP, Source: netip.MustParseAddrPort(carrierAddr)}}
		switch where & 3 {
		case 1:
			p.Source = netip.MustParseAddrPort(pbx1Addr)
		case 2:
			p.Source = netip.MustParseAddrPort("203.0.113.99:5060")
		case 3:
			p.Peer, p.Transport, p.Source = "ash-1", trunkgroup.Interconnect, netip.AddrPort{}
		}
		w.s.Receive(w.now, p)
		w.advance(5 * time.Minute)
		if st := w.s.Stats(); st.Transactions != 0 || st.Calls != 0 {
			t.Fatalf("left behind: %+v", st)
		}
	})
}
