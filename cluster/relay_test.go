package cluster

import (
	"net"
	"sync"
	"testing"

	"github.com/tandem-sbc/tandem/cluster/dialmap"
)

// relay stands between the sites: it forwards TCP and UDP and can be cut.
type relay struct {
	t     *testing.T
	mu    sync.Mutex
	cut   bool
	via   map[string]string // real address -> relay address
	conns map[net.Conn]struct{}
	done  []func()
	wg    sync.WaitGroup
}

func newRelay(t *testing.T) *relay {
	r := &relay{t: t, via: map[string]string{}, conns: map[net.Conn]struct{}{}}
	t.Cleanup(r.close)
	return r
}

// rules maps the addresses of the nodes in the other site to the relay.
func (r *relay) rules(l *lab, name string) []dialmap.Rule {
	var rules []dialmap.Rule
	for _, n := range l.names {
		if siteOf(n) == siteOf(name) {
			continue
		}
		for _, address := range l.ports[n] {
			rules = append(rules, dialmap.Rule{Address: address, Via: r.forward(address)})
		}
	}
	return rules
}

// forward opens a relay address for a real one, once.
func (r *relay) forward(address string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if via, ok := r.via[address]; ok {
		return via
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	p, err := net.ListenPacket("udp", l.Addr().String())
	if err != nil {
		r.t.Fatal(err)
	}
	to, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.via[address] = l.Addr().String()
	r.done = append(r.done, func() { l.Close(); p.Close() })
	r.wg.Add(2)
	go func() {
		defer r.wg.Done()
		buf := make([]byte, 65536)
		for {
			n, _, err := p.ReadFrom(buf)
			if err != nil {
				return
			}
			if !r.isCut() {
				p.WriteTo(buf[:n], to)
			}
		}
	}()
	go func() {
		defer r.wg.Done()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.wg.Go(func() { r.pipe(c, address) })
		}
	}()
	return l.Addr().String()
}

func (r *relay) isCut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cut
}

// pipe forwards one stream. A cut link takes what is sent and delivers nothing, as
// a WAN does; only the end of the test closes it.
func (r *relay) pipe(a net.Conn, address string) {
	defer a.Close()
	b, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer b.Close()
	if !r.keep(a, b) {
		return
	}
	defer r.drop(a, b)
	both := make(chan struct{}, 2)
	copying := func(to, from net.Conn) {
		defer func() { both <- struct{}{} }()
		buf := make([]byte, 32<<10)
		for {
			n, err := from.Read(buf)
			if err != nil {
				to.Close()
				return
			}
			if r.isCut() {
				// What is lost here would break the stream's order: it is dead now.
				continue
			}
			if _, err := to.Write(buf[:n]); err != nil {
				from.Close()
				return
			}
		}
	}
	go copying(a, b)
	go copying(b, a)
	<-both
	<-both
}

func (r *relay) keep(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conns == nil {
		return false
	}
	for _, c := range conns {
		r.conns[c] = struct{}{}
	}
	return true
}

func (r *relay) drop(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		delete(r.conns, c)
	}
}

// setCut cuts the link, or heals it: then all streams that lost octets are reset.
func (r *relay) setCut(cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = cut
	if !cut {
		for c := range r.conns {
			c.Close()
		}
	}
}

func (r *relay) close() {
	r.mu.Lock()
	for _, f := range r.done {
		f()
	}
	for c := range r.conns {
		c.Close()
	}
	r.conns = nil
	r.mu.Unlock()
	r.wg.Wait()
}
