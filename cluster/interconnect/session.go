package interconnect

import (
	"bufio"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/cluster/hello"
)

// run dials the peer and keeps the stream, until the context ends or the peer is
// forgotten.
func (p *peer) run(ctx context.Context) {
	wait := minBackOff
	for ctx.Err() == nil {
		conn, remote, err := p.connect(ctx, false)
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

func (p *peer) connect(ctx context.Context, renewal bool) (*link, hello.Remote, error) {
	p.mu.Lock()
	address := p.endpoint.Address
	p.mu.Unlock()
	local := p.i.identity
	local.Renewal = renewal
	return p.i.dial(ctx, local, address, hello.Interconnect, p.name)
}

// failed reports a dial that did not come about; only what an operator can act
// on is more than a debug line, and that at most once per ten seconds.
func (p *peer) failed(err error, remote hello.Remote) {
	log := p.i.cfg.Logger.With("peer", p.name)
	if errors.Is(err, hello.ErrBoot) {
		p.i.staleBoot(remote.Seen)
	}
	if grave(err) {
		p.refuse(err)
		if held, ok := p.i.refusals.Allow(p.name, time.Now()); ok {
			log.Warn("the handshake with a peer failed", "error", err, "suppressed", held)
		}
		return
	}
	log.Debug("peer cannot be reached", "error", err)
}

// session runs the streams to the peer, each the renewal of the one before, from the
// first handshake to the loss of the last.
func (p *peer) session(ctx context.Context, conn *link, remote hello.Remote) {
	var retire func() // of the stream before
	for seq := uint64(1); ; {
		s := newStream(conn, p.i.cfg.QueueBytes)
		p.connected(s, remote)
		if retire != nil {
			p.i.wg.Go(retire) // not before: somebody may be sending, and must find this one
		}
		p.openBeside(s)
		var users sync.WaitGroup
		users.Go(s.writeLoop)
		users.Go(func() { p.readPongs(s) })
		silent, next := p.keep(ctx, s, &seq)
		if next == nil {
			s.close()
			users.Wait()
			p.lost(silent)
			return
		}
		conn, remote = next.conn, next.remote
		retire = func() {
			s.finish(ctx)
			users.Wait()
		}
	}
}

// keep sends the heartbeats and judges the silence. It returns when the stream is
// over: with the stream that renews it, or with true when silence ended it.
func (p *peer) keep(ctx context.Context, s *stream, seq *uint64) (silent bool, _ *successor) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var next time.Time
	var renewing *renewal
	for {
		select {
		case <-ctx.Done():
			renewing.abandon()
			return false, nil
		case <-s.done:
			return false, renewing.last(ctx)
		case <-p.renew:
			if renewing == nil {
				renewing = p.beginRenewal(ctx)
			}
			continue
		case fresh := <-renewing.result():
			renewing.cancel()
			renewing = nil
			if fresh.err == nil {
				return false, &fresh
			}
			p.failed(fresh.err, fresh.remote)
			continue
		case <-timer.C:
		}
		now := time.Now()
		if !now.Before(next) {
			s.beat(kindPing, p.nextBeat(*seq, now))
			*seq, next = *seq+1, now.Add(p.i.cfg.Heartbeat)
		}
		p.mu.Lock()
		expired, due := p.detector.Expire(now), p.detector.Deadline()
		p.mu.Unlock()
		if expired {
			renewing.abandon()
			return true, nil
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
	was := p.detector.Up()
	if was {
		p.detector.Heard(now, 0) // a renewal: the round trip is known better than by its handshake
	} else {
		p.detector.Connected(now, remote.RTT)
	}
	l, ok := s.conn.(*link)
	p.secure = ok && l.chain != nil
	p.refused, p.since = "", time.Time{}
	p.mu.Unlock()
	p.out.Store(s)
	if was {
		p.i.cfg.Logger.Debug("stream renewed", "peer", p.name)
		p.i.publish()
		return
	}
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
