//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

// corpus is where the torture messages lie; they are not part of the repository.
const corpus = "../../shared/corpus"

// lonely is the place of the node that the corpus is thrown at: it has only its
// loopback, so that nothing can leave for the addresses inside the messages.
const lonely lab.Place = "lonely"

// lonelyDocument knows no source: every request comes from a stranger.
const lonelyDocument = `
cluster: torture
sites: [{name: dallas}]
trunk_groups:
  - name: acme-in
    role: origination-customer
    numbers: ["+12145550100"]
    members: [{id: dal-1, site: dallas, address: "127.0.0.9:5060"}]
  - name: delta-out
    role: termination-customer
    credentials: [{username: @user@, realm: @realm@, ha1_sha256: @sha256@, ha1_md5: @md5@}]
    route_plan: all
  - name: carrier-a
    role: pstn-provider
    members: [{id: dal, site: dallas, address: "127.0.0.8:5060"}]
route_plans:
  - name: all
    routes: [{prefix: "*", providers: [carrier-a]}]
`

// target starts the lonely node once.
var target = sync.OnceValues(func() (*tandem.Node, error) {
	// Every message comes from one address, which would be shut out after ten of them.
	return loneNode("torture", lonely, lonelyDocument, "doors: {allow: [127.0.0.0/8, \"::1\"]}")
})

// loneNode starts a cluster of one node in a place without a way out, and waits
// until it is ready.
func loneNode(name string, at lab.Place, document, extra string) (*tandem.Node, error) {
	l, err := network()
	if err != nil {
		return nil, err
	}
	a, err := authority()
	if err != nil {
		return nil, err
	}
	binary, err := tandemBinary()
	if err != nil {
		return nil, err
	}
	if err := l.Isolate(at); err != nil {
		return nil, err
	}
	c, err := tandem.New(tandem.Config{
		Lab: l, Name: name, Binary: binary, Document: fill(document), Places: []lab.Place{at}, Authority: a, Extra: extra,
	})
	if err != nil {
		return nil, err
	}
	shared.add(func() error { c.Stop(); return nil })
	if err := c.Start(); err != nil {
		return nil, err
	}
	return c.Nodes[0], poll(30*time.Second, c.Nodes[0].Ready)
}

func theTarget(t testing.TB) *tandem.Node {
	t.Helper()
	if _, err := os.Stat(corpus); err != nil {
		t.Skipf("the torture corpus is not beside the repository: %v", err)
	}
	n, err := target()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// verdict is what the corpus wants for one message.
type verdict struct {
	name, file, want string
	codes            []int
	accept           bool // OK: processed as a good request, whatever the policy says to it
	silent           bool // no answer, or one is not needed
	closes           bool // the stream must end
}

var code = regexp.MustCompile(`\b[2-6]\d\d\b`)

// verdicts reads a table of the corpus.
func verdicts(t testing.TB, table string, column int) []verdict {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpus, table))
	if err != nil {
		t.Fatal(err)
	}
	var list []verdict
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		field := strings.Split(line, "\t")
		if i == 0 || len(field) <= column {
			continue
		}
		v := verdict{name: field[0], want: field[column], file: find(t, field[0])}
		for _, c := range code.FindAllString(v.want, -1) {
			n, _ := strconv.Atoi(c)
			v.codes = append(v.codes, n)
		}
		words := strings.FieldsFunc(v.want, func(r rune) bool { return r == ' ' || r == '|' || r == ';' })
		v.accept = slices.Contains(words, "OK")
		v.silent = slices.Contains(words, "OKRESP") || slices.Contains(words, "D") || slices.Contains(words, "drop")
		v.closes = slices.Contains(words, "C") || strings.Contains(v.want, "TCP close")
		list = append(list, v)
	}
	return list
}

