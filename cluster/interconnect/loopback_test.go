package interconnect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster/hello"
	"github.com/tandem-sbc/tandem/cluster/keyring"
)

const patience = 30 * time.Second

// eventually polls until ok, on the wall clock.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
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

func loopback(t testing.TB, name string, boot uint64, secret string) Config {
	t.Helper()
	keys, err := keyring.New([]byte("0123456789abcdef" + secret))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		Cluster: "test", Node: name, Site: "dallas", Boot: boot, Keys: keys,
		Listeners: []net.Listener{l}, Advertise: l.Addr().String(),
	}
}

func endpoint(cfg Config) Endpoint {
	return Endpoint{Name: cfg.Node, Site: cfg.Site, Address: cfg.Advertise}
}

func build(t testing.TB, cfg Config) *Interconnect {
	t.Helper()
	i, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Stop)
	return i
}

func isUp(i *Interconnect, name string) func() bool {
	return func() bool { p, ok := i.Peer(name); return ok && p.Up }
}

func TestLoopbackMesh(t *testing.T) {
	var nodes []*Interconnect
	var ends []Endpoint
	var mu sync.Mutex
	got := map[string]int{}
	for n := range 4 {
		cfg := loopback(t, fmt.Sprint("node-", n), 1, "a")
		i := build(t, cfg)
		i.OnFrame(20, 20, func(from string, _ byte, payload []byte) {
			mu.Lock()
			defer mu.Unlock()
			// Frames of one peer come in order.
			if want := fmt.Sprint(got[cfg.Node+" from "+from]); want != string(payload) {
				t.Errorf("%s from %s: frame %s, want %s", cfg.Node, from, payload, want)
			}
			got[cfg.Node+" from "+from]++
		})
		nodes, ends = append(nodes, i), append(ends, endpoint(cfg))
	}
	for _, i := range nodes {
		i.SetPeers(ends)
		i.Start()
	}
	for n, i := range nodes {
		for m := range nodes {
			if n != m {
				eventually(t, fmt.Sprintf("%d sees %d", n, m), isUp(i, fmt.Sprint("node-", m)))
			}
		}
	}
	const frames = 500
	var wg sync.WaitGroup
	for n, i := range nodes {
		wg.Go(func() {
			for f := range frames {
				for m := range nodes {
					if n != m && !i.Send(fmt.Sprint("node-", m), 20, fmt.Append(nil, f)) {
						t.Errorf("frame %d from %d to %d was refused", f, n, m)
					}
				}
			}
		})
	}
	wg.Wait()
	eventually(t, "all frames arrive", func() bool {
		mu.Lock()
		defer mu.Unlock()
		total := 0
		for _, n := range got {
			total += n
		}
		return total == frames*len(nodes)*(len(nodes)-1)
	})
	nodes[3].Stop()
	for _, i := range nodes[:3] {
		eventually(t, "the stopped node is lost", func() bool { return !isUp(i, "node-3")() })
	}
}

func TestStrangersJoinNothing(t *testing.T) {
	cfg := loopback(t, "dal-1", 1, "a")
	i := build(t, cfg)
	i.OnStream(hello.Raft, func(c net.Conn, _ hello.Remote) {
		t.Error("a stranger speaks raft")
		c.Close()
	})
	i.Start()
	stranger := loopback(t, "ash-1", 1, "b")
	s := build(t, stranger)
	s.SetPeers([]Endpoint{endpoint(cfg)})
	s.Start()
	if _, _, err := s.Dial(t.Context(), cfg.Advertise, hello.Raft, ""); err == nil {
		t.Error("a stranger opened a stream")
	}
	garbage, err := net.Dial("tcp", cfg.Advertise)
	if err != nil {
		t.Fatal(err)
	}
	defer garbage.Close()
	garbage.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
	garbage.SetReadDeadline(time.Now().Add(patience))
	if b, err := io.ReadAll(garbage); len(b) != 0 {
		t.Errorf("a stranger was answered %q, %v", b, err)
	}
	eventually(t, "the refusals are counted", func() bool { return i.Stats().Refused >= 3 })
	if len(i.Peers()) != 0 || i.Stats().Accepted != 0 {
		t.Errorf("a stranger became a peer: %+v", i.Peers())
	}
}

