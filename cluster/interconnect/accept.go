package interconnect

import (
	"bufio"
	"errors"
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
	remote, err := i.welcome(conn)
	i.proved(host)
	if err != nil {
		i.count.refused.Add(1)
		if held, ok := i.refusals.Allow("accept "+host, time.Now()); ok {
			i.cfg.Logger.Warn("stream refused", "source", conn.RemoteAddr().String(), "peer", remote.Node, "error", err, "suppressed", held)
		}
		i.release(conn)
		_ = conn.Close()
		return
	}
	i.count.accepted.Add(1)
	if remote.Purpose == hello.Interconnect {
		i.receive(conn, remote)
		i.release(conn)
		_ = conn.Close()
		return
	}
	i.release(conn)
	if take := i.onStream[remote.Purpose]; take != nil && i.ctx.Err() == nil {
		take(conn, remote)
		return
	}
	_ = conn.Close()
}

func (i *Interconnect) welcome(conn net.Conn) (hello.Remote, error) {
	if err := conn.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return hello.Remote{}, err
	}
	remote, err := hello.Accept(conn, i.identity, func(p hello.Purpose) bool {
		return p == hello.Interconnect || i.onStream[p] != nil
	})
	if err != nil {
		return remote, err
	}
	if remote.Purpose != hello.Inquire {
		i.noteBoot(remote.Node, remote.Boot)
	}
	if remote.Seen > i.cfg.Boot {
		i.staleBoot(remote.Seen)
	}
	return remote, conn.SetDeadline(time.Time{})
}

// receive reads the frames of a peer's stream until it ends.
func (i *Interconnect) receive(conn net.Conn, remote hello.Remote) {
	p := i.ensure(Endpoint{Name: remote.Node, Site: remote.Site, Address: remote.Address}, false)
	p.accepted(conn, remote)
	defer p.ended(conn)
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
func (p *peer) accepted(conn net.Conn, remote hello.Remote) {
	p.mu.Lock()
	old := p.inbound
	p.inbound = conn
	p.arrived = time.Now()
	reborn := remote.Boot > p.boot
	up := p.detector.Up()
	p.mu.Unlock()
	if old != nil {
		_ = old.Close()
	}
	if !up {
		p.dialNow()
	} else if reborn {
		if s := p.out.Load(); s != nil {
			s.close()
		}
	}
}

func (p *peer) ended(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inbound == conn {
		p.inbound = nil
	}
}
