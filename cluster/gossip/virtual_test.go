package gossip

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/cluster/dialmap"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/internal/vnet"
)

// machine is one node on the virtual network.
type machine struct {
	*Gossip
	host *vnet.Host
	mu   sync.Mutex
	news []Record
	boot uint64 // told by OnStaleBoot
}

// world is a network of two sites that are 35 ms apart, round trip.
type world struct {
	t   *testing.T
	net *vnet.Network
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, net: vnet.New(1)}
	w.net.SetDelay("dallas", "ashburn", 17500*time.Microsecond)
	return w
}

func (w *world) node(number int, site string, adjust func(*Config)) *machine {
	w.t.Helper()
	keys, err := keyring.New([]byte("a cluster secret of some length"))
	if err != nil {
		w.t.Fatal(err)
	}
	ip := fmt.Sprintf("10.0.0.%d", number)
	m := &machine{host: w.net.Host(ip, site)}
	packets, err := m.host.ListenPacket(7946)
	if err != nil {
		w.t.Fatal(err)
	}
	streams, err := m.host.Listen(7946)
	if err != nil {
		w.t.Fatal(err)
	}
	cfg := Config{
		Cluster: "test", Node: fmt.Sprint("node-", number), Boot: 1, Keys: keys, Packets: packets, Streams: streams,
		Advertise: ip + ":7946", Seeds: []string{"10.0.0.1:7946"},
		Dial: func(ctx context.Context, a string) (net.Conn, error) { return m.host.Dial(ctx, a) },
		Meta: Meta{Protocol: 1, Site: site, State: "ready", Boot: 1},
		OnRecord: func(r Record) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.news = append(m.news, r)
		},
		OnStaleBoot: func(seen uint64) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.boot = seen
		},
	}
	if adjust != nil {
		adjust(&cfg)
	}
	m.Gossip, err = New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := m.Start(); err != nil {
		w.t.Fatal(err)
	}
	return m
}

func (w *world) stop(nodes ...*machine) {
	for _, m := range nodes {
		if err := m.Stop(context.Background()); err != nil {
			w.t.Errorf("stop: %v", err)
		}
	}
	// memberlist's probes end by their own timers.
	time.Sleep(time.Minute)
}

// heard returns the records that the node was told of.
func (m *machine) heard() []Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.news)
}

// warned returns the later boot of itself that the node was told of.
func (m *machine) warned() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boot
}

func (m *machine) names() []string {
	var names []string
	for _, o := range m.Members() {
		names = append(names, o.Name)
	}
	return names
}

func TestMembershipAndRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a, b, c := w.node(1, "dallas", nil), w.node(2, "dallas", nil), w.node(3, "ashburn", nil)
		time.Sleep(5 * time.Second)
		for _, m := range []*machine{a, b, c} {
			if got := m.names(); !slices.Equal(got, []string{"node-1", "node-2", "node-3"}) {
				t.Fatalf("members %v", got)
			}
		}
		batch, err := a.Publish("acme/pbx-1", []byte("down"))
		if err != nil {
			t.Fatal(err)
		}
		a.Spread("acme/pbx-1", batch)
		time.Sleep(2 * time.Second)
		for _, m := range []*machine{b, c} {
			news := m.heard()
			if len(news) != 1 || string(news[0].Payload) != "down" || news[0].Observer != "node-1" {
				t.Errorf("got %+v", news)
			}
		}
		// Not spread by gossip: the full exchange brings it, with its age.
		a.Publish("acme/pbx-1", []byte("up"))
		made := time.Now()
		time.Sleep(2 * time.Minute)
		for _, m := range []*machine{b, c} {
			r := m.Records()
			if len(r) != 1 || string(r[0].Payload) != "up" || r[0].At.Sub(made).Abs() > time.Second {
				t.Errorf("after the exchange: %+v, made %v", r, made)
			}
		}
		if err := c.SetMeta(Meta{Protocol: 1, Site: "ashburn", State: "draining", Load: 500, Boot: 1}); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		if m := a.Members()[2]; m.Meta.State != "draining" || m.Meta.Load != 500 || m.Address != "10.0.0.3:7946" {
			t.Errorf("the new state did not arrive: %+v", m)
		}
		w.stop(c)
		time.Sleep(2 * time.Second)
		if got := a.names(); !slices.Equal(got, []string{"node-1", "node-2"}) {
			t.Errorf("after a goodbye the members are %v", got)
		}
		w.stop(a, b)
	})
}

