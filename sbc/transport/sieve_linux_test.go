package transport

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The kernel takes the program, and it keeps what it should: each kind of message
// is sent a hundred times and counted.
func TestSieve(t *testing.T) {
	h := newRecorder()
	s, err := Open(Config{Listeners: []ListenerConfig{{Name: "udp", Transport: trunkgroup.UDP, Addr: netip.MustParseAddrPort("127.0.0.1:0")}}}, h)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	s.Start()
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(s.Addr(0)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	send := func(first, to string) (got int) {
		t.Helper()
		before := s.Counters().Received[trunkgroup.UDP].Load()
		for n := range 100 {
			text := first + " SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK" + strconv.Itoa(n) + "\r\nMax-Forwards: 70\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>" + to +
				"\r\nCall-ID: x\r\nCSeq: 1 " + first[:strings.IndexByte(first, ' ')] + "\r\nContact: <sip:a@b>\r\nContent-Length: 0\r\n\r\n"
			if _, err := c.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Write([]byte("OPTIONS sip:end SIP/2.0\r\n\r\n" + strings.Repeat(" ", 200))); err != nil { // comes through, and last
			t.Fatal(err)
		}
		want, deadline := before, time.Now().Add(5*time.Second)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for last := uint64(0); time.Now().Before(deadline); <-tick.C {
			now := s.Counters().Received[trunkgroup.UDP].Load()
			if now > want && now == last {
				break
			}
			last = now
		}
		return int(s.Counters().Received[trunkgroup.UDP].Load()-before) - 1
	}
	for _, share := range []float64{0, 1} {
		if err := s.Sieve(share); err != nil {
			t.Fatal(err)
		}
		for _, first := range []string{"INVITE sip:+12145550100@127.0.0.1", "INVITE sips:1@h", "INVITE sip:a-rather-long-user@127.0.0.1:5060"} {
			if got := send(first, ""); got != int(100*share) {
				t.Errorf("share %v, %s: %d came through", share, first, got)
			}
		}
		for _, first := range []string{
			"INVITE sip:911@h", "INVITE sip:112@h", "INVITE sip:999@h", "INVITE sip:000@h", "INVITE sip:77911@127.0.0.1", "INVITE sip:911;x=y@h", "INVITE sip:127.0.0.1:5060",
			"BYE sip:+12145550100@h", "OPTIONS sip:1@h", "REGISTER sip:h", "ACK sip:1@h", "INVITE tel:+12145550100",
		} {
			if got := send(first, ""); got != 100 {
				t.Errorf("share %v, %s: %d came through", share, first, got)
			}
		}
	}
	if err := s.Sieve(0.5); err != nil {
		t.Fatal(err)
	}
	if got := send("INVITE sip:+12145550100@127.0.0.1", ""); got < 20 || got > 80 {
		t.Errorf("half: %d came through", got)
	}
	if err := s.Sieve(1); err != nil {
		t.Error(err)
	}
	if err := s.Sieve(1); err != nil { // again
		t.Error(err)
	}
}
