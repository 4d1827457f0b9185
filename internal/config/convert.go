package config

import (
	"crypto/tls"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// convert turns the file into a Config and notes every fault on the way.
func convert(f *file, path string, faults *Faults) *Config {
	c := &checker{Faults: faults, dir: filepath.Dir(path)}
	cfg := &Config{
		Path:    path,
		Name:    c.name("name", f.Name, "dal-1"),
		Site:    c.name("site", f.Site, "dallas"),
		Witness: f.Witness,
		DataDir: c.path(f.DataDir),
	}
	if f.DataDir == "" {
		c.add("data_dir", "for example /var/lib/tandem", "missing")
	}
	cfg.ClockOffset = c.duration("clock_offset", f.ClockOffset, -24*time.Hour, 24*time.Hour)
	cfg.Listeners = c.listeners(f)
	cfg.Interconnect = c.endpoint("interconnect", f.Interconnect.Address, f.Interconnect.Advertise, "192.0.2.10:7950")
	cfg.Cluster = c.cluster(f, cfg.Interconnect)
	cfg.Admin = c.admin(&f.Admin)
	cfg.CDR = c.cdr(&f.CDR, cfg.DataDir)
	cfg.Log = c.log(&f.Log)
	cfg.SIP = c.sip(f)
	cfg.Drain = c.drain(&f.Drain)
	cfg.SoftState = c.softState(&f.SoftState)
	cfg.Metrics = c.metrics(&f.Metrics)
	cfg.Doors = c.doors(&f.Doors)
	cfg.Diameter = c.diameter(&f.Diameter)
	for i, s := range f.DNS.Servers {
		cfg.DNS.Servers = append(cfg.DNS.Servers, c.addrPort(index("dns.servers", i), s, "192.0.2.53:53", true))
	}
	return cfg
}

// transports are the words of listeners[].transport.
var transports = []string{"udp", "tcp", "tls", "ws", "wss"}

func (c *checker) listeners(f *file) []Listener {
	switch {
	case f.Witness && len(f.Listeners) > 0:
		c.add("listeners", "remove them, or remove witness", "a witness carries no calls")
	case !f.Witness && len(f.Listeners) == 0:
		c.add("listeners", "for example [{name: udp, transport: udp, address: 192.0.2.10:5060}]", "missing")
	}
	names, sockets := map[string]string{}, map[string]string{}
	list := make([]Listener, len(f.Listeners))
	for i, l := range f.Listeners {
		key := index("listeners", i)
		list[i] = Listener{
			Name:      c.name(join(key, "name"), l.Name, "udp"),
			Transport: l.Transport,
			Endpoint:  c.endpoint(key, l.Address, l.Advertise, "192.0.2.10:5060"),
			Zone:      l.Zone,
		}
		c.unique(names, join(key, "name"), l.Name)
		if !slices.Contains(transports, l.Transport) {
			c.add(join(key, "transport"), "write udp, tcp, tls, ws or wss", "%q is not a transport", l.Transport)
		}
		network := "tcp "
		if l.Transport == "udp" {
			network = "udp "
		}
		if a := list[i].Address; a.IsValid() && a.Port() != 0 {
			c.unique(sockets, join(key, "address"), network+a.String())
		}
		list[i].TLS = c.listenerTLS(join(key, "tls"), l)
		list[i].WebSocket = c.websocket(join(key, "websocket"), l)
		list[i].Allow, list[i].Deny = c.access(key, l.Allow, l.Deny)
	}
	return list
}

func (c *checker) listenerTLS(key string, l fileListener) TLS {
	if !encrypted(l.Transport) {
		if l.TLS != (fileTLS{}) {
			c.add(key, "remove it, or write transport: tls", "only for the transport tls or wss")
		}
		return TLS{}
	}
	return c.serverTLS(key, l.TLS)
}

// serverTLS reads the files of whoever is connected to over TLS.
func (c *checker) serverTLS(key string, f fileTLS) TLS {
	if f.Cert == "" {
		c.add(join(key, "cert"), "name the PEM file of the certificate and its chain", "missing")
	}
	if f.Key == "" {
		c.add(join(key, "key"), "name the PEM file of the private key", "missing")
	}
	t := TLS{
		Cert: c.file(join(key, "cert"), f.Cert),
		Key:  c.file(join(key, "key"), f.Key),
		CA:   c.file(join(key, "client_ca"), f.ClientCA),
	}
	c.pair(key, t)
	return t
}

// pair checks that certificate and key belong together.
func (c *checker) pair(key string, t TLS) {
	if t.Cert == "" || t.Key == "" {
		return
	}
	if _, err := tls.LoadX509KeyPair(t.Cert, t.Key); err != nil {
		c.add(key, "name a certificate and the key that it was made for", "%v", err)
	}
}

func (c *checker) admin(f *fileAdmin) Admin {
	var a Admin
	switch path, unix := strings.CutPrefix(f.Address, "unix:"); {
	case unix && path == "":
		c.add("admin.address", "for example unix:/run/tandem/admin.sock", "missing path")
	case unix:
		a.Network, a.Address = "unix", c.path(path)
	default:
		a.Network, a.Address = "tcp", f.Address
		at := c.addrPort("admin.address", f.Address, "127.0.0.1:8080 or unix:/run/tandem/admin.sock", true)
		if at.IsValid() && !at.Addr().IsLoopback() {
			c.add("admin.address", "use 127.0.0.1 or a unix socket; admin.remote serves other machines, over TLS", "%s can be reached from other machines", f.Address)
		}
	}
	if f.TokenFile != "" {
		token, err := readSecret(c.path(f.TokenFile))
		switch {
		case err != nil:
			c.add("admin.token_file", "name a file of mode 0600 that holds the token alone", "%v", err)
		case len(token) < 16:
			c.add("admin.token_file", "use 16 characters or more", "the token is too short")
		}
		a.Token = Secret{[]byte(token)}
	}
	a.Metrics = c.addrPort("admin.metrics", f.Metrics, "192.0.2.10:9060", false)
	a.Remote = c.adminRemote(f)
	return a
}

// adminRemote reads the address for other machines: nobody is served there who shows neither the
// token nor a certificate.
func (c *checker) adminRemote(f *fileAdmin) AdminRemote {
	if f.Remote == (fileRemote{}) {
		return AdminRemote{}
	}
	if f.TokenFile == "" && f.Remote.TLS.ClientCA == "" {
		c.add("admin.remote", "name admin.token_file, or admin.remote.tls.client_ca", "nothing tells who may ask")
	}
	return AdminRemote{
		Address: c.addrPort("admin.remote.address", f.Remote.Address, "192.0.2.10:8443", true),
		TLS:     c.serverTLS("admin.remote.tls", f.Remote.TLS),
	}
}

func (c *checker) log(f *fileLog) Log {
	var l Log
	if err := l.Level.UnmarshalText([]byte(f.Level)); err != nil {
		c.add("log.level", "write debug, info, warn or error", "%q is not a level", f.Level)
	}
	switch f.Format {
	case "json":
		l.JSON = true
	case "text":
	default:
		c.add("log.format", "write json or text", "%q is not a format", f.Format)
	}
	return l
}

func (c *checker) sip(f *file) SIP {
	s := &f.SIP
	if s.Realm == "" && !f.Witness {
		c.add("sip.realm", "write the realm that credentials are made for, for example sip.example.net, or \"-\" for no digest", "missing")
	}
	if strings.ContainsAny(s.Realm+s.UserAgent, "\"\\\r\n\t") {
		c.add("sip.realm", "use letters, digits, '.', '-' and spaces", "quotes and control characters may not stand in realm or user_agent")
	}
	out := SIP{
		Realm:     unlessDash(s.Realm),
		UserAgent: unlessDash(s.UserAgent),
		Domains:   c.domains("sip.domains", s.Domains), StrictDomains: s.Strict,
		DoNotOriginate: c.file("sip.do_not_originate", s.DoNotOriginate),
		Shards:         c.number("sip.shards", s.Shards, 0, 1024),
		T1:             c.duration("sip.timers.t1", s.Timers.T1, 10*time.Millisecond, 2*time.Second),
		T2:             c.duration("sip.timers.t2", s.Timers.T2, 10*time.Millisecond, 32*time.Second),
		T4:             c.duration("sip.timers.t4", s.Timers.T4, 10*time.Millisecond, 32*time.Second),
		Limits: Limits{
			Calls:                c.number("sip.limits.calls", s.Limits.Calls, 0, 1<<30),
			Connections:          c.number("sip.limits.connections", s.Limits.Connections, 1, 1<<20),
			ConnectionsPerSource: c.number("sip.limits.connections_per_source", s.Limits.ConnectionsPerSource, 1, 1<<20),
		},
		TLS: TLS{
			Cert: c.file("sip.tls.cert", s.TLS.Cert),
			Key:  c.file("sip.tls.key", s.TLS.Key),
			CA:   c.file("sip.tls.ca", s.TLS.CA),
		},
	}
	if !slices.Contains([]string{"users", "all", "off"}, s.Strict) {
		c.add("sip.strict_domains", "write users, all or off", "%q is none of these", s.Strict)
	}
	if out.T2 < out.T1 {
		c.add("sip.timers.t2", "t2 is the longest pause between repetitions and t1 the first", "smaller than t1")
	}
	if (s.TLS.Cert == "") != (s.TLS.Key == "") {
		c.add("sip.tls", "name both cert and key, or neither", "one of cert and key is missing")
	}
	c.pair("sip.tls", out.TLS)
	return out
}

// unlessDash turns the word for "none" into nothing.
func unlessDash(s string) string {
	if s == "-" {
		return ""
	}
	return s
}
