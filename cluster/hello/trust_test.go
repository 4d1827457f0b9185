package hello

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// DEC-08: "the peer certificate's node name is the identity": what a node says of
// itself does not count against it, on either side.
func TestDEC08_NameOfTheCertificate(t *testing.T) {
	d, a := local(t, "dal-1", 3), local(t, "ash-1", 9)
	a.Proven = "dal-2"
	x, y := shake(d, a, Interconnect, "ash-1", anyPurpose)
	if !errors.Is(x.err, ErrForged) || !errors.Is(y.err, ErrForged) {
		t.Errorf("a forged name at the acceptor: dialer %v, acceptor %v", x.err, y.err)
	}
	a.Proven, d.Proven = "", "ash-2"
	if x, _ := shake(d, a, Interconnect, "", anyPurpose); !errors.Is(x.err, ErrForged) {
		t.Errorf("a forged name at the dialer: %v", x.err)
	}
	a.Proven, d.Proven = "dal-1", "ash-1"
	if x, y := shake(d, a, Interconnect, "ash-1", anyPurpose); x.err != nil || y.err != nil {
		t.Errorf("right names: dialer %v, acceptor %v", x.err, y.err)
	}
}

// A node that missed a step of a rotation is told which key is missing where.
func TestUnknownKeyIsNamed(t *testing.T) {
	d, a := local(t, "dal-1", 3), local(t, "ash-1", 9)
	d.Keys, a.Keys = ring(t, "new", "old"), ring(t, "old")
	x, y := shake(d, a, Interconnect, "ash-1", anyPurpose)
	at, ok := errors.AsType[*UnknownKeyError](x.err)
	if !ok || !errors.Is(x.err, ErrKey) || at.Offered != d.Keys.Primary() || at.Peer != a.Keys.Primary() || !at.Held {
		t.Errorf("the dialer learned %+v, %v", at, x.err)
	}
	if y.err == nil || !strings.Contains(y.err.Error(), `"dal-1"`) || !strings.Contains(y.err.Error(), d.Keys.Primary().String()) {
		t.Errorf("the acceptor says %v", y.err)
	}
	// The dialer holds the other one as well and may offer it.
	d.Offer = at.Peer
	if x, y := shake(d, a, Interconnect, "ash-1", anyPurpose); x.err != nil || y.remote.Key != a.Keys.Primary() {
		t.Errorf("an offer of the older key: %v, %+v", x.err, y.remote)
	}
	// One that it does not hold is not offered.
	d.Offer = keyring.ID{1}
	if x, _ := shake(d, a, Interconnect, "ash-1", anyPurpose); !errors.Is(x.err, ErrKey) {
		t.Errorf("an offer of a key that is not there: %v", x.err)
	}
	// The refusal tells a stranger nothing of the node.
	d.Keys = ring(t, "stranger")
	u, v := net.Pipe()
	u.SetDeadline(time.Now().Add(10 * time.Second))
	go func() {
		_, _ = Accept(v, a, anyPurpose)
		v.Close()
	}()
	m, _ := d.message(Interconnect, "ash-1", d.Keys.Primary())
	if _, err := send(u, m); err != nil {
		t.Fatal(err)
	}
	got, _, err := receive(u)
	if err != nil || got.node != "" || got.site != "" || got.address != "" || got.boot != 0 {
		t.Errorf("a stranger learned %+v, %v", got, err)
	}
}

func TestRenewalIsTold(t *testing.T) {
	d := local(t, "dal-1", 3)
	d.Renewal = true
	if _, y := shake(d, local(t, "ash-1", 9), Interconnect, "", anyPurpose); y.err != nil || !y.remote.Renewal {
		t.Errorf("%+v, %v", y.remote, y.err)
	}
	// A build that does not know the flag ends its hello before it.
	m, _ := d.message(Interconnect, "", d.Keys.Primary())
	wire := m.append(nil)
	if got, err := decode(wire[:len(wire)-1]); err != nil || got.flags != 0 || got.node != "dal-1" {
		t.Errorf("an older hello: %+v, %v", got, err)
	}
}

// A node without a certificate says what the other side wanted.
func TestTLSIsRecognized(t *testing.T) {
	u, v := net.Pipe()
	u.SetDeadline(time.Now().Add(10 * time.Second))
	go func() {
		_, _ = u.Write([]byte{0x16, 0x03, 0x01, 0x00, 0xf0})
	}()
	if _, err := Accept(v, local(t, "ash-1", 9), anyPurpose); !errors.Is(err, ErrTLS) {
		t.Errorf("%v, want %v", err, ErrTLS)
	}
	u.Close()
	v.Close()
}
