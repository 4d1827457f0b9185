//go:build e2e

package e2e

import (
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"github.com/tandem-sbc/tandem/lab"
)

// names is the name server of the laboratory. It knows one name.
type names struct {
	mu      sync.Mutex
	records map[string][]dns.RR // by name and type
	deaf    bool
	asked   int
}

// nameServer is the one that all nodes ask.
var nameServer = sync.OnceValues(func() (*names, error) {
	l, err := network()
	if err != nil {
		return nil, err
	}
	var conn net.PacketConn
	err = l.Namespace(lab.Outside).Do(func() (err error) {
		conn, err = net.ListenPacket("udp", netip.AddrPortFrom(lab.Host4(lab.Outside, nameHost), 53).String())
		return err
	})
	if err != nil {
		return nil, err
	}
	s := &names{records: map[string][]dns.RR{}}
	server := &dns.Server{PacketConn: conn, Handler: s}
	shared.add(server.Shutdown)
	started := make(chan struct{})
	server.NotifyStartedFunc = func() { close(started) }
	go func() {
		// It ends with the run.
		_ = server.ActivateAndServe()
	}()
	<-started
	return s, s.set(zone("10", "20")...)
})

// zone is the name of srv-in's PBXs with the priorities of the two; an empty one
// leaves its PBX out.
func zone(first, second string) []string {
	lines := []string{
		"one.example.net. 1 IN A " + lab.Host4(lab.PBXDallas, srv1).String(),
		"two.example.net. 1 IN A " + lab.Host4(lab.PBXDallas, srv2).String(),
	}
	for host, priority := range map[string]string{"one": first, "two": second} {
		if priority != "" {
			lines = append(lines, "_sip._udp.pbx.example.net. 1 IN SRV "+priority+" 1 5060 "+host+".example.net.")
		}
	}
	return lines
}

// set replaces all records.
func (s *names) set(lines ...string) error {
	records := map[string][]dns.RR{}
	for _, line := range lines {
		r, err := dns.NewRR(line)
		if err != nil {
			return err
		}
		key := recordKey(r.Header().Name, r.Header().Rrtype)
		records[key] = append(records[key], r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = records
	return nil
}

func recordKey(name string, kind uint16) string {
	return strings.ToLower(name) + " " + dns.TypeToString[kind]
}

// ServeDNS implements dns.Handler.
func (s *names) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.deaf {
		return
	}
	reply := new(dns.Msg).SetReply(query)
	for _, q := range query.Question {
		reply.Answer = append(reply.Answer, s.records[recordKey(q.Name, q.Qtype)]...)
	}
	// A client that has gone needs no answer.
	_ = w.WriteMsg(reply)
}

// count returns how many questions came.
func (s *names) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// theNames returns the name server and puts its records back after the test.
func theNames(t testing.TB) *names {
	t.Helper()
	s, err := nameServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.silence(false)
		if err := s.set(zone("10", "20")...); err != nil {
			t.Error(err)
		}
	})
	return s
}

// silence makes the server swallow all questions, or answer again.
func (s *names) silence(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf = on
}
