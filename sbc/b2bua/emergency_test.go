package b2bua

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// emergencyDocument has customers by source, by source with tech prefix and by
// digest, whose numbering knows 911.
func emergencyDocument() *trunkgroup.Document {
	doc := digestDocument()
	for i := range doc.TrunkGroups {
		doc.TrunkGroups[i].Numbering = trunkgroup.NumberingSpec{Preserve: []string{"911"}}
	}
	doc.TrunkGroups = append(doc.TrunkGroups, trunkgroup.GroupSpec{
		Name: "prefixed-out", Role: trunkgroup.TerminationCustomer, Numbering: trunkgroup.NumberingSpec{Preserve: []string{"911"}},
		Sources: []trunkgroup.SourceSpec{{IP: "198.51.100.20", Port: 5060, TechPrefix: "77#"}},
	})
	return doc
}

func emergencyWorld(t testing.TB) *world {
	return newWorldOf(t, "dal-1", "dallas", emergencyDocument())
}

// shed gives the shard an INVITE that it would refuse for overload.
func (w *world) shed(addr, text string) {
	w.t.Helper()
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		w.t.Fatal(fault)
	}
	w.step(func() {
		w.s.Shed(w.now, &Packet{Packet: transport.Packet{Message: m, Transport: trunkgroup.UDP, Source: netip.MustParseAddrPort(addr)}})
	})
}

func emergencyCall(host, called string) string {
	return invite{called: called, body: offer, host: host}.String()
}

// TestDEC17_OverloadRefusesNoEmergency: whoever is known by source, with or
// without tech prefix, is heard while other calls are refused; a stranger is asked
// who he is, and a customer by digest who answers is heard as well.
func TestDEC17_OverloadRefusesNoEmergency(t *testing.T) {
	w := emergencyWorld(t)
	w.shed(pbx1Addr, emergencyCall(pbx1Addr, "911"))
	w.take(carrierAddr, "INVITE")
	w = emergencyWorld(t)
	w.shed("198.51.100.20:5060", emergencyCall("198.51.100.20:5060", "77#911"))
	w.take(carrierAddr, "INVITE")
	w = emergencyWorld(t)
	w.shed(pbx1Addr, emergencyCall(pbx1Addr, "+13105550911")) // ends like one
	w.take(pbx1Addr, "SIP/2.0 503")
	w.untouched()

	w = emergencyWorld(t)
	w.shed(strangerAddr, emergencyCall(strangerAddr, "911"))
	challenge := w.take(strangerAddr, "SIP/2.0 401")
	w.untouched()
	call := invite{called: "911", body: offer, host: strangerAddr, seq: 2, branch: "z9hG4bKa2", lines: authorize(t, challenge, "sip:911@203.0.113.1")}
	w.shed(strangerAddr, call.String())
	w.take(carrierAddr, "INVITE")
}

