package b2bua

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// overTCP is an INVITE on a connection whose caller says where it listens.
func overTCP(t *testing.T, callID string) *Packet {
	t.Helper()
	contact := "Contact: <sip:bob@192.0.2.10:5060;transport=tcp>\r\n"
	text := strings.Replace(invite{body: offer, callID: callID, branch: "z9hG4bK" + callID}.String(), "Contact: <sip:bob@"+carrierAddr+">\r\n", contact, 1)
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		t.Fatal(fault)
	}
	q := &Packet{}
	q.Message, q.Transport, q.Listener, q.Flow = m, trunkgroup.TCP, 1, 5
	q.Source = netip.MustParseAddrPort(carrierAddr)
	return q
}

// In the end of a drain what would be answered through this process is not passed any more: it gets
// 503, and what was passed before is still answered. Over UDP passing goes on.
func TestDEC19_StreamsAreRefusedInTheEnd(t *testing.T) {
	p := newPair(t, "dal-2")
	s := p.a.s
	first := overTCP(t, "first")
	s.Receive(p.a.now, first)
	if st := s.Stats(); st.Passed != 1 || st.PassedStreams != 1 {
		t.Fatalf("%+v", st)
	}
	news := func(state OpenState) {
		s.Shared(p.a.now, "dal-2", Open{Key: s.openKey(first.Message), Branch: s.branchHash(first.Message), State: state})
	}
	news(OpenBegun)

	s.Drain(p.a.now, DrainOrder{Announce: true, Pass: true, Refuse: true, Siblings: []string{"dal-2"}})
	s.Receive(p.a.now, overTCP(t, "second"))
	if refused := p.a.take(carrierAddr, "SIP/2.0 503"); refused.Has(sip.RetryAfter) || string(refused.CallID()) != "second" {
		t.Errorf("refused: %s", refused.Raw())
	}
	s.Receive(p.a.now, first) // repeated: it goes where the first one went
	p.a.none(carrierAddr, "SIP/2.0 503")
	p.a.from(carrierAddr, invite{body: offer, callID: "third", branch: "z9hG4bKthird"}.String())
	if st := s.Stats(); st.Passed != 2 || st.PassedStreams != 1 || st.Calls != 0 {
		t.Errorf("%+v", st)
	}
	news(OpenClosed)
	if st := s.Stats(); st.Passed != 1 || st.PassedStreams != 0 {
		t.Errorf("answered, and %+v", st)
	}
	p.advance(3 * time.Minute)
	if st := s.Stats(); st.Passed != 0 || st.PassedStreams != 0 {
		t.Errorf("left behind: %+v", st)
	}
}