// find locates a message of the corpus by name. A corrected copy comes first.
func find(t testing.TB, name string) string {
	t.Helper()
	for _, dir := range []string{"rfc5118/fixed", "rfc4475", "rfc5118", "abuse"} {
		path := filepath.Join(corpus, dir, name+".dat")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatalf("no message %s in the corpus", name)
	return ""
}

// policies are rows whose verdict concerns another element than this SBC, with
// what it answers instead and why.
var policies = map[string]struct {
	codes []int
	why   string
}{
	"a37-register-other-aor": {[]int{401}, "without a user's own answer to a challenge it is a stranger's; TestREGISTER tests have the 403"},
	"invut":                  {[]int{401}, "a stranger is challenged first; a B2BUA passes bodies"},
	"sdp01":                  {[]int{401}, "a stranger is challenged first; a B2BUA does not answer itself"},
	"a39-sdp-bomb":           {[]int{401}, "a stranger is challenged before his body is read"},
	"a41-empty-multipart":    {[]int{401}, "a stranger is challenged before his body is read"},
	"a47-replaces":           {[]int{401}, "a stranger is challenged before his headers mean anything"},
	"inv2543":                {[]int{400}, "RFC 2543 is not spoken: a From tag and a branch are asked for"},
	"baddn":                  {[]int{}, "the file lacks its last empty line: over TCP it never ends"},
}

// TestTortureCorpusOverTCP sends each message over a connection of its own and
// compares the status: over TCP the answer comes back on the connection.
func TestTortureCorpusOverTCP(t *testing.T) {
	n := theTarget(t)
	list := append(verdicts(t, "oracle.tsv", 3), verdicts(t, "abuse.tsv", 1)...)
	t.Run("messages", func(t *testing.T) {
		for _, v := range list {
			t.Run(v.name, func(t *testing.T) {
				t.Parallel()
				judgeTorture(t, n, v)
			})
		}
	})
	alive(t, n)
}

// judgeTorture sends one message and looks at the first final answer.
func judgeTorture(t *testing.T, n *tandem.Node, v verdict) {
	message, err := os.ReadFile(v.file)
	if err != nil {
		t.Fatal(err)
	}
	c := dialTorture(t, n)
	if _, err := c.Write(message); err != nil {
		t.Fatal(err)
	}
	codes, closed := readTorture(t, c, v)
	want := v
	if row, other := policies[v.name]; other {
		want.codes, want.accept, want.silent = row.codes, false, len(row.codes) == 0
	}
	switch {
	case len(codes) == 0 && !want.silent && (len(want.codes) > 0 || want.accept):
		t.Errorf("no answer, want %s", v.want)
	case len(codes) > 0 && !want.takes(codes[0]):
		t.Errorf("status %d, want %s", codes[0], v.want)
	}
	if v.closes && !closed {
		t.Errorf("the connection stays open, want it closed: %s", v.want)
	}
}

// refusals are the codes by which an element says that a message is broken.
var refusals = []int{400, 413, 414, 416, 505, 513}

// takes tells whether a status meets the verdict.
func (v verdict) takes(status int) bool {
	switch {
	case slices.Contains(v.codes, status):
		return true
	case v.accept:
		return !slices.Contains(refusals, status) && status < 600
	default:
		return len(v.codes) == 0 && !v.silent
	}
}

func dialTorture(t testing.TB, n *tandem.Node) net.Conn {
	t.Helper()
	var c net.Conn
	err := theLab(t).Namespace(lonely).Do(func() (err error) {
		c, err = net.DialTimeout("tcp", netip.AddrPortFrom(n.IPv4, tandem.PortSIP).String(), 10*time.Second)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// readTorture reads the final statuses that come back. A good message answers
// within moments; a stream that must close is given the time of its deadlines.
func readTorture(t testing.TB, c net.Conn, v verdict) (codes []int, closed bool) {
	t.Helper()
	wait := 2 * time.Second
	if v.closes {
		wait = 90 * time.Second
	}
	deadline := time.Now().Add(wait)
	lines := bufio.NewReader(c)
	for {
		if err := c.SetReadDeadline(deadline); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		if rest, ok := strings.CutPrefix(line, "SIP/2.0 "); ok {
			if n, _ := strconv.Atoi(rest[:3]); n >= 200 {
				codes = append(codes, n)
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			return codes, false
		default: // end of stream, or a reset
			return codes, true
		}
		if len(codes) > 0 && !v.closes {
			return codes, false
		}
	}
}

// alive sends valid OPTIONS over UDP and TCP and wants an answer soon.
func alive(t testing.TB, n *tandem.Node) {
	t.Helper()
	for _, network := range []string{"udp", "tcp"} {
		var c net.Conn
		err := theLab(t).Namespace(lonely).Do(func() (err error) {
			c, err = net.DialTimeout(network, netip.AddrPortFrom(n.IPv4, tandem.PortSIP).String(), 10*time.Second)
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", network, err)
		}
		begin := time.Now()
		fmt.Fprintf(c, "OPTIONS sip:%s SIP/2.0\r\nVia: SIP/2.0/%s %s;branch=z9hG4bK%d;rport\r\nMax-Forwards: 70\r\n"+
			"From: <sip:a@test>;tag=1\r\nTo: <sip:b@test>\r\nCall-ID: alive-%d\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n",
			n.IPv4, strings.ToUpper(network), c.LocalAddr(), begin.UnixNano(), begin.UnixNano())
		if err := c.SetReadDeadline(begin.Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 4096)
		k, err := c.Read(buf)
		c.Close()
		if err != nil || !bytes.HasPrefix(buf[:k], []byte("SIP/2.0 200 ")) {
			t.Errorf("OPTIONS over %s: %v, %q", network, err, buf[:k])
		}
	}
	if !n.Running() {
		t.Fatal("the node has ended")
	}
}

// TestTortureCorpusOverUDP sends every message as a datagram. Their answers go
// to addresses that do not exist; the node must live and answer the next request.
func TestTortureCorpusOverUDP(t *testing.T) {
	n := theTarget(t)
	files, err := filepath.Glob(filepath.Join(corpus, "*", "*.dat"))
	if err != nil || len(files) < 80 {
		t.Fatalf("%d messages, %v", len(files), err)
	}
	c := listen(t, theLab(t), lonely, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0))
	for _, f := range files {
		message, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.WriteToUDPAddrPort(message, n.UDP()); err != nil && len(message) < 65000 {
			t.Fatalf("%s: %v", f, err)
		}
		alive(t, n)
	}
}

// TestTortureSplitAtEveryByte sends a good message over TCP in two writes, split
// at each byte in turn, on one connection.
func TestTortureSplitAtEveryByte(t *testing.T) {
	n := theTarget(t)
	message, err := os.ReadFile(find(t, "wsinv"))
	if err != nil {
		t.Fatal(err)
	}
	c := dialTorture(t, n)
	go func() { // the answers are of no interest, but must be read
		_, _ = io.Copy(io.Discard, c)
	}()
	if tcp, ok := c.(*net.TCPConn); ok {
		if err := tcp.SetNoDelay(true); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i < len(message); i++ {
		for _, part := range [][]byte{message[:i], message[i:]} {
			if _, err := c.Write(part); err != nil {
				t.Fatalf("split at %d: %v", i, err)
			}
		}
	}
	alive(t, n)
}
