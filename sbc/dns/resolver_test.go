package dns

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// RFC 3263 section 4.2: a port is given -> A and AAAA, no SRV query.
func TestPortGivenAsksAddressesOnly(t *testing.T) {
	s := newFakeServer(t)
	s.set("pbx.example.com.", dns.TypeA, "pbx.example.com. 300 IN A 192.0.2.7", "pbx.example.com. 300 IN A 192.0.2.6")
	s.set("pbx.example.com.", dns.TypeAAAA, "pbx.example.com. 300 IN AAAA 2001:db8::6")
	r, changes := newTestResolver(t, s, nil)
	target := Target{Name: "pbx.example.com", Port: 5070, Transport: trunkgroup.UDP}
	r.Watch([]Target{target})
	want := addrs("192.0.2.6:5070", "192.0.2.7:5070", "[2001:db8::6]:5070")
	if got := next(t, changes); got.target != target || !slices.Equal(got.addrs, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	if got := r.Addrs(target); !slices.Equal(got, want) {
		t.Fatalf("Addrs = %v", got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for q := range s.asked {
		if strings.Contains(q, "SRV") {
			t.Errorf("asked %s", q)
		}
	}
}

// DNS-03: a name without port expands to all addresses of all its SRV targets, lower priority value first.
func TestDNS03_AllServiceRecords(t *testing.T) {
	s := newFakeServer(t)
	s.set("_sip._udp.trial.example.com.", dns.TypeSRV,
		"_sip._udp.trial.example.com. 300 IN SRV 20 0 5062 c.example.com.",
		"_sip._udp.trial.example.com. 300 IN SRV 10 0 5061 b.example.com.",
		"_sip._udp.trial.example.com. 300 IN SRV 5 0 5060 a.example.com.")
	s.set("a.example.com.", dns.TypeA, "a.example.com. 300 IN A 192.0.2.1")
	s.set("b.example.com.", dns.TypeA, "b.example.com. 300 IN A 192.0.2.2")
	s.set("c.example.com.", dns.TypeA, "c.example.com. 300 IN CNAME d.example.com.", "d.example.com. 300 IN A 192.0.2.3")
	r, changes := newTestResolver(t, s, nil)
	r.Watch([]Target{{Name: "Trial.example.com", Transport: trunkgroup.UDP}})
	want := addrs("192.0.2.1:5060", "192.0.2.2:5061", "192.0.2.3:5062")
	if got := next(t, changes); !slices.Equal(got.addrs, want) {
		t.Fatalf("got %v, want %v", got.addrs, want)
	}
}

// RFC 3263 section 4.2: no SRV record -> A and AAAA with the default port of the transport.
func TestNoServiceRecordMeansDefaultPort(t *testing.T) {
	s := newFakeServer(t)
	s.set("gw.example.com.", dns.TypeA, "gw.example.com. 300 IN A 192.0.2.9")
	r, changes := newTestResolver(t, s, nil)
	for transport, want := range map[trunkgroup.Transport]string{
		trunkgroup.UDP: "192.0.2.9:5060", trunkgroup.TCP: "192.0.2.9:5060", trunkgroup.TLS: "192.0.2.9:5061",
	} {
		r.Watch([]Target{{Name: "gw.example.com", Transport: transport}})
		if got := next(t, changes); !slices.Equal(got.addrs, addrs(want)) {
			t.Errorf("%v: got %v, want %v", transport, got.addrs, want)
		}
	}
}

// RFC 2782: a target of "." declares that the service is not there; the name's own addresses are not used then.
func TestServiceDeclaredAbsent(t *testing.T) {
	s := newFakeServer(t)
	s.set("_sip._tcp.gw.example.com.", dns.TypeSRV, "_sip._tcp.gw.example.com. 300 IN SRV 5 0 5060 a.example.com.")
	s.set("a.example.com.", dns.TypeA, "a.example.com. 0 IN A 192.0.2.1")
	r, changes := newTestResolver(t, s, nil)
	r.Watch([]Target{{Name: "gw.example.com", Transport: trunkgroup.TCP}})
	next(t, changes)
	s.set("gw.example.com.", dns.TypeA, "gw.example.com. 300 IN A 192.0.2.9")
	s.set("_sip._tcp.gw.example.com.", dns.TypeSRV, "_sip._tcp.gw.example.com. 300 IN SRV 0 0 0 .")
	if got := next(t, changes); len(got.addrs) != 0 {
		t.Fatalf("got %v, want none", got.addrs)
	}
}

// The last good answer outlives a server that fails, says nothing, or has lost the name; a new answer replaces it.
func TestG05_LastGoodAnswerStays(t *testing.T) {
	s := newFakeServer(t)
	name := "gw.example.com."
	s.set(name, dns.TypeA, name+" 0 IN A 192.0.2.9")
	r, changes := newTestResolver(t, s, func(c *Config) { c.Timeout = 20 * time.Millisecond; c.Network = "ip4" })
	target := Target{Name: name, Port: 5060, Transport: trunkgroup.UDP}
	r.Watch([]Target{target})
	next(t, changes)
	for _, trouble := range []func(){
		func() { s.rcode = dns.RcodeServerFailure },
		func() { s.rcode = 0; s.mute = true },
		func() { s.mute = false; s.zone[name+" A"] = nil },
	} {
		var before int
		s.change(func() { trouble(); before = s.asked[name+" A"] })
		deadline := time.Now().Add(10 * time.Second)
		for {
			var asked int
			s.change(func() { asked = s.asked[name+" A"] })
			if asked >= before+3 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the name is not looked up any more")
			}
			<-time.After(time.Millisecond)
		}
		if got := r.Addrs(target); !slices.Equal(got, addrs("192.0.2.9:5060")) {
			t.Fatalf("Addrs = %v", got)
		}
	}
	if len(changes) != 0 {
		t.Fatalf("published %v", <-changes)
	}
	s.set(name, dns.TypeA, name+" 0 IN A 192.0.2.10")
	if got := next(t, changes); !slices.Equal(got.addrs, addrs("192.0.2.10:5060")) {
		t.Fatalf("got %v", got.addrs)
	}
}

// A name with a failing SRV lookup is not sent to the addresses of the bare name by mistake, and a name that never resolved has none.
func TestUnknownIsNotPublished(t *testing.T) {
	s := newFakeServer(t)
	s.set("gw.example.com.", dns.TypeA, "gw.example.com. 300 IN A 192.0.2.9")
	s.change(func() { s.rcode = dns.RcodeServerFailure })
	r, changes := newTestResolver(t, s, nil)
	r.Watch([]Target{{Name: "gw.example.com", Transport: trunkgroup.UDP}, {Name: "none.example.com", Port: 5060, Transport: trunkgroup.UDP}})
	deadline := time.Now().Add(10 * time.Second)
	for asked := 0; asked < 3; {
		s.change(func() { asked = s.asked["_sip._udp.gw.example.com. SRV"] })
		if time.Now().After(deadline) {
			t.Fatal("not asked again")
		}
		<-time.After(time.Millisecond)
	}
	s.set("_sip._udp.gw.example.com.", dns.TypeSRV, "_sip._udp.gw.example.com. 300 IN SRV 5 0 5080 gw.example.com.")
	s.change(func() { s.rcode = 0 })
	if got := next(t, changes); !slices.Equal(got.addrs, addrs("192.0.2.9:5080")) {
		t.Fatalf("got %v", got.addrs)
	}
}

// RFC 7766: a truncated answer is fetched over TCP. The second server is asked when the first is dead.
func TestTruncationAndSecondServer(t *testing.T) {
	dead, s := newFakeServer(t), newFakeServer(t)
	dead.change(func() { dead.mute = true })
	s.change(func() { s.big = true })
	s.set("gw.example.com.", dns.TypeA, "gw.example.com. 300 IN A 192.0.2.9")
	r, changes := newTestResolver(t, s, func(c *Config) {
		c.Servers = []string{dead.addr, s.addr}
		c.Timeout = 50 * time.Millisecond
		c.Network = "ip4"
	})
	r.Watch([]Target{{Name: "gw.example.com", Port: 5060, Transport: trunkgroup.UDP}})
	if got := next(t, changes); !slices.Equal(got.addrs, addrs("192.0.2.9:5060")) {
		t.Fatalf("got %v", got.addrs)
	}
}

// A literal needs no server, and a long TTL is cut short by Refresh.
func TestLiteralAndRefresh(t *testing.T) {
	s := newFakeServer(t)
	r, changes := newTestResolver(t, s, func(c *Config) { c.Network = "ip4" })
	r.Watch([]Target{{Name: "2001:db8::1", Transport: trunkgroup.TLS}})
	if got := next(t, changes); !slices.Equal(got.addrs, addrs("[2001:db8::1]:5061")) {
		t.Fatalf("got %v", got.addrs)
	}
	s.set("gw.example.com.", dns.TypeA, "gw.example.com. 3600 IN A 192.0.2.9")
	target := Target{Name: "gw.example.com", Port: 5060, Transport: trunkgroup.UDP}
	r.Watch([]Target{target})
	next(t, changes)
	s.set("gw.example.com.", dns.TypeA, "gw.example.com. 3600 IN A 192.0.2.8")
	r.Refresh(target)
	if got := next(t, changes); !slices.Equal(got.addrs, addrs("192.0.2.8:5060")) {
		t.Fatalf("got %v", got.addrs)
	}
	r.Watch(nil)
	if got := r.Addrs(target); got != nil {
		t.Fatalf("a forgotten target has %v", got)
	}
}

// RFC 2782: inside a priority the chance to come first goes by weight; priorities never mix.
func TestServiceOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	first := map[string]int{}
	for range 4000 {
		list := []srv{{host: "backup", priority: 2, weight: 100}, {host: "big", priority: 1, weight: 75}, {host: "small", priority: 1, weight: 25}, {host: "zero", priority: 1}}
		orderSRV(list, random)
		if list[3].host != "backup" {
			t.Fatalf("order %v", list)
		}
		first[list[0].host]++
	}
	if big := first["big"]; big < 2850 || big > 3150 {
		t.Errorf("weight 75 of 100 came first %d times of 4000", big)
	}
	if first["zero"] > 20 {
		t.Errorf("weight 0 came first %d times", first["zero"])
	}
}

func TestSystemServers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "resolv.conf")
	c := Config{ResolvConf: file}
	if _, err := c.servers(); err == nil {
		t.Error("a missing file is no error")
	}
	if err := os.WriteFile(file, []byte("search example.com\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.servers(); err == nil {
		t.Error("no server is no error")
	}
	if err := os.WriteFile(file, []byte("nameserver 192.0.2.53\nnameserver 2001:db8::53\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := c.servers()
	if err != nil || !slices.Equal(got, []string{"192.0.2.53:53", "[2001:db8::53]:53"}) {
		t.Errorf("servers = %v, %v", got, err)
	}
	for _, bad := range []Config{{Servers: []string{"localhost:53"}}, {Network: "udp"}, {MinTTL: time.Hour, MaxTTL: time.Minute}} {
		if _, err := New(bad); err == nil {
			t.Errorf("New(%+v) gave no error", bad)
		}
	}
}
