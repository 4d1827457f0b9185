package main

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/tandem-sbc/tandem/sbc/sim"
)

// nameServer answers on loopback from a zone: "name type" to records.
func nameServer(t *testing.T, zone map[string][]string) string {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: socket, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		a := new(dns.Msg)
		a.SetReply(q)
		for _, text := range zone[strings.ToLower(q.Question[0].Name)+" "+dns.TypeToString[q.Question[0].Qtype]] {
			rr, err := dns.NewRR(text)
			if err != nil {
				t.Error(err)
				continue
			}
			a.Answer = append(a.Answer, rr)
		}
		_ = w.WriteMsg(a)
	})}
	started, done := make(chan struct{}), make(chan struct{})
	s.NotifyStartedFunc = func() { close(started) }
	go func() {
		defer close(done)
		_ = s.ActivateAndServe()
	}()
	<-started
	t.Cleanup(func() {
		_ = s.Shutdown()
		<-done
	})
	return socket.LocalAddr().String()
}

// RFC 3263 4.3: the node of the lower priority is asked first, and the next one
// when nobody is there.
func TestLoadFollowsSRVRecords(t *testing.T) {
	address, stop := startAnswer(t, "--listen", "127.0.0.1:0", "--behaviour", "instant")
	_, port, _ := net.SplitHostPort(address)
	dead, err := net.ListenPacket("udp", "127.0.0.1:0") // nobody answers there
	if err != nil {
		t.Fatal(err)
	}
	_, deadPort, _ := net.SplitHostPort(dead.LocalAddr().String())
	_ = dead.Close()
	server := nameServer(t, map[string][]string{
		"_sip._udp.sip.test. SRV": {
			"_sip._udp.sip.test. 60 IN SRV 20 1 " + port + " second.sip.test.",
			"_sip._udp.sip.test. 60 IN SRV 10 1 " + deadPort + " first.sip.test.",
		},
		"first.sip.test. A":  {"first.sip.test. 60 IN A 127.0.0.1"},
		"second.sip.test. A": {"second.sip.test. 60 IN A 127.0.0.1"},
	})
	code, out, errs := tandem(t, "load", "--srv", "udp:sip.test", "--dns", server, "--local", "127.0.0.1:0",
		"--to", "+12145550100", "--rate", "50", "--calls", "5", "--hold", "10ms", "-o", "json")
	var report sim.Report
	if err := json.Unmarshal([]byte(out), &report); code != exitOK || err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, errs)
	}
	if c := report.Counts; c.Answered != 5 || c.Failovers != 5 || c.Nodes["second.sip.test"] != 5 {
		t.Errorf("%+v", c)
	}
	stop()
	code, _, errs = tandem(t, "load", "--srv", "udp:absent.test", "--dns", server, "--to", "1", "--calls", "1")
	if code != exitFailed || !strings.Contains(errs, "absent.test") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, _, _ := tandem(t, "load", "--srv", "x", "--node", "127.0.0.1:1", "--to", "1", "--calls", "1"); code != exitUsage {
		t.Errorf("both --srv and --node: exit code %d", code)
	}
}
