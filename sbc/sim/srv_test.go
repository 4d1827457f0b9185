package sim

import (
	"net/netip"
	"testing"
	"time"
)

// srvCaller is a caller of nodes "a" to "d": two of priority 10 with weights 3 and
// 1, two of priority 20.
func srvCaller(t *testing.T) *Caller {
	t.Helper()
	at := netip.MustParseAddrPort("192.0.2.1:5060")
	c, err := NewCaller(CallerConfig{
		SRV: true, Seed: 1,
		Nodes: []Node{
			{Name: "c", Addr: at, Priority: 20, Weight: 1},
			{Name: "a", Addr: at, Priority: 10, Weight: 3},
			{Name: "b", Addr: at, Priority: 10, Weight: 1},
			{Name: "d", Addr: at, Priority: 20},
		},
	}, func(Node) netip.AddrPort { return at }, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return c
}

func TestRFC2782_PriorityAndWeight(t *testing.T) {
	c := srvCaller(t)
	first := map[string]int{}
	for range 4000 {
		k, order := &call{}, ""
		for at := c.nextByRecord(k); at >= 0; at = c.nextByRecord(k) {
			k.tried |= 1 << at
			order += c.nodes[at].Name
		}
		if len(order) != 4 || order[0] > 'b' || order[1] > 'b' {
			t.Fatalf("order %s", order)
		}
		first[order[:1]]++
	}
	if n := first["a"]; n < 2800 || n > 3200 {
		t.Errorf("weights 3 and 1: %v", first)
	}
}

func TestRFC2782_AvoidedNodesComeLast(t *testing.T) {
	c := srvCaller(t)
	c.nodes[1].avoid = c.now.Add(time.Second) // a
	c.nodes[2].avoid = c.now.Add(time.Second) // b
	k := &call{}
	for range 2 {
		at := c.nextByRecord(k)
		if p := c.nodes[at].Priority; p != 20 {
			t.Fatalf("an avoided node before %s", c.nodes[at].Name)
		}
		k.tried |= 1 << at
	}
	if at := c.nextByRecord(k); at < 0 || c.nodes[at].Priority != 10 {
		t.Fatalf("then %d", at)
	}
}
