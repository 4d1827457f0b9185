package join

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/cluster/pki"
)

// issuer is a node that admits others, without the rest of a node.
type issuer struct {
	t         *testing.T
	authority *pki.Authority
	identity  *pki.Identity
	book      *Book
	at        string
	admitted  atomic.Int64
}

func newIssuer(t *testing.T, name string, a *pki.Authority) *issuer {
	t.Helper()
	cert, key, err := a.Issue("prod", name, pki.NodeLife, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s := &issuer{t: t, authority: a}
	if s.identity, err = pki.Parse("prod", name, cert, key, a.PEM()); err != nil {
		t.Fatal(err)
	}
	if s.book, err = Open(filepath.Join(t.TempDir(), "tokens.json")); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.at = l.Addr().String()
	var serving sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { s.serve(c) })
		}
	})
	return s
}

func (s *issuer) serve(c net.Conn) {
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	safe := tls.Server(c, s.identity.JoinServer())
	if safe.Handshake() != nil {
		return
	}
	_, _ = s.book.Serve(safe, c.RemoteAddr().String(), time.Now(), func(node string, csr []byte) (*Admission, error) {
		s.admitted.Add(1)
		cert, err := s.authority.Sign(csr, "prod", node, pki.NodeLife, time.Now())
		return &Admission{Certificate: string(cert), Authorities: string(s.authority.PEM()), Keys: "secret\n"}, err
	})
}

func (s *issuer) token(node string, life time.Duration) Token {
	s.t.Helper()
	t, _, err := s.book.Add(time.Now(), Token{
		Cluster: "prod", Node: node, Issuer: s.identity.Node(), Address: s.at,
		Authority: sha256.Sum256(s.authority.Certificate().Raw),
	}, life)
	if err != nil {
		s.t.Fatal(err)
	}
	return t
}

