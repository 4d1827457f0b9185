package sim

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Listen is one address of a far end.
type Listen struct {
	Transport trunkgroup.Transport // default UDP
	Addr      netip.AddrPort       // port 0: the system chooses; several transports of one address then share the port
	TLS       *tls.Config          // server side of TLS, see NewCertificate
}

// FarEndConfig describes a far end on real sockets.
type FarEndConfig struct {
	CalleeConfig
	Listen    []Listen
	ClientTLS func(serverName string) *tls.Config // for connections back to the SBC; may be nil
	Loop      *Loop                               // serves the sockets, of UDP only; nil: sockets of package transport
	Register  *RegisterConfig                     // nil: it is reached at its address
	Logger    *slog.Logger                        // default: discard
}

// FarEnd is a simulated PBX or carrier on real sockets. All methods may be called
// by several goroutines.
type FarEnd struct {
	*endpoint
	callee *Callee
	reg    *registering // nil unless it registers
	cfg    FarEndConfig
	addrs  []netip.AddrPort
}

// StartFarEnd binds the addresses and begins to answer.
func StartFarEnd(cfg FarEndConfig) (*FarEnd, error) {
	f := &FarEnd{endpoint: newEndpoint(cfg.Loop), cfg: cfg}
	f.callee = NewCallee(cfg.CalleeConfig, f.send)
	f.core = f.callee
	if err := f.bind(); err != nil {
		return nil, fmt.Errorf("far end %s: %w", cfg.Name, err)
	}
	if r := cfg.Register; r != nil {
		t := cmp.Or(cfg.Listen[0].Transport, trunkgroup.UDP)
		f.reg = newRegistering(f.callee, *r, t, f.addrs[0], time.Now())
		f.setCore(f.reg)
	}
	f.start()
	return f, nil
}

// Unregister takes the far end out of the registrar and waits until that is
// done, or ctx ends. Without a registration it does nothing.
func (f *FarEnd) Unregister(ctx context.Context) {
	if f.reg == nil {
		return
	}
	f.do(func(now time.Time) { f.reg.stop(now) })
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for gone := false; !gone; {
		f.do(func(time.Time) { gone = f.reg.gone() })
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// StartPBX starts a customer's PBX that answers by b on one UDP address.
func StartPBX(name string, addr netip.AddrPort, b Behaviour) (*FarEnd, error) {
	return StartFarEnd(FarEndConfig{
		CalleeConfig: CalleeConfig{Name: name, Role: PBX, Behaviour: b}, Listen: []Listen{{Addr: addr}},
	})
}

// StartCarrier starts a carrier's gateway that answers by b on one UDP address.
func StartCarrier(name string, addr netip.AddrPort, b Behaviour) (*FarEnd, error) {
	return StartFarEnd(FarEndConfig{
		CalleeConfig: CalleeConfig{Name: name, Role: Carrier, Behaviour: b}, Listen: []Listen{{Addr: addr}},
	})
}

// bind opens the sockets, at the addresses that they had before if they had any.
func (f *FarEnd) bind() error {
	const attempts = 16 // a free port of one transport may be taken on another
	var err error
	for range attempts {
		var tc transport.Config
		tc, err = f.transportConfig()
		if err != nil {
			return err
		}
		addrs, openErr := f.open(tc)
		if openErr == nil {
			f.addrs = addrs
			f.read()
			return nil
		}
		err = openErr
		if len(f.addrs) > 0 || !f.sharesPort() {
			break
		}
	}
	return err
}

// sharesPort reports whether several listeners must agree on a port to be chosen.
func (f *FarEnd) sharesPort() bool { return len(f.cfg.Listen) > 1 && f.cfg.Listen[0].Addr.Port() == 0 }

func (f *FarEnd) transportConfig() (transport.Config, error) {
	tc := transport.Config{ClientTLS: f.cfg.ClientTLS, Logger: f.cfg.Logger}
	shared := uint16(0)
	if len(f.addrs) == 0 && f.sharesPort() {
		port, err := freePort(f.cfg.Listen[0].Addr.Addr())
		if err != nil {
			return tc, err
		}
		shared = port
	}
	for i, l := range f.cfg.Listen {
		if l.Transport == 0 {
			l.Transport = trunkgroup.UDP
		}
		addr := l.Addr
		switch {
		case len(f.addrs) > 0:
			addr = f.addrs[i]
		case addr.Port() == 0:
			addr = netip.AddrPortFrom(addr.Addr(), shared)
		}
		tc.Listeners = append(tc.Listeners, transport.ListenerConfig{
			Name: f.cfg.Name, Transport: l.Transport, Addr: addr, TLS: l.TLS,
		})
	}
	return tc, nil
}

func freePort(addr netip.Addr) (uint16, error) {
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0)))
	if err != nil {
		return 0, fmt.Errorf("free port: %w", err)
	}
	port := c.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	return port, c.Close()
}

// Name returns the configured name.
func (f *FarEnd) Name() string { return f.cfg.Name }

// Addr returns the bound address of listener i.
func (f *FarEnd) Addr(i int) netip.AddrPort { return f.addrs[i] }

// SetBehaviour changes the script for calls to come.
func (f *FarEnd) SetBehaviour(b Behaviour) { f.do(func(time.Time) { f.callee.SetBehaviour(b) }) }

// Account returns a copy of the account.
func (f *FarEnd) Account() (a Account) {
	f.do(func(time.Time) { a = f.callee.Account() })
	return a
}

// Legs returns the records of the last ended legs and of the live ones.
func (f *FarEnd) Legs() (legs []Leg) {
	f.do(func(time.Time) { legs = f.callee.Legs() })
	return legs
}

// Kill closes all sockets at once, as a machine that loses its power: datagrams
// to it meet ICMP, its calls count as lost. Killing a dead far end does nothing.
func (f *FarEnd) Kill() error {
	err := f.shut()
	f.do(func(now time.Time) { f.callee.Drop(now) })
	if err != nil {
		return fmt.Errorf("far end %s: %w", f.cfg.Name, err)
	}
	return nil
}

// Revive binds the same addresses again; the account goes on.
func (f *FarEnd) Revive() error {
	if f.Alive() {
		return nil
	}
	if err := f.bind(); err != nil {
		return fmt.Errorf("far end %s: %w", f.cfg.Name, err)
	}
	return nil
}

// Alive reports whether the sockets are open.
func (f *FarEnd) Alive() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live
}

// Close ends the far end for good; no BYE is sent.
func (f *FarEnd) Close() error {
	err := f.shut()
	f.stop()
	return err
}
