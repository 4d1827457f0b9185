package interconnect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/tandem-sbc/tandem/cluster/hello"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/cluster/pki"
)

// manner is how a stream is dialled. The first try is always the best one.
type manner struct {
	plain bool       // without TLS
	offer keyring.ID // the key to prove; zero: the primary one
}

// dial connects and runs both handshakes. It tries a second time with an older key when the other side holds
// only that, and without TLS when the other side has none and this node still allows it.
func (i *Interconnect) dial(ctx context.Context, id hello.Local, address string, purpose hello.Purpose, target string) (*link, hello.Remote, error) {
	t := i.trust.Load()
	how := manner{plain: t.identity == nil}
	for {
		l, remote, err := i.dialOnce(ctx, id, t, how, address, purpose, target)
		if err == nil {
			return l, remote, nil
		}
		next, ok := t.another(how, err)
		if !ok || ctx.Err() != nil {
			return nil, remote, err
		}
		how = next
	}
}

// another is what to try after a failure; each step is taken once.
func (t *trust) another(how manner, err error) (manner, bool) {
	if unknown, ok := errors.AsType[*hello.UnknownKeyError](err); ok && unknown.Held && how.offer == (keyring.ID{}) {
		how.offer = unknown.Peer
		return how, true
	}
	if t.plain && !how.plain && (errors.Is(err, pki.ErrPlain) || errors.Is(err, pki.ErrHandshake)) {
		how.plain = true
		return how, true
	}
	return how, false
}

func (i *Interconnect) dialOnce(ctx context.Context, id hello.Local, t *trust, how manner, address string, purpose hello.Purpose, target string) (*link, hello.Remote, error) {
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
	safe, shown, remote, err := i.greet(ctx, conn, id, t, how, purpose, target)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		i.count.dialFailures.Add(1)
		_ = conn.Close()
		return nil, remote, fmt.Errorf("interconnect: greet %s at %s: %w", target, address, err)
	}
	return i.remember(safe, shown, remote), remote, nil
}

func (i *Interconnect) greet(ctx context.Context, conn net.Conn, id hello.Local, t *trust, how manner, purpose hello.Purpose, target string) (net.Conn, proof, hello.Remote, error) {
	var shown proof
	if err := conn.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return nil, shown, hello.Remote{}, err
	}
	id.Keys, id.Offer = t.keys, how.offer
	if !how.plain {
		var err error
		if conn, shown, err = secureDialed(ctx, conn, t.identity, target); err != nil {
			return nil, shown, hello.Remote{}, err
		}
		id.Proven = shown.node
	}
	remote, err := hello.Dial(conn, id, purpose, target)
	if err != nil {
		return nil, shown, remote, refusedAfter(err)
	}
	i.noteBoot(remote.Node, remote.Boot)
	return conn, shown, remote, conn.SetDeadline(time.Time{})
}

// refuse remembers that keys or certificates keep the peer away, for whoever asks why.
func (p *peer) refuse(err error) {
	p.mu.Lock()
	changed := p.refused != err.Error()
	p.refused = err.Error()
	if p.since.IsZero() {
		p.since = time.Now()
	}
	p.mu.Unlock()
	if changed {
		p.i.publish()
	}
}

// sendRenewed repeats a send that came between the renewal of a stream and its end.
func (p *peer) sendRenewed(old *stream, kind byte, payload []byte) bool {
	s := p.out.Load()
	return s != nil && s != old && s.send(kind, payload)
}
