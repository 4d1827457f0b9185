package sim

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/icholy/digest"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// RFC 7616 3.9.1: the same request under MD5 and SHA-256.
func TestDigestVectorsOfRFC7616(t *testing.T) {
	for algorithm, want := range map[string]string{
		"MD5":     "8ca523f5e9506fed4657c9700eebdbec",
		"SHA-256": "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
	} {
		parsed, err := digest.ParseChallenge(`Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=` + algorithm +
			`, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`)
		if err != nil {
			t.Fatal(err)
		}
		c := Credentials{Username: "Mufasa", Password: "Circle of Life"}
		line, err := c.answer(&challenge{parsed: parsed, header: "Authorization"}, "GET", "/dir/index.html", "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(line), `response="`+want+`"`) || !strings.Contains(string(line), "nc=00000001") {
			t.Errorf("%s: %s", algorithm, line)
		}
	}
}

// guard is a far end that asks for credentials. It computes digests by itself.
type guard struct {
	*Callee
	password   string
	challenges []string // header values
	code       int
	seen       []string        // algorithm and nonce count of each proof
	stale      bool            // the first proof is too old
	refused    map[string]bool // branches
}

const nonce = "0123456789"

func (g *guard) Receive(now time.Time, p *transport.Packet) {
	m := p.Message
	if m.Method() == sip.ACK && g.refused[string(m.Branch())] {
		return // of a challenge
	}
	if m.Method() != sip.INVITE && m.Method() != sip.BYE {
		g.Callee.Receive(now, p)
		return
	}
	name, ask := sip.Authorization, "WWW-Authenticate"
	if g.code == 407 {
		name, ask = sip.ProxyAuthorization, "Proxy-Authenticate"
	}
	value := string(m.Header(name))
	stale := g.stale && value != ""
	if value != "" && !stale && g.proof(value, m.Method()) {
		g.Callee.Receive(now, p)
		return
	}
	var extra []byte
	for _, c := range g.challenges {
		if stale {
			c += ", stale=true"
		}
		extra = append(extra, ask+": "+c+"\r\n"...)
	}
	if stale {
		g.stale = false
	}
	if g.refused == nil {
		g.refused = map[string]bool{}
	}
	g.refused[string(m.Branch())] = true
	g.reply(p, g.code, g.tag(), extra, nil)
}

func (g *guard) proof(value, method string) bool {
	cred, err := digest.ParseCredentials(value)
	if err != nil {
		return false
	}
	h := md5.New
	if cred.Algorithm == "SHA-256" {
		h = sha256.New
	}
	sum := func(s string) string {
		x := h()
		x.Write([]byte(s))
		return hex.EncodeToString(x.Sum(nil))
	}
	g.seen = append(g.seen, fmt.Sprint(method, " ", cred.Algorithm, " ", cred.Nc))
	want := sum(sum("acme:bench:"+g.password) + ":" + nonce + ":" + fmt.Sprintf("%08x", cred.Nc) + ":" + cred.Cnonce + ":auth:" + sum(method+":"+cred.URI))
	return want == cred.Response
}

func TestDigestIsAnswered(t *testing.T) {
	const (
		md5Ask = `Digest realm="bench", nonce="` + nonce + `", qop="auth", algorithm=MD5`
		shaAsk = `Digest realm="bench", nonce="` + nonce + `", qop="auth", algorithm=SHA-256`
	)
	for _, test := range []struct {
		name       string
		code       int
		challenges []string
		algorithms []string
		password   string
		stale      bool
		result     Result
		seen       string
	}{
		{"SHA-256 is preferred", 401, []string{md5Ask, shaAsk}, nil, "secret", false, Completed, "INVITE SHA-256 1; BYE SHA-256 1"},
		{"MD5 alone", 407, []string{md5Ask}, nil, "secret", false, Completed, "INVITE MD5 1; BYE MD5 1"},
		{"caller that only knows MD5", 401, []string{shaAsk, md5Ask}, []string{"MD5"}, "secret", false, Completed, "INVITE MD5 1; BYE MD5 1"},
		{"no common algorithm", 401, []string{shaAsk}, []string{"MD5"}, "secret", false, Rejected, ""},
		{"wrong secret", 401, []string{shaAsk}, nil, "other", false, Rejected, "INVITE SHA-256 1"},
		{"stale nonce", 401, []string{shaAsk}, nil, "secret", true, Completed, "INVITE SHA-256 1; BYE SHA-256 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, 1)
			g := &guard{
				Callee: w.callee(calleeAddr, AnswersAtOnce()), password: test.password,
				challenges: test.challenges, code: test.code, stale: test.stale,
			}
			w.cores[calleeAddr] = g
			c := w.caller(CallerConfig{Credentials: &Credentials{Username: "acme", Password: "secret", Algorithms: test.algorithms}}, calleeAddr)
			r := w.record(c, Placement{To: "1", Hold: time.Second})
			if r.Result != test.result || strings.Join(g.seen, "; ") != test.seen {
				t.Errorf("%+v, proofs %q", r, g.seen)
			}
			w.run(time.Minute)
			if a := g.Account(); a.FaultCount != 0 && test.result == Completed {
				t.Errorf("faults %+v", a.Faults)
			}
		})
	}
}

func TestReusedNonceCountsUp(t *testing.T) {
	w := newWorld(t, 1)
	g := &guard{
		Callee: w.callee(calleeAddr, AnswersAtOnce().HangsUp(time.Second)), password: "secret", code: 401,
		challenges: []string{`Digest realm="bench", nonce="` + nonce + `", qop="auth", algorithm=SHA-256`},
	}
	w.cores[calleeAddr] = g
	c := w.caller(CallerConfig{Credentials: &Credentials{Username: "acme", Password: "secret", Reuse: true}}, calleeAddr)
	for range 3 {
		if r := w.record(c, Placement{To: "1", Hold: time.Minute}); r.Result != HungUp {
			t.Fatalf("%+v", r)
		}
	}
	if got := strings.Join(g.seen, "; "); got != "INVITE SHA-256 1; INVITE SHA-256 2; INVITE SHA-256 3" {
		t.Errorf("proofs %s", got)
	}
}
