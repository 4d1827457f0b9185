package b2bua

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/icholy/digest"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const strangerAddr = "203.0.113.77:5060"

func digestDocument() *trunkgroup.Document {
	doc := document()
	sum := md5.Sum([]byte("initech:sip.example.com:secret"))
	doc.TrunkGroups = append(doc.TrunkGroups, trunkgroup.GroupSpec{
		Name: "initech-out", Role: trunkgroup.TerminationCustomer,
		Credentials: []trunkgroup.CredentialSpec{{Username: "initech", Realm: "sip.example.com", HA1MD5: hex.EncodeToString(sum[:])}},
	})
	return doc
}

// authorize answers the MD5 challenge of a 401.
func authorize(t testing.TB, resp *sip.Message, uri string) string {
	t.Helper()
	return authorizeAs(t, "initech", resp, uri)
}

// authorizeAs is authorize for another user with the same password.
func authorizeAs(t testing.TB, user string, resp *sip.Message, uri string) string {
	t.Helper()
	var line string
	resp.EachOf(sip.WWWAuthenticate, func(v []byte) bool {
		ch, err := digest.ParseChallenge(string(v))
		if err != nil {
			t.Fatal(err)
		}
		if ch.Algorithm != "MD5" {
			return true
		}
		cred, err := digest.Digest(ch, digest.Options{Method: "INVITE", URI: uri, Username: user, Password: "secret", Count: 1})
		if err != nil {
			t.Fatal(err)
		}
		line = "Authorization: " + cred.String() + "\r\n"
		return false
	})
	return line
}

func TestP29_DigestCustomerCallsOut(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", digestDocument())
	call := invite{called: "+13105550123", body: offer, host: strangerAddr}
	w.from(strangerAddr, call.String())
	challenge := w.take(strangerAddr, "SIP/2.0 401")
	call.lines, call.seq, call.branch = authorize(t, challenge, "sip:+13105550123@203.0.113.1"), 2, "z9hG4bKa2"
	w.from(strangerAddr, call.String())
	b := w.take(carrierAddr, "INVITE")
	if b.Has(sip.Authorization) {
		t.Error("the customer's credentials went to the carrier")
	}
	w.from(carrierAddr, reply(b, 486, "x", ""))
	if got := w.take(strangerAddr, "SIP/2.0 486"); got.CSeq() != 2 {
		t.Errorf("CSeq %d", got.CSeq())
	}
	if r := w.records[0]; r.AuthUser != "initech" || r.Customer != "initech-out" || r.Direction != "outbound" {
		t.Errorf("record %+v", r)
	}
}

func TestDEC25_ReplayAtAnotherNodeIsStale(t *testing.T) {
	first := newWorldOf(t, "dal-1", "dallas", digestDocument())
	other := newWorldOf(t, "dal-2", "dallas", digestDocument())
	call := invite{called: "+13105550123", body: offer, host: strangerAddr}
	first.from(strangerAddr, call.String())
	challenge := first.take(strangerAddr, "SIP/2.0 401")
	call.lines, call.seq, call.branch = authorize(t, challenge, "sip:+13105550123@203.0.113.1"), 2, "z9hG4bKa2"

	t.Run("the nonce of one node is good at another", func(t *testing.T) {
		third := newWorldOf(t, "ash-1", "ashburn", digestDocument())
		third.from(strangerAddr, call.String())
		third.take("192.0.2.74:5060", "INVITE")
	})
	first.from(strangerAddr, call.String())
	first.take(carrierAddr, "INVITE")
	other.s.Shared(other.now, "dal-1", first.shared[0])
	replay := call
	replay.callID, replay.branch = "another-call", "z9hG4bKa3"
	other.from(strangerAddr, replay.String())
	got := other.take(strangerAddr, "SIP/2.0 401")
	stale := false
	got.EachOf(sip.WWWAuthenticate, func(v []byte) bool {
		ch, err := digest.ParseChallenge(string(v))
		stale = err == nil && ch.Stale
		return !stale
	})
	if !stale {
		t.Errorf("want stale=true:\n%s", got.Raw())
	}
}

func TestWrongSecretAndUnknownUserGetTheSameAnswer(t *testing.T) {
	answers := map[string]string{}
	for _, user := range []string{"initech", "nobody"} {
		w := newWorldOf(t, "dal-1", "dallas", digestDocument())
		call := invite{called: "+13105550123", body: offer, host: strangerAddr}
		call.lines = fmt.Sprintf("Authorization: Digest username=%q, realm=\"sip.example.com\", nonce=\"abc\", uri=\"sip:+13105550123@203.0.113.1\", "+
			"response=\"00000000000000000000000000000000\", algorithm=MD5, qop=auth, nc=00000001, cnonce=\"x\"\r\n", user)
		w.from(strangerAddr, call.String())
		got := w.take(strangerAddr, "SIP/2.0 401")
		answers[user] = fmt.Sprint(got.Status(), len(got.Raw()))
	}
	if answers["initech"] != answers["nobody"] {
		t.Errorf("the answers differ: %v", answers)
	}
}
