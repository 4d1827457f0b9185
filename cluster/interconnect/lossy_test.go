package interconnect

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// poor makes both sites and the link between them lose 10 % of all packets each
// way, with 150 ms one way between the sites.
func (w *world) poor() {
	w.net.SetDelay("dallas", "ashburn", 150*time.Millisecond)
	for _, pair := range [][2]string{{"dallas", "dallas"}, {"dallas", "ashburn"}, {"ashburn", "ashburn"}} {
		w.net.SetLoss(pair[0], pair[1], 0.1)
	}
}

// streamsOnly leaves a node without datagrams, as where UDP is not let through.
func streamsOnly(c *Config, _ *machine) { c.Packets = nil }

// hour is the time of the long tests: an hour, or ten minutes with -short.
func hour() time.Duration {
	if testing.Short() {
		return 10 * time.Minute
	}
	return time.Hour
}

// pairUp waits until every pair of nodes sees each other up, however long that
// takes on a lossy link, and gives the estimates time to settle.
func (w *world) pairUp(nodes ...*machine) {
	w.t.Helper()
	var all []Endpoint
	for _, m := range nodes {
		all = append(all, m.end)
	}
	for _, m := range nodes {
		m.SetPeers(all)
		m.Start()
	}
	for range 600 {
		time.Sleep(100 * time.Millisecond)
		up := 0
		for _, m := range nodes {
			for _, p := range m.Peers() {
				if p.Up {
					up++
				}
			}
		}
		if up == len(nodes)*(len(nodes)-1) {
			time.Sleep(10 * time.Second)
			return
		}
	}
	w.t.Fatal("the nodes did not meet within a minute")
}

// "no false death at 10 % loss, 150 ms WAN" (DEC-21): for an hour, with streams
// that know no fast retransmit.
func TestDEC21_NoFalseDeathOnALossyLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.poor()
		nodes := []*machine{w.node("dal-1", "dallas", 1, nil), w.node("dal-2", "dallas", 1, nil), w.node("ash-3", "ashburn", 1, nil)}
		w.pairUp(nodes...)
		before := w.losses(nodes...)
		time.Sleep(hour())
		if after := w.losses(nodes...); after != before {
			t.Errorf("%d false deaths in %v", after-before, hour())
		}
		if p, _ := nodes[0].Peer("ash-3"); p.RTT < 299*time.Millisecond || p.RTT > 301*time.Millisecond {
			t.Errorf("RTT %v, want the link's 300 ms whatever the streams wait for", p.RTT)
		}
		w.stop(nodes...)
	})
}

// The reason for the datagrams: on the same link streams alone give false deaths,
// since what is behind a lost segment waits longer than any patience that sees a
// real death in time.
func TestDEC21_StreamsAloneGiveFalseDeaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.poor()
		nodes := []*machine{w.node("dal-1", "dallas", 1, streamsOnly), w.node("dal-2", "dallas", 1, streamsOnly), w.node("ash-3", "ashburn", 1, streamsOnly)}
		w.pairUp(nodes...)
		before := w.losses(nodes...)
		time.Sleep(time.Hour)
		after := w.losses(nodes...)
		t.Logf("%d false deaths in an hour without datagrams", after-before)
		if after == before {
			t.Error("none: the datagrams are not needed any more")
		}
		w.stop(nodes...)
	})
}

// losses counts the peers that the nodes lost.
func (w *world) losses(nodes ...*machine) (n uint64) {
	for _, m := range nodes {
		n += m.Stats().Lost
	}
	return n
}

// "Node kill seen in <= 1.1 s inside the site and <= 2 s across", the machine
// without power, the links as poor as above.
func TestDEC21_DeathIsSeenInTimeOnALossyLink(t *testing.T) {
	runs := 40
	if testing.Short() {
		runs = 10
	}
	var near, far time.Duration
	for run := range runs {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.poor()
			w.net.SetDelay("dallas", "dark", 100*time.Microsecond)
			w.net.SetLoss("dallas", "dark", 0.1)
			w.net.SetDelay("ashburn", "dark", 150*time.Millisecond)
			w.net.SetLoss("ashburn", "dark", 0.1)
			d1, d2, a3 := w.node("dal-1", "dallas", 1, nil), w.node("dal-2", "dark", 1, nil), w.node("ash-3", "ashburn", 1, nil)
			w.pairUp(d1, d2, a3)
			time.Sleep(time.Duration(run) * 37 * time.Millisecond)
			start := time.Now()
			w.net.Split("dark", "dallas")
			w.net.Split("dark", "ashburn")
			near = max(near, d1.lostAfter("dal-2", start))
			far = max(far, a3.lostAfter("dal-2", start))
			w.stop(d1, d2, a3)
		})
	}
	t.Logf("of %d deaths the last was seen after %v inside the site, %v across", runs, near, far)
	if near > 1100*time.Millisecond || far > 2*time.Second {
		t.Errorf("seen after %v inside the site and %v across, want 1.1 s and 2 s", near, far)
	}
}

