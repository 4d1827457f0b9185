package registrar

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const aor = "sip:pbx@sip.example.com"

var (
	epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	self  = Node{Name: "dal-1", Site: "dallas", Boot: 7}
)

// rules are those of the member under test.
func rules() *trunkgroup.Registration {
	return &trunkgroup.Registration{
		AOR: aor, Users: []string{"pbx"}, Contacts: 3,
		MinExpires: time.Minute, MaxExpires: time.Hour, NATExpires: 90 * time.Second,
	}
}

// book is a registrar's table for one member, with time that the test moves.
type book struct {
	t     testing.TB
	now   time.Time
	rules *trunkgroup.Registration
	have  []*Record
	// lost are the sources of bindings that cannot be reached.
	lost map[netip.Addr]bool
	cseq uint32
}

func newBook(t testing.TB) *book {
	return &book{t: t, now: epoch, rules: rules(), lost: map[netip.Addr]bool{}}
}

// reg is a REGISTER as the test writes it; the zero value refreshes a PBX
// without NAT.
type reg struct {
	source    string // default 198.51.100.10:5060
	transport trunkgroup.Transport
	flow      uint64
	contacts  []string
	callID    string
	cseq      uint32
	lines     string
	noRPort   bool
}

func (r reg) text(cseq uint32) string {
	var b strings.Builder
	rport := ";rport"
	if r.noRPort {
		rport = ""
	}
	if r.callID == "" {
		r.callID = "c1"
	}
	if r.cseq == 0 {
		r.cseq = cseq
	}
	fmt.Fprintf(&b, "REGISTER sip:sip.example.com SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.200:5060;branch=z9hG4bKx%s\r\nMax-Forwards: 70\r\n"+
		"From: <%s>;tag=f\r\nTo: <%s>\r\nCall-ID: %s\r\nCSeq: %d REGISTER\r\n", rport, aor, aor, r.callID, r.cseq)
	for _, c := range r.contacts {
		fmt.Fprintf(&b, "Contact: %s\r\n", c)
	}
	b.WriteString(r.lines + "Content-Length: 0\r\n\r\n")
	return b.String()
}

// parse reads the REGISTER of a test.
func (b *book) parse(r reg) (*Request, *Refusal) {
	b.t.Helper()
	b.cseq++
	m, fault := sip.Parse([]byte(r.text(b.cseq)))
	if fault != nil {
		return nil, &Refusal{Code: fault.Code, Reason: fault.Reason, Result: "gate"} // answers it before us
	}
	o := Origin{Source: netip.MustParseAddrPort("198.51.100.10:5060"), Transport: trunkgroup.UDP, Flow: r.flow, FlowExpires: 20 * time.Minute}
	if r.source != "" {
		o.Source = netip.MustParseAddrPort(r.source)
	}
	if r.transport != 0 {
		o.Transport = r.transport
	}
	return Parse(m, &trunkgroup.Member{Registration: b.rules}, "pbx", o)
}

// take carries a REGISTER out and returns the header lines of the answer, or
// the refusal.
func (b *book) take(r reg) (string, *Refusal) {
	b.t.Helper()
	req, refusal := b.parse(r)
	if refusal != nil {
		return "", refusal
	}
	d := Decide(b.now, self, req, b.have, func(rec *Record) bool { return !b.lost[rec.Addr.Addr()] && !rec.Gone() })
	if d.Refusal != nil {
		return "", d.Refusal
	}
	for _, rec := range append(append([]*Record(nil), d.Remove...), d.Put...) {
		b.drop(rec.ID)
	}
	b.have = append(b.have, d.Put...)
	return string(Extra(b.now, req, b.have)), nil
}

func (b *book) drop(id string) {
	for i, rec := range b.have {
		if rec.ID == id {
			b.have = append(b.have[:i:i], b.have[i+1:]...)
			return
		}
	}
}

// ok carries out a REGISTER that must succeed.
func (b *book) ok(r reg) string {
	b.t.Helper()
	extra, refusal := b.take(r)
	if refusal != nil {
		b.t.Fatalf("%d %s %s", refusal.Code, refusal.Reason, refusal.Result)
	}
	return extra
}

// code carries out a REGISTER that must be refused and change nothing.
func (b *book) code(r reg, want int) *Refusal {
	b.t.Helper()
	before := append([]*Record(nil), b.have...)
	_, refusal := b.take(r)
	if refusal == nil || refusal.Code != want {
		b.t.Fatalf("%+v, want %d", refusal, want)
	}
	if len(before) != len(b.have) {
		b.t.Errorf("a refused REGISTER changed %d bindings to %d", len(before), len(b.have))
	}
	return refusal
}

func (b *book) only() *Record {
	b.t.Helper()
	if len(b.have) != 1 {
		b.t.Fatalf("%d bindings", len(b.have))
	}
	return b.have[0]
}

func (b *book) want(n int) {
	b.t.Helper()
	if len(b.have) != n {
		b.t.Fatalf("%d bindings, want %d", len(b.have), n)
	}
}