// TestDEC17_StrangersGetNoExemption: 911 of a stranger is a stranger's call.
func TestDEC17_StrangersGetNoExemption(t *testing.T) {
	table, err := trunkgroup.Compile(emergencyDocument(), trunkgroup.Version{Cluster: "test", Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		addr, called, lines string
		want                bool
	}{
		"a trunk":                          {pbx1Addr, "911", "", true},
		"ordinary number of a trunk":       {pbx1Addr, "+13105550123", "", false},
		"a trunk, number that ends so":     {pbx1Addr, "+13105550911", "", false},
		"a trunk, with parameters":         {pbx1Addr, "911;phone-context=+1", "", true},
		"the prefixed trunk":               {"198.51.100.20:5060", "77#911", "", true},
		"a stranger":                       {strangerAddr, "911", "", false},
		"a stranger who claims the trunk":  {strangerAddr, "911", "P-Asserted-Identity: <sip:acme@198.51.100.10>\r\n", false},
		"a stranger who claims emergency":  {strangerAddr, "911", "Priority: emergency\r\nResource-Priority: esnet.0\r\n", false},
		"a stranger with credentials":      {strangerAddr, "911", "Authorization: Digest username=\"initech\"\r\n", false},
		"the trunk's address, other port":  {"198.51.100.10:5061", "911", "", false},
		"a group without 911 in its rules": {"192.0.2.200:5060", "911", "", false},
	} {
		m, fault := sip.Parse([]byte(invite{called: c.called, body: offer, host: c.addr, lines: c.lines}.String()))
		if fault != nil {
			t.Fatal(fault)
		}
		p := &Packet{Packet: transport.Packet{Message: m, Transport: trunkgroup.UDP, Source: netip.MustParseAddrPort(c.addr)}}
		if got := TrunkEmergency(table, p); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if n := testing.AllocsPerRun(20, func() { TrunkEmergency(table, p) }); n != 0 && !endsLikeEmergency([]byte(c.called)) {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	w := emergencyWorld(t)
	w.s.cfg.MaxCalls = 1
	w.from(pbx1Addr, emergencyCall(pbx1Addr, "+13105550123"))
	w.sent = nil
	w.from(strangerAddr, invite{called: "911", body: offer, host: strangerAddr, callID: "x"}.String())
	w.take(strangerAddr, "SIP/2.0 401")
}

// TestDEC17_FullNodeTakesEmergencies: sip.limits.calls holds for all other calls;
// at twice the number memory decides.
func TestDEC17_FullNodeTakesEmergencies(t *testing.T) {
	w := emergencyWorld(t)
	w.s.cfg.MaxCalls = 2
	at := func(n int, called string) string {
		id := string(rune('a' + n))
		return invite{called: called, body: offer, host: pbx1Addr, callID: "call-" + id, branch: "z9hG4bK" + id}.String()
	}
	w.from(pbx1Addr, at(0, "+13105550123"))
	w.from(pbx1Addr, at(1, "+13105550123"))
	w.sent = nil
	w.from(pbx1Addr, at(2, "+13105550123"))
	w.take(pbx1Addr, "SIP/2.0 503")
	for n := 3; n < 5; n++ {
		w.from(pbx1Addr, at(n, "911"))
		w.take(carrierAddr, "INVITE")
	}
	w.from(pbx1Addr, at(5, "911"))
	w.take(pbx1Addr, "SIP/2.0 503")
}

// TestDEC17_EmergenciesAreCounted: with the trunk that made them, so that too many
// are seen; limits do not count them.
func TestDEC17_EmergenciesAreCounted(t *testing.T) {
	w := emergencyWorld(t)
	full := w.limits.Meter(limit.Key{Kind: limit.Calls, Scope: limit.Group, Name: "acme-out"})
	if full != nil {
		full.SetFull(w.now.Add(time.Hour))
	}
	w.from(pbx1Addr, emergencyCall(pbx1Addr, "911"))
	w.take(carrierAddr, "INVITE")
	var groups []string
	for _, e := range w.events {
		if e.Kind == EventEmergency {
			groups = append(groups, e.Group.Name)
		}
	}
	if strings.Join(groups, " ") != "acme-out" {
		t.Errorf("counted %v", groups)
	}
}

// A REGISTER, or what else begins no call, comes back in a while, and not all at once.
func TestOverloadSpreadsRegistrations(t *testing.T) {
	seen := map[string]bool{}
	w := emergencyWorld(t)
	for range 200 {
		w.shed(strangerAddr, outsideRequest("REGISTER", "sip:203.0.113.1", "<sip:initech@203.0.113.1>", ""))
		after := string(w.take(strangerAddr, "SIP/2.0 503").Header(sip.RetryAfter))
		if len(after) == 0 || len(after) > 2 || len(after) == 1 && after < "5" || len(after) == 2 && after > "30" {
			t.Fatalf("Retry-After %q", after)
		}
		seen[after] = true
	}
	if len(seen) < 20 {
		t.Errorf("%d different values", len(seen))
	}
	w.untouched()
}

func BenchmarkTrunkEmergency(b *testing.B) {
	w := emergencyWorld(b)
	m, fault := sip.Parse([]byte(invite{body: offer}.String()))
	if fault != nil {
		b.Fatal(fault)
	}
	p := &Packet{Packet: transport.Packet{Message: m, Transport: trunkgroup.UDP, Source: netip.MustParseAddrPort(carrierAddr)}}
	b.ReportAllocs()
	for b.Loop() {
		TrunkEmergency(w.table, p)
	}
}

// BenchmarkShed is what refusing a call for overload costs, beside BenchmarkCall.
func BenchmarkShed(b *testing.B) {
	w := newWorld(b)
	w.s.env = &quietEnv{world: w}
	raw := []byte(invite{body: offer}.String())
	p := &Packet{Packet: transport.Packet{Transport: trunkgroup.UDP, Source: carrierTarget}}
	b.ReportAllocs()
	for b.Loop() {
		m, fault := sip.Parse(raw)
		if fault != nil {
			b.Fatal(fault)
		}
		p.Message = m
		w.s.Shed(w.now, p)
	}
}
