package interconnect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/tandem-sbc/tandem/cluster/hello"
)

// run dials the peer and keeps the stream, until the context ends or the peer is
// forgotten.
func (p *peer) run(ctx context.Context) {
	wait := minBackOff
	for ctx.Err() == nil {
		conn, remote, err := p.connect(ctx)
		if err == nil {
			wait = minBackOff
			p.session(ctx, conn, remote)
		} else {
			p.failed(err, remote)
		}
		if p.forgotten(time.Now()) {
			p.i.forget(p)
			return
		}
		pause := time.NewTimer(jitter(wait))
		select {
		case <-ctx.Done():
		case <-p.redial:
			wait = minBackOff
		case <-pause.C:
			wait = min(2*wait, maxBackOff)
		}
		pause.Stop()
	}
}

// jitter spreads a wait over 75 % to 125 % of it, so that the nodes which a healed
// link sets free do not dial in step.
func jitter(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/2+1)
}

func (p *peer) connect(ctx context.Context) (net.Conn, hello.Remote, error) {
	p.mu.Lock()
	address := p.endpoint.Address
	p.mu.Unlock()
	return p.i.dial(ctx, p.i.identity, address, hello.Interconnect, p.name)
}

// failed reports a dial that did not come about; only what an operator can act
// on is more than a debug line, and that at most once per ten seconds.
func (p *peer) failed(err error, remote hello.Remote) {
	log := p.i.cfg.Logger.With("peer", p.name)
	if errors.Is(err, hello.ErrBoot) {
		p.i.staleBoot(remote.Seen)
	}
	for _, grave := range []error{hello.ErrKey, hello.ErrCluster, hello.ErrIdentity, hello.ErrSelf, hello.ErrBoot, hello.ErrVersion} {
		if errors.Is(err, grave) {
			if held, ok := p.i.refusals.Allow(p.name, time.Now()); ok {
				log.Warn("peer refused the handshake", "error", err, "suppressed", held)
			}
			return
		}
	}
	log.Debug("peer cannot be reached", "error", err)
}

// dial connects and runs the handshake.
func (i *Interconnect) dial(ctx context.Context, id hello.Local, address string, purpose hello.Purpose, target string) (net.Conn, hello.Remote, error) {
	i.count.dials.Add(1)
	connecting, cancel := context.WithTimeout(ctx, connectTimeout)
	conn, err := i.cfg.Dial(connecting, i.cfg.DialMap.Via(address))
	cancel()
	if err != nil {
		i.count.dialFailures.Add(1)
		return nil, hello.Remote{}, fmt.Errorf("interconnect: dial %s at %s: %w", target, address, err)
	}
	// The handshake ends with the context: closing wakes whatever it waits for.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	remote, err := i.greet(conn, id, purpose, target)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		i.count.dialFailures.Add(1)
		_ = conn.Close()
		return nil, remote, fmt.Errorf("interconnect: greet %s at %s: %w", target, address, err)
	}
	return conn, remote, nil
}

func (i *Interconnect) greet(conn net.Conn, id hello.Local, purpose hello.Purpose, target string) (hello.Remote, error) {
	if err := conn.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return hello.Remote{}, err
	}
	remote, err := hello.Dial(conn, id, purpose, target)
	if err != nil {
		return remote, err
	}
	i.noteBoot(remote.Node, remote.Boot)
	return remote, conn.SetDeadline(time.Time{})
}

// session runs one stream from the handshake to its loss.
func (p *peer) session(ctx context.Context, conn net.Conn, remote hello.Remote) {
	s := newStream(conn, p.i.cfg.QueueBytes)
	p.connected(s, remote)
	p.openBeside(s)
	readers := make(chan struct{}, 2)
	go func() { s.writeLoop(); readers <- struct{}{} }()
	go func() { p.readPongs(s); readers <- struct{}{} }()
	silent := p.keep(ctx, s)
	s.close()
	<-readers
	<-readers
	p.lost(silent)
}

// keep sends the heartbeats and judges the silence. It returns when the stream is
// over; true when silence ended it.
func (p *peer) keep(ctx context.Context, s *stream) (silent bool) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var next time.Time
	for seq := uint64(1); ; {
		select {
		case <-ctx.Done():
			return false
		case <-s.done:
			return false
		case <-timer.C:
		}
		now := time.Now()
		if !now.Before(next) {
			s.beat(kindPing, p.nextBeat(seq, now))
			seq, next = seq+1, now.Add(p.i.cfg.Heartbeat)
		}
		p.mu.Lock()
		expired, due := p.detector.Expire(now), p.detector.Deadline()
		p.mu.Unlock()
		if expired {
			return true
		}
		if due.After(next) {
			due = next
		}
		timer.Reset(due.Sub(now))
	}
}

// readPongs reads the answers on the stream that this node dialled.
func (p *peer) readPongs(s *stream) {
	defer s.close()
	r := bufio.NewReaderSize(s.conn, 1024)
	for {
		version, kind, payload, err := readFrame(r)
		if err != nil {
			return
		}
		b, ok := parseBeat(payload)
		if version > FrameVersion || kind != kindPong || !ok {
			p.i.count.unknown.Add(1)
			continue
		}
		if p.ponged(b, time.Now()) {
			p.i.publish()
		}
	}
}

// connected makes the stream the peer's own and tells the watchers.
func (p *peer) connected(s *stream, remote hello.Remote) {
	now := time.Now()
	p.mu.Lock()
	p.boot, p.arrived = remote.Boot, now
	if remote.Site != "" {
		p.endpoint.Site = remote.Site
	}
	p.detector.Connected(now, remote.RTT)
	p.mu.Unlock()
	p.out.Store(s)
	p.i.cfg.Logger.Info("peer is up", "peer", p.name, "peer_site", remote.Site, "boot", remote.Boot, "rtt", remote.RTT)
	p.changed()
}

// lost takes the stream away and tells the watchers.
func (p *peer) lost(silent bool) {
	p.out.Store(nil)
	p.closeBeside()
	p.mu.Lock()
	p.detector.Reset(time.Now())
	p.mu.Unlock()
	p.i.count.lost.Add(1)
	cause := "reset"
	if silent {
		p.i.count.silence.Add(1)
		cause = "silence"
	}
	p.i.cfg.Logger.Warn("peer is lost", "peer", p.name, "cause", cause)
	p.changed()
}

func (p *peer) changed() {
	p.i.publish()
	d := p.describe()
	for _, f := range p.i.onChange {
		f(d)
	}
}

func (i *Interconnect) staleBoot(seen uint64) {
	for _, f := range i.onBoot {
		f(seen)
	}
}
