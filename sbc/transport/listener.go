package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Accept trouble (no descriptors, no memory) is waited out, doubling between these.
const (
	acceptPauseMin = 5 * time.Millisecond
	acceptPauseMax = time.Second
)

// streamListener accepts connections of one address.
type streamListener struct {
	set       *Set
	index     int
	transport trunkgroup.Transport
	local     netip.AddrPort
	tls       *tls.Config
	websocket *WebSocket // of a WS or WSS listener
	net       net.Listener
}

// listenStream binds a listener of TCP, TLS or WebSockets.
func (s *Set) listenStream(index int, lc ListenerConfig) (*streamListener, error) {
	network := "tcp4"
	if lc.Addr.Addr().Is6() {
		network = "tcp6"
	}
	config := net.ListenConfig{KeepAliveConfig: keepAliveConfig}
	ln, err := config.Listen(context.Background(), network, lc.Addr.String())
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", lc.Transport, lc.Addr, innermost(err))
	}
	l := &streamListener{set: s, index: index, transport: lc.Transport, net: ln, local: addrPort(ln.Addr())}
	if lc.Transport.Secure() {
		l.tls = atLeastTLS12(lc.TLS)
	}
	if lc.Transport == trunkgroup.WS || lc.Transport == trunkgroup.WSS {
		l.websocket = &lc.WebSocket
	}
	return l, nil
}

// keepAliveConfig finds peers that vanished from idle connections.
var keepAliveConfig = net.KeepAliveConfig{Enable: true, Idle: time.Minute, Interval: 15 * time.Second, Count: 4}

// atLeastTLS12 returns the configuration without the broken versions.
func atLeastTLS12(c *tls.Config) *tls.Config {
	if c.MinVersion >= tls.VersionTLS12 {
		return c
	}
	c = c.Clone()
	c.MinVersion = tls.VersionTLS12
	return c
}

// accept is the goroutine of the listener. No error but the end of the Set ends it.
func (l *streamListener) accept() {
	pause := acceptPauseMin
	for {
		nc, err := l.net.Accept()
		if err == nil {
			pause = acceptPauseMin
			l.admit(nc)
			continue
		}
		if errors.Is(err, net.ErrClosed) || l.set.ctx.Err() != nil {
			return
		}
		if l.set.counters.AcceptErrors.Add(1); pause == acceptPauseMin {
			l.set.log.Warn("accept failed", "listener", l.set.cfg.Listeners[l.index].Name, "error", err)
		}
		if !l.set.pause(pause) {
			return
		}
		pause = min(2*pause, acceptPauseMax)
	}
}

// admit starts to serve a connection, or resets it when a cap is reached.
func (l *streamListener) admit(nc net.Conn) {
	remote := addrPort(nc.RemoteAddr())
	if door := l.set.cfg.Door; door != nil && !door.Connect(time.Now(), l.index, remote) {
		reset(nc)
		return
	}
	source := sourceOf(remote.Addr())
	ok, full := l.set.streams.admit(source, &l.set.limits)
	if full && l.set.makeRoom(time.Now(), remote.Addr()) {
		ok, _ = l.set.streams.admit(source, &l.set.limits)
	}
	if !ok {
		l.set.counters.Capped.Add(1)
		reset(nc)
		return
	}
	c := newConn(l.set, l.transport, l.index)
	c.remote, c.source = remote, source
	c.attach(nc)
	l.set.streams.flows.Store(c.flow, c)
	l.set.counters.Accepted.Add(1)
	if !l.set.spawn(func() { c.serve(l) }) {
		c.end(ErrClosed)
	}
}

func (l *streamListener) close() error { return l.net.Close() }

// reset closes a connection without lingering in TIME_WAIT.
func reset(nc net.Conn) {
	if tcp, ok := nc.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = nc.Close()
}
