package b2bua

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/icholy/digest"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	pbxAOR  = "sip:pbx@sip.example.com"
	pbxAddr = "198.51.100.40:5060"
)

// registerDocument has a group with a member that registers, and a user of
// another customer.
func registerDocument() *trunkgroup.Document {
	doc := document()
	user := func(name string) trunkgroup.CredentialSpec {
		sum := md5.Sum([]byte(name + ":sip.example.com:secret"))
		return trunkgroup.CredentialSpec{Username: name, Realm: "sip.example.com", HA1MD5: hex.EncodeToString(sum[:])}
	}
	doc.TrunkGroups = append(doc.TrunkGroups,
		trunkgroup.GroupSpec{
			Name: "globex-in", Role: trunkgroup.OriginationCustomer, Numbers: []string{"+1469555*"},
			Members: []trunkgroup.MemberSpec{{ID: "pbx", Registration: &trunkgroup.RegistrationSpec{
				AOR: pbxAOR, BoundIP: []string{"198.51.100.0/24", "203.0.113.0/24"},
			}}},
			Credentials: []trunkgroup.CredentialSpec{user("pbx"), user("other")},
		},
		trunkgroup.GroupSpec{
			Name: "initech-out", Role: trunkgroup.TerminationCustomer, Credentials: []trunkgroup.CredentialSpec{user("initech")},
		})
	return doc
}

// register is a REGISTER as a test writes it.
type register struct {
	aor, user, password, callID, contact, branch string
	seq, count                                   int
	lines                                        string
	from                                         string
}

func (r register) String() string {
	set := func(v *string, d string) {
		if *v == "" {
			*v = d
		}
	}
	set(&r.aor, pbxAOR)
	set(&r.from, pbxAddr)
	set(&r.callID, "reg-1")
	set(&r.contact, "<sip:pbx@"+r.from+">")
	if r.seq == 0 {
		r.seq = 1
	}
	set(&r.branch, "z9hG4bKr"+strconv.Itoa(r.seq))
	return "REGISTER sip:sip.example.com SIP/2.0\r\nVia: SIP/2.0/UDP " + r.from + ";branch=" + r.branch + ";rport\r\nMax-Forwards: 70\r\n" +
		"From: <" + r.aor + ">;tag=f\r\nTo: <" + r.aor + ">\r\nCall-ID: " + r.callID + "\r\nCSeq: " + strconv.Itoa(r.seq) + " REGISTER\r\n" +
		"Contact: " + r.contact + "\r\n" + r.lines + "Content-Length: 0\r\n\r\n"
}

// login answers the challenge to a REGISTER.
func (r register) login(t *testing.T, resp *sip.Message) register {
	t.Helper()
	if r.user == "" {
		r.user = "pbx"
	}
	if r.password == "" {
		r.password = "secret"
	}
	if r.count == 0 {
		r.count = 1
	}
	r.seq = max(r.seq, 1) + 1
	resp.EachOf(sip.WWWAuthenticate, func(v []byte) bool {
		ch, err := digest.ParseChallenge(string(v))
		if err != nil || ch.Algorithm != "MD5" {
			return true
		}
		cred, err := digest.Digest(ch, digest.Options{
			Method: "REGISTER", URI: "sip:sip.example.com", Username: r.user, Password: r.password, Count: r.count, Cnonce: "c",
		})
		if err != nil {
			t.Fatal(err)
		}
		r.lines += "Authorization: " + cred.String() + "\r\n"
		return false
	})
	return r
}

// challenged sends a REGISTER and returns it with the challenge answered.
func (w *world) challenged(t *testing.T, r register) register {
	t.Helper()
	if r.from == "" {
		r.from = pbxAddr
	}
	w.from(r.from, r.String())
	return r.login(t, w.take(r.from, "SIP/2.0 401"))
}

func newRegisterWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOf(t, "dal-1", "dallas", registerDocument())
}

