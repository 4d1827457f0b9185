package sbc

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sim"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ledger is an Observer that keeps what it hears.
type ledger struct {
	records  atomic.Int64
	up       atomic.Int64
	answered atomic.Int64
	evidence atomic.Int64
}

func (l *ledger) Finished(r *cdr.Record) {
	l.records.Add(1)
	if !r.Answer.IsZero() {
		l.answered.Add(1)
	}
}

func (l *ledger) Evidence(_ *trunkgroup.Member, _ netip.AddrPort, ok bool, _ string) {
	if !ok {
		l.evidence.Add(1)
	}
}
func (l *ledger) Paused(*trunkgroup.Member, netip.AddrPort, time.Duration) {}
func (l *ledger) Calls(changes []CallChange) {
	for _, c := range changes {
		if c.Record != nil {
			l.up.Add(1)
		} else {
			l.up.Add(-1)
		}
	}
}
func (l *ledger) Count(b2bua.Event) {}

// alone is the interconnect of a node without peers.
type alone struct{}

func (alone) Send(string, byte, []byte) bool { return false }

// node is a server on loopback with simulated PBXs behind it.
type node struct {
	*Server
	ledger *ledger
	pbxs   []*sim.FarEnd
	table  *trunkgroup.Table
}

func startNode(t testing.TB, proto trunkgroup.Transport, pbxs ...sim.Behaviour) *node {
	t.Helper()
	n := &node{ledger: &ledger{}}
	loopback := netip.MustParseAddrPort("127.0.0.1:0")
	doc := &trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{
			{
				Name: "acme-in", Role: trunkgroup.OriginationCustomer, Numbers: []string{"+1214555*"},
				Distribution: trunkgroup.DistributionSpec{Method: trunkgroup.LoadBalance},
			},
			{
				Name: "carrier", Role: trunkgroup.PSTNProvider,
				Sources: []trunkgroup.SourceSpec{{IP: "127.0.0.1"}, {IP: "127.0.0.1", Transport: trunkgroup.TCP}},
				Members: []trunkgroup.MemberSpec{{ID: "gw", Site: "dallas", Address: "127.0.0.1:9"}},
			},
		},
	}
	for i, b := range pbxs {
		far, err := sim.StartFarEnd(sim.FarEndConfig{
			CalleeConfig: sim.CalleeConfig{Name: "pbx", Role: sim.PBX, Behaviour: b},
			Listen:       []sim.Listen{{Transport: proto, Addr: loopback}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = far.Close() })
		n.pbxs = append(n.pbxs, far)
		doc.TrunkGroups[0].Members = append(doc.TrunkGroups[0].Members, trunkgroup.MemberSpec{
			ID: "pbx-" + string(rune('1'+i)), Site: "dallas", Address: far.Addr(0).String(), Transport: proto,
		})
	}
	table, err := trunkgroup.Compile(doc, trunkgroup.Version{Cluster: "test", Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	n.table = table
	n.Server, err = New(Config{
		Node: "dal-1", Site: "dallas", Boot: 1, Key: bytes.Repeat([]byte("k"), 32), Realm: "sip.example.com",
		Listeners: []Listener{{ListenerConfig: transport.ListenerConfig{Name: "sip", Transport: proto, Addr: loopback, Sockets: 2}}},
		Shards:    2,
	}, alone{}, n.ledger)
	if err != nil {
		t.Fatal(err)
	}
	n.Publish(table, trunkgroup.NewView(table))
	n.Start()
	t.Cleanup(func() {
		if err := n.Stop(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func (n *node) load(t testing.TB, proto trunkgroup.Transport, cfg sim.LoadConfig) *sim.Report {
	t.Helper()
	cfg.Nodes = []sim.Node{{Addr: n.Addr(0), Transport: proto}}
	cfg.To = []string{"+12145550100..+12145550199"}
	load, err := sim.NewLoad(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = load.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	report, err := load.Run(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return report
}

// Calls over real sockets: every one is set up, confirmed and cleared.
func TestCallsOverLoopback(t *testing.T) {
	for _, proto := range []trunkgroup.Transport{trunkgroup.UDP, trunkgroup.TCP} {
		t.Run(proto.String(), func(t *testing.T) {
			n := startNode(t, proto, sim.Answers(0, 5*time.Millisecond), sim.Answers(0, 5*time.Millisecond))
			r := n.load(t, proto, sim.LoadConfig{Rate: 100, Calls: 200, Hold: 20 * time.Millisecond, Grace: 20 * time.Second})
			if r.Counts.Failed != 0 || r.Left != 0 || r.FaultsN != 0 {
				t.Fatalf("failed %d, left %d, faults %v, failures %+v", r.Counts.Failed, r.Left, r.Faults, r.Failures)
			}
			// A loaded machine may keep the generator from starting a call.
			// A caller that hung up is done before the node is: its record comes with the
			// answer of the far end to the BYE.
			n.recorded(r.Counts.Started)
			if got := int(n.ledger.answered.Load()); got != r.Counts.Started || got < 150 {
				t.Errorf("%d answered calls on record of %d started", got, r.Counts.Started)
			}
			for _, pbx := range n.pbxs {
				if a := pbx.Account(); a.Invites < r.Counts.Started/2 || a.Invites > (r.Counts.Started+1)/2 {
					t.Errorf("load balance: a PBX got %d of %d", a.Invites, r.Counts.Started)
				}
			}
			if n.Panics() != 0 {
				t.Errorf("%d panics", n.Panics())
			}
		})
	}
}

// recorded waits for so many records of answered calls, for ten seconds at most.
func (n *node) recorded(want int) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); int(n.ledger.answered.Load()) < want && time.Now().Before(end); {
		<-tick.C
	}
}

// A PBX whose socket is closed refuses by ICMP: the next one gets the call.
func TestRefusedMemberCostsNothing(t *testing.T) {
	n := startNode(t, trunkgroup.UDP, sim.AnswersAtOnce(), sim.AnswersAtOnce())
	if err := n.pbxs[0].Kill(); err != nil {
		t.Fatal(err)
	}
	r := n.load(t, trunkgroup.UDP, sim.LoadConfig{Rate: 50, Calls: 50, Grace: 20 * time.Second})
	if r.Counts.Failed != 0 || r.Left != 0 {
		t.Fatalf("failed %d, left %d: %+v", r.Counts.Failed, r.Left, r.Failures)
	}
	if n.ledger.evidence.Load() == 0 {
		t.Error("no evidence against the dead PBX")
	}
}

func TestPing(t *testing.T) {
	n := startNode(t, trunkgroup.UDP, sim.AnswersAtOnce())
	m := n.table.Members()[0]
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	code, _, _, err := n.Ping(ctx, m, m.Addr)
	if code != 200 || err != nil {
		t.Fatalf("code %d, error %v", code, err)
	}
	if err := n.pbxs[0].Kill(); err != nil {
		t.Fatal(err)
	}
	if code, _, _, err = n.Ping(ctx, m, m.Addr); err == nil || code != 0 {
		t.Errorf("a dead PBX: code %d, error %v", code, err)
	}
}

// DEC-19: a node that stops leaves no far end in a call and no call without its
// record.
func TestDEC19_HangUpEndsCallsOverTheWire(t *testing.T) {
	n := startNode(t, trunkgroup.UDP, sim.AnswersAtOnce())
	cfg := sim.LoadConfig{To: []string{"+12145550100"}, Rate: 200, Calls: 20, Hold: time.Minute, Grace: 20 * time.Second}
	cfg.Nodes = []sim.Node{{Addr: n.Addr(0), Transport: trunkgroup.UDP}}
	load, err := sim.NewLoad(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = load.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reports := make(chan *sim.Report, 1)
	go func() {
		r, _ := load.Run(ctx)
		reports <- r
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for n.pbxs[0].Account().Acked < 20 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the calls did not come up")
		}
	}
	n.HangUp(ctx)
	if got := n.ledger.records.Load(); got != 20 || n.Stats().Calls != 0 {
		t.Errorf("%d records, %d calls are left", got, n.Stats().Calls)
	}
	r := <-reports
	if r.Counts.Failed != 0 || r.Left != 0 || r.FaultsN != 0 {
		t.Errorf("failed %d, left %d, faults %v", r.Counts.Failed, r.Left, r.Faults)
	}
	if a := n.pbxs[0].Account(); a.Up != 0 || a.Byes != 20 {
		t.Errorf("the PBX has %d calls up and got %d BYEs", a.Up, a.Byes)
	}
}
