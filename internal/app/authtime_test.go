package app

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// Users of the timing test: so many exist, and so many do not.
const (
	timedUsers = 10_000
	timedRealm = "sip.example.com"
)

// usersOf writes a document with users u0, u1 and so on; every other one has a hash for MD5.
func usersOf(n int) string {
	var b strings.Builder
	b.WriteString("cluster: test\nsites: [{name: dallas}]\ntrunk_groups:\n")
	b.WriteString("  - name: carrier\n    role: pstn-provider\n    members: [{id: gw, site: dallas, address: \"192.0.2.1:5060\"}]\n")
	b.WriteString("  - name: acme-out\n    role: termination-customer\n    credentials:\n")
	for i := range n {
		sum := md5.Sum(fmt.Appendf(nil, "u%d", i))
		hash := hex.EncodeToString(sum[:])
		fmt.Fprintf(&b, "      - {username: u%d, realm: %s, ha1_sha256: %s%s", i, timedRealm, hash, hash)
		if i%2 == 0 {
			fmt.Fprintf(&b, ", ha1_md5: %s", hash)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// guesser tries digest users over UDP, as a guesser does who looks at the clock.
type guesser struct {
	t     *testing.T
	conn  net.Conn
	nonce string
	sent  int
	buf   []byte
}

func (p *guesser) ask(method, ruri, to, user, algorithm string, digits int) (time.Duration, *sip.Message) {
	p.t.Helper()
	p.sent++
	auth := ""
	if p.nonce != "" {
		auth = fmt.Sprintf("Authorization: Digest username=\"%s\", realm=\"%s\", nonce=\"%s\", uri=\"%s\", algorithm=%s, qop=auth, nc=%08x, "+
			"cnonce=\"0a4f113b\", response=\"%s\"\r\n", user, timedRealm, p.nonce, ruri, algorithm, p.sent, strings.Repeat("0", digits))
	}
	request := fmt.Sprintf("%s %s SIP/2.0\r\nVia: SIP/2.0/UDP %s;branch=z9hG4bK%08x;rport\r\nMax-Forwards: 70\r\nFrom: <sip:caller@example.net>;tag=t%08x\r\n"+
		"To: <%s>\r\nCall-ID: c%08x\r\nCSeq: 1 %s\r\nContact: <sip:caller@%s>\r\n%sUser-Agent: %s\r\nContent-Length: 0\r\n\r\n",
		method, ruri, p.conn.LocalAddr(), p.sent, p.sent, to, p.sent, method, p.conn.LocalAddr(), auth, strings.Repeat("x", 600))
	if err := p.conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		p.t.Fatal(err)
	}
	began := time.Now()
	if _, err := p.conn.Write([]byte(request)); err != nil {
		p.t.Fatal(err)
	}
	for {
		n, err := p.conn.Read(p.buf)
		took := time.Since(began)
		if err != nil {
			p.t.Fatalf("%s of %s: %v", method, user, err)
		}
		m, fault := sip.Parse(append([]byte(nil), p.buf[:n]...))
		if fault != nil {
			p.t.Fatal(fault)
		}
		if m.Status() >= 200 && string(m.CallID()) == fmt.Sprintf("c%08x", p.sent) {
			return took, m
		}
	}
}

// median is the middle of what was measured.
func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// P-11: over a real socket, 10,000 users that exist and 10,000 that do not get answers of one size, at the same time of the median
// within 5 %: with a wrong password, with an algorithm that the user has no hash for, and when they register. Times are printed and not
// judged, since other programs run on this machine; that the same number of digests is computed is judged in sbc/b2bua.
func TestP11_KnownAndUnknownUsersTakeTheSameTime(t *testing.T) {
	if testing.Short() {
		t.Skip("sends some ten thousand requests")
	}
	b := newBox(t, "127.88.8.1", usersOf(timedUsers))
	file, err := os.ReadFile(b.file)
	if err != nil {
		t.Fatal(err)
	}
	b.write("node.yaml", string(file)+"doors: {allow: [127.0.0.0/8]}\n")
	b.start()
	defer b.stop()
	b.wait("readiness", func() bool { return b.ask("GET", "/readyz", nil, nil) == 200 })
	conn, err := net.Dial("udp", b.ip+":5060")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	p := &guesser{t: t, conn: conn, buf: make([]byte, 65536)}
	_, challenge := p.ask("INVITE", "sip:+13105550100@"+timedRealm, "sip:+13105550100@"+timedRealm, "", "", 0)
	if challenge.Status() != 401 {
		t.Fatalf("%d", challenge.Status())
	}
	_, rest, _ := strings.Cut(string(challenge.Header(sip.WWWAuthenticate)), `nonce="`)
	p.nonce, _, _ = strings.Cut(rest, `"`)

	for _, c := range []struct {
		name, method, algorithm string
		digits, step            int // of the users' numbers: 1 = all, 2 = those with a hash for MD5
		register                bool
	}{
		{"INVITE, wrong password", "INVITE", "SHA-256", 64, 1, false},
		{"INVITE, no hash for the algorithm", "INVITE", "SHA-512-256", 64, 1, false},
		{"REGISTER, wrong password", "REGISTER", "SHA-256", 64, 1, true},
		{"REGISTER, MD5", "REGISTER", "MD5", 32, 2, true},
	} {
		known, unknown := p.compare(c.method, c.algorithm, c.digits, c.step, c.register)
		apart := 100 * float64(known-unknown) / float64(unknown)
		t.Logf("%-34s known %v, unknown %v at the median: %+.1f %%", c.name, known, unknown, apart)
	}
}

// compare asks for known and unknown users in random order, and returns the medians.
func (p *guesser) compare(method, algorithm string, digits, step int, register bool) (known, unknown time.Duration) {
	var times [2][]time.Duration
	sizes := map[int]int{}
	random := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < timedUsers; i += step {
		order := [2]int{0, 1}
		if random.IntN(2) == 0 {
			order = [2]int{1, 0}
		}
		for _, who := range order {
			user := fmt.Sprintf("%c%d", "uv"[who], i)
			ruri, to := "sip:+13105550100@"+timedRealm, "sip:+13105550100@"+timedRealm
			if register {
				ruri, to = "sip:"+timedRealm, "sip:"+user+"@"+timedRealm
			}
			took, m := p.ask(method, ruri, to, user, algorithm, digits)
			if m.Status() != 401 {
				p.t.Fatalf("%s %s: %d", method, user, m.Status())
			}
			times[who] = append(times[who], took)
			// The To of a REGISTER is echoed: its own length is taken off.
			sizes[len(m.Raw())-len(user)*btoi(register)-len(fmt.Sprint(p.conn.LocalAddr()))]++
		}
	}
	if len(sizes) != 1 {
		p.t.Errorf("%s: answers of %d sizes: %v", method, len(sizes), sizes)
	}
	return median(times[0]), median(times[1])
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