// R-31, RFC 3261 10.3: a REGISTER is challenged, taken by digest, and answered
// with all bindings; the calls of its member go there.
func TestR31_RegisterByDigest(t *testing.T) {
	w := newRegisterWorld(t)
	r := w.challenged(t, register{})
	w.from(pbxAddr, r.String())
	w.from(pbxAddr, r.String()) // repeated while it waits
	if len(w.asked) != 1 || len(w.sent) != 0 {
		t.Fatalf("%d asked, sent %s", len(w.asked), w.trace())
	}
	w.registrations()
	ok := w.take(pbxAddr, "SIP/2.0 200")
	if got := string(ok.Header(sip.Contact)); got != "<sip:pbx@198.51.100.40:5060>;expires=3600" {
		t.Error(got)
	}
	w.from(pbxAddr, r.String()) // repeated afterwards
	w.take(pbxAddr, "SIP/2.0 200")
	if len(w.asked) != 0 || len(w.registry.Bindings(pbxAOR)) != 1 {
		t.Errorf("%d", len(w.asked))
	}
	w.from(carrierAddr, invite{called: "+14695550100", body: offer}.String())
	if b := w.take(pbxAddr, "INVITE"); string(b.RequestURI()) != "sip:pbx@198.51.100.40:5060" {
		t.Errorf("%s", b.RequestURI())
	}
}

// Who may not register learns nothing: not of the secret, the user, the address
// of record, nor the address that he should come from.
func TestClass16_WhoMayRegister(t *testing.T) {
	for _, c := range []struct {
		name string
		r    register
		code int
		note string // what the operator of pbxAOR is told; "" for another one
	}{
		{"wrong secret", register{password: "guess"}, 401, "challenged digest"},
		{"no such user", register{user: "nobody"}, 401, "challenged unknown_user"},
		{"a user for whom nothing registers", register{user: "other"}, 403, "user "},
		{"another customer's user", register{user: "initech"}, 403, "user "},
		{"no such address of record", register{aor: "sip:nobody@sip.example.com"}, 403, ""},
		{"an address of record of another domain", register{aor: "sip:pbx@example.net"}, 403, ""},
		{"from elsewhere", register{from: "192.0.2.99:5060"}, 403, "source "},
		{"a carrier's address registers nobody", register{from: carrierAddr, user: "nobody"}, 401, "challenged unknown_user"},
		{"no user", register{aor: "sip:sip.example.com"}, 400, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newRegisterWorld(t)
			if c.r.from == "" {
				c.r.from = pbxAddr
			}
			r := w.challenged(t, c.r)
			w.from(c.r.from, r.String())
			got := w.take(c.r.from, "SIP/2.0 "+strconv.Itoa(c.code))
			if len(w.asked) != 0 {
				t.Error("it reached the registrar")
			}
			if n := len(got.Raw()); c.code == 403 && n > len(r.String()) {
				t.Errorf("%d octets of answer", n)
			}
			note := ""
			for _, e := range w.events {
				if e.Kind == EventRegister && e.Member != nil && e.Member.Registration.AOR == pbxAOR && e.Source.String() == c.r.from {
					note += e.Result + " " + e.Reason
				}
			}
			if note != c.note {
				t.Errorf("the operator is told %q, want %q", note, c.note)
			}
		})
	}
}

// A REGISTER is refused alike for an address of record that is somebody else's
// and for one that does not exist.
func TestClass16_ForeignAndUnknownAORGetTheSameAnswer(t *testing.T) {
	var answers []string
	for _, r := range []register{{user: "initech"}, {user: "initech", aor: "sip:bpx@sip.example.com"}} {
		w := newRegisterWorld(t)
		w.from(pbxAddr, w.challenged(t, r).String())
		text := string(w.take(pbxAddr, "SIP/2.0 403").Raw())
		text = strings.ReplaceAll(text, "bpx", "pbx")
		before, _, _ := strings.Cut(text, ";tag=")
		answers = append(answers, before)
	}
	if answers[0] != answers[1] {
		t.Errorf("%q", answers)
	}
}