// "no false death on a loaded CPU": every node stands still for up to 350 ms, again
// and again, while its timers go on, so that it judges before it has read.
func TestDEC21_NoFalseDeathOnALoadedCPU(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		nodes := []*machine{w.node("dal-1", "dallas", 1, nil), w.node("dal-2", "dallas", 1, nil), w.node("ash-3", "ashburn", 1, nil)}
		w.pairUp(nodes...)
		before := w.losses(nodes...)
		var loads sync.WaitGroup
		for n, m := range nodes {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			loads.Go(func() {
				for end := time.Now().Add(hour() / 6); time.Now().Before(end); {
					stall := time.Duration(random.IntN(350)) * time.Millisecond
					w.net.Stall(m.host, stall)
					time.Sleep(stall + time.Duration(50+random.IntN(200))*time.Millisecond)
				}
			})
		}
		loads.Wait()
		if after := w.losses(nodes...); after != before {
			t.Errorf("%d false deaths", after-before)
		}
		w.stop(nodes...)
	})
}

// Datagrams do not keep a peer up whose streams stand still: frames go by stream.
func TestDEC21_DatagramsAloneKeepNobodyUp(t *testing.T) {
	d := detector(time.Millisecond)
	for n := 100; n < 11000; n += 100 {
		d.HeardBeside(ms(n), 0)
		if d.Expire(ms(n)) {
			if n < 10000 {
				t.Errorf("lost after %d ms without a stream", n)
			}
			return
		}
	}
	t.Error("up for 11 s without a stream")
}

// A node of an older build, or where UDP is not let through, and a new one.
func TestDEC21_OneSideWithoutDatagrams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d1, a2 := w.node("dal-1", "dallas", 1, streamsOnly), w.node("ash-2", "ashburn", 1, nil)
		w.mesh(d1, a2)
		time.Sleep(time.Minute)
		if d1.changes() != 1 || a2.changes() != 1 {
			t.Errorf("%d and %d changes", d1.changes(), a2.changes())
		}
		start := time.Now()
		w.net.Split("dallas", "ashburn")
		if got := a2.lostAfter("dal-1", start); got > 1100*time.Millisecond {
			t.Errorf("seen after %v", got)
		}
		w.stop(d1, a2)
	})
}

// Datagrams that were recorded, changed, or signed by another are nothing.
func TestDatagramsOfStrangersAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d1, a2 := w.node("dal-1", "dallas", 1, nil), w.node("ash-2", "ashburn", 1, nil)
		w.mesh(d1, a2)
		p := (*d1.peers.Load())["ash-2"]
		genuine, _ := p.nextDatagram(nil, time.Now())
		changed := append([]byte(nil), genuine...)
		changed[12] ^= 1
		keys, err := keyring.New([]byte("the secret of another cluster"))
		if err != nil {
			t.Fatal(err)
		}
		foreign, _ := newSession(keys)
		foreign.id = p.beside.out.id
		other := datagram{seq: 1 << 40}.append(nil, &foreign)
		for _, tc := range []struct {
			name string
			b    []byte
			want uint64
		}{
			{"changed", changed, 1},
			{"genuine", genuine, 0},
			{"repeated", genuine, 1},
			{"short", genuine[:40], 1},
			{"empty", nil, 1},
			{"of another key", other, 1},
		} {
			before := a2.Stats().Strange
			a2.takeDatagram(tc.b, time.Now())
			if got := a2.Stats().Strange - before; got != tc.want {
				t.Errorf("%s: refused %d, want %d", tc.name, got, tc.want)
			}
		}
		w.stop(d1, a2)
	})
}

// What comes from the network is read without a fault, and what is written is read
// as it was.
func FuzzDatagram(f *testing.F) {
	keys, err := keyring.New([]byte("a cluster secret of some length"))
	if err != nil {
		f.Fatal(err)
	}
	s, frame := newSession(keys)
	f.Add(datagram{seq: 7, age: time.Second, echo: 5, held: 30 * time.Millisecond}.append(nil, &s), frame)
	f.Add([]byte("T"), []byte{})
	f.Fuzz(func(t *testing.T, b, frame []byte) {
		if in, ok := openSession(keys, frame); ok && in.mac == nil {
			t.Fatal("a session without a key")
		}
		d, ok := parseDatagram(b)
		if !ok {
			return
		}
		s.genuine(b)
		again, ok := parseDatagram(d.append(nil, &session{d.session, s.mac}))
		if !ok || again.seq != d.seq || again.age != d.age || again.echo != d.echo || d.held <= time.Hour && again.held != d.held {
			t.Fatalf("wrote %+v, read %+v", d, again)
		}
	})
}
