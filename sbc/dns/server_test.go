package dns

import (
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// fakeServer is an authoritative server on loopback whose zone the test changes while it runs.
type fakeServer struct {
	addr string

	mu    sync.Mutex
	zone  map[string][]string // "name type" -> records in zone file syntax
	rcode int                 // answer everything with this
	mute  bool                // answer nothing
	big   bool                // truncate over UDP
	asked map[string]int
}

func newFakeServer(t *testing.T) *fakeServer {
	t.Helper()
	s := &fakeServer{zone: make(map[string][]string), asked: make(map[string]int)}
	pc, l := listenBoth(t)
	s.addr = pc.LocalAddr().String()
	for _, server := range []*dns.Server{{PacketConn: pc, Handler: s}, {Listener: l, Handler: s}} {
		done := make(chan struct{})
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go func() {
			defer close(done)
			_ = server.ActivateAndServe()
		}()
		<-started
		t.Cleanup(func() {
			_ = server.Shutdown()
			<-done
		})
	}
	return s
}

// listenBoth binds one port for UDP and TCP. The TCP half may be taken by somebody else's connection: then another port is tried.
func listenBoth(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 100 {
		pc, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", pc.LocalAddr().String())
		if err == nil {
			return pc, l
		}
		if err := pc.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("no port is free for UDP and TCP")
	return nil, nil
}

// set gives a name its records of one type; none removes them.
func (s *fakeServer) set(name string, qtype uint16, records ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zone[name+" "+dns.TypeToString[qtype]] = records
}

func (s *fakeServer) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *fakeServer) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := query.Question[0]
	key := q.Name + " " + dns.TypeToString[q.Qtype]
	s.asked[key]++
	if s.mute {
		return
	}
	reply := new(dns.Msg)
	reply.SetRcode(query, s.rcode)
	_, udp := w.RemoteAddr().(*net.UDPAddr)
	if s.rcode == 0 {
		for _, text := range s.zone[key] {
			rr, err := dns.NewRR(text)
			if err != nil {
				panic(err)
			}
			reply.Answer = append(reply.Answer, rr)
		}
		if len(reply.Answer) == 0 {
			reply.Rcode = dns.RcodeNameError
		}
		if s.big && udp {
			reply.Truncated, reply.Answer, reply.Rcode = true, nil, 0
		}
	}
	_ = w.WriteMsg(reply)
}

// change is one call of OnChange.
type change struct {
	target Target
	addrs  []netip.AddrPort
}

// newTestResolver asks the server and reports changes on the channel.
func newTestResolver(t *testing.T, s *fakeServer, edit func(*Config)) (*Resolver, chan change) {
	t.Helper()
	changes := make(chan change, 100)
	cfg := Config{
		Servers:  []string{s.addr},
		MinTTL:   20 * time.Millisecond,
		Retry:    20 * time.Millisecond,
		Timeout:  500 * time.Millisecond,
		OnChange: func(t Target, addrs []netip.AddrPort) { changes <- change{t, addrs} },
	}
	if edit != nil {
		edit(&cfg)
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r, changes
}

// next waits for a change.
func next(t *testing.T, changes chan change) change {
	t.Helper()
	select {
	case c := <-changes:
		return c
	case <-time.After(10 * time.Second):
		t.Fatal("no change was published")
		return change{}
	}
}

func addrs(list ...string) []netip.AddrPort {
	out := make([]netip.AddrPort, 0, len(list))
	for _, s := range list {
		out = append(out, netip.MustParseAddrPort(s))
	}
	return out
}