// DEC-25: the nonce that a REGISTER used is spent at all nodes, whatever became
// of it.
func TestDEC25_RegisterCannotBeReplayedElsewhere(t *testing.T) {
	for name, r := range map[string]register{"taken": {}, "refused": {user: "initech"}} {
		t.Run(name, func(t *testing.T) {
			first, other := newRegisterWorld(t), newWorldOf(t, "ash-1", "ashburn", registerDocument())
			r := first.challenged(t, r)
			first.from(pbxAddr, r.String())
			if len(first.shared) != 1 || first.shared[0].State != OpenClosed || first.shared[0].Nonce.Nonce == 0 {
				t.Fatalf("%+v", first.shared)
			}
			other.s.Shared(other.now, "dal-1", first.shared[0])
			r.callID, r.branch = "replay", "z9hG4bKreplay"
			other.from(pbxAddr, r.String())
			if got := other.take(pbxAddr, "SIP/2.0 401"); !strings.Contains(string(got.Raw()), "stale=true") {
				t.Errorf("%s", got.Raw())
			}
			if len(other.asked) != 0 {
				t.Error("it reached the registrar")
			}
			if st := other.s.Stats(); st.Open != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// A PBX that goes from node to node with one nonce and a rising count is taken
// everywhere.
func TestDEC25_RefreshAtAnotherNodeWithTheSameNonce(t *testing.T) {
	first, other := newRegisterWorld(t), newWorldOf(t, "ash-1", "ashburn", registerDocument())
	first.from(pbxAddr, register{}.String())
	challenge := first.take(pbxAddr, "SIP/2.0 401")
	first.from(pbxAddr, register{}.login(t, challenge).String())
	other.s.Shared(other.now, "dal-1", first.shared[0])
	other.from(pbxAddr, register{count: 2, seq: 2}.login(t, challenge).String())
	if len(other.asked) != 1 {
		t.Errorf("%s", other.trace())
	}
}

// What cannot be taken now is asked to come back later, each at another time.
func TestRegisterIsSpread(t *testing.T) {
	after := func(m *sip.Message) int {
		n, err := strconv.Atoi(string(m.Header(sip.RetryAfter)))
		if err != nil {
			t.Errorf("%s", m.Raw())
		}
		return n
	}
	t.Run("no room", func(t *testing.T) {
		w := newRegisterWorld(t)
		w.refuseRegisters = true
		r := w.challenged(t, register{})
		w.from(pbxAddr, r.String())
		if n := after(w.take(pbxAddr, "SIP/2.0 503")); n < 5 || n > 30 {
			t.Error(n)
		}
		w.quiet()
	})
	t.Run("no answer", func(t *testing.T) {
		w := newRegisterWorld(t)
		w.from(pbxAddr, w.challenged(t, register{}).String())
		w.advance(registerPatience)
		after(w.take(pbxAddr, "SIP/2.0 503"))
		w.s.Registered(w.now, w.asked[0].ref, Registered{}) // too late
		w.none(pbxAddr, "SIP/2.0")
		w.quiet()
	})
	t.Run("the node stops", func(t *testing.T) {
		w := newRegisterWorld(t)
		w.s.Shutdown(w.now)
		w.from(pbxAddr, register{}.String())
		w.take(pbxAddr, "SIP/2.0 503")
	})
	t.Run("no configuration", func(t *testing.T) {
		w := newRegisterWorld(t)
		w.table = nil
		w.from(pbxAddr, register{}.String())
		after(w.take(pbxAddr, "SIP/2.0 503"))
	})
}

// Nothing is kept of a challenge, and a fault of ours costs one REGISTER.
func TestRegisterLeavesNothing(t *testing.T) {
	w := newRegisterWorld(t)
	for i := range 100 {
		w.from(pbxAddr, register{callID: fmt.Sprint(i), branch: fmt.Sprint("z9hG4bKx", i)}.String())
	}
	if st := w.s.Stats(); st != (Stats{}) {
		t.Errorf("%+v", st)
	}
	w.sent = nil
	w.from(pbxAddr, w.challenged(t, register{}).String())
	w.trap = func(m *sip.Message) bool { return m.Status() == 200 }
	w.registrations()
	w.trap = nil
	if w.faults != 1 {
		t.Errorf("%d faults", w.faults)
	}
	w.quiet()
	w.from(pbxAddr, register{seq: 5}.String())
	w.take(pbxAddr, "SIP/2.0 401")
}

// A node registers nothing at another node, and a To tag opens no door.
func TestRegisterFromStrangePlaces(t *testing.T) {
	w := newRegisterWorld(t)
	w.packet("", "dal-2", register{}.String())
	w.take("dal-2", "SIP/2.0 403")
	text := strings.Replace(w.challenged(t, register{}).String(), "To: <"+pbxAOR+">", "To: <"+pbxAOR+">;tag=x", 1)
	w.from(pbxAddr, text)
	w.take(pbxAddr, "SIP/2.0 481")
	if len(w.asked) != 0 {
		t.Error("it reached the registrar")
	}
	w.advance(time.Minute)
}
