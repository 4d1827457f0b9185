package app

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"runtime"

	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/sbc"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/transaction"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func newServer(cfg *config.Config, keys *keeper, boot uint32, inter sbc.Interconnect, watch *watch, log *slog.Logger) (*sbc.Server, error) {
	trust := keys.current()
	c := sbc.Config{
		Node: cfg.Name, Site: cfg.Site, Boot: boot, Key: trust.secrets[0], OlderKeys: trust.secrets[1:], Seed: trust.seed, Realm: cfg.SIP.Realm,
		ClockOffset: cfg.ClockOffset, MaxCalls: cfg.SIP.Limits.Calls, Shards: cfg.SIP.Shards,
		Limits: transport.Limits{
			MaxConns: cfg.SIP.Limits.Connections, MaxConnsPerSource: cfg.SIP.Limits.ConnectionsPerSource,
		},
		Door:       watch.app.doors.guard,
		Timers:     transaction.Timers{T1: cfg.SIP.T1, T2: cfg.SIP.T2, T4: cfg.SIP.T4},
		CallLimits: watch.app.limits,
		Hooks:      watch.app.hooks,
		Bindings:   watch.app.regs,
		Routes:     watch.app.routes,
		Fraud:      watch.app.frauds.watch,
		Charging:   watch.app.charging.clerk,
		Sessions:   watch.app.sessions,
		Interim:    cfg.CDR.Interim,
		Interims:   watch.interim,
		Traffic:    func(int) sbc.Traffic { return traffic{watch.meter.all.NewSIP(), &watch.canary} },
		Logger:     log.With("component", "sip"),
	}
	c.Domains, c.StrictDomains = cfg.SIP.Domains, domainCheck(cfg.SIP.StrictDomains)
	if cfg.SIP.UserAgent != "-" {
		c.UserAgent = cfg.SIP.UserAgent
	}
	for _, l := range cfg.Listeners {
		spec, err := listener(l, keys)
		if err != nil {
			return nil, err
		}
		c.Listeners = append(c.Listeners, spec)
	}
	client, err := newLiveTLS("client", cfg.SIP.TLS, clientTLS)
	if err != nil {
		return nil, fmt.Errorf("sip.tls: %w", err)
	}
	keys.watchTLS(client)
	c.ClientTLS = client.client
	return sbc.New(c, inter, watch)
}

func listener(l config.Listener, keys *keeper) (sbc.Listener, error) {
	proto, err := trunkgroup.ParseTransport(l.Transport)
	if err != nil {
		return sbc.Listener{}, fmt.Errorf("listener %s: %w", l.Name, err)
	}
	spec := sbc.Listener{ListenerConfig: transport.ListenerConfig{
		Name: l.Name, Transport: proto, Addr: l.Address, WebSocket: transport.WebSocket(l.WebSocket),
	}}
	if l.Advertise != l.Address && l.Advertise.IsValid() {
		spec.Advertise = l.Advertise.String()
	}
	switch proto {
	case trunkgroup.UDP:
		spec.Sockets = runtime.GOMAXPROCS(0)
	case trunkgroup.TLS, trunkgroup.WSS:
		live, err := newLiveTLS(l.Name, l.TLS, serverTLS)
		if err != nil {
			return spec, fmt.Errorf("listener %w", err)
		}
		keys.watchTLS(live)
		spec.TLS = live.server()
	}
	return spec, nil
}

// domainCheck reads a word of sip.strict_domains.
func domainCheck(word string) b2bua.DomainCheck {
	switch word {
	case "all":
		return b2bua.DomainsOfAll
	case "off":
		return b2bua.DomainsOfNobody
	}
	return b2bua.DomainsOfUsers
}

func serverTLS(files config.TLS) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}}
	if files.CA != "" {
		if c.ClientCAs, err = pool(files.CA); err != nil {
			return nil, err
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, nil
}

// clientTLS makes the configuration of connections that this node opens. The
// member's certificate must be valid for its server name.
func clientTLS(files config.TLS) (*tls.Config, error) {
	base := &tls.Config{MinVersion: tls.VersionTLS12}
	if files.CA != "" {
		roots, err := pool(files.CA)
		if err != nil {
			return nil, err
		}
		base.RootCAs = roots
	}
	if files.Cert != "" {
		cert, err := tls.LoadX509KeyPair(files.Cert, files.Key)
		if err != nil {
			return nil, fmt.Errorf("certificate: %w", err)
		}
		base.Certificates = []tls.Certificate{cert}
	}
	return base, nil
}

func pool(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("authorities: %w", err)
	}
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("authorities: %s holds no certificate in PEM", file)
	}
	return p, nil
}
