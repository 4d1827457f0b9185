package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/cluster/gossip"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// long keeps a test out of the run with the race detector, which would take a minute for it; make sim runs it.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: without -short")
	}
}

// patience bounds every wait for something that must come.
const patience = 60 * time.Second

// eventually polls until ok, on the wall clock.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// compile stands for the reader of documents: it takes all but those that say bad.
func compile(document []byte, v trunkgroup.Version) (*trunkgroup.Table, error) {
	if bytes.Contains(document, []byte("bad")) {
		return nil, errors.New("the document is bad")
	}
	return trunkgroup.Compile(&trunkgroup.Document{
		Cluster: v.Cluster,
		Sites:   []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{{
			Name: "carrier", Role: trunkgroup.PSTNProvider,
			Members: []trunkgroup.MemberSpec{{ID: "one", Site: "dallas", Address: "198.51.100.1:5060"}},
		}},
	}, v)
}

// vaultOf is the vault of a data directory of a test cluster; of one that is not there, any.
func vaultOf(t testing.TB, dir string) *vault {
	t.Helper()
	if _, err := os.Stat(dir); err != nil {
		dir = t.TempDir()
	}
	v, err := openVault(dir, testKeys(t))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func testKeys(t testing.TB) *keyring.Keyring {
	t.Helper()
	k, err := keyring.New([]byte("a cluster secret of some length"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// member is one node of a test cluster with what it was told.
type member struct {
	*Node
	cfg Config

	mu      sync.Mutex
	tables  []trunkgroup.Version
	records []gossip.Record
	alarms  []Alarm
}

// lastTable is the version that was published last.
func (m *member) lastTable() trunkgroup.Version {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.tables) == 0 {
		return trunkgroup.Version{}
	}
	return m.tables[len(m.tables)-1]
}

// lab is a cluster in this process, over the loopback of this machine.
type lab struct {
	t       *testing.T
	keys    *keyring.Keyring
	names   []string
	ports   map[string][2]string // interconnect and gossip address by name
	network string               // first three octets of the addresses
	relay   *relay               // nil: no relay between the sites
}

// newLab chooses a loopback network of its own for the named nodes.
func newLab(t *testing.T, names ...string) *lab {
	l := &lab{
		t: t, keys: testKeys(t), ports: map[string][2]string{},
		network: fmt.Sprintf("127.%d.%d", 64+rand.N(60), 1+rand.N(250)),
	}
	for _, n := range names {
		l.add(n)
	}
	return l
}

// add gives a further node its addresses.
func (l *lab) add(name string) {
	l.names = append(l.names, name)
	host := fmt.Sprintf("%s.%d", l.network, len(l.names))
	l.ports[name] = [2]string{host + ":7950", host + ":7946"}
}

// config makes the configuration of a node; voters are all names of the lab.
func (l *lab) config(name, dir string) Config {
	cfg := Config{
		Cluster: "test", Node: name, Site: siteOf(name), DataDir: dir, Keys: l.keys, Compile: compile,
		Interconnect: Endpoint{Address: l.ports[name][0]}, Gossip: Endpoint{Address: l.ports[name][1]},
		RaftTimeout: 500 * time.Millisecond, Logger: testLogger(name),
	}
	for _, n := range l.names {
		if n != name {
			cfg.Peers = append(cfg.Peers, Peer{Name: n, Site: siteOf(n), Gossip: l.ports[n][1], Interconnect: l.ports[n][0]})
		}
		cfg.Voters = append(cfg.Voters, Voter{Name: n, Address: l.ports[n][0]})
	}
	if l.relay != nil {
		cfg.DialMap = l.relay.rules(l, name)
	}
	return cfg
}

func siteOf(name string) string {
	if name[:3] == "ash" {
		return "ashburn"
	}
	return "dallas"
}

// testLogger writes to standard error when TANDEM_TEST_LOG is set.
func testLogger(name string) *slog.Logger {
	if os.Getenv("TANDEM_TEST_LOG") == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("node", name)
}

// start runs a node and stops it at the end of the test.
func (l *lab) start(cfg Config) *member {
	l.t.Helper()
	return l.startWith(cfg, func(*Node) {})
}

// startWith is start with something to be registered before it.
func (l *lab) startWith(cfg Config, register func(*Node)) *member {
	l.t.Helper()
	n, err := New(context.Background(), cfg)
	if err != nil {
		l.t.Fatal(err)
	}
	register(n)
	m := &member{Node: n, cfg: cfg}
	n.OnTable(func(t *trunkgroup.Table) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.tables = append(m.tables, t.Version())
	})
	n.OnRecord(func(r gossip.Record) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.records = append(m.records, r)
	})
	n.OnAlarm(func(a Alarm) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.alarms = append(m.alarms, a)
	})
	if err := n.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { l.stop(m) })
	return m
}

func (l *lab) stop(m *member) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := m.Stop(ctx); err != nil {
		l.t.Errorf("stop %s: %v", m.cfg.Node, err)
	}
}

// propose makes a change on m and fails the test when it is not taken.
func (l *lab) propose(m *member, document string) trunkgroup.Version {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	v, err := m.Propose(ctx, Change{Document: []byte(document), Author: "test", Reason: "because"})
	if err != nil {
		l.t.Fatalf("propose on %s: %v", m.cfg.Node, err)
	}
	return v
}

// agree waits until all nodes run the version.
func (l *lab) agree(v trunkgroup.Version, nodes ...*member) {
	l.t.Helper()
	for _, m := range nodes {
		eventually(l.t, fmt.Sprintf("%s runs %v", m.cfg.Node, v), func() bool { return m.Table() != nil && m.Table().Version() == v })
	}
}

func orSilent(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}
