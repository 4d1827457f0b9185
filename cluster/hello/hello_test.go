package hello

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster/keyring"
)

func ring(t testing.TB, secrets ...string) *keyring.Keyring {
	t.Helper()
	var raw [][]byte
	for _, s := range secrets {
		raw = append(raw, []byte("0123456789abcdef"+s))
	}
	k, err := keyring.New(raw...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func local(t testing.TB, node string, boot uint64) Local {
	return Local{Cluster: "test", Node: node, Site: "dallas", Address: node + ":7950", Boot: boot, Keys: ring(t, "a")}
}

func anyPurpose(Purpose) bool { return true }

type outcome struct {
	remote Remote
	err    error
}

// shake runs both sides over a pipe.
func shake(d, a Local, p Purpose, target string, takes func(Purpose) bool) (dialer, acceptor outcome) {
	x, y := net.Pipe()
	limit := time.Now().Add(10 * time.Second)
	x.SetDeadline(limit)
	y.SetDeadline(limit)
	done := make(chan struct{})
	go func() {
		defer close(done)
		acceptor.remote, acceptor.err = Accept(y, a, takes)
		y.Close()
	}()
	dialer.remote, dialer.err = Dial(x, d, p, target)
	x.Close()
	<-done
	return dialer, acceptor
}

func TestHandshake(t *testing.T) {
	a := local(t, "ash-1", 9)
	a.Seen = func(node string) uint64 { return map[string]uint64{"dal-1": 3}[node] }
	x, y := shake(local(t, "dal-1", 3), a, Raft, "ash-1", anyPurpose)
	if x.err != nil || y.err != nil {
		t.Fatalf("dialer: %v, acceptor: %v", x.err, y.err)
	}
	x.remote.RTT = 0
	if want := (Remote{Node: "ash-1", Site: "dallas", Address: "ash-1:7950", Boot: 9, Seen: 3, Purpose: Raft, Version: 1, Key: ring(t, "a").Primary()}); x.remote != want {
		t.Errorf("the dialer learned %+v, want %+v", x.remote, want)
	}
	if want := (Remote{Node: "dal-1", Site: "dallas", Address: "dal-1:7950", Boot: 3, Purpose: Raft, Version: 1, Key: ring(t, "a").Primary()}); y.remote != want {
		t.Errorf("the acceptor learned %+v, want %+v", y.remote, want)
	}
}

func TestHandshakeRefusals(t *testing.T) {
	other := local(t, "dal-1", 3)
	other.Cluster = "other"
	stranger := local(t, "dal-1", 3)
	stranger.Keys = ring(t, "stranger")
	self := local(t, "ash-1", 3)
	rotated := local(t, "ash-1", 9)
	rotated.Keys = ring(t, "b", "a")
	seen := local(t, "ash-1", 9)
	seen.Seen = func(string) uint64 { return 4 }
	none := func(Purpose) bool { return false }
	for _, c := range []struct {
		name             string
		d, a             Local
		purpose          Purpose
		target           string
		takes            func(Purpose) bool
		dialer, acceptor error // nil with refused unset: success
		cut              bool  // the dialer sees only that the stream ended
	}{
		{name: "another cluster", d: other, a: local(t, "ash-1", 9), acceptor: ErrCluster, cut: true},
		{name: "another key", d: stranger, a: local(t, "ash-1", 9), dialer: ErrKey, acceptor: ErrKey},
		{name: "the old key during a rotation", d: local(t, "dal-1", 3), a: rotated},
		{name: "another node than meant", d: local(t, "dal-1", 3), a: local(t, "ash-1", 9), target: "ash-2", dialer: ErrIdentity, acceptor: ErrIdentity},
		{name: "itself", d: self, a: local(t, "ash-1", 9), dialer: ErrSelf, acceptor: ErrSelf},
		{name: "a boot before the last one", d: local(t, "dal-1", 3), a: seen, dialer: ErrBoot, acceptor: ErrBoot},
		{name: "an inquiry without a boot", d: local(t, "dal-1", 0), a: seen, purpose: Inquire},
		{name: "the boot that was seen", d: local(t, "dal-1", 4), a: seen},
		{name: "an unwanted purpose", d: local(t, "dal-1", 3), a: local(t, "ash-1", 9), takes: none, dialer: ErrPurpose, acceptor: ErrPurpose},
	} {
		if c.takes == nil {
			c.takes = anyPurpose
		}
		if c.purpose == 0 {
			c.purpose = Interconnect
		}
		x, y := shake(c.d, c.a, c.purpose, c.target, c.takes)
		if c.cut && x.err == nil || !c.cut && !errors.Is(x.err, c.dialer) {
			t.Errorf("%s: dialer %v, want %v", c.name, x.err, c.dialer)
		}
		if !errors.Is(y.err, c.acceptor) {
			t.Errorf("%s: acceptor %v, want %v", c.name, y.err, c.acceptor)
		}
	}
	x, _ := shake(local(t, "dal-1", 3), seen, Interconnect, "", anyPurpose)
	if x.remote.Seen != 4 {
		t.Errorf("a refused boot learns that boot %d was seen, want 4", x.remote.Seen)
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		min, max uint8
		want     uint8
	}{{1, 1, 1}, {1, 9, MaxVersion}, {0, 0, 0}, {MaxVersion + 1, 9, 0}} {
		mine := &message{min: MinVersion, max: MaxVersion}
		v, err := common(mine, message{min: c.min, max: c.max})
		if v != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%d..%d: version %d, %v, want %d", c.min, c.max, v, err, c.want)
		}
	}
}

// tape records what a side sends.
type tape struct {
	net.Conn
	sent bytes.Buffer
}

func (c *tape) Write(b []byte) (int, error) {
	c.sent.Write(b)
	return c.Conn.Write(b)
}

// A recorded exchange proves nothing the next time, and who cannot prove himself
// gets no MAC to work on.
func TestReplayIsRefused(t *testing.T) {
	x, y := net.Pipe()
	rec := &tape{Conn: x}
	go Accept(y, local(t, "ash-1", 9), anyPurpose)
	if _, err := Dial(rec, local(t, "dal-1", 3), Interconnect, "ash-1"); err != nil {
		t.Fatal(err)
	}
	u, v := net.Pipe()
	result := make(chan error, 1)
	back := &tape{Conn: v}
	go func() {
		_, err := Accept(back, local(t, "ash-1", 9), anyPurpose)
		v.Close()
		result <- err
	}()
	go u.Write(rec.sent.Bytes())
	io.Copy(io.Discard, u)
	if err := <-result; !errors.Is(err, ErrKey) {
		t.Errorf("a replayed exchange: %v, want ErrKey", err)
	}
	if m, err := decode(back.sent.Bytes()[2:]); err != nil || back.sent.Len() != 2+len(m.append(nil)) {
		t.Error("the acceptor sent more than its hello to somebody who proved nothing")
	}
}

// Whoever sends a node's own octets back to it proves nothing.
func TestReflectionIsRefused(t *testing.T) {
	x, y := net.Pipe()
	go io.Copy(y, y)
	// The echo of a proof is one octet shorter than an answer: Dial waits for it.
	x.SetDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := Dial(x, local(t, "dal-1", 3), Interconnect, ""); err == nil {
		t.Error("a reflected exchange was taken for a proof")
	}
	x.Close()
	y.Close()
}

// flip changes one octet of what passes.
type flip struct {
	net.Conn
	at, passed int
}

func (c *flip) Write(b []byte) (int, error) {
	b = bytes.Clone(b)
	if c.at >= c.passed && c.at < c.passed+len(b) {
		b[c.at-c.passed] ^= 0x01
	}
	c.passed += len(b)
	return c.Conn.Write(b)
}

// Every octet of both sides is under the proofs: no change of any goes unnoticed by
// both.
func TestEveryOctetIsUnderTheProofs(t *testing.T) {
	for side := range 2 {
		for at := range 250 {
			x, y := net.Pipe()
			limit := time.Now().Add(200 * time.Millisecond)
			x.SetDeadline(limit)
			y.SetDeadline(limit)
			d, a := x, y
			f := &flip{at: at}
			if side == 0 {
				f.Conn, d = x, f
			} else {
				f.Conn, a = y, f
			}
			done := make(chan error, 1)
			go func() {
				_, err := Accept(a, local(t, "ash-1", 9), anyPurpose)
				a.Close()
				done <- err
			}()
			_, dialErr := Dial(d, local(t, "dal-1", 3), Interconnect, "ash-1")
			d.Close()
			acceptErr := <-done
			if f.passed > at && dialErr == nil && acceptErr == nil {
				t.Errorf("octet %d of side %d was changed and nobody noticed", at, side)
			}
		}
	}
}

func FuzzHello(f *testing.F) {
	m, _ := (&Local{Cluster: "test", Node: "dal-1", Site: "dallas", Address: "10.0.0.1:7950", Keys: ring(f, "a")}).message(Raft, "ash-1", keyring.ID{1})
	f.Add(m.append(nil))
	f.Add([]byte("TNDM"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decode(b)
		if err != nil {
			return
		}
		again, err := decode(m.append(nil))
		if err != nil || again != m {
			t.Fatalf("%+v became %+v, %v", m, again, err)
		}
	})
}

// FuzzAccept lets a stranger say what he likes: he is never let in.
func FuzzAccept(f *testing.F) {
	f.Add([]byte{0, 4, 'T', 'N', 'D', 'M'})
	l := local(f, "ash-1", 9)
	m, _ := l.message(Interconnect, "ash-1", l.Keys.Primary())
	m.node = "dal-1"
	var wire bytes.Buffer
	send(&wire, m)
	f.Add(append(wire.Bytes(), make([]byte, macLength)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		rw := struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(b), io.Discard}
		if _, err := Accept(rw, l, anyPurpose); err == nil {
			t.Fatal("a stranger was let in")
		}
	})
}
