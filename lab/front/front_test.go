package front

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"
)

// node answers every request with its name in a 200.
func node(t *testing.T, name string) netip.AddrPort {
	t.Helper()
	c := socket(t)
	go func() {
		buf := make([]byte, 2048)
		for {
			n, from, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			m, _ := read(buf[:n])
			text := fmt.Sprintf("SIP/2.0 200 OK\r\nCall-ID: %s\r\nCSeq: 1 INVITE\r\nServer: %s\r\n\r\n", m.callID, name)
			if _, err := c.WriteToUDPAddrPort([]byte(text), from); err != nil {
				return
			}
		}
	}()
	return c.LocalAddr().(*net.UDPAddr).AddrPort()
}

func socket(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestCallsGoToHealthyNodesAndStayThere(t *testing.T) {
	var sick atomic.Bool
	f := Start(socket(t), time.Millisecond,
		Backend{"one", node(t, "one"), func() error {
			if sick.Load() {
				return errors.New("sick")
			}
			return nil
		}},
		Backend{"two", node(t, "two"), func() error { return nil }})
	caller := socket(t)
	ask := func(id string) {
		t.Helper()
		if _, err := caller.WriteToUDPAddrPort([]byte("INVITE sip:x SIP/2.0\r\nCall-ID: "+id+"\r\nCSeq: 1 INVITE\r\n\r\n"), f.Addr()); err != nil {
			t.Fatal(err)
		}
		if err := caller.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := caller.Read(make([]byte, 2048)); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"a", "b", "a"} {
		ask(id)
	}
	sick.Store(true)
	for deadline := time.Now().Add(10 * time.Second); ; ask("a") {
		if calls := f.Calls(); len(calls[0].Nodes) == 2 {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("the call stays at a sick node: %+v", calls)
		}
	}
	ask("c")
	want := []string{"[one two]", "[two]", "[two]"}
	for i, c := range f.Calls() {
		if got := fmt.Sprint(c.Nodes); got != want[i] || c.Code != 200 || c.Answered.IsZero() {
			t.Errorf("call %s: %+v, want %s", c.CallID, c, want[i])
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
