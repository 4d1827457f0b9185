package sbc

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sim"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// fixedBindings is a registry that never changes.
type fixedBindings []*trunkgroup.Binding

func (r fixedBindings) Bindings(string) []*trunkgroup.Binding                   { return r }
func (r fixedBindings) Reach(b *trunkgroup.Binding) (site string, cause string) { return b.Site, "" }

// registeredAt makes a table whose customer registers and puts bindings in force.
func (n *node) registeredAt(t *testing.T, bindings ...*trunkgroup.Binding) {
	t.Helper()
	doc := &trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{
			{
				Name: "acme-in", Role: trunkgroup.OriginationCustomer, Numbers: []string{"+1214555*"},
				Distribution: trunkgroup.DistributionSpec{Method: trunkgroup.Failover},
				Members: []trunkgroup.MemberSpec{{ID: "pbx", Registration: &trunkgroup.RegistrationSpec{
					AOR: "sip:pbx@sip.example.com", Users: []string{"pbx"},
				}}},
				Credentials: []trunkgroup.CredentialSpec{{
					Username: "pbx", Realm: "sip.example.com", HA1MD5: "0123456789abcdef0123456789abcdef",
				}},
			},
			{
				Name: "carrier", Role: trunkgroup.PSTNProvider, Sources: []trunkgroup.SourceSpec{{IP: "127.0.0.1"}},
				Members: []trunkgroup.MemberSpec{{ID: "gw", Site: "dallas", Address: "127.0.0.1:9"}},
			},
		},
	}
	table, err := trunkgroup.Compile(doc, trunkgroup.Version{Cluster: "test", Revision: 2})
	if err != nil {
		t.Fatal(err)
	}
	view := trunkgroup.NewView(table)
	view.Registry = fixedBindings(bindings)
	n.Publish(table, view)
}

// DEC-15 over sockets: a far end that one node alone can reach is called through
// it, and what it says finds the call; a connection that is gone costs nothing.
func TestDEC15_CallsThroughTheNodeThatReachesTheFarEnd(t *testing.T) {
	hangsUp := sim.Answers(5*time.Millisecond, 10*time.Millisecond)
	hangsUp.Then = []sim.Action{
		{After: 20 * time.Millisecond, Method: "INVITE"}, {After: 20 * time.Millisecond, Method: "INFO"}, {After: 20 * time.Millisecond, Method: "BYE"},
	}
	t.Run("the caller hangs up", func(t *testing.T) {
		callsThrough(t, sim.Answers(5*time.Millisecond, 10*time.Millisecond), 30*time.Millisecond)
	})
	t.Run("the far end does all", func(t *testing.T) { callsThrough(t, hangsUp, 10*time.Second) })
}

func callsThrough(t *testing.T, behaviour sim.Behaviour, hold time.Duration) {
	t.Helper()
	far, err := sim.StartFarEnd(sim.FarEndConfig{
		CalleeConfig: sim.CalleeConfig{Name: "pbx", Role: sim.PBX, Behaviour: behaviour},
		Listen:       []sim.Listen{{Transport: trunkgroup.UDP, Addr: netip.MustParseAddrPort("127.0.0.1:0")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	w := &wires{nodes: map[string]*Server{}}
	n := startNode(t, trunkgroup.UDP, sim.AnswersAtOnce())
	n.inter = end{w, "dal-1"}
	second := n.sibling(t, w, trunkgroup.UDP)
	w.mu.Lock()
	w.nodes["dal-1"], w.nodes["dal-2"] = n.Server, second
	w.mu.Unlock()
	n.SetPeers([]Peer{{Name: "dal-2", Site: "dallas", Boot: 1, Up: true}})
	second.SetPeers([]Peer{{Name: "dal-1", Site: "dallas", Boot: 1, Up: true}})
	socket := &trunkgroup.Binding{
		AOR: "sip:pbx@sip.example.com", ID: "socket", Contact: "sip:pbx@10.9.9.9:5060", Transport: trunkgroup.UDP, Addr: far.Addr(0),
		Reach: trunkgroup.ReachSocket, Node: "dal-2", Site: "dallas", Boot: 1, Q: 500, Local: second.Addr(0), Advertise: second.Addr(0).String(),
	}
	gone := *socket
	gone.ID, gone.Reach, gone.Transport, gone.Flow, gone.Q = "flow", trunkgroup.ReachFlow, trunkgroup.TCP, 12345, 1000
	n.registeredAt(t, &gone, socket)

	r := n.load(t, trunkgroup.UDP, sim.LoadConfig{Rate: 100, Calls: 100, Hold: hold, Grace: 20 * time.Second})
	if r.Counts.Failed != 0 || r.Left != 0 || r.FaultsN != 0 || r.Counts.Answered == 0 {
		t.Fatalf("answered %d, failed %d, left %d, faults %v, failures %+v", r.Counts.Answered, r.Counts.Failed, r.Left, r.Faults, r.Failures)
	}
	a := far.Account()
	tick := time.NewTicker(10 * time.Millisecond) // the answer to its last BYE may be on the way
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); a.Up != 0 && time.Now().Before(end); a = far.Account() {
		<-tick.C
	}
	if a.Invites < r.Counts.Answered || a.Up != 0 || a.Byes+a.ByesSent < a.Invites || len(a.Faults) != 0 {
		t.Errorf("the far end: %+v", a)
	}
	if n.ledger.evidence.Load() != 0 {
		t.Error("bindings are no probed members")
	}
}

func TestUnsentRoundTrip(t *testing.T) {
	for want, err := range map[unsent]error{
		unsentFlow:  fmt.Errorf("x: %w", transport.ErrFlowGone),
		unsentNever: fmt.Errorf("x: %w", transport.ErrNotSent),
		unsentLost:  errors.New("connection reset"),
	} {
		got := 0
		if err := readUnsent(appendUnsent(nil, 77, unsentOf(err)), func(token uint64, u unsent) {
			if got++; token != 77 || u != want {
				t.Errorf("%v came as %d, branch %d", err, u, token)
			}
		}); err != nil || got != 1 {
			t.Errorf("%d read, %v", got, err)
		}
		if sent := !b2bua.NeverSent(want.err()); sent != (want == unsentLost) {
			t.Errorf("%v: sent %v", want.err(), sent)
		}
	}
}

func FuzzUnsent(f *testing.F) {
	f.Add(appendUnsent(appendUnsent(nil, 1, unsentFlow), 2, unsentLost))
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		err := readUnsent(b, func(_ uint64, u unsent) {
			if n++; u.err() == nil {
				t.Fatal("no error")
			}
		})
		if n != len(b)/unsentLen || (err == nil) != (len(b)%unsentLen == 0) {
			t.Fatalf("%d of %d bytes, %v", n, len(b), err)
		}
	})
}

func TestRelayedKeepsTheLatest(t *testing.T) {
	var r relayed
	for i := range uint64(3 * keepRelayed) {
		r.note(i+1, "dal-2")
		r.note(i+1, "dal-3") // a repetition
	}
	if _, ok := r.of(2 * keepRelayed); ok {
		t.Error("an old one is kept")
	}
	if node, ok := r.of(3 * keepRelayed); !ok || node != "dal-3" || len(r.nodes) > keepRelayed+1 {
		t.Errorf("the latest is %q, %v, of %d", node, ok, len(r.nodes))
	}
}
