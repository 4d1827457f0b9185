package interconnect

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster/hello"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/cluster/pki"
)

// ca is the authority of a test cluster.
type ca struct {
	t testing.TB
	*pki.Authority
	cluster string
}

func newCA(t testing.TB, cluster string) *ca {
	t.Helper()
	cert, key, err := pki.NewAuthority(cluster, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	a, err := pki.ParseAuthority(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return &ca{t, a, cluster}
}

// identity issues the certificate of a node; trusted are further authorities.
func (a *ca) identity(node string, life time.Duration, at time.Time, trusted ...*ca) *pki.Identity {
	a.t.Helper()
	cert, key, err := a.Issue(a.cluster, node, life, at)
	if err != nil {
		a.t.Fatal(err)
	}
	cas := a.PEM()
	for _, o := range trusted {
		cas = append(cas, o.PEM()...)
	}
	id, err := pki.Parse(a.cluster, node, cert, key, cas)
	if err != nil {
		a.t.Fatal(err)
	}
	return id
}

func (a *ca) node(node string) *pki.Identity {
	return a.identity(node, pki.NodeLife, time.Now())
}

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

// safe is a loopback configuration with TLS.
func safe(t testing.TB, id *pki.Identity, boot uint64) Config {
	cfg := loopback(t, id.Node(), boot, "a")
	cfg.Identity = id
	return cfg
}

// pair starts two nodes that know each other and waits until both see the other.
func pair(t *testing.T, a, b Config, prepare func(i, o *Interconnect)) (i, o *Interconnect) {
	t.Helper()
	i, o = build(t, a), build(t, b)
	if prepare != nil {
		prepare(i, o)
	}
	ends := []Endpoint{endpoint(a), endpoint(b)}
	for _, n := range []*Interconnect{i, o} {
		n.SetPeers(ends)
		n.Start()
	}
	eventually(t, "both are up", func() bool { return isUp(i, b.Node)() && isUp(o, a.Node)() })
	return i, o
}

// DEC-08: mutual TLS on every stream, of every purpose.
func TestDEC08_EveryPurposeIsInsideTLS(t *testing.T) {
	a := newCA(t, "test")
	i, o := pair(t, safe(t, a.node("dal-1"), 1), safe(t, a.node("ash-1"), 5), func(i, _ *Interconnect) {
		for _, p := range []hello.Purpose{hello.Raft, hello.Propose} {
			i.OnStream(p, func(c net.Conn, r hello.Remote) {
				go func() {
					defer c.Close()
					fmt.Fprintf(c, "%s %s %t", r.Node, r.Purpose, c.(*link).chain != nil)
				}()
			})
		}
	})
	if p, _ := o.Peer("dal-1"); !p.TLS {
		t.Error("the peer's stream is not inside TLS")
	}
	for _, p := range []hello.Purpose{hello.Raft, hello.Propose} {
		c, _, err := o.Dial(t.Context(), i.cfg.Advertise, p, "dal-1")
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := io.ReadAll(c); string(b) != "ash-1 "+p.String()+" true" {
			t.Errorf("%s: %q", p, b)
		}
		c.Close()
	}
	seen, err := Inquire(t.Context(), Config{
		Cluster: "test", Node: "ash-1", Keys: i.keys(), Identity: a.node("ash-1"), Advertise: "x:1",
	}, endpoint(i.cfg))
	if err != nil || seen != 5 {
		t.Errorf("an inquiry inside TLS: %d, %v", seen, err)
	}
}

// RELIABILITY row 30: a stranger joins nothing and forges nothing, whatever it holds short of a certificate
// of this cluster in its own name and the cluster key.
func TestStrangersWithCertificates(t *testing.T) {
	a, other := newCA(t, "test"), newCA(t, "test")
	cfg := safe(t, a.node("dal-1"), 1)
	i := build(t, cfg)
	var raft atomic.Int64
	i.OnStream(hello.Raft, func(c net.Conn, _ hello.Remote) { raft.Add(1); c.Close() })
	i.OnFrame(20, 20, func(string, byte, []byte) { t.Error("a stranger's frame was taken") })
	i.Start()
	for _, c := range []struct {
		name     string
		node     string
		id       *pki.Identity
		secret   string
		reason   string
		stranger string // what the stranger can read of the reason
	}{
		{"without TLS", "ash-1", nil, "a", "plain", ""},
		{"another authority", "ash-1", other.node("ash-1"), "a", "peer_refused", "authority"},
		{"that authority beside ours", "ash-1", other.identity("ash-1", pki.NodeLife, time.Now(), a), "a", "authority", "certificate"},
		{"expired", "ash-1", a.identity("ash-1", time.Minute, time.Now().Add(-30*time.Minute)), "a", "expired", "expired"},
		{"not valid yet", "ash-1", a.identity("ash-1", pki.NodeLife, time.Now().Add(48*time.Hour)), "a", "not_yet", "certificate"},
		{"another cluster key", "ash-1", a.node("ash-1"), "b", "key", "key"},
		{"the name of another node", "ash-2", a.node("ash-1"), "a", "forged", "certificate"},
		{"the name of the node itself", "dal-1", a.node("ash-1"), "a", "forged", "certificate"},
	} {
		before := i.RefusedBy()[c.reason]
		s := loopback(t, c.node, 7, c.secret)
		s.Identity = c.id
		stranger := build(t, s)
		_, _, err := stranger.Dial(t.Context(), cfg.Advertise, hello.Raft, "")
		if err == nil {
			t.Errorf("%s: a stream was opened", c.name)
			continue
		}
		if !strings.Contains(err.Error(), c.stranger) {
			t.Errorf("%s: the stranger reads %v", c.name, err)
		}
		eventually(t, c.name+" is counted as "+c.reason+fmt.Sprint(i.RefusedBy()), func() bool { return i.RefusedBy()[c.reason] == before+1 })
		stranger.Stop()
	}
	if len(i.Peers()) != 0 || i.Stats().Accepted != 0 || raft.Load() != 0 {
		t.Errorf("a stranger became a peer: %+v, %+v", i.Peers(), i.Stats())
	}
	if i.highestBoot("ash-1") != 0 || i.highestBoot("ash-2") != 0 {
		t.Error("a stranger's boot number was believed: the real node could be locked out by it")
	}
}

// A recorded stream opens nothing, and half of a handshake holds nothing.
func TestReplayedTLSIsRefused(t *testing.T) {
	a := newCA(t, "test")
	cfg := safe(t, a.node("dal-1"), 1)
	i := build(t, cfg)
	i.OnStream(hello.Raft, func(c net.Conn, _ hello.Remote) { c.Close() })
	i.Start()
	var wire recorder
	s := safe(t, a.node("ash-1"), 7)
	s.Dial = wire.dial
	good := build(t, s)
	c, _, err := good.Dial(t.Context(), cfg.Advertise, hello.Raft, "dal-1")
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	// The acceptor counts when its own side is through, which may be after ours.
	eventually(t, "the good stream is accepted", func() bool { return i.Stats().Accepted == 1 })
	again, err := net.Dial("tcp", cfg.Advertise)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.Write(wire.sent())
	again.SetReadDeadline(time.Now().Add(patience))
	io.Copy(io.Discard, again)
	eventually(t, "the replay is refused", func() bool { return i.RefusedBy()["tls"] > 0 })
	if i.Stats().Accepted != 1 {
		t.Error("the replay was accepted")
	}
}

// A node with a certificate speaks to one without only while it is told to.
func TestPlainAndTLSMeet(t *testing.T) {
	a := newCA(t, "test")
	change := safe(t, a.node("dal-1"), 1)
	change.Plain = true
	old := loopback(t, "ash-1", 1, "a")
	i, o := pair(t, change, old, nil)
	if p, _ := i.Peer("ash-1"); p.TLS {
		t.Error("a node without certificate has TLS")
	}
	// The other one gets its certificate: both renew their streams, and no one is lost.
	lost := i.Stats().Lost + o.Stats().Lost
	o.SetIdentity(a.node("ash-1"), true)
	i.review(time.Now())
	eventually(t, "both streams are inside TLS", func() bool {
		p, _ := i.Peer("ash-1")
		q, _ := o.Peer("dal-1")
		return p.TLS && q.TLS
	})
	i.SetIdentity(i.trust.Load().identity, false)
	o.SetIdentity(o.trust.Load().identity, false)
	if !isUp(i, "ash-1")() || !isUp(o, "dal-1")() || i.Stats().Lost+o.Stats().Lost != lost {
		t.Errorf("a peer was lost: %+v, %+v", i.Stats(), o.Stats())
	}
	plain := build(t, loopback(t, "ash-2", 1, "a"))
	if _, _, err := plain.Dial(t.Context(), change.Advertise, hello.Raft, "dal-1"); err == nil {
		t.Error("a plain stream was taken after the change")
	}
}

// A node without TLS that is dialled with TLS says what it lacks.
func TestPlainNodeSaysWhatItLacks(t *testing.T) {
	a := newCA(t, "test")
	cfg := loopback(t, "dal-1", 1, "a")
	i := build(t, cfg)
	i.Start()
	s := build(t, safe(t, a.node("ash-1"), 1))
	if _, _, err := s.Dial(t.Context(), cfg.Advertise, hello.Raft, ""); err == nil {
		t.Fatal("a stream was opened")
	}
	eventually(t, "it is counted", func() bool { return i.RefusedBy()["tls"] == 1 })
}

// TLS below 1.3 opens nothing, nor does a session ticket.
func TestOldTLSIsRefused(t *testing.T) {
	a := newCA(t, "test")
	cfg := safe(t, a.node("dal-1"), 1)
	i := build(t, cfg)
	i.Start()
	client := a.node("ash-1").Client()
	client.MinVersion, client.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	c, err := tls.Dial("tcp", cfg.Advertise, client)
	if err == nil {
		c.Close()
		t.Error("TLS 1.2 was spoken")
	}
	eventually(t, "it is counted", func() bool { return i.Stats().Refused == 1 })
}

// recorder keeps what is sent on the streams that it dials.
type recorder struct {
	tape atomic.Pointer[taped]
}

type taped struct {
	net.Conn
	wire []byte
}

func (c *taped) Write(b []byte) (int, error) {
	c.wire = append(c.wire, b...)
	return c.Conn.Write(b)
}

func (r *recorder) dial(ctx context.Context, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	t := &taped{Conn: c}
	r.tape.Store(t)
	return t, nil
}

func (r *recorder) sent() []byte { return r.tape.Load().wire }
