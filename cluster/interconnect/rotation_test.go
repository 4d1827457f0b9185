package interconnect

import (
	"encoding/binary"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster/hello"
	"github.com/tandem-sbc/tandem/cluster/pki"
)

// flow sends numbered frames without pause and checks at the other end that none is missing or
// overtaken.
type flow struct {
	t    *testing.T
	next atomic.Uint64
	want atomic.Uint64
	bad  atomic.Uint64
	stop chan struct{}
	done chan struct{}
}

func newFlow(t *testing.T, to *Interconnect) *flow {
	f := &flow{t: t, stop: make(chan struct{}), done: make(chan struct{})}
	to.OnFrame(20, 20, func(_ string, _ byte, b []byte) {
		if binary.BigEndian.Uint64(b) != f.want.Load() {
			f.bad.Add(1)
		}
		f.want.Add(1)
	})
	return f
}

func (f *flow) run(from *Interconnect, to string) {
	go func() {
		defer close(f.done)
		payload := make([]byte, 300)
		tick := time.NewTicker(100 * time.Microsecond)
		defer tick.Stop()
		for {
			select {
			case <-f.stop:
				return
			case <-tick.C:
			}
			binary.BigEndian.PutUint64(payload, f.next.Load())
			switch {
			case from.Send(to, 20, payload):
				f.next.Add(1)
			case !crowded(from, to):
				f.t.Error("a frame was not taken")
			}
		}
	}()
}

// crowded says that the queue to a peer is long: on a busy machine nobody may have written for a while, and
// the frame comes with the next tick.
func crowded(i *Interconnect, peer string) bool {
	s := (*i.peers.Load())[peer].out.Load()
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed && !s.finishing && len(s.queue) > s.limit/2
}

// end stops the sender and reports what went wrong.
func (f *flow) end() {
	f.t.Helper()
	close(f.stop)
	<-f.done
	eventually(f.t, "all frames arrive", func() bool { return f.want.Load() == f.next.Load() })
	if f.bad.Load() > 0 || f.next.Load() == 0 {
		f.t.Errorf("%d of %d frames came out of order", f.bad.Load(), f.next.Load())
	}
}

// streamKey is the secret that proved the stream to a peer.
func streamKey(i *Interconnect, peer string) string {
	s := (*i.peers.Load())[peer].out.Load()
	if s == nil {
		return ""
	}
	return s.conn.(*link).key.String()
}

// A cluster key is replaced in three steps, on one node after the other: no peer is lost, no frame is lost, and none
// is overtaken.
func TestKeyRotationLosesNothing(t *testing.T) {
	a := newCA(t, "test")
	var f *flow
	i, o := pair(t, safe(t, a.node("dal-1"), 1), safe(t, a.node("ash-1"), 5), func(_, o *Interconnect) { f = newFlow(t, o) })
	f.run(i, "ash-1")
	for _, step := range [][]string{{"a", "b"}, {"b", "a"}, {"b"}} {
		for _, n := range []*Interconnect{i, o} {
			n.SetKeys(ring(t, step...))
			n.review(time.Now())
			key := ring(t, step...).Primary().String()
			eventually(t, "the streams of a node are of its first key", func() bool {
				return streamKey(i, "ash-1") == key || n != i
			})
		}
		eventually(t, "all streams are of the first key", func() bool {
			i.review(time.Now())
			o.review(time.Now())
			key := ring(t, step...).Primary().String()
			return streamKey(i, "ash-1") == key && streamKey(o, "dal-1") == key
		})
	}
	f.end()
	if lost := i.Stats().Lost + o.Stats().Lost; lost != 0 {
		t.Errorf("peers were lost %d times", lost)
	}
	old := loopback(t, "ash-2", 1, "a")
	old.Identity = a.node("ash-2")
	if _, _, err := build(t, old).Dial(t.Context(), i.cfg.Advertise, hello.Interconnect, ""); !errors.Is(err, hello.ErrKey) {
		t.Errorf("the old key after the rotation: %v", err)
	}
}

