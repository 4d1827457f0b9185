package registrar

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// DEC-15, R-27: where requests go, and which nodes reach it.
func TestDEC15_ReachOfAContact(t *testing.T) {
	for _, c := range []struct {
		name    string
		r       reg
		reach   trunkgroup.Reach
		addr    string
		expires time.Duration
	}{
		{"without NAT", reg{contacts: []string{"<sip:pbx@198.51.100.10:5060>"}}, trunkgroup.ReachAny, "198.51.100.10:5060", time.Hour},
		{"default port", reg{contacts: []string{"<sip:pbx@198.51.100.10>"}}, trunkgroup.ReachAny, "198.51.100.10:5060", time.Hour},
		{"private networks have no NAT inside", reg{source: "10.0.0.9:5062", contacts: []string{"<sip:pbx@10.0.0.9:5062>"}}, trunkgroup.ReachAny, "10.0.0.9:5062", time.Hour},
		{"IPv6", reg{source: "[2001:db8::1]:5060", contacts: []string{"<sip:pbx@[2001:0db8::1]>"}}, trunkgroup.ReachAny, "[2001:db8::1]:5060", time.Hour},
		{"private contact", reg{source: "198.51.100.10:40001", contacts: []string{"<sip:pbx@192.168.1.10:5060>"}}, trunkgroup.ReachSocket, "198.51.100.10:40001", 90 * time.Second},
		{"another port", reg{source: "198.51.100.10:40001", contacts: []string{"<sip:pbx@198.51.100.10:5060>"}}, trunkgroup.ReachSocket, "198.51.100.10:40001", 90 * time.Second},
		{"another port, wants answers at the one it names", reg{source: "198.51.100.10:40001", noRPort: true, contacts: []string{"<sip:pbx@198.51.100.10:5060>"}}, trunkgroup.ReachAny, "198.51.100.10:5060", time.Hour},
		{"a name", reg{contacts: []string{"<sip:pbx@pbx.example.net>"}}, trunkgroup.ReachSocket, "198.51.100.10:5060", 90 * time.Second},
		{"a third party", reg{contacts: []string{"<sip:victim@203.0.113.99:5060>"}}, trunkgroup.ReachSocket, "198.51.100.10:5060", 90 * time.Second},
		{"a third party, without rport", reg{noRPort: true, contacts: []string{"<sip:victim@203.0.113.99:5060>"}}, trunkgroup.ReachSocket, "198.51.100.10:5060", 90 * time.Second},
		{"a path to a third party", reg{contacts: []string{"<sip:pbx@198.51.100.10>"}, lines: "Path: <sip:203.0.113.99;lr>\r\n"}, trunkgroup.ReachSocket, "198.51.100.10:5060", 90 * time.Second},
		{"TCP", reg{transport: trunkgroup.TCP, flow: 3, contacts: []string{"<sip:pbx@198.51.100.10:5060;transport=tcp>"}}, trunkgroup.ReachFlow, "198.51.100.10:5060", 20 * time.Minute},
		{"TLS, a contact of UDP", reg{transport: trunkgroup.TLS, flow: 3, source: "198.51.100.10:9999", contacts: []string{"<sip:pbx@192.168.1.1>"}}, trunkgroup.ReachFlow, "198.51.100.10:9999", 20 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBook(t)
			b.ok(c.r)
			rec := b.only()
			if rec.Reach != c.reach || rec.Addr.String() != c.addr || rec.Expires.Sub(b.now) != c.expires {
				t.Errorf("%s %s %s", rec.Reach, rec.Addr, rec.Expires.Sub(b.now))
			}
			if rec.Node != "dal-1" || rec.Site != "dallas" || rec.Boot != 7 || rec.User != "pbx" || rec.AOR != aor {
				t.Errorf("%+v", rec)
			}
		})
	}
}

// DEC-15: PBXs behind two NATs may call themselves alike, and a NAT may change
// the port of one.
func TestDEC15_IdentityBehindNAT(t *testing.T) {
	b := newBook(t)
	const inner = "<sip:pbx@192.168.1.10:5060>"
	b.ok(reg{source: "198.51.100.10:40001", callID: "a", contacts: []string{inner}})
	b.ok(reg{source: "203.0.113.7:40001", callID: "b", contacts: []string{inner}})
	b.want(2)
	b.ok(reg{source: "198.51.100.10:40777", callID: "a", contacts: []string{inner}})
	b.want(2)
	if got := b.have[1].Addr.String(); got != "198.51.100.10:40777" {
		t.Error(got)
	}
	// The same far end without its NAT is another: it says so.
	b.ok(reg{source: "192.168.1.10:5060", callID: "c", contacts: []string{inner}})
	b.want(3)
}

// A far end that comes back by another connection leaves none behind.
func TestDEC15_AnotherConnectionReplacesTheOld(t *testing.T) {
	over := func(flow uint64, port, callID, contact string) reg {
		return reg{transport: trunkgroup.TCP, flow: flow, source: "203.0.113.7:" + port, callID: callID, contacts: []string{contact}}
	}
	t.Run("with its Call-ID, although the old one seems to live", func(t *testing.T) {
		b := newBook(t)
		b.ok(over(1, "40001", "a", "<sip:pbx@192.168.1.10:40001;transport=tcp>"))
		b.ok(over(2, "40002", "a", "<sip:pbx@192.168.1.10:40002;transport=tcp>"))
		if rec := b.only(); rec.Flow != 2 {
			t.Errorf("%+v", rec)
		}
	})
	t.Run("with another Call-ID, by its instance, once the old one has ended", func(t *testing.T) {
		b := newBook(t)
		const instance = `;+sip.instance="<urn:uuid:7>"`
		b.ok(over(1, "40001", "a", "<sip:pbx@192.168.1.10:40001;transport=tcp>"+instance))
		b.ok(over(2, "40002", "b", "<sip:pbx@192.168.1.10:40002;transport=tcp>"+instance))
		b.want(2)
		b.have[0] = b.have[0].WithoutFlow(b.now)
		b.ok(over(3, "40003", "c", "<sip:pbx@192.168.1.10:40003;transport=tcp>"+instance))
		b.want(2)
		for _, rec := range b.have {
			if rec.Gone() {
				t.Errorf("%+v", rec)
			}
		}
	})
	t.Run("another far end is not concerned", func(t *testing.T) {
		b := newBook(t)
		b.ok(over(1, "40001", "a", "<sip:pbx@192.168.1.10:40001;transport=tcp>"))
		b.ok(over(2, "40002", "b", "<sip:pbx@192.168.1.11:40002;transport=tcp>"))
		b.want(2)
	})
	t.Run("several contacts by one connection", func(t *testing.T) {
		b := newBook(t)
		b.ok(over(1, "40001", "a", "<sip:a@192.168.1.10:40001;transport=tcp>"))
		b.ok(over(1, "40001", "a", "<sip:b@192.168.1.10:40001;transport=tcp>"))
		b.want(2)
	})
}
