package interconnect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/tandem-sbc/tandem/cluster/hello"
)

// acceptLoop takes connections until the listener is closed.
func (i *Interconnect) acceptLoop(l net.Listener) {
	wait := minBackOff
	for {
		conn, err := l.Accept()
		if err != nil {
			if i.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			// Out of descriptors, mostly: waiting is all that helps.
			i.cfg.Logger.Warn("accept failed", "error", err)
			select {
			case <-i.ctx.Done():
				return
			case <-time.After(wait):
			}
			wait = min(2*wait, maxBackOff)
			continue
		}
		wait = minBackOff
		host, ok := i.admit(conn)
		if !ok {
			i.count.busy.Add(1)
			_ = conn.Close()
			continue
		}
		go func() {
			defer i.wg.Done()
			i.serve(conn, host)
		}()
	}
}

// admit counts a connection that has yet to prove itself.
func (i *Interconnect) admit(conn net.Conn) (host string, ok bool) {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		host = conn.RemoteAddr().String()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped || i.waiting >= maxHandshakes || i.pending[host] >= maxHandshakesByIP {
		return "", false
	}
	i.waiting++
	i.pending[host]++
	i.open[conn] = struct{}{}
	i.wg.Add(1)
	return host, true
}

// proved ends what admit began: the handshake is over.
func (i *Interconnect) proved(host string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.waiting--
	if i.pending[host]--; i.pending[host] == 0 {
		delete(i.pending, host)
	}
}

// release takes a connection out of Stop's care.
func (i *Interconnect) release(conn net.Conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.open, conn)
}

// serve runs the handshake of one accepted connection and hands it to its purpose.
func (i *Interconnect) serve(conn net.Conn, host string) {
	l, remote, err := i.welcome(conn, host)
	i.proved(host)
	if err != nil {
		i.refuse(reason(err))
		if held, ok := i.refusals.Allow("accept "+host, time.Now()); ok {
			i.cfg.Logger.Warn("stream refused", "source", conn.RemoteAddr().String(), "peer", remote.Node, "error", err, "suppressed", held)
		}
		i.release(conn)
		_ = conn.Close()
		return
	}
	if l == nil { // somebody joined
		i.release(conn)
		_ = conn.Close()
		return
	}
	i.count.accepted.Add(1)
	if remote.Purpose == hello.Interconnect {
		i.receive(l, remote)
		i.release(conn)
		_ = l.Close()
		return
	}
	i.release(conn)
	if take := i.onStream[remote.Purpose]; take != nil && i.ctx.Err() == nil {
		take(l, remote)
		return
	}
	_ = l.Close()
}

// welcome runs both handshakes on an accepted stream. The link is nil when the other
// side was no node but came to join.
func (i *Interconnect) welcome(conn net.Conn, host string) (*link, hello.Remote, error) {
	if err := conn.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return nil, hello.Remote{}, err
	}
	t := i.trust.Load()
	safe, shown, joins, err := i.secureAccepted(conn, t)
	if err != nil || joins {
		if joins {
			if err = i.onJoin(safe, host); err != nil {
				err = fmt.Errorf("%w: %w", errJoin, err)
			}
		}
		return nil, hello.Remote{Node: shown.node}, err
	}
	local := i.identity
	local.Keys, local.Proven = t.keys, shown.node
	remote, err := hello.Accept(safe, local, func(p hello.Purpose) bool {
		return p == hello.Interconnect || i.onStream[p] != nil
	})
	if err != nil {
		return nil, remote, err
	}
	l := i.remember(safe, shown, remote)
	if remote.Purpose != hello.Inquire {
		i.noteBoot(remote.Node, remote.Boot)
	}
	if remote.Seen > i.cfg.Boot {
		i.staleBoot(remote.Seen)
	}
	return l, remote, conn.SetDeadline(time.Time{})
}

// receive reads the frames of a peer's stream until it ends.
func (i *Interconnect) receive(conn *link, remote hello.Remote) {
	p := i.ensure(Endpoint{Name: remote.Node, Site: remote.Site, Address: remote.Address}, false)
	in := &inbound{conn: conn, done: make(chan struct{})}
	older := p.accepted(in, remote)
	defer p.ended(in)
	older.drained(i.ctx)
	r := bufio.NewReaderSize(conn, 64<<10)
	var out []byte
	if err := conn.SetReadDeadline(time.Now().Add(idleTimeout)); err != nil {
		return
	}
	for {
		version, kind, payload, err := readFrame(r)
		if err != nil {
			return
		}
		handle := i.handlers[kind]
		switch {
		case version > FrameVersion:
			i.count.unknown.Add(1)
		case kind == kindPing:
			b, ok := parseBeat(payload)
			if !ok {
				i.count.unknown.Add(1)
				continue
			}
			now := time.Now()
			out = appendFrame(out[:0], kindPong, p.pinged(b, now).append(nil))
			if err := conn.SetDeadline(now.Add(idleTimeout)); err != nil {
				return
			}
			if _, err := conn.Write(out); err != nil {
				return
			}
		case kind == kindSession:
			p.announced(payload)
		case handle != nil:
			i.count.received.Add(1)
			handle(remote.Node, kind, payload)
		default:
			i.count.unknown.Add(1)
		}
	}
}

// accepted makes conn the peer's stream; an older one of the same peer is closed.
// A stream of a later boot proves that the process behind our own stream is gone.
// Returned is the stream that this one renews, whose end must be read first.
func (p *peer) accepted(in *inbound, remote hello.Remote) (renews *inbound) {
	p.mu.Lock()
	old := p.inbound
	p.inbound = in
	p.arrived = time.Now()
	reborn := remote.Boot > p.boot
	up := p.detector.Up()
	p.mu.Unlock()
	if old != nil && remote.Renewal && !reborn {
		return old
	}
	if old != nil {
		_ = old.conn.Close()
	}
	if !up {
		p.dialNow()
	} else if reborn {
		if s := p.out.Load(); s != nil {
			s.close()
		}
	}
	return nil
}

func (p *peer) ended(in *inbound) {
	close(in.done)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inbound == in {
		p.inbound = nil
	}
}

// inbound is a stream that a peer dialled.
type inbound struct {
	conn net.Conn
	done chan struct{} // closed when nothing more is read from it
}

// drained waits until all of a stream was read that another one renews, for a short time.
func (in *inbound) drained(ctx context.Context) {
	if in == nil {
		return
	}
	wait := time.NewTimer(drainTimeout)
	defer wait.Stop()
	select {
	case <-in.done:
	case <-wait.C:
	case <-ctx.Done():
	}
	_ = in.conn.Close()
}
