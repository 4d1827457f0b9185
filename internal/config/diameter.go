package config

import (
	"regexp"
	"time"
)

// Diameter says who this node is towards charging servers, and which they are.
type Diameter struct {
	// Host and Realm are the node's Diameter identity. Host is unique among all nodes and never changes:
	// servers know sessions by it.
	Host, Realm string
	// Peers are the servers; the first that is well is asked.
	Peers []DiameterPeer
	// Timeout is how long one request may take before the next server is asked, Watchdog the silence
	// after which a server is asked whether it lives.
	Timeout, Watchdog time.Duration
	// Queue bounds the records that are kept for servers that do not answer.
	Queue int
}

// DiameterPeer is one server, or an agent before one.
type DiameterPeer struct {
	Name, Address string // host:port
	// Host is what it must say that it is; empty = anything. Realm is where its requests are for.
	Host, Realm string
	// TLS is set for the transport tls and only there.
	Secure bool
	TLS    TLS
}

type fileDiameter struct {
	OriginHost  string             `mapstructure:"origin_host"`
	OriginRealm string             `mapstructure:"origin_realm"`
	Peers       []fileDiameterPeer `mapstructure:"peers"`
	Timeout     string             `mapstructure:"timeout"`
	Watchdog    string             `mapstructure:"watchdog"`
	Queue       int                `mapstructure:"queue"`
}

type fileDiameterPeer struct {
	Name      string        `mapstructure:"name"`
	Address   string        `mapstructure:"address"`
	Host      string        `mapstructure:"host"`
	Realm     string        `mapstructure:"realm"`
	Transport string        `mapstructure:"transport"`
	TLS       fileClientTLS `mapstructure:"tls"`
}

func defaultDiameter() fileDiameter {
	return fileDiameter{Timeout: "3s", Watchdog: "30s", Queue: 200_000}
}

// identity is a DiameterIdentity: a name as DNS has them (RFC 6733 4.3.1).
var identity = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)

func (c *checker) diameter(f *fileDiameter) Diameter {
	d := Diameter{
		Host: f.OriginHost, Realm: f.OriginRealm,
		Timeout:  c.duration("diameter.timeout", f.Timeout, 100*time.Millisecond, time.Minute),
		Watchdog: c.duration("diameter.watchdog", f.Watchdog, time.Second, 10*time.Minute),
		Queue:    c.number("diameter.queue", f.Queue, 1000, 10_000_000),
	}
	needed := len(f.Peers) > 0
	c.identity("diameter.origin_host", f.OriginHost, "dal-1.sip.example.com", needed)
	c.identity("diameter.origin_realm", f.OriginRealm, "sip.example.com", needed)
	names := map[string]string{}
	for i, p := range f.Peers {
		key := index("diameter.peers", i)
		peer := DiameterPeer{
			Name: c.name(join(key, "name"), p.Name, "ocs-1"), Address: c.hostPort(join(key, "address"), p.Address, "192.0.2.60:3868"),
			Host: p.Host, Realm: p.Realm, Secure: p.Transport == "tls",
		}
		c.unique(names, join(key, "name"), p.Name)
		c.identity(join(key, "host"), p.Host, "ocs-1.example.com", false)
		c.identity(join(key, "realm"), p.Realm, "example.com", true)
		switch p.Transport {
		case "", "tcp":
			if p.TLS != (fileClientTLS{}) {
				c.add(join(key, "tls"), "write transport: tls, or take it out", "means nothing for the transport tcp")
			}
		case "tls":
			peer.TLS = TLS{
				Cert: c.file(join(key, "tls.cert"), p.TLS.Cert), Key: c.file(join(key, "tls.key"), p.TLS.Key), CA: c.file(join(key, "tls.ca"), p.TLS.CA),
			}
			if (p.TLS.Cert == "") != (p.TLS.Key == "") {
				c.add(join(key, "tls"), "name both of cert and key, or none", "names one of them")
			}
			c.pair(join(key, "tls"), peer.TLS)
		default:
			c.add(join(key, "transport"), "write tcp or tls", "%q is not a transport of Diameter here", p.Transport)
		}
		d.Peers = append(d.Peers, peer)
	}
	return d
}

func (c *checker) identity(key, value, example string, required bool) {
	switch {
	case value == "" && required:
		c.add(key, "for example "+example, "missing")
	case value != "" && !identity.MatchString(value):
		c.add(key, "write a host name, for example "+example, "%q is not a Diameter identity", value)
	}
}
