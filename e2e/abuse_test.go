//go:build e2e

package e2e

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// fortress is the place of the node that strangers attack: it has only its
// loopback, whose 16 million addresses are everybody that this test needs.
const fortress lab.Place = "fortress"

// The parties of the fortress.
var (
	fortCarrier = netip.MustParseAddr("127.0.1.1") // a trunk by address
	fortPBX     = netip.MustParseAddrPort("127.0.2.1:5060")
)

// fortressDocument has a carrier by address, a PBX behind it, and a customer by
// digest.
const fortressDocument = `
cluster: fortress
sites: [{name: dallas}]
trunk_groups:
  - name: acme-in
    role: origination-customer
    numbers: ["+1214555*"]
    members: [{id: pbx, site: dallas, address: "127.0.2.1:5060"}]
  - name: delta-out
    role: termination-customer
    credentials: [{username: @user@, realm: @realm@, ha1_sha256: @sha256@, ha1_md5: @md5@}]
    numbering: {country_code: "1", preserve: ["911"]}
  - name: carrier-a
    role: pstn-provider
    sources: [{ip: 127.0.1.1}]
    members: [{id: dal, site: dallas, address: "127.0.1.2:5060"}]
`

// stronghold is the node with its good far ends.
type stronghold struct {
	*tandem.Node
	pbx *sim.FarEnd
}

var startFortress = sync.OnceValues(func() (*stronghold, error) {
	n, err := loneNode("fortress", fortress, fortressDocument, "")
	if err != nil {
		return nil, err
	}
	l, err := network()
	if err != nil {
		return nil, err
	}
	s := &stronghold{Node: n}
	err = l.Namespace(fortress).Do(func() (err error) {
		s.pbx, err = sim.StartPBX("fortress-pbx", fortPBX, sim.Answers(0, 20*time.Millisecond))
		return err
	})
	if err != nil {
		return nil, err
	}
	shared.add(s.pbx.Close)
	return s, nil
})

