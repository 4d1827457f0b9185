package transport

import (
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// streams is the table of stream connections. Looking one up takes no lock.
type streams struct {
	flows    sync.Map      // Flow -> *conn: every connection, from its accept or dial to its end
	pool     sync.Map      // poolKey -> *conn: the dialled ones
	nextFlow atomic.Uint64 // begins anywhere: another node may still name a flow of an earlier process

	mu       sync.Mutex // guards the counts
	accepted int
	sources  map[netip.Prefix]int
	booked   int // dialled
	dialled  map[netip.Prefix]int
}

// poolKey tells which requests may share a connection: RFC 5923 9.1, with the server name because it picks the certificates of
// both sides.
type poolKey struct {
	transport  trunkgroup.Transport
	local      netip.Addr
	remote     netip.AddrPort
	serverName string
}

// sendStream gives bytes to the flow of the target, or to the pooled connection of its key.
func (s *Set) sendStream(t *Target, data []byte, ref uint64) {
	e := entry{data: data, ref: ref, target: *t}
	if t.Flow == 0 && t.Transport.Dialled() {
		s.sendPooled(e)
		return
	}
	c, ok := s.streams.flows.Load(t.Flow)
	switch {
	case ok && c.(*conn).send(e):
	case t.ReturnPort != 0 && t.Addr.IsValid() && t.Transport.Dialled():
		e.target.Flow, e.target.Addr = 0, netip.AddrPortFrom(t.Addr.Addr(), t.ReturnPort)
		s.sendPooled(e)
	default:
		s.fail(ref, *t, ErrFlowGone)
	}
}

// sendPooled finds or dials a connection. One that ends at this very moment is replaced.
func (s *Set) sendPooled(e entry) {
	t := &e.target
	key := poolKey{
		transport: t.Transport, serverName: t.ServerName,
		remote: netip.AddrPortFrom(t.Addr.Addr().Unmap(), t.Addr.Port()),
	}
	listener := -1
	if l := s.pick(t); l != nil && l.stream != nil {
		listener = l.stream.index
		if local := l.addr.Addr(); !local.IsUnspecified() && local.Is4() == key.remote.Addr().Is4() {
			key.local = local
		}
	}
	for {
		c, ok := s.streams.pool.Load(key)
		if !ok {
			fresh := newConn(s, t.Transport, listener)
			fresh.pooled, fresh.key, fresh.remote, fresh.source = true, key, key.remote, sourceOf(key.remote.Addr())
			if !s.streams.book(fresh.source, &s.limits) {
				s.counters.Capped.Add(1)
				s.fail(e.ref, e.target, ErrTooMany)
				return
			}
			if c, ok = s.streams.pool.LoadOrStore(key, fresh); ok {
				s.streams.unbook(fresh.source)
			} else {
				s.streams.flows.Store(fresh.flow, fresh)
				if !s.spawn(fresh.dial) {
					fresh.end(ErrClosed)
				}
			}
		}
		if c.(*conn).send(e) {
			return
		}
		if s.ctx.Err() != nil {
			s.fail(e.ref, e.target, ErrClosed)
			return
		}
		s.streams.pool.CompareAndDelete(key, c)
	}
}

// admit counts an accepted connection against the caps. full says that all places are taken, and this source has not its share.
func (t *streams) admit(source netip.Prefix, limits *Limits) (ok, full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.sources[source] >= limits.MaxConnsPerSource:
		return false, false
	case t.accepted >= limits.MaxConns:
		return false, true
	}
	t.accepted++
	t.sources[source]++
	return true, false
}

// leave undoes admit.
func (t *streams) leave(source netip.Prefix) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.accepted--
	if t.sources[source]--; t.sources[source] == 0 {
		delete(t.sources, source)
	}
}

// book counts a connection that is to be dialled against the caps: far ends say by their Contact and Via which ports we call.
func (t *streams) book(to netip.Prefix, limits *Limits) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.booked >= limits.MaxConns || t.dialled[to] >= limits.MaxConnsPerSource {
		return false
	}
	t.booked++
	t.dialled[to]++
	return true
}

// unbook undoes book.
func (t *streams) unbook(to netip.Prefix) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.booked--
	if t.dialled[to]--; t.dialled[to] == 0 {
		delete(t.dialled, to)
	}
}

// closeAll ends every connection.
func (t *streams) closeAll() {
	t.flows.Range(func(_, c any) bool {
		c.(*conn).end(ErrClosed)
		return true
	})
}

// sourceOf is the unit that MaxConnsPerSource counts: an IPv4 address or an IPv6 /64.
func sourceOf(a netip.Addr) netip.Prefix {
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, _ := a.Prefix(bits) // fails for an invalid address only: the zero prefix counts those
	return p
}
