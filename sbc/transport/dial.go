package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// dial is the goroutine of a pooled connection: it connects from the listener's address, does the TLS handshake and reads until
// the end. On failure everything that waits fails.
func (c *conn) dial() {
	stream, err := c.connect()
	if err != nil {
		c.set.counters.DialFailed.Add(1)
		c.end(fmt.Errorf("transport: dial %s %s: %w: %w", c.transport, c.remote, ErrNotSent, err))
		return
	}
	c.set.counters.Dialled.Add(1)
	if c.open(stream) {
		c.read(stream)
	}
}

// connect returns the stream, or leaves the TCP connection to end.
func (c *conn) connect() (net.Conn, error) {
	config, err := c.clientTLS()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.set.ctx, c.set.limits.Connect)
	defer cancel()
	dialer := net.Dialer{KeepAliveConfig: keepAliveConfig}
	if c.key.local.IsValid() {
		dialer.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(c.key.local, 0))
	}
	nc, err := dialer.DialContext(ctx, "tcp", c.remote.String())
	if err != nil {
		return nil, err
	}
	if !c.attach(nc) {
		return nil, ErrClosed
	}
	if config == nil {
		return nc, nil
	}
	secure := tls.Client(nc, config)
	if err := c.handshake(secure); err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	return secure, nil
}

// clientTLS returns the configuration of a TLS connection, nil for TCP.
func (c *conn) clientTLS() (*tls.Config, error) {
	if c.transport != trunkgroup.TLS {
		return nil, nil
	}
	var config *tls.Config
	if c.set.cfg.ClientTLS != nil {
		config = c.set.cfg.ClientTLS(c.key.serverName)
	}
	if config == nil {
		return nil, ErrNoTLS
	}
	config = atLeastTLS12(config)
	if config.ServerName == "" && !config.InsecureSkipVerify {
		config = config.Clone()
		if config.ServerName = c.key.serverName; config.ServerName == "" {
			config.ServerName = c.remote.Addr().String()
		}
	}
	return config, nil
}
