package sim

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// registerBench is a far end that registers, and the registrar's side of the wire.
type registerBench struct {
	t     *testing.T
	r     *registering
	now   time.Time
	sent  [][]byte
	words []string
}

func newRegisterBench(t *testing.T) *registerBench {
	b := &registerBench{t: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	sum := md5.Sum([]byte("acme:sip.example.net:secret"))
	callee := NewCallee(CalleeConfig{Name: "pbx"}, func(_ transport.Target, data []byte, _ uint64) { b.sent = append(b.sent, data) })
	b.r = newRegistering(callee, RegisterConfig{
		Node: netip.MustParseAddrPort("192.0.2.1:5060"),
		Account: trunkgroup.Account{
			AOR: "sip:acme@sip.example.net", User: "acme", Host: "sip.example.net", Username: "acme", Realm: "sip.example.net",
			HA1MD5: hex.EncodeToString(sum[:]), Register: true, Expires: time.Minute,
		},
		Told: func(state, reason string) { b.words = append(b.words, strings.TrimSpace(state+" "+reason)) },
	}, trunkgroup.UDP, netip.MustParseAddrPort("198.51.100.1:5060"), b.now)
	return b
}

// next runs the far end until it sends something, and returns that.
func (b *registerBench) next() *sip.Message {
	b.t.Helper()
	for range 1000 {
		if len(b.sent) > 0 {
			m, fault := sip.Parse(b.sent[0])
			if fault != nil {
				b.t.Fatal(fault)
			}
			b.sent = b.sent[1:]
			return m
		}
		d := b.r.Deadline()
		if d.IsZero() {
			break
		}
		if d.After(b.now) {
			b.now = d
		}
		b.r.Expire(b.now)
	}
	b.t.Fatal("nothing was sent")
	return nil
}

func (b *registerBench) answer(req *sip.Message, code int, lines string) {
	b.t.Helper()
	text := fmt.Sprintf("SIP/2.0 %d X\r\nVia: %s\r\nFrom: %s\r\nTo: %s;tag=x\r\nCall-ID: %s\r\nCSeq: %d REGISTER\r\n%sContent-Length: 0\r\n\r\n", code,
		req.Header(sip.Via), req.Header(sip.From), req.Header(sip.To), req.CallID(), req.CSeq(), lines)
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		b.t.Fatal(fault)
	}
	b.r.Receive(b.now, &transport.Packet{Message: m})
}

func TestFarEndRegistersRefreshesAndLeaves(t *testing.T) {
	b := newRegisterBench(t)
	first := b.next()
	if again := b.next(); again.CSeq() != first.CSeq() || string(again.Branch()) != string(first.Branch()) {
		t.Error("a repetition is another request")
	}
	b.answer(first, 401, "WWW-Authenticate: Digest realm=\"sip.example.net\", nonce=\"n\", qop=\"auth\", algorithm=MD5\r\n")
	login := b.next()
	if login.CSeq() <= first.CSeq() || !login.Has(sip.Authorization) || string(login.Header(sip.Contact)) != "<sip:acme@198.51.100.1:5060>" {
		t.Fatalf("%s", login.Raw())
	}
	granted := "Contact: <sip:acme@198.51.100.1:5060>;expires=60\r\n"
	b.answer(login, 200, granted)
	at := b.now
	refresh := b.next()
	if pause := b.now.Sub(at); pause <= 0 || pause >= time.Minute || string(refresh.CallID()) != string(login.CallID()) {
		t.Errorf("refreshed after %v:\n%s", pause, refresh.Raw())
	}
	b.answer(refresh, 200, granted)
	b.r.stop(b.now)
	last := b.next()
	if !strings.Contains(string(last.Raw()), "\r\nExpires: 0\r\n") || b.r.gone() {
		t.Errorf("%s", last.Raw())
	}
	b.answer(last, 200, "")
	if !b.r.gone() {
		t.Error("it is still there")
	}
	if got := strings.Join(b.words, ","); got != "trying,registered,removing,removed" {
		t.Error(got)
	}
}

func TestFarEndSaysWhyItIsNotRegistered(t *testing.T) {
	b := newRegisterBench(t)
	b.answer(b.next(), 403, "")
	if last := b.words[len(b.words)-1]; !strings.HasPrefix(last, "failed ") {
		t.Error(b.words)
	}
}
