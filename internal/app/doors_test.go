package app

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/guard"
)

// doorBox is a node that listens on TCP too, with further lines of its node file.
func doorBox(t *testing.T, ip, extra string) *box {
	t.Helper()
	b := newBox(t, ip, document("192.0.2.7:5060"))
	file, err := os.ReadFile(b.file)
	if err != nil {
		t.Fatal(err)
	}
	udp := fmt.Sprintf("{name: udp, transport: udp, address: %q}", ip+":5060")
	tcp := fmt.Sprintf("{name: tcp, transport: tcp, address: %q, deny: [127.88.9.0/24]}", ip+":5060")
	b.write("node.yaml", strings.Replace(string(file), udp, udp+", "+tcp, 1)+extra)
	b.up()
	return b
}

// dial opens a TCP connection from an address of loopback.
func (b *box) dial(ip string) (net.Conn, error) {
	b.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}, Timeout: 5 * time.Second}
	c, err := d.Dial("tcp4", b.ip+":5060")
	if err != nil {
		return nil, err
	}
	b.t.Cleanup(func() { _ = c.Close() })
	return c, c.SetDeadline(time.Now().Add(20 * time.Second))
}

// from is dial for those who are let in.
func (b *box) from(ip string) net.Conn {
	b.t.Helper()
	c, err := b.dial(ip)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// resets tells whether a connection from an address is reset: before the dial has seen
// it open, or once it is. That nothing is answered is not enough.
func (b *box) resets(ip string) bool {
	b.t.Helper()
	c, err := b.dial(ip)
	if err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	return errors.Is(err, syscall.ECONNRESET)
}

const ping = "OPTIONS sip:127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/TCP 127.0.0.1;branch=z9hG4bK%d\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:a@b>\r\n" +
	"Call-ID: %d\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n%s\r\n"

// served tells whether an OPTIONS over the connection is answered.
func served(c net.Conn, n int, lines string) bool {
	if _, err := fmt.Fprintf(c, ping, n, n, lines); err != nil {
		return false
	}
	_, err := io.ReadAtLeast(c, make([]byte, 12), 12)
	return err == nil
}

func (b *box) bans() (list admin.BanList) {
	b.get("/v1/bans", &list)
	return list
}

// A stranger who sends rubbish ten times is banned: what it has open closes, what it
// opens is reset, the list says why, and others notice nothing. A word lifts it.
func TestStrangersAreBannedAndPardoned(t *testing.T) {
	b := doorBox(t, "127.88.10.1", "")
	bystander, rogue := b.from("127.88.10.8"), b.from("127.88.10.9")
	if !served(bystander, 1, "") || !served(rogue, 2, "") {
		t.Fatal("nobody is served")
	}
	for i := range 10 {
		_, _ = fmt.Fprintf(rogue, "OPTIONS sip:127.0.0.1 SIP/2.0\r\nCall-ID: %d\r\nContent-Length: 0\r\n\r\n", i)
	}
	b.wait("the ban", func() bool { return len(b.bans().Bans) == 1 })
	ban := b.bans().Bans[0]
	if ban.Prefix != "127.88.10.9/32" || !ban.Auto || ban.By != "auto" || ban.Node != "n1" || ban.Reason != "malformed: 10 in 1m0s" ||
		ban.Until.Sub(ban.Since) != 10*time.Minute {
		t.Errorf("%+v", ban)
	}
	if _, err := io.Copy(io.Discard, rogue); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Error("its connection stays open")
	}
	if !b.resets("127.88.10.9") || !served(bystander, 4, "") {
		t.Error("it is not reset, or a bystander is not served")
	}
	page := b.text("/metrics")
	for _, line := range []string{`tandem_doors_refused_connections_total{cause="ban"} 1`, `tandem_bans_made_total{reason="malformed"} 1`, "tandem_bans 1"} {
		if !strings.Contains(page, line) {
			t.Errorf("no %s on the page of metrics", line)
		}
	}
	b.post("/v1/bans/remove", `{"prefix": "127.88.10.9/32"}`, nil)
	if !served(b.from("127.88.10.9"), 5, "") {
		t.Error("it is not served after its pardon")
	}
}

