package app

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc"
	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/sbc/sim"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// bound puts a registration of a far end into the cluster, as if it had come to
// this node.
func (b *box) bound(aor, id string, far *sim.FarEnd) {
	b.t.Helper()
	now := time.Now()
	r := &registrar.Record{Changed: now, Binding: trunkgroup.Binding{
		AOR: aor, ID: id, Contact: "sip:conf@" + far.Addr(0).String(), Transport: trunkgroup.UDP, Addr: far.Addr(0),
		Reach: trunkgroup.ReachAny, Node: b.app.cfg.Name, Site: b.app.cfg.Site, Boot: uint32(b.app.node.Boot()),
		Q: 1000, Sessions: -1, Since: now, Expires: now.Add(time.Hour),
	}}
	b.app.regs.Update(func(_ time.Time, tx sbc.BindingChanges) {
		if err := tx.Put(r); err != nil {
			b.t.Error(err)
		}
	})
}

// peersUp counts the nodes that this one hears.
func (b *box) peersUp() (n int) {
	for _, p := range b.app.node.Peers() {
		if p.Up {
			n++
		}
	}
	return n
}

// room calls a room through the node and tells whether somebody answered.
func (b *box) room(load *sim.Load, node int, room string) {
	b.t.Helper()
	p := sim.Placement{To: "+12145550100", Hold: 10 * time.Millisecond, Node: node, NodeSet: true, Headers: []string{"X-Room-Id: " + room}}
	ctx, cancel := context.WithTimeout(b.t.Context(), 20*time.Second)
	defer cancel()
	call := load.Dial(p)
	if err := call.Answered(ctx); err != nil {
		b.t.Errorf("room %s through node %d: %v", room, node, err)
	}
	if _, err := call.Done(ctx); err != nil {
		b.t.Error(err)
	}
}

// three servers register under one address at the nodes
// of both sites. All calls of a room reach one of them through every node, also
// once the node that made the choice is gone.
func TestR11_RoomsThroughAllNodesOfBothSites(t *testing.T) {
	document := strings.Replace(registering(1), "    members:\n", "    distribution: {method: least-sessions, session_affinity_header: X-Room-Id}\n    members:\n", 1)
	t.Cleanup(func() { probesEnd(t) })
	boxes := newClusterOf(t, "127.88.42", document, 3)
	var nodes []sim.Node
	for _, b := range boxes {
		b.start()
		defer b.stop()
		nodes = append(nodes, sim.Node{Name: b.ip, Addr: addrPort(b.ip + ":5060")})
	}
	const aor = "sip:pbx-0@sip.example.com"
	var servers []*sim.FarEnd
	for i := range 3 {
		servers = append(servers, startPBX(t))
		boxes[i].bound(aor, fmt.Sprint("server-", i), servers[i])
	}
	for _, b := range boxes {
		b.wait("all servers", func() bool {
			return b.ask("GET", "/readyz", nil, nil) == 200 && len(b.app.regs.index.Bindings(aor)) == 3
		})
		b.wait("the others", func() bool { return b.peersUp() == 2 })
	}
	load, err := sim.NewLoad(sim.LoadConfig{CallerConfig: sim.CallerConfig{Nodes: nodes}, To: []string{"+12145550100"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = load.Close() }()

	took := func() (n [3]int) {
		for i, s := range servers {
			n[i] = s.Account().Answered
		}
		return n
	}
	at := map[string]int{} // rooms, by server
	call := func(node int, room string) {
		t.Helper()
		before := took()
		boxes[node].room(load, node, room)
		for i, n := range took() {
			if n == before[i] {
				continue
			}
			if was, ok := at[room]; ok && was != i {
				t.Errorf("room %s is at server %d, and its call through node %d went to %d", room, was, node, i)
			}
			at[room] = i
		}
	}
	for n := range 6 {
		room := fmt.Sprint(n)
		call(n%3, room) // who hears of it first
		for _, b := range boxes {
			b.wait("the room", func() bool { return b.app.sessions.Remembered(time.Now(), "acme-in\x00"+room) != "" })
		}
		for node := range 3 {
			call(node, room)
		}
	}
	begin := map[int]int{}
	for _, server := range at {
		begin[server]++
	}
	t.Logf("rooms by server: %v", begin)
	if len(at) != 6 || begin[2] == 0 {
		t.Errorf("rooms that came in at ashburn first are not there: %v", at)
	}

	boxes[0].stop()
	for _, b := range boxes[1:] {
		b.wait("the loss of the node", func() bool { return b.peersUp() == 1 })
	}
	for room := range at {
		call(1, room)
		call(2, room)
	}
	if err := servers[2].Kill(); err != nil {
		t.Fatal(err)
	}
	for room, server := range at {
		if server == 2 {
			delete(at, room) // it has to move, once
			call(1, room)
			call(1, room)
			break
		}
	}
}