func TestHandshakesInFlightAreBounded(t *testing.T) {
	cfg := loopback(t, "dal-1", 1, "a")
	i := build(t, cfg)
	i.Start()
	for range maxHandshakesByIP + 10 {
		c, err := net.Dial("tcp", cfg.Advertise)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	eventually(t, "what is too much is closed", func() bool { return i.Stats().Busy >= 10 })
}

func TestStreamsOfOtherPurposes(t *testing.T) {
	cfg, other := loopback(t, "dal-1", 1, "a"), loopback(t, "ash-1", 5, "a")
	i, o := build(t, cfg), build(t, other)
	i.OnStream(hello.Propose, func(c net.Conn, r hello.Remote) {
		go func() {
			defer c.Close()
			fmt.Fprintf(c, "%s %d %s", r.Node, r.Boot, r.Purpose)
		}()
	})
	i.Start()
	conn, remote, err := o.Dial(t.Context(), cfg.Advertise, hello.Propose, "dal-1")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if b, _ := io.ReadAll(conn); string(b) != "ash-1 5 propose" || remote.Node != "dal-1" {
		t.Errorf("got %q from %+v", b, remote)
	}
	if _, _, err := o.Dial(t.Context(), cfg.Advertise, hello.Raft, "dal-1"); !errors.Is(err, hello.ErrPurpose) {
		t.Errorf("a purpose that nobody takes: %v", err)
	}
	if _, _, err := o.Dial(t.Context(), cfg.Advertise, hello.Propose, "dal-9"); !errors.Is(err, hello.ErrIdentity) {
		t.Errorf("another node than meant: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := o.Dial(ctx, cfg.Advertise, hello.Propose, "dal-1"); err == nil {
		t.Error("a dial in an ended context succeeded")
	}
}

// DEC-13: a node that lost its data learns the number that its peers saw; one that
// starts below it is refused and told.
func TestDEC13_BootNumbers(t *testing.T) {
	cfg, old := loopback(t, "dal-1", 1, "a"), loopback(t, "ash-1", 5, "a")
	i := build(t, cfg)
	i.Start()
	o := build(t, old)
	o.SetPeers([]Endpoint{endpoint(cfg)})
	o.Start()
	eventually(t, "boot 5 is seen", func() bool { p, _ := i.Peer("ash-1"); return p.Boot == 5 })
	o.Stop()
	seen, err := Inquire(t.Context(), Config{Cluster: "test", Node: "ash-1", Keys: cfg.Keys, Advertise: "x:1"}, endpoint(cfg))
	if err != nil || seen != 5 {
		t.Errorf("an inquiry gives %d, %v; want 5", seen, err)
	}
	if seen, err := Inquire(t.Context(), Config{Cluster: "test", Node: "new-1", Keys: cfg.Keys, Advertise: "x:1"}, endpoint(cfg)); err != nil || seen != 0 {
		t.Errorf("an inquiry of an unknown node gives %d, %v; want 0", seen, err)
	}
	reborn := loopback(t, "ash-1", 2, "a")
	r := build(t, reborn)
	told := make(chan uint64, 16)
	r.OnStaleBoot(func(seen uint64) {
		select {
		case told <- seen:
		default:
		}
	})
	r.SetPeers([]Endpoint{endpoint(cfg)})
	r.Start()
	select {
	case seen := <-told:
		if seen != 5 {
			t.Errorf("told of boot %d, want 5", seen)
		}
	case <-time.After(patience):
		t.Fatal("a stale boot was not told")
	}
	if isUp(r, "dal-1")() {
		t.Error("a stale boot came up")
	}
}

func BenchmarkSend(b *testing.B) {
	cfg, other := loopback(b, "dal-1", 1, "a"), loopback(b, "ash-1", 1, "a")
	i, o := build(b, cfg), build(b, other)
	o.OnFrame(20, 20, func(string, byte, []byte) {})
	i.SetPeers([]Endpoint{endpoint(other)})
	o.Start()
	i.Start()
	eventually(b, "the peer is up", isUp(i, "ash-1"))
	payload := make([]byte, 700)
	b.ReportAllocs()
	for b.Loop() {
		i.Send("ash-1", 20, payload)
	}
	b.ReportMetric(float64(i.Stats().DroppedFull), "dropped")
}