// memberlist forgets the dead after 30 s; a partition of ten minutes heals all the same.
func TestRejoinAfterALongPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a, b := w.node(1, "dallas", nil), w.node(2, "dallas", nil)
		c := w.node(3, "ashburn", func(c *Config) { c.Seeds = []string{"10.0.0.1:7946", "10.0.0.2:7946"} })
		time.Sleep(5 * time.Second)
		w.net.Split("dallas", "ashburn")
		time.Sleep(10 * time.Minute)
		if len(a.names()) != 2 || len(c.names()) != 1 {
			t.Fatalf("during the partition: %v and %v", a.names(), c.names())
		}
		w.net.Join("dallas", "ashburn")
		time.Sleep(20 * time.Second)
		for _, m := range []*machine{a, b, c} {
			if len(m.names()) != 3 {
				t.Errorf("20 s after the heal: %v", m.names())
			}
		}
		w.stop(a, b, c)
	})
}

func TestStrangersAreNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.node(1, "dallas", nil)
		wrongKey := w.node(2, "dallas", func(c *Config) {
			c.Keys, _ = keyring.New([]byte("another secret of some length"))
		})
		wrongCluster := w.node(3, "dallas", func(c *Config) { c.Cluster = "other" })
		time.Sleep(time.Minute)
		if got := a.names(); len(got) != 1 {
			t.Errorf("a stranger became a member: %v", got)
		}
		w.stop(a, wrongKey, wrongCluster)
	})
}

func TestKeyRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		old, fresh := []byte("a cluster secret of some length"), []byte("the next secret of some length")
		keys := func(secrets ...[]byte) func(*Config) {
			return func(c *Config) { c.Keys, _ = keyring.New(secrets...) }
		}
		a, b := w.node(1, "dallas", keys(old, fresh)), w.node(2, "dallas", keys(fresh, old))
		time.Sleep(5 * time.Second)
		if len(a.names()) != 2 || len(b.names()) != 2 {
			t.Errorf("in the middle of a rotation: %v and %v", a.names(), b.names())
		}
		w.stop(a, b)
	})
}

// DEC-13: "data lost: highest seen by peers + 1".
func TestDEC13_StaleBootIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.node(1, "dallas", nil)
		b := w.node(2, "dallas", func(c *Config) { c.Boot = 7 })
		time.Sleep(5 * time.Second)
		b.Publish("k", []byte("from boot 7"))
		time.Sleep(2 * time.Minute)
		w.stop(b)
		again := w.node(2, "dallas", func(c *Config) { c.Boot = 1 })
		time.Sleep(2 * time.Minute)
		if got := again.warned(); got != 7 {
			t.Errorf("the node was told of boot %d, want 7", got)
		}
		w.stop(a, again)
	})
}

// A relay stands between the sites: the addresses that nodes advertise stay, only
// the way to them differs.
func TestDialMapAppliesToPacketsAndStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		// Packets and streams to the relay's address arrive at nobody, so a node whose
		// map sends all traffic there stays alone.
		astray, err := dialmap.New([]dialmap.Rule{{Address: "10.0.0.1:7946", Via: "10.0.0.99:7946"}})
		if err != nil {
			t.Fatal(err)
		}
		right, err := dialmap.New([]dialmap.Rule{{Address: "192.0.2.1:7946", Via: "10.0.0.1:7946"}})
		if err != nil {
			t.Fatal(err)
		}
		a := w.node(1, "dallas", func(c *Config) { c.Advertise = "192.0.2.1:7946" })
		b := w.node(2, "dallas", func(c *Config) { c.DialMap, c.Seeds = right, []string{"192.0.2.1:7946"} })
		c := w.node(3, "dallas", func(c *Config) { c.DialMap = astray })
		time.Sleep(10 * time.Second)
		if got := b.names(); !slices.Equal(got, []string{"node-1", "node-2"}) {
			t.Errorf("through the map: %v", got)
		}
		if got := c.names(); len(got) != 1 {
			t.Errorf("astray: %v", got)
		}
		time.Sleep(time.Minute)
		if got := a.names(); !slices.Equal(got, []string{"node-1", "node-2"}) {
			t.Errorf("a minute later: %v", got)
		}
		w.stop(a, b, c)
	})
}
