package interconnect

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/internal/vnet"
)

// world is a network with two sites that are 35 ms apart, round trip.
type world struct {
	t    *testing.T
	net  *vnet.Network
	keys *keyring.Keyring
}

func newWorld(t *testing.T) *world {
	keys, err := keyring.New([]byte("a cluster secret of some length"))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, net: vnet.New(1), keys: keys}
	w.net.SetDelay("dallas", "ashburn", 17500*time.Microsecond)
	w.net.SetDelay("dallas", "dallas", 100*time.Microsecond)
	w.net.SetDelay("ashburn", "ashburn", 100*time.Microsecond)
	return w
}

// machine is one node on the virtual network.
type machine struct {
	*Interconnect
	host   *vnet.Host
	name   string
	end    Endpoint
	mu     sync.Mutex
	events []Peer
}

// node builds and starts a node; name's last digit is its host number.
func (w *world) node(name, site string, boot uint64, adjust func(*Config, *machine)) *machine {
	w.t.Helper()
	ip := fmt.Sprintf("10.0.0.%c", name[len(name)-1])
	m := &machine{host: w.net.Host(ip, site), name: name, end: Endpoint{name, site, ip + ":7000"}}
	l, err := m.host.Listen(7000)
	if err != nil {
		w.t.Fatal(err)
	}
	packets, err := m.host.ListenPacket(7000)
	if err != nil {
		w.t.Fatal(err)
	}
	cfg := Config{
		Cluster: "test", Node: name, Site: site, Boot: boot, Keys: w.keys, Listeners: []net.Listener{l}, Packets: packets,
		Advertise: m.end.Address,
		Dial:      func(ctx context.Context, a string) (net.Conn, error) { return m.host.Dial(ctx, a) },
		Logger:    slog.New(slog.DiscardHandler),
	}
	if adjust != nil {
		adjust(&cfg, m)
	}
	m.Interconnect, err = New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	m.OnChange(func(p Peer) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.events = append(m.events, p)
	})
	return m
}

// changes is how often the node was told of a change.
func (m *machine) changes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.events)
}

func (w *world) mesh(nodes ...*machine) {
	var all []Endpoint
	for _, m := range nodes {
		all = append(all, m.end)
	}
	for _, m := range nodes {
		m.SetPeers(all)
		m.Start()
	}
	time.Sleep(2 * time.Second)
	for _, m := range nodes {
		for _, o := range nodes {
			if p, _ := m.Peer(o.name); m != o && !p.Up {
				w.t.Fatalf("%s does not see %s up", m.name, o.name)
			}
		}
	}
}

func (w *world) stop(nodes ...*machine) {
	for _, m := range nodes {
		m.Stop()
	}
}

// lostAfter waits for the loss of a peer and returns how long after start it came.
func (m *machine) lostAfter(peer string, start time.Time) time.Duration {
	for range 100000 {
		if p, _ := m.Peer(peer); !p.Up {
			return p.Since.Sub(start)
		}
		time.Sleep(time.Millisecond)
	}
	return -1
}

// "Node kill seen in <= 1.1 s inside the site and <= 2 s across": a silent death,
// as of a machine that loses its power.
func TestDEC21_SilentDeathIsSeenInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d1, d2, a3 := w.node("dal-1", "dallas", 1, nil), w.node("dal-2", "dark", 1, nil), w.node("ash-3", "ashburn", 1, nil)
		w.net.SetDelay("dallas", "dark", 100*time.Microsecond)
		w.net.SetDelay("ashburn", "dark", 17500*time.Microsecond)
		w.mesh(d1, d2, a3)
		start := time.Now()
		w.net.Split("dark", "dallas")
		w.net.Split("dark", "ashburn")
		if got := d1.lostAfter("dal-2", start); got < 700*time.Millisecond || got > 1100*time.Millisecond {
			t.Errorf("seen inside the site after %v, want at most 1.1 s", got)
		}
		if got := a3.lostAfter("dal-2", start); got < 700*time.Millisecond || got > 2*time.Second {
			t.Errorf("seen across after %v, want at most 2 s", got)
		}
		if p, _ := d1.Peer("ash-3"); !p.Up {
			t.Error("a peer that lives was lost")
		}
		if d1.Send("dal-2", FirstUserKind, nil) {
			t.Error("a frame for a lost peer was taken")
		}
		w.net.Join("dark", "dallas")
		w.net.Join("dark", "ashburn")
		time.Sleep(3 * time.Second)
		if p, _ := d1.Peer("dal-2"); !p.Up {
			t.Error("the peer is not back 3 s after the heal")
		}
		w.stop(d1, d2, a3)
	})
}

func TestDEC21_KilledProcessIsSeenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d1, a2 := w.node("dal-1", "dallas", 1, nil), w.node("ash-2", "ashburn", 1, nil)
		w.mesh(d1, a2)
		start := time.Now()
		w.net.Crash(a2.host)
		if got := d1.lostAfter("ash-2", start); got > 2*time.Millisecond {
			t.Errorf("a reset stream is seen after %v", got)
		}
		a2.Stop()
		again := w.node("ash-2", "ashburn", 2, nil)
		again.SetPeers([]Endpoint{d1.end})
		again.Start()
		time.Sleep(2 * time.Second)
		if p, _ := d1.Peer("ash-2"); !p.Up || p.Boot != 2 {
			t.Errorf("after the restart: %+v", p)
		}
		w.stop(d1, again)
	})
}

