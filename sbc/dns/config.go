package dns

import (
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

// Config says how to look up. The zero value of each field means its default.
type Config struct {
	// Servers are the name servers as "address:port", asked in order. Empty: those of ResolvConf, read anew for every lookup.
	Servers []string
	// ResolvConf is the system's resolver file. Default /etc/resolv.conf.
	ResolvConf string
	// MinTTL and MaxTTL bound how long an answer is believed. Defaults 5 s and 1 h.
	MinTTL, MaxTTL time.Duration
	// Retry is the first wait after a failed lookup; it doubles up to ten times as much, which is also how soon a name that vanished is
	// looked for again. Default 2 s.
	Retry time.Duration
	// Timeout is how long one server may take for one question. Default 2 s.
	Timeout time.Duration
	// Parallel bounds the questions in flight. Default 16.
	Parallel int
	// Network is "ip" for both families (default), "ip4" or "ip6".
	Network string
	// OnChange gets the addresses of a target whenever they change, in the order in which they should be tried; empty when the name owner
	// says that the service does not exist (SRV target "."). It is called by one goroutine at a time and must not call Watch or Stop.
	OnChange func(t Target, addrs []netip.AddrPort)
	// Logger gets failures. Default: nothing is logged.
	Logger *slog.Logger
}

func (c *Config) setDefaults() error {
	setDefault(&c.ResolvConf, "/etc/resolv.conf")
	setDefault(&c.MinTTL, 5*time.Second)
	setDefault(&c.MaxTTL, time.Hour)
	setDefault(&c.Retry, 2*time.Second)
	setDefault(&c.Timeout, 2*time.Second)
	setDefault(&c.Parallel, 16)
	setDefault(&c.Network, "ip")
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.OnChange == nil {
		c.OnChange = func(Target, []netip.AddrPort) {}
	}
	switch {
	case c.MinTTL < 0 || c.MaxTTL < c.MinTTL:
		return fmt.Errorf("dns: TTL bounds %v to %v make no range", c.MinTTL, c.MaxTTL)
	case c.Network != "ip" && c.Network != "ip4" && c.Network != "ip6":
		return fmt.Errorf("dns: network %q is none of ip, ip4, ip6", c.Network)
	}
	for _, s := range c.Servers {
		if _, err := netip.ParseAddrPort(s); err != nil {
			return fmt.Errorf("dns: server: %w", err)
		}
	}
	return nil
}

// soon is the longest wait while something is wrong.
func (c *Config) soon() time.Duration { return 10 * c.Retry }

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// servers lists the name servers to ask now.
func (c *Config) servers() ([]string, error) {
	if len(c.Servers) > 0 {
		return c.Servers, nil
	}
	system, err := dns.ClientConfigFromFile(c.ResolvConf)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", c.ResolvConf, err)
	}
	list := make([]string, 0, len(system.Servers))
	for _, s := range system.Servers {
		list = append(list, joinPort(s, system.Port))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s names no server", c.ResolvConf)
	}
	return list, nil
}