func TestScannersOverConnectionsAreBannedAtOnce(t *testing.T) {
	b := doorBox(t, "127.88.11.1", "")
	if served(b.from("127.88.11.9"), 1, "User-Agent: friendly-scanner\r\n") {
		t.Error("a scanner is served")
	}
	b.wait("the ban", func() bool { l := b.bans().Bans; return len(l) == 1 && l[0].Reason == "scanner" })
	if !b.resets("127.88.9.9") {
		t.Error("who is on deny of the listener is not reset")
	}
}

// What an operator may shut out, and what not.
func TestBansOfOperators(t *testing.T) {
	b := doorBox(t, "127.88.12.1", "doors: {allow: [127.88.12.128/25], ban: {entries: 100}}\n")
	for _, c := range []struct {
		prefix string
		force  bool
		code   int
	}{
		{"127.88.12.9", false, http.StatusOK},
		{"127.88.12.0/26", false, http.StatusOK},
		{"127.88.0.0/16", false, http.StatusConflict},                // wide, and the allow list is in it
		{"127.88.0.0/16", true, http.StatusConflict},                 // the allow list still is
		{"127.89.0.0/16", false, http.StatusConflict},                // wide
		{"127.89.0.0/16", true, http.StatusOK},                       //
		{"192.0.2.7", false, http.StatusConflict},                    // a PBX of a trunk group
		{"192.0.2.7", true, http.StatusOK},                           //
		{"2001:db8::/47", false, http.StatusConflict},                // wide
		{"2001:db8::/48", false, http.StatusOK},                      //
		{"127.88.12.1/24", false, http.StatusUnprocessableEntity},    // host bits
		{"fe80::1%25eth0/64", false, http.StatusUnprocessableEntity}, // a zone, of this node alone
		{"everybody", false, http.StatusUnprocessableEntity},
		{"0.0.0.0/0", true, http.StatusUnprocessableEntity},
	} {
		body := fmt.Sprintf(`{"prefix": %q, "seconds": 60, "reason": "test", "author": "noc", "force": %v}`, c.prefix, c.force)
		if code := b.ask(http.MethodPost, "/v1/bans", strings.NewReader(body), nil); code != c.code {
			t.Errorf("ban of %s, force %v: %d, want %d", c.prefix, c.force, code, c.code)
		}
	}
	if code := b.ask(http.MethodPost, "/v1/bans/remove", strings.NewReader(`{"prefix": "198.51.100.1"}`), nil); code != http.StatusNotFound {
		t.Errorf("removing no ban: %d", code)
	}
	before := len(b.bans().Bans)
	for i := range 200 {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}), 32)
		now := time.Now()
		if err := b.app.doors.ban(guard.Ban{Prefix: p, Auto: true, By: "auto", Since: now, Until: now.Add(time.Duration(i+1) * time.Minute)}); err != nil {
			t.Fatal(err)
		}
	}
	list := b.bans().Bans
	if len(list) != 100 {
		t.Errorf("%d bans, want 100", len(list))
	}
	kept, first := 0, 0
	for _, l := range list {
		switch {
		case !l.Auto:
			kept++
		case l.Prefix == "198.51.100.0/32":
			first++
		}
	}
	if kept != before || first != 0 {
		t.Errorf("%d of %d bans of the operator are left, and %d of the one that ends first", kept, before, first)
	}
}

// Whoever was banned as a stranger and becomes a far end is none any more.
func TestFarEndsAreNotBanned(t *testing.T) {
	b := doorBox(t, "127.88.13.1", "")
	now := time.Now()
	if err := b.app.doors.ban(guard.Ban{Prefix: netip.MustParsePrefix("198.51.100.7/32"), Auto: true, By: "auto", Since: now, Until: now.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	b.post("/v1/config?reason=test", document("198.51.100.7:5060"), nil)
	b.wait("the ban is lifted", func() bool { return len(b.bans().Bans) == 0 })
}
