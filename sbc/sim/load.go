package sim

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Load places calls on real sockets: at a constant rate (Run) or one by one
// (Dial). All methods may be called by several goroutines.
type Load struct {
	*endpoint
	cfg    LoadConfig
	caller *Caller
	pace   *pace
	locals map[listenKey]netip.AddrPort
	from   Numbers
	to     Numbers
	began  time.Time
	list   recordList
}

type listenKey struct {
	transport trunkgroup.Transport
	v6        bool
}

// NewLoad binds the sockets. Nothing is sent before Run or Dial.
func NewLoad(cfg LoadConfig) (*Load, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	l := &Load{endpoint: newEndpoint(cfg.Loop), cfg: cfg, locals: make(map[listenKey]netip.AddrPort), began: time.Now()}
	if l.from, err = ParseNumbers(cfg.From...); err != nil {
		return nil, fmt.Errorf("load: from: %w", err)
	}
	if l.to, err = ParseNumbers(cfg.To...); err != nil {
		return nil, fmt.Errorf("load: to: %w", err)
	}
	if err := l.bind(); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	l.list.limit, l.list.all, l.list.next = cfg.KeepFailures, cfg.KeepAll, cfg.Done
	cfg.CallerConfig.Done = l.list.add
	l.caller, err = NewCaller(cfg.CallerConfig, l.local, l.send)
	if err != nil {
		return nil, fmt.Errorf("load: %w", errors.Join(err, l.shut()))
	}
	l.pace = newPace(l)
	l.setCore(l.pace)
	l.read()
	l.start()
	return l, nil
}

// bind opens one socket per transport and address family that the nodes need.
func (l *Load) bind() error {
	tc := transport.Config{Logger: l.cfg.Logger}
	if l.cfg.TLS != nil {
		tc.ClientTLS = func(name string) *tls.Config {
			c := l.cfg.TLS.Clone()
			if name != "" {
				c.ServerName = name
			}
			return c
		}
	}
	var keys []listenKey
	for _, n := range l.cfg.Nodes {
		key := keyOf(n)
		if _, ok := l.locals[key]; ok {
			continue
		}
		addr, err := l.localFor(n)
		if err != nil {
			return err
		}
		l.locals[key] = addr
		lc := transport.ListenerConfig{Name: l.cfg.Name, Transport: key.transport, Addr: addr}
		if key.transport == trunkgroup.TLS {
			lc.TLS, _, err = NewCertificate(addr.Addr().String())
			if err != nil {
				return err
			}
		}
		tc.Listeners = append(tc.Listeners, lc)
		keys = append(keys, key)
	}
	addrs, err := l.open(tc)
	for i, addr := range addrs {
		l.locals[keys[i]] = addr
	}
	return err
}

func keyOf(n Node) listenKey {
	if n.Transport == 0 {
		n.Transport = trunkgroup.UDP
	}
	return listenKey{transport: n.Transport, v6: n.Addr.Addr().Unmap().Is6()}
}

// localFor finds the address that we send from to a node: the configured one of
// its family, else the one that the system would choose.
func (l *Load) localFor(n Node) (netip.AddrPort, error) {
	for _, a := range l.cfg.Local {
		if a.Addr().Is6() == n.Addr.Addr().Unmap().Is6() {
			return a, nil
		}
	}
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(n.Addr))
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("no way to node %s: %w", n.Addr, err)
	}
	addr := c.LocalAddr().(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(addr.Addr().Unmap(), 0), c.Close()
}

func (l *Load) local(n Node) netip.AddrPort { return l.locals[keyOf(n)] }

// Local returns our own address towards the nodes of a transport and family.
func (l *Load) Local(n Node) netip.AddrPort { return l.local(n) }

// Seed returns the seed of this run, for printing.
func (l *Load) Seed() uint64 { return l.cfg.Seed }

// Counts returns the running totals.
func (l *Load) Counts() (c Counts) {
	l.do(func(time.Time) { c = l.caller.Counts() })
	return c
}

// SetRate changes the calls per second of a running Run; 0 pauses it.
func (l *Load) SetRate(rate float64) { l.do(func(now time.Time) { l.pace.setRate(now, rate) }) }

// Finish makes a running Run begin no further call: it returns once those that were
// begun have ended.
func (l *Load) Finish() {
	l.do(func(time.Time) {
		l.pace.finish()
		l.pace.settle()
	})
}

// Run places calls at the configured rate until Calls or Duration is reached or
// the context ends, waits until all have ended, and reports. When the context
// ends, calls that ring are cancelled and those that are up are hung up.
func (l *Load) Run(ctx context.Context) (*Report, error) {
	l.do(func(now time.Time) {
		l.began = now
		l.pace.begin(now)
	})
	stop := context.AfterFunc(ctx, func() { l.do(l.pace.abort) })
	<-l.pace.started
	grace := time.NewTimer(l.cfg.Grace)
	defer grace.Stop()
	select {
	case <-l.pace.idle:
	case <-grace.C:
	}
	if !stop() {
		return l.Report(), fmt.Errorf("load: %w", ctx.Err())
	}
	return l.Report(), nil
}

// Close closes the sockets. Calls that are up are left as they are.
func (l *Load) Close() error {
	err := l.shut()
	l.stop()
	return err
}
