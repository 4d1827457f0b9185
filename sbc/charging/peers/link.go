package peers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging/diameter"
)

// queueSize is how many messages may wait for the socket of one peer.
const queueSize = 1024

// pending is a request that is out.
type pending struct {
	order Order
	host  string
}

// link is one peer and the connection to it, when there is one.
type link struct {
	set  *Set
	peer Peer

	mu       sync.Mutex
	up       bool
	dog      diameter.Watchdog
	host     string // its identity, as it said
	credit   bool   // what it takes
	account  bool
	hop      uint32
	pending  map[uint32]pending
	out      chan []byte
	fault    string
	since    time.Time
	sent     uint64
	answered uint64
	lost     uint64
}

// usable reports whether requests go there, and who it is.
func (l *link) usable(online bool) (host string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	takes := l.account
	if online {
		takes = l.credit
	}
	return l.host, l.up && takes && l.dog.Health() == diameter.Okay
}

// send puts a request on its way to the peer of that identity. It is not ok when there is no way.
func (l *link) send(o *Order) (host string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.up {
		return "", false
	}
	l.hop++
	if o.Request.ID == 0 {
		o.Request.ID = l.set.ID()
	}
	to := diameter.To{Realm: l.peer.Realm}
	if o.Host == l.host {
		to.Host = l.host
	}
	if !l.put(diameter.AppendRequest(make([]byte, 0, 768), o.Request, &l.set.cfg.Identity, to, l.hop, o.Request.ID)) {
		return "", false
	}
	l.pending[l.hop] = pending{*o, l.host}
	l.sent++
	return l.host, true
}

// put gives a message to who writes, and reports false when too many wait for the socket. It
// never blocks: several do, and some hold the lock.
func (l *link) put(b []byte) bool {
	select {
	case l.out <- b:
		return true
	default:
		return false
	}
}

// run keeps a connection until the set stops.
func (l *link) run(ctx context.Context) {
	wait, again := l.set.cfg.Retry, false
	for ctx.Err() == nil {
		began := time.Now()
		up, err := l.session(ctx, again)
		if ctx.Err() != nil {
			return
		}
		again = again && !up || up && !errors.Is(err, errGoodbye)
		if up && time.Since(began) > l.set.cfg.MaxRetry {
			wait = l.set.cfg.Retry
		}
		l.down(err)
		l.set.cfg.Logger.Warn("diameter peer is away", "peer", l.peer.Name, "address", l.peer.Address, "error", err, "next_try", wait)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, l.set.cfg.MaxRetry)
	}
}

// errGoodbye: the peer said that it goes (RFC 6733 5.4).
var errGoodbye = errors.New("the peer has taken its leave")

// session is the life of one connection. It reports whether the peer was up in it.
func (l *link) session(ctx context.Context, again bool) (up bool, err error) {
	conn, err := l.dial(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	r := newReader(conn)
	if err := l.greet(ctx, conn, r); err != nil {
		return false, err
	}
	in, failed := make(chan diameter.Message), make(chan error, 2)
	ended := make(chan struct{})
	var parts sync.WaitGroup
	defer parts.Wait()
	defer conn.Close()
	defer close(ended)
	parts.Go(func() { failed <- r.run(in, ended) })
	out := l.begin(again)
	parts.Go(func() { failed <- write(conn, out, ended) })
	l.set.cfg.Logger.Info("diameter peer is up", "peer", l.peer.Name, "host", l.host)
	return true, l.serve(ctx, conn, in, failed)
}

func (l *link) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, l.set.cfg.Timeout)
	defer cancel()
	conn, err := l.set.cfg.Dial(ctx, l.peer.Address)
	if err != nil || l.peer.TLS == nil {
		return conn, err
	}
	return secure(ctx, conn, l.peer)
}

// greet exchanges capabilities (RFC 6733 5.3).
func (l *link) greet(ctx context.Context, conn net.Conn, r *reader) error {
	_ = conn.SetDeadline(time.Now().Add(l.set.cfg.Timeout))
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	local := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if a, err := netip.ParseAddrPort(conn.LocalAddr().String()); err == nil {
		local = a.Addr().WithZone("")
	}
	id := l.set.ID()
	if _, err := conn.Write(diameter.AppendCapabilities(nil, &l.set.cfg.Identity, local, id, id)); err != nil {
		return err
	}
	m, err := r.next()
	if err != nil {
		return err
	}
	if m.Command != diameter.CapabilitiesExchange || m.Request() || m.HopByHop != id {
		return errors.New("the peer does not answer our capabilities")
	}
	if code := m.Result(); code != 2001 {
		return fmt.Errorf("the peer refuses our capabilities with %d", code)
	}
	host, _ := m.Origin()
	if want := l.peer.Host; want != "" && host != want {
		return fmt.Errorf("the peer says that it is %q, not %q", host, want)
	}
	_ = conn.SetDeadline(time.Time{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.host = host
	if l.credit, l.account = diameter.Speaks(&m); !l.credit && !l.account {
		return errors.New("the peer takes neither credit control nor accounting")
	}
	return nil
}

// begin opens the link for requests.
func (l *link) begin(again bool) <-chan []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = make(chan []byte, queueSize)
	l.dog = diameter.StartWatchdog(time.Now(), l.set.cfg.Watchdog, again)
	l.up, l.fault, l.since = true, "", time.Now()
	return l.out
}

// down closes the link, and gives back what was out.
func (l *link) down(err error) {
	l.mu.Lock()
	if l.up {
		l.since = time.Now()
	}
	l.up, l.fault = false, "not connected"
	if err != nil {
		l.fault = err.Error()
	}
	lost := l.pending
	l.pending = make(map[uint32]pending)
	l.lost += uint64(len(lost))
	l.mu.Unlock()
	for _, p := range lost {
		p.order.Done(Reply{Host: p.host, Sent: true})
	}
}

func (l *link) status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Status{
		Name: l.peer.Name, Address: l.peer.Address, Host: l.host, Since: l.since, Fault: l.fault,
		Pending: len(l.pending), Sent: l.sent, Answers: l.answered, Lost: l.lost, State: "away",
	}
	if l.up {
		s.State = [...]string{"up", "suspect", "reopened", "dead"}[l.dog.Health()]
		s.Up = l.dog.Health() == diameter.Okay
	}
	return s
}