// A link that carries only one direction is of no use for a call: both ends see
// the loss.
func TestDEC21_OneWayCutIsSeenOnBothEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d1, a2 := w.node("dal-1", "dallas", 1, nil), w.node("ash-2", "ashburn", 1, nil)
		w.mesh(d1, a2)
		start := time.Now()
		w.net.Cut("dallas", "ashburn")
		if got := d1.lostAfter("ash-2", start); got > 1500*time.Millisecond {
			t.Errorf("the sending end sees it after %v", got)
		}
		if got := a2.lostAfter("dal-1", start); got > 1500*time.Millisecond {
			t.Errorf("the deaf end sees it after %v", got)
		}
		w.stop(d1, a2)
	})
}

func TestRTTAndStability(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.net.SetDelay("dallas", "ashburn", 150*time.Millisecond)
		d1, a2 := w.node("dal-1", "dallas", 1, nil), w.node("ash-2", "ashburn", 1, nil)
		w.mesh(d1, a2)
		time.Sleep(time.Minute)
		p, _ := d1.Peer("ash-2")
		if p.RTT < 299*time.Millisecond || p.RTT > 301*time.Millisecond {
			t.Errorf("RTT %v, want 300 ms", p.RTT)
		}
		if p.ClockOffset.Abs() > time.Millisecond {
			t.Errorf("clock offset %v between two nodes of one clock", p.ClockOffset)
		}
		if d1.changes() != 1 || a2.changes() != 1 {
			t.Errorf("%d and %d changes on a quiet link, want one each", d1.changes(), a2.changes())
		}
		w.stop(d1, a2)
	})
}

// DEC-25: "Nodes exchange clock offsets", which show also where nothing else moves.
func TestDEC25_ClockOffsetIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		fast := func(c *Config, _ *machine) { c.ClockOffset = 5 * time.Minute }
		d1, a2 := w.node("dal-1", "dallas", 1, nil), w.node("ash-2", "ashburn", 1, fast)
		w.mesh(d1, a2)
		for m, want := range map[*machine]time.Duration{d1: 5 * time.Minute, a2: -5 * time.Minute} {
			for _, p := range m.Peers() {
				if (p.ClockOffset - want).Abs() > 20*time.Millisecond {
					t.Errorf("%s says that the clock of %s is off by %v, want %v", m.name, p.Name, p.ClockOffset, want)
				}
			}
		}
		w.stop(d1, a2)
	})
}

// A node joins by reaching any one member: the others dial it back at the address
// that its handshake gave.
func TestJoinByOneSeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d1, d2 := w.node("dal-1", "dallas", 1, nil), w.node("dal-2", "dallas", 1, nil)
		d1.Start()
		d2.SetPeers([]Endpoint{d1.end})
		d2.Start()
		time.Sleep(time.Second)
		if p, ok := d1.Peer("dal-2"); !ok || !p.Up || p.Site != "dallas" || p.Address != d2.end.Address {
			t.Errorf("the seed does not know the newcomer: %+v", p)
		}
		d2.Stop()
		time.Sleep(6 * time.Minute)
		if p, ok := d1.Peer("dal-2"); ok {
			t.Errorf("a node that nobody lists is remembered for ever: %+v", p)
		}
		d1.Stop()
	})
}

func TestFramesInOrderAndSlowPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		small := func(c *Config, _ *machine) { c.QueueBytes = 64 << 10 }
		d1, a2 := w.node("dal-1", "dallas", 1, small), w.node("ash-2", "ashburn", 1, nil)
		got := make(chan string, 1000)
		a2.OnFrame(FirstUserKind, 31, func(from string, kind byte, payload []byte) {
			got <- fmt.Sprintf("%s %d %s", from, kind, payload)
		})
		w.mesh(d1, a2)
		for n := range 100 {
			if !d1.Send("ash-2", 20, fmt.Appendf(nil, "frame %d", n)) {
				t.Fatal("a frame was refused")
			}
		}
		d1.Send("ash-2", 60, []byte("nobody takes this"))
		for n := range 100 {
			if f, want := <-got, fmt.Sprintf("dal-1 20 frame %d", n); f != want {
				t.Fatalf("got %q, want %q", f, want)
			}
		}
		if d1.Send("ash-2", 20, make([]byte, MaxPayload+1)) || d1.Send("nobody", 20, nil) || d1.Send("ash-2", kindPing, nil) {
			t.Error("a frame was taken that cannot be sent")
		}
		synctest.Wait()
		if n := a2.Stats().Unknown; n != 1 {
			t.Errorf("%d unknown frames counted, want 1", n)
		}
		// The link stands still: the queue fills, the caller is never held up.
		w.net.Split("dallas", "ashburn")
		start, refused := time.Now(), 0
		for range 100 {
			if !d1.Send("ash-2", 20, bytes.Repeat([]byte("x"), 32<<10)) {
				refused++
			}
			synctest.Wait()
		}
		if time.Since(start) != 0 || refused == 0 || d1.Stats().DroppedFull == 0 {
			t.Errorf("a slow peer: %d of 100 frames refused after %v", refused, time.Since(start))
		}
		w.stop(d1, a2)
	})
}