func theFortress(t testing.TB) *stronghold {
	t.Helper()
	s, err := startFortress()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// dial connects to the node from one of the fortress's addresses.
func (s *stronghold) dial(t testing.TB, proto string, from netip.Addr) net.Conn {
	t.Helper()
	c, err := s.dialTo(proto, from, netip.AddrPortFrom(s.IPv4, tandem.PortSIP))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func (s *stronghold) dialTo(proto string, from netip.Addr, to netip.AddrPort) (c net.Conn, err error) {
	l, err := network()
	if err != nil {
		return nil, err
	}
	err = l.Namespace(fortress).Do(func() (err error) {
		d := net.Dialer{Timeout: 5 * time.Second}
		if proto == "udp" {
			d.LocalAddr = &net.UDPAddr{IP: from.AsSlice()}
		} else {
			d.LocalAddr = &net.TCPAddr{IP: from.AsSlice()}
		}
		c, err = d.Dial(proto, to.String())
		return err
	})
	return c, err
}

// answers sends an OPTIONS from the carrier and wants its 200 soon: readers are
// not held up.
func (s *stronghold) answers(t testing.TB) time.Duration {
	t.Helper()
	c := s.dial(t, "udp", fortCarrier)
	defer c.Close()
	begin := time.Now()
	text := request("OPTIONS", "sip:"+s.IPv4.String(), "UDP", c.LocalAddr().String(), "<sip:x@"+s.IPv4.String()+">", "")
	buf := make([]byte, 4096)
	for time.Since(begin) < 5*time.Second {
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
		n, err := c.Read(buf)
		if err == nil && strings.HasPrefix(string(buf[:n]), "SIP/2.0 200") {
			return time.Since(begin)
		}
	}
	t.Fatalf("no answer to the carrier's OPTIONS: %q", buf[:40])
	return 0
}

var sequence struct {
	sync.Mutex
	n int
}

// request writes a request with a Call-ID and a branch of its own.
func request(method, uri, transport, via, to, lines string) string {
	sequence.Lock()
	sequence.n++
	n := sequence.n
	sequence.Unlock()
	head, body, _ := strings.Cut(lines, "\r\n\r\n")
	if head != "" {
		head = strings.TrimSuffix(head, "\r\n") + "\r\n"
	}
	if !strings.Contains(head, "Content-Length") {
		head += "Content-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	return fmt.Sprintf("%s %s SIP/2.0\r\nVia: SIP/2.0/%s %s;branch=z9hG4bKab%d;rport\r\nMax-Forwards: 70\r\nFrom: <sip:x@stranger.example>;tag=s%d\r\n"+
		"To: %s\r\nCall-ID: ab-%d\r\nCSeq: 1 %s\r\nContact: <sip:x@%s>\r\n%s\r\n%s", method, uri, transport, via, n, n, to, n, method, via, head, body)
}

// ask sends text over a connection of its own and returns the first final status,
// 0 for none, and whether the node closed the connection.
func (s *stronghold) ask(t testing.TB, from netip.Addr, text string, closes bool) (code int, closed bool) {
	t.Helper()
	c := s.dial(t, "tcp", from)
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	const wait = 5 * time.Second
	_ = c.SetReadDeadline(time.Now().Add(wait))
	lines := bufio.NewReader(c)
	for {
		line, err := lines.ReadString('\n')
		if rest, ok := strings.CutPrefix(line, "SIP/2.0 "); ok && len(rest) > 3 && rest[0] != '1' && code == 0 {
			code, _ = strconv.Atoi(rest[:3])
			if !closes {
				return code, false
			}
			_ = c.SetReadDeadline(time.Now().Add(wait)) // the answer is given time to leave
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			return code, false
		default:
			return code, true
		}
	}
}

// TestAbuseClassesOverTheWire sends one message or more of each class that shows
// outside to a running node, each from an address of its own, and wants the
// carrier's OPTIONS answered behind each. docs/abuse.md has the table.
func TestAbuseClassesOverTheWire(t *testing.T) {
	s := theFortress(t)
	node := s.IPv4.String()
	via := "stranger.example"
	ask := func(method, to, lines string) string {
		return request(method, "sip:+12145550100@"+node, "TCP", via, to, lines)
	}
	edit := func(text, old, with string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("nothing to edit: %q", old)
		}
		return strings.Replace(text, old, with, 1)
	}
	plain := "<sip:+12145550100@" + node + ">"
	invite := ask("INVITE", plain, "")
	rows := []struct {
		name   string
		text   string
		code   int
		closed bool
	}{
		{"01 no To", edit(invite, "To: "+plain+"\r\n", ""), 400, false},
		{"01 no Call-ID", edit(invite, "Call-ID:", "X-ID:"), 400, false},
		{"02 credentials cut off", ask("INVITE", plain, `Authorization: Digest username="a", realm="`+tandem.Realm+`", nonce="`), 401, false},
		{"03 Via cut off", edit(invite, ";branch=", ";branch=\""), 400, false},
		{"04 SDP bomb", ask("INVITE", plain, "Content-Type: application/sdp\r\n\r\nv=0\r\n"+strings.Repeat("m=audio 1 RTP/AVP 0\r\n", 1000)), 401, false},
		{"05 empty multipart", ask("INVITE", plain, "Content-Type: multipart/mixed;boundary=x\r\n\r\n--x--"), 401, false},
		{"06 URI of one character", edit(invite, "INVITE sip:+12145550100@"+node, "INVITE s"), 400, false},
		{"07 two lengths", edit(invite, "Content-Length: 0", "Content-Length: 0\r\nContent-Length: 9"), 400, true},
		{"07 huge length", edit(invite, "Content-Length: 0", "Content-Length: 99999999999"), 513, true},
		{"09 control character in a name", edit(invite, "Contact:", "X-\x01Y: z\r\nContact:"), 400, false},
		{"10 bare LF", edit(invite, "Contact:", "X: a\nRoute: <sip:evil@x>\r\nContact:"), 400, true},
		{"10 NUL", edit(invite, "Contact:", "X: a\x00b\r\nContact:"), 400, false},
		{"11 escape sequence", edit(invite, "Contact:", "User-Agent: \x1b]0;x\x07\r\nContact:"), 400, false},
		{"12 known number", invite, 401, false},
		{"12 unknown number", request("INVITE", "sip:1001@"+node, "TCP", via, plain, ""), 401, false},
		{"13 MESSAGE", ask("MESSAGE", plain, ""), 405, false},
		{"13 SUBSCRIBE", ask("SUBSCRIBE", plain, "Event: presence"), 405, false},
		{"13 PUBLISH", ask("PUBLISH", plain, "Event: presence"), 405, false},
		{"13 REFER", ask("REFER", plain, "Refer-To: <sip:x@evil.example>"), 405, false},
		{"13 NOTIFY", ask("NOTIFY", plain, "Event: presence"), 481, false},
		{"13 an unknown method", ask("FOO", plain, ""), 501, false},
		{"16 REGISTER", request("REGISTER", "sip:"+node, "TCP", via, "<sip:a@"+tandem.Realm+">", ""), 401, false},
		{"16 REGISTER, a star with expires", edit(request("REGISTER", "sip:"+node, "TCP", via, "<sip:a@"+tandem.Realm+">", "Expires: 3600"), "<sip:x@"+via+">", "*"), 400, false},
		{"17 a trunk's name", ask("INVITE", plain, "P-Asserted-Identity: <sip:+1@127.0.1.1>"), 401, false},
		{"18 INVITE with a To tag", ask("INVITE", plain+";tag=x", ""), 481, false},
		{"18 BYE with a To tag", ask("BYE", plain+";tag=x", ""), 481, false},
		{"18 REGISTER with a To tag", ask("REGISTER", plain+";tag=x", ""), 481, false},
		{"19 foreign host", request("INVITE", "sip:+12145550100@evil.example", "TCP", via, plain, ""), 401, false},
		{"19 foreign Route", ask("INVITE", plain, "Route: <sip:evil.example;lr>"), 401, false},
		{"20 Replaces", ask("INVITE", plain, "Replaces: a;to-tag=b;from-tag=c"), 401, false},
		{"23 Max-Forwards 256", edit(invite, "Max-Forwards: 70", "Max-Forwards: 256"), 400, false},
		{"28 CANCEL of nothing", ask("CANCEL", plain, ""), 481, false},
		{"29 huge Identity", ask("INVITE", plain, "Identity: "+strings.Repeat("a", 20_000)), 513, true},
	}
	for i, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			from := netip.AddrFrom4([4]byte{127, 0, 3, byte(i + 1)})
			code, closed := s.ask(t, from, r.text, r.closed)
			if code != r.code || r.closed && !closed {
				t.Errorf("code %d, closed %v; want %d, %v", code, closed, r.code, r.closed)
			}
			s.answers(t)
		})
	}
	if n := s.pbx.Account().Invites; n != 0 {
		t.Errorf("the PBX got %d INVITEs of strangers", n)
	}
}

// TestAbuse25_TLSDowngrade: nothing older than TLS 1.2 is spoken.
func TestAbuse25_TLSDowngrade(t *testing.T) {
	s := theFortress(t)
	for version, ok := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		c, err := s.dialTo("tcp", netip.MustParseAddr("127.0.4.1"), s.TLS())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		//nolint:gosec // old versions are what is tested, and whose certificate it is is not
		err = tls.Client(c, &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version}).Handshake()
		c.Close()
		if (err == nil) != ok {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
	}
	s.answers(t)
}