// Certificates are replaced, and so is the authority, in the same way.
func TestCertificateRotationLosesNothing(t *testing.T) {
	a, b := newCA(t, "test"), newCA(t, "test")
	var f *flow
	i, o := pair(t, safe(t, a.node("dal-1"), 1), safe(t, a.node("ash-1"), 5), func(_, o *Interconnect) { f = newFlow(t, o) })
	f.run(i, "ash-1")
	life := pki.NodeLife
	for _, step := range []func(string) *pki.Identity{
		func(n string) *pki.Identity { return a.node(n) },                          // a new certificate
		func(n string) *pki.Identity { return a.identity(n, life, time.Now(), b) }, // trust both authorities
		func(n string) *pki.Identity { return b.identity(n, life, time.Now(), a) }, // show the new one's
		func(n string) *pki.Identity { return b.identity(n, life, time.Now(), b) }, // trust the new one only
	} {
		for _, n := range []*Interconnect{i, o} {
			n.SetIdentity(step(n.cfg.Node), false)
			peer := map[string]string{"dal-1": "ash-1", "ash-1": "dal-1"}[n.cfg.Node]
			eventually(t, "the stream shows the new certificate", func() bool {
				n.review(time.Now())
				s := (*n.peers.Load())[peer].out.Load()
				return s != nil && s.conn.(*link).own.Equal(n.trust.Load().identity.Leaf())
			})
		}
	}
	f.end()
	if lost := i.Stats().Lost + o.Stats().Lost; lost != 0 {
		t.Errorf("peers were lost %d times", lost)
	}
}

// What was proven by a key or an authority that is removed does not stand any longer, even when the other side does not move.
func TestRemovalClosesStreams(t *testing.T) {
	a, b := newCA(t, "test"), newCA(t, "test")
	i, o := pair(t, safe(t, a.node("dal-1"), 1), safe(t, a.node("ash-1"), 5), nil)
	i.SetKeys(ring(t, "b"))
	eventually(t, "a node with a removed key is out", func() bool { return !isUp(i, "ash-1")() && !isUp(o, "dal-1")() })
	eventually(t, "both say why", func() bool {
		p, _ := i.Peer("ash-1")
		q, _ := o.Peer("dal-1")
		return strings.Contains(p.Refused, "key rotation") && strings.Contains(q.Refused, "key rotation") && !p.RefusedAt.IsZero()
	})
	i.SetKeys(ring(t, "b", "a"))
	eventually(t, "it is back with a key that both hold", func() bool { return isUp(i, "ash-1")() && isUp(o, "dal-1")() })
	if p, _ := i.Peer("ash-1"); p.Refused != "" {
		t.Errorf("it is up and refused: %s", p.Refused)
	}
	i.SetIdentity(b.node("dal-1"), false)
	eventually(t, "a node of a removed authority is out", func() bool { return !isUp(i, "ash-1")() && !isUp(o, "dal-1")() })
	eventually(t, "it says why", func() bool { p, _ := i.Peer("ash-1"); return strings.Contains(p.Refused, "authority") })
}

// A certificate that expires while streams stand cuts nothing; the next handshake is refused, and says so.
func TestExpiryCutsNothing(t *testing.T) {
	a := newCA(t, "test")
	short := a.identity("ash-1", 1500*time.Millisecond, time.Now())
	i, o := pair(t, safe(t, a.node("dal-1"), 1), safe(t, short, 5), nil)
	eventually(t, "the certificate has expired", func() bool { return time.Now().After(short.Expires().Add(time.Second)) })
	i.review(time.Now())
	o.review(time.Now())
	if !isUp(i, "ash-1")() || !isUp(o, "dal-1")() {
		t.Error("an expired certificate cut a stream that stands")
	}
	(*i.peers.Load())["ash-1"].renewNow()
	eventually(t, "the renewal is refused and says why", func() bool {
		p, _ := i.Peer("ash-1")
		return strings.Contains(p.Refused, "expired")
	})
	if !isUp(i, "ash-1")() {
		t.Error("a renewal that was refused cut the stream that stands")
	}
}
