package app

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/icholy/digest"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/sip"
)

// phone registers over TCP, by hand.
type phone struct {
	t       *testing.T
	conn    net.Conn
	contact string // host and port
	seq     int
}

func newPhone(t *testing.T, node *box) *phone {
	t.Helper()
	conn, err := net.Dial("tcp", node.ip+":5060")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &phone{t: t, conn: conn, contact: conn.LocalAddr().String()}
}

// ask sends a REGISTER of pbx-0 and returns the answer.
func (p *phone) ask(callID, lines string) *sip.Message {
	p.t.Helper()
	p.seq++
	_, err := fmt.Fprintf(p.conn, "REGISTER sip:sip.example.com SIP/2.0\r\nVia: SIP/2.0/TCP %[1]s;branch=z9hG4bK%[2]s%[3]d\r\nMax-Forwards: 70\r\n"+
		"From: <sip:pbx-0@sip.example.com>;tag=x\r\nTo: <sip:pbx-0@sip.example.com>\r\nCall-ID: %[2]s\r\nCSeq: %[3]d REGISTER\r\n"+
		"Contact: <sip:pbx-0@%[5]s;transport=tcp>\r\n%[4]sContent-Length: 0\r\n\r\n", p.conn.LocalAddr(), callID, p.seq, lines, p.contact)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		p.t.Fatal(err)
	}
	buf, n := make([]byte, 8192), 0
	for !strings.Contains(string(buf[:n]), "\r\n\r\n") {
		k, err := p.conn.Read(buf[n:])
		if err != nil {
			p.t.Fatal(err)
		}
		n += k
	}
	m, fault := sip.Parse(buf[:n])
	if fault != nil {
		p.t.Fatal(fault)
	}
	return m
}

func (p *phone) register(callID string) *sip.Message {
	p.t.Helper()
	ch, err := digest.ParseChallenge(string(p.ask(callID, "").Header(sip.WWWAuthenticate)))
	if err != nil {
		p.t.Fatal(err)
	}
	cred, err := digest.Digest(ch, digest.Options{Method: "REGISTER", URI: "sip:sip.example.com", Username: "pbx-0", Password: "secret", Count: 1, Cnonce: "c"})
	if err != nil {
		p.t.Fatal(err)
	}
	return p.ask(callID, "Authorization: "+cred.String()+"\r\n")
}

// DEC-15: what is registered over a connection ends to be reachable with it,
// everywhere, with a reason and since when; a new connection replaces it. An
// operator sees all that and can remove it.
func TestDEC15_RegistrationOverAConnection(t *testing.T) {
	boxes := newClusterOf(t, "127.88.41", registering(1), 3)
	for _, b := range boxes {
		b.start()
		defer b.stop()
	}
	ready(boxes...)
	p := newPhone(t, boxes[0])
	if m := p.register("first"); m.Status() != 200 || !strings.Contains(string(m.Header(sip.Contact)), ";expires=1350") {
		t.Fatalf("%s", m.Raw())
	}
	far := boxes[2]
	var list admin.RegistrationList
	sees := func(what string, fits func(r *admin.Registration) bool) {
		far.wait(what, func() bool {
			list = admin.RegistrationList{}
			return far.ask("GET", "/v1/registrations?member=acme-in/pbx-0", nil, &list) == 200 && len(list.Registrations) == 1 && fits(&list.Registrations[0])
		})
	}
	sees("the binding", func(r *admin.Registration) bool {
		return r.Reachable && r.Reach == "flow" && r.CallsOf == "dallas" && r.Node == "n1"
	})
	if err := p.conn.Close(); err != nil {
		t.Fatal(err)
	}
	sees("the end of the connection", func(r *admin.Registration) bool {
		return !r.Reachable && r.Cause == "flow_gone" && r.CauseSince != nil && time.Since(*r.CauseSince) < time.Minute
	})
	var members admin.MemberList
	far.ask("GET", "/v1/members", nil, &members)
	if m := members.Members[0]; m.CallsSent || m.Bindings != 1 || m.Reachable != 0 || m.AOR != "sip:pbx-0@sip.example.com" {
		t.Errorf("%+v", m)
	}
	p = newPhone(t, boxes[1])
	if m := p.register("first-again"); m.Status() != 200 {
		t.Fatalf("%s", m.Raw())
	}
	far.wait("both", func() bool {
		return far.ask("GET", "/v1/registrations?aor=sip:pbx-0@sip.example.com", nil, &list) == 200 && len(list.Registrations) == 2
	})
	if code := far.ask("POST", "/v1/registrations/remove", strings.NewReader(`{"aor":"sip:pbx-0@sip.example.com","reason":"moved"}`), &list); code != 200 || len(list.Registrations) != 2 {
		t.Fatalf("%d %+v", code, list)
	}
	for _, b := range boxes {
		b.wait("the removal", func() bool { return len(b.app.regs.index.Records("sip:pbx-0@sip.example.com")) == 0 })
	}
	if code := far.ask("POST", "/v1/registrations/remove", strings.NewReader(`{"aor":"sip:pbx-0@sip.example.com"}`), nil); code != 404 {
		t.Errorf("%d", code)
	}
	if text := boxes[1].text("/metrics"); !strings.Contains(text, `tandem_registers_total{result="registered"} 1`) {
		t.Error("no metrics of REGISTERs")
	}
}
