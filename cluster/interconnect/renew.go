package interconnect

import (
	"context"
	"time"

	"github.com/tandem-sbc/tandem/cluster/hello"
)

// drainTimeout bounds how long the end of a stream that was renewed is waited for.
const drainTimeout = 500 * time.Millisecond

// A stream is renewed without a gap: its owner dials a second one, marked as its
// renewal, gives new frames to that, lets the old one write what waits and ends its
// writing half. The acceptor reads the new one once the old one has ended. So no frame
// is lost or overtaken and the peer is up all the time.

// successor is what a renewal brought.
type successor struct {
	conn   *link
	remote hello.Remote
	err    error
}

// renewNow asks for a renewal of the stream.
func (p *peer) renewNow() {
	select {
	case p.renew <- struct{}{}:
	default:
	}
}

// renewal is one attempt to renew a stream, in the background.
type renewal struct {
	cancel context.CancelFunc
	came   chan successor // one, always
}

func (p *peer) beginRenewal(ctx context.Context) *renewal {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout+2*handshakeTimeout)
	r := &renewal{cancel: cancel, came: make(chan successor, 1)}
	go func() {
		conn, remote, err := p.connect(ctx, true)
		r.came <- successor{conn, remote, err}
	}()
	return r
}

// result is the channel of a renewal, or one that never speaks.
func (r *renewal) result() <-chan successor {
	if r == nil {
		return nil
	}
	return r.came
}

// abandon ends a renewal that is not wanted any more.
func (r *renewal) abandon() {
	if r == nil {
		return
	}
	r.cancel()
	if s := <-r.came; s.conn != nil {
		_ = s.conn.Close()
	}
}

// last waits for a renewal when its old stream has ended: an acceptor that does not know renewals closes the old
// stream when the new one comes.
func (r *renewal) last(ctx context.Context) *successor {
	if r == nil {
		return nil
	}
	wait := time.NewTimer(drainTimeout)
	defer wait.Stop()
	select {
	case s := <-r.came:
		r.cancel()
		if s.err == nil {
			return &s
		}
	case <-wait.C:
		r.abandon()
	case <-ctx.Done():
		r.abandon()
	}
	return nil
}

// finish lets the stream write what waits, ends its writing half and closes it when the other side has
// read all, or a little later whatever happens.
func (s *stream) finish(ctx context.Context) {
	s.mu.Lock()
	s.finishing = true
	s.mu.Unlock()
	s.poke()
	wait := time.NewTimer(2 * drainTimeout)
	defer wait.Stop()
	select {
	case <-s.done:
	case <-wait.C:
	case <-ctx.Done():
	}
	s.close()
}