func newAuthority(t *testing.T) *pki.Authority {
	t.Helper()
	cert, key, err := pki.NewAuthority("prod", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	a, err := pki.ParseAuthority(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestJoinOnce(t *testing.T) {
	s := newIssuer(t, "dal-1", newAuthority(t))
	tok := s.token("ash-9", DefaultLife)
	again, err := Parse(tok.Text())
	if err != nil || again != tok {
		t.Fatalf("%+v, %v", again, err)
	}
	a, key, err := Join(t.Context(), again, "")
	if err != nil {
		t.Fatal(err)
	}
	if id, err := pki.Parse("prod", "ash-9", []byte(a.Certificate), key, []byte(a.Authorities)); err != nil || id.Check(time.Now()) != nil || a.Keys != "secret\n" {
		t.Errorf("%v", err)
	}
	if _, _, err := Join(t.Context(), again, ""); err == nil || !strings.Contains(err.Error(), "used before") || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("a second use: %v", err)
	}
}

// Two who use one token at the same moment, one of them by another node: one gets in.
func TestOneTokenManyAtOnce(t *testing.T) {
	authority := newAuthority(t)
	s, other := newIssuer(t, "dal-1", authority), newIssuer(t, "ash-1", authority)
	tok := s.token("ash-9", DefaultLife)
	var in atomic.Int64
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			address := s.at
			if i%2 == 1 {
				address = other.at
			}
			if _, _, err := Join(t.Context(), tok, address); err == nil {
				in.Add(1)
			} else if i%2 == 1 && !strings.Contains(err.Error(), `of node "ash-1"`) {
				t.Errorf("another node: %v", err)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 || s.admitted.Load() != 1 || other.admitted.Load() != 0 {
		t.Errorf("%d got in, %d were admitted, %d by the other node", in.Load(), s.admitted.Load(), other.admitted.Load())
	}
	// Even one who gets around the check of the name finds that no other node knows the token.
	if err := other.book.Redeem(time.Now(), tok.ID, tok.Secret, "ash-9", "x"); !errors.Is(err, ErrUnknown) {
		t.Errorf("at another node: %v", err)
	}
}

func TestWhoIsNotAdmitted(t *testing.T) {
	authority := newAuthority(t)
	s := newIssuer(t, "dal-1", authority)
	now := time.Now()
	tok := s.token("ash-9", time.Minute)
	wrong := tok
	wrong.Secret[0] ^= 1
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"wrong secret", s.book.Redeem(now, tok.ID, wrong.Secret, "ash-9", "x"), ErrUnknown},
		{"another name", s.book.Redeem(now, tok.ID, tok.Secret, "ash-8", "x"), ErrNode},
		{"too late", s.book.Redeem(now.Add(time.Hour), tok.ID, tok.Secret, "ash-9", "x"), ErrExpired},
		{"unknown", s.book.Redeem(now, ID{1}, tok.Secret, "ash-9", "x"), ErrUnknown},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
	// The newcomer believes nobody but the node in the token, of the authority in the token.
	impostor := newIssuer(t, "dal-1", newAuthority(t))
	if _, _, err := Join(t.Context(), tok, impostor.at); !errors.Is(err, pki.ErrAuthority) {
		t.Errorf("an impostor: %v", err)
	}
	if impostor.admitted.Load() != 0 || s.admitted.Load() != 0 {
		t.Error("somebody was admitted")
	}
	// All that failed has not used the token.
	if _, _, err := Join(t.Context(), tok, ""); err != nil {
		t.Errorf("the right one, afterwards: %v", err)
	}
}

// The use of a token outlives the process, and so does the token.
func TestBookIsOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	now := time.Now()
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	tok, _, err := b.Add(now, Token{Cluster: "prod", Node: "ash-9", Issuer: "dal-1", Address: "x:1"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || bytes.Contains(text, []byte(fmt.Sprintf("%x", tok.Secret))) {
		t.Errorf("the book holds the secret, %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if b, err = Open(path); err != nil {
		t.Fatal(err)
	}
	if !b.Any(now) {
		t.Error("the token is forgotten")
	}
	if err := b.Redeem(now, tok.ID, tok.Secret, "ash-9", "192.0.2.9"); err != nil {
		t.Fatal(err)
	}
	if b, err = Open(path); err != nil {
		t.Fatal(err)
	}
	if err := b.Redeem(now, tok.ID, tok.Secret, "ash-9", "192.0.2.10"); !errors.Is(err, ErrUsed) || !strings.Contains(err.Error(), "192.0.2.9") {
		t.Errorf("after a restart: %v", err)
	}
	// A use that cannot be written is none.
	next, _, err := b.Add(now, Token{Cluster: "prod", Node: "ash-8", Issuer: "dal-1", Address: "x:1"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b.path = filepath.Join(path, "not", "there")
	if err := b.Redeem(now, next.ID, next.Secret, "ash-8", "x"); err == nil {
		t.Error("a token was used without a trace")
	}
}

func TestTokensAreBounded(t *testing.T) {
	b, err := Open(filepath.Join(t.TempDir(), "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for range maxOpen {
		if _, _, err = b.Add(now, Token{Node: "n"}, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err = b.Add(now, Token{Node: "n"}, time.Minute); !errors.Is(err, ErrTooMany) {
		t.Errorf("%v", err)
	}
	if _, _, err = b.Add(now.Add(2*keep), Token{Node: "n"}, time.Minute); err != nil || len(b.list) != 1 {
		t.Errorf("%d are remembered, %v", len(b.list), err)
	}
}

func TestTokenText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z0-9-]{1,63}`)
		want := Token{Cluster: word.Draw(t, "cluster"), Node: word.Draw(t, "node"), Issuer: word.Draw(t, "issuer"), Address: word.Draw(t, "host") + ":7950"}
		if err := want.fresh(); err != nil {
			t.Fatal(err)
		}
		text := want.Text()
		got, err := Parse(" " + text + "\n")
		if err != nil || got != want {
			t.Fatalf("%+v, %v", got, err)
		}
		if strings.Contains(fmt.Sprintf("%v %+v %#v", want, want, want), text[20:40]) {
			t.Fatal("a token shows itself")
		}
		at := rapid.IntRange(len(mark), len(text)-1).Draw(t, "at")
		if _, err := Parse(text[:at]); err == nil {
			t.Fatal("a cut token was read")
		}
	})
}

func FuzzToken(f *testing.F) {
	f.Add(Token{Cluster: "prod", Node: "ash-9", Issuer: "dal-1", Address: "192.0.2.1:7950"}.Text())
	f.Add(mark)
	f.Fuzz(func(t *testing.T, text string) {
		tok, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(tok.Text()); err != nil || again != tok {
			t.Fatalf("%v", err)
		}
	})
}

// FuzzServe: whatever a stranger sends, nobody is admitted.
func FuzzServe(f *testing.F) {
	book, err := Open(filepath.Join(f.TempDir(), "tokens.json"))
	if err != nil {
		f.Fatal(err)
	}
	if _, _, err := book.Add(time.Now(), Token{Node: "ash-9"}, time.Hour); err != nil {
		f.Fatal(err)
	}
	var wire bytes.Buffer
	if err := send(&wire, Request{ID: make([]byte, 8), Secret: make([]byte, 32), Node: "ash-9", CSR: []byte{1}}); err != nil {
		f.Fatal(err)
	}
	f.Add(wire.Bytes())
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := book.Serve(readWriter{bytes.NewReader(b), &bytes.Buffer{}}, "x", time.Now(), func(string, []byte) (*Admission, error) {
			t.Fatal("a stranger was admitted")
			return nil, nil
		})
		if err == nil {
			t.Fatal("a stranger was served")
		}
	})
}

// readWriter is a stream of what a stranger sent.
type readWriter struct {
	*bytes.Reader
	out *bytes.Buffer
}

func (s readWriter) Write(b []byte) (int, error) { return s.out.Write(b) }
