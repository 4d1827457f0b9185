package dns

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// lookup is the state of one target: what its last round of questions brought. It belongs to the target's goroutine.
type lookup struct {
	target Target
	good   map[question][]dns.RR // the last good answer to each question, kept while questions fail
	addrs  []netip.AddrPort
}

// round is the result of asking all questions of a target once.
type round struct {
	addrs    []netip.AddrPort
	complete bool // addrs is to be published; false when nothing is known
	ttl      time.Duration
	err      error // the first failure; addrs then rests on older answers in part
}

// run asks all questions of the target once.
func (l *lookup) run(ctx context.Context, r *Resolver) round {
	if ip, err := netip.ParseAddr(l.target.Name); err == nil {
		port := l.target.Port
		if port == 0 {
			port = l.target.Transport.DefaultPort()
		}
		return round{addrs: []netip.AddrPort{netip.AddrPortFrom(ip, port)}, complete: true, ttl: r.cfg.MaxTTL}
	}
	f := &fetch{resolver: r, old: l.good, good: make(map[question][]dns.RR), ttl: r.cfg.MaxTTL}
	hosts, absent := l.services(ctx, f)
	f.hosts(ctx, hosts)
	out := round{ttl: max(r.cfg.MinTTL, f.ttl), err: f.err}
	for _, h := range hosts {
		for _, ip := range f.addresses(h.host) {
			if a := netip.AddrPortFrom(ip, h.port); !slices.Contains(out.addrs, a) {
				out.addrs = append(out.addrs, a)
			}
		}
	}
	l.good = f.good
	out.complete = absent || len(out.addrs) > 0
	return out
}

// services lists the hosts to look up in the order to try them: the SRV targets, or the name itself. absent says that the owner of the name
// declares that there is no such service (RFC 2782: target ".").
func (l *lookup) services(ctx context.Context, f *fetch) (hosts []srv, absent bool) {
	if l.target.Port != 0 {
		return []srv{{host: fqdn(l.target.Name), port: l.target.Port}}, false
	}
	q := question{fqdn(l.target.service()), dns.TypeSRV}
	if !f.ask(ctx, q) && f.good[q] == nil {
		return nil, false // not known yet whether there is a service record
	}
	for _, rr := range f.good[q] {
		if r, ok := rr.(*dns.SRV); ok && r.Target != "." {
			hosts = append(hosts, srv{host: fqdn(r.Target), port: r.Port, priority: r.Priority, weight: r.Weight})
		}
	}
	switch {
	case len(hosts) > 0:
		f.resolver.order(hosts)
		return hosts, false
	case len(f.good[q]) > 0:
		return nil, true
	}
	return []srv{{host: fqdn(l.target.Name), port: l.target.Transport.DefaultPort()}}, false
}

// fetch collects the answers of one round; its questions run in parallel.
type fetch struct {
	resolver *Resolver
	old      map[question][]dns.RR

	mu   sync.Mutex
	good map[question][]dns.RR
	ttl  time.Duration
	err  error
}

// ask puts one question; when it fails, or the record is gone, the last good answer stands in. answered is false when no server gave an
// answer, not even that there is no such record.
func (f *fetch) ask(ctx context.Context, q question) (answered bool) {
	a, err := f.resolver.ask(ctx, q)
	f.mu.Lock()
	defer f.mu.Unlock()
	absent := errors.Is(err, errAbsent)
	if a.ttl > 0 || err == nil {
		f.ttl = min(f.ttl, a.ttl)
	}
	if err == nil {
		f.good[q] = a.records
		return true
	}
	if !absent && f.err == nil {
		f.err = err
	}
	if old := f.old[q]; old != nil {
		f.good[q] = old
		f.ttl = min(f.ttl, f.resolver.cfg.soon())
	}
	return absent
}

// hosts asks for the addresses of all hosts.
func (f *fetch) hosts(ctx context.Context, hosts []srv) {
	var wg sync.WaitGroup
	asked := make(map[question]bool)
	for _, h := range hosts {
		for _, qtype := range f.resolver.families() {
			q := question{h.host, qtype}
			if asked[q] {
				continue
			}
			asked[q] = true
			wg.Go(func() { f.ask(ctx, q) })
		}
	}
	wg.Wait()
}

// addresses are the known addresses of a host, IPv4 first: that is what carriers run.
func (f *fetch) addresses(host string) []netip.Addr {
	var list []netip.Addr
	for _, qtype := range f.resolver.families() {
		start := len(list)
		for _, rr := range f.good[question{host, qtype}] {
			var ip netip.Addr
			switch rr := rr.(type) {
			case *dns.A:
				ip, _ = netip.AddrFromSlice(rr.A.To4())
			case *dns.AAAA:
				ip, _ = netip.AddrFromSlice(rr.AAAA.To16())
			}
			if ip.IsValid() {
				list = append(list, ip)
			}
		}
		// Servers rotate their answers; the list must not change with them.
		slices.SortFunc(list[start:], netip.Addr.Compare)
	}
	return list
}
