package transport

import (
	"net/netip"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Batch is how one goroutine sends. UDP datagrams wait for Flush, up to 64 per socket; streams are served at once.
type Batch struct {
	set   *Set
	index int
	udp   []*udpQueue // by listener; nil until first used
	dirty []*udpQueue
}

// NewBatch returns a Batch for one goroutine. Batches spread over the sockets of a listener.
func (s *Set) NewBatch() *Batch {
	return &Batch{set: s, index: int(s.batches.Add(1)) - 1, udp: make([]*udpQueue, len(s.listeners))}
}

// Send hands bytes over. It never blocks. data must never change again. ref comes back with Handler.Failed.
func (b *Batch) Send(t Target, data []byte, ref uint64) {
	switch t.Transport {
	case trunkgroup.UDP:
		b.sendUDP(&t, data, ref)
	case trunkgroup.TCP, trunkgroup.TLS, trunkgroup.WS, trunkgroup.WSS:
		b.set.sendStream(&t, data, ref)
	default:
		b.set.fail(ref, t, ErrNoListener)
	}
}

// Flush writes the waiting datagrams. The owner calls it before it waits for work.
func (b *Batch) Flush() {
	for n := len(b.dirty); n > 0; n = len(b.dirty) {
		q := b.dirty[n-1]
		b.dirty = b.dirty[:n-1]
		q.flush() // may report a failure, whose handler may send again
	}
}

func (b *Batch) sendUDP(t *Target, data []byte, ref uint64) {
	l := b.set.pick(t)
	if l == nil || len(l.udp) == 0 {
		b.set.fail(ref, *t, ErrNoListener)
		return
	}
	addr := netip.AddrPortFrom(t.Addr.Addr().Unmap(), t.Addr.Port())
	if !addr.IsValid() || addr.Addr().Is4() != l.addr.Addr().Is4() {
		b.set.fail(ref, *t, ErrNoListener)
		return
	}
	sock := l.udp[b.index%len(l.udp)]
	q := b.udp[sock.listener]
	if q == nil {
		q = newUDPQueue(sock)
		b.udp[sock.listener] = q
	}
	if q.n == 0 {
		b.dirty = append(b.dirty, q)
	}
	q.add(addr, data, ref)
}
