package uac

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

const here, there = "sip:r1@203.0.113.1:5060", "sip:r1@203.0.113.2:5060"

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// line is a registration at the end of a wire that the test holds.
type line struct {
	t   testing.TB
	r   *Registration
	now time.Time
	rnd uint64
}

func newLine(t testing.TB) *line {
	return &line{t: t, r: NewRegistration(account(), 100, epoch), now: epoch}
}

// due moves to the next deadline and returns what is sent there.
func (l *line) due() Order {
	l.t.Helper()
	for range 3 { // a lapse sends nothing
		if d := l.r.Deadline(); d.IsZero() {
			l.t.Fatalf("nothing is due: %+v", l.r.Status())
		} else if d.After(l.now) {
			l.now = d
		}
		if o, ok := l.r.Expire(l.now, l.rnd); ok {
			return o
		}
	}
	l.t.Fatalf("nothing was sent: %+v", l.r.Status())
	return Order{}
}

// reply gives a response and returns what follows at once.
func (l *line) reply(code int, lines ...string) (Order, bool) {
	return l.r.Answer(l.now, response(l.t, code, lines...), here, func(uri string) bool { return strings.Contains(uri, "r1@") }, l.rnd)
}

func (l *line) is(s State, reason string) {
	l.t.Helper()
	if st := l.r.Status(); st.State != s || !strings.Contains(st.Reason, reason) {
		l.t.Fatalf("is %s %q, want %s %q", st.State, st.Reason, s, reason)
	}
}

// registered goes through a challenge to the first success.
func (l *line) registered() {
	l.t.Helper()
	if o := l.due(); o.Credentials != "" || o.Expires != 600 || o.Seq != 101 {
		l.t.Fatalf("first REGISTER: %+v", o)
	}
	l.is(Trying, "")
	o, ok := l.reply(401, challengeLine(realm, "n1", "MD5", `, qop="auth"`))
	if !ok || o.Seq != 102 || !right(l.t, o.Credentials, "REGISTER") {
		l.t.Fatalf("answer: %+v", o)
	}
	if o, ok := l.reply(200, "Contact: <"+here+">;expires=600\r\n"); ok {
		l.t.Fatalf("one more: %+v", o)
	}
	l.is(Registered, "")
}

// TestRegistrationIsRefreshed: before its time is over, with the nonce that served
// before, and with a new one when that is stale.
func TestRegistrationIsRefreshed(t *testing.T) {
	l := newLine(t)
	l.registered()
	o := l.due()
	if wait := l.now.Sub(epoch); wait < 420*time.Second || wait > 480*time.Second {
		t.Errorf("refreshed after %s of 600 s", wait)
	}
	if !strings.Contains(o.Credentials, "nc=00000002") || !right(t, o.Credentials, "REGISTER") {
		t.Errorf("second use of the nonce: %+v", o)
	}
	o, ok := l.reply(401, challengeLine(realm, "n2", "MD5", `, qop="auth", stale=true`))
	if !ok || !strings.Contains(o.Credentials, `nonce="n2"`) || !strings.Contains(o.Credentials, "nc=00000001") {
		t.Errorf("after stale: %+v", o)
	}
	l.reply(200, "Contact: <"+here+">;expires=600\r\n")
	l.is(Registered, "")
}

// TestRefusedIsNotHammered: a wrong password is not tried again and again, and is
// alarming at once.
func TestRefusedIsNotHammered(t *testing.T) {
	l := newLine(t)
	l.due()
	l.reply(401, challengeLine(realm, "n1", "MD5", ""))
	if o, ok := l.reply(401, challengeLine(realm, "n2", "MD5", "")); ok {
		t.Fatalf("the same password once more: %+v", o)
	}
	l.is(Failed, "does not take the username or the hash")
	if st := l.r.Status(); !st.Alarming() || st.Next.Sub(l.now) < 30*time.Second {
		t.Errorf("%+v", st)
	}
	l.due()
	l.reply(401, challengeLine("evil.example", "n3", "MD5", ""))
	l.is(Failed, "another realm")
}

// TestChallengesHaveAnEnd: a registrar that calls every nonce stale is not answered
// for ever.
func TestChallengesHaveAnEnd(t *testing.T) {
	l := newLine(t)
	l.due()
	sent := 0
	for n := range 10 {
		if _, ok := l.reply(401, challengeLine(realm, fmt.Sprint("n", n), "MD5", ", stale=true")); !ok {
			break
		}
		sent++
	}
	if sent != answersMax {
		t.Errorf("%d answers", sent)
	}
	l.is(Failed, "401")
}

// TestBackOff: pauses grow from one second to five minutes and are spread; Retry-After
// counts where it is longer.
func TestBackOff(t *testing.T) {
	for _, rnd := range []uint64{0, 1 << 62, 1<<63 - 1} {
		l := newLine(t)
		l.rnd = rnd
		l.due()
		var last time.Duration
		for n := range 12 {
			l.r.Lost(l.now, "no response", rnd)
			l.is(Failed, "no response")
			pause := l.r.Status().Next.Sub(l.now)
			if pause < backoffMin || pause > backoffMax || pause < last/2 {
				t.Fatalf("pause %d is %s after %s", n, pause, last)
			}
			last = pause
			l.due()
		}
		if last < backoffMax/2 {
			t.Errorf("the last pause is %s", last)
		}
		l.reply(503, "Retry-After: 900\r\n")
		if pause := l.r.Status().Next.Sub(l.now); pause != 900*time.Second {
			t.Errorf("Retry-After 900 gives %s", pause)
		}
	}
}

// TestAFailedRefreshKeepsWhatHolds: until the time is over the registrar still has the
// contact; then it has lapsed.
func TestAFailedRefreshKeepsWhatHolds(t *testing.T) {
	l := newLine(t)
	l.registered()
	until := l.r.Status().Until
	l.due()
	l.reply(503)
	l.is(Registered, "503")
	if st := l.r.Status(); st.Alarming() || !st.Until.Equal(until) {
		t.Errorf("%+v", st)
	}
	for l.now.Before(until) {
		l.due()
		l.r.Lost(l.now, "no response", 0)
	}
	l.is(Failed, "no response")
	if st := l.r.Status(); !st.Alarming() || !st.Until.IsZero() && st.Until.After(l.now) {
		t.Errorf("%+v", st)
	}
	l.due()
	if _, ok := l.reply(200, "Contact: <"+here+">;expires=600\r\n"); ok {
		t.Error("one more")
	}
	l.is(Registered, "")
}

// TestMinExpires: RFC 3261 10.2.8, once in an exchange.
func TestMinExpires(t *testing.T) {
	l := newLine(t)
	l.due()
	if o, ok := l.reply(423, "Min-Expires: 1800\r\n"); !ok || o.Expires != 1800 {
		t.Fatalf("%+v", o)
	}
	if o, ok := l.reply(423, "Min-Expires: 3600\r\n"); ok {
		t.Fatalf("%+v", o)
	}
	l.is(Failed, "423")
}

// TestGranted: what the registrar says counts, not what was asked for.
func TestGranted(t *testing.T) {
	for _, c := range []struct {
		lines string
		want  time.Duration
	}{
		{"Contact: <" + here + ">;expires=60\r\n", 60 * time.Second},
		{"Contact: <" + there + ">;expires=60, <" + here + ";ob>;q=0.5;expires=90\r\nExpires: 30\r\n", 90 * time.Second},
		{"Contact: <sip:r1@rewritten.example>\r\nExpires: 120\r\n", 120 * time.Second},
		{"", 600 * time.Second},
		{"Contact: <" + here + ">;expires=1\r\n", leastGrant},
		{"Contact: <" + here + ">;expires=99999999\r\n", 24 * time.Hour},
	} {
		l := newLine(t)
		l.r.began = true
		l.due()
		l.reply(200, c.lines)
		if got := l.r.Status().Until.Sub(l.now); got != c.want {
			t.Errorf("%q grants %s, want %s", c.lines, got, c.want)
		}
	}
	l := newLine(t)
	l.due()
	l.reply(200, "Expires: 0\r\n")
	l.is(Failed, "holds nothing")
}

// TestTakeOverTakesTheOldContactOut: once, with the first success.
func TestTakeOverTakesTheOldContactOut(t *testing.T) {
	l := newLine(t)
	l.due()
	both := "Contact: <" + there + ">;expires=300, <" + here + ">;expires=600, <sip:phone@192.0.2.7>;expires=50\r\n"
	o, ok := l.reply(200, both)
	if !ok || len(o.Remove) != 1 || o.Remove[0] != there || o.Expires != 600 {
		t.Fatalf("%+v", o)
	}
	if o, ok = l.reply(200, both); ok {
		t.Fatalf("again: %+v", o)
	}
	if o = l.due(); len(o.Remove) != 0 {
		t.Fatalf("at a refresh: %+v", o)
	}
}

// TestRenew puts the contact in again and takes out what another node left.
func TestRenew(t *testing.T) {
	l := newLine(t)
	l.r.Renew(l.now)
	l.registered()
	l.r.Renew(l.now.Add(2 * time.Second))
	was := l.now
	if l.due(); l.now.Sub(was) != 2*time.Second {
		t.Errorf("renewed after %s", l.now.Sub(was))
	}
	if o, ok := l.reply(200, "Contact: <"+there+">;expires=300, <"+here+">;expires=600\r\n"); !ok || len(o.Remove) != 1 {
		t.Errorf("%+v", o)
	}
}

// TestStop takes the contact out where the registrar holds one.
func TestStop(t *testing.T) {
	l := newLine(t)
	l.r.Stop(l.now)
	l.is(Removed, "")

	l = newLine(t)
	l.registered()
	l.r.Stop(l.now)
	l.is(Removing, "")
	if o := l.due(); o.Expires != 0 {
		t.Fatalf("%+v", o)
	}
	o, ok := l.reply(401, challengeLine(realm, "n9", "MD5", ", stale=true"))
	if !ok || o.Expires != 0 {
		t.Fatalf("%+v", o)
	}
	l.reply(200)
	l.is(Removed, "")

	l = newLine(t) // while a REGISTER is out
	l.due()
	l.r.Stop(l.now)
	if o, ok := l.reply(200, "Contact: <"+here+">;expires=600\r\n"); !ok || o.Expires != 0 {
		t.Fatalf("%+v", o)
	}
	for range removeTries {
		l.r.Lost(l.now, "gone", 0)
		if l.r.Deadline().IsZero() {
			break
		}
		l.due()
	}
	l.is(Removed, "gone")
}

// TestNothingComesToRest: whatever a registrar says, there is always a next step at a
// bounded distance, and secrets go to no other realm.
func TestNothingComesToRest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLine(t)
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			l.rnd = rapid.Uint64().Draw(rt, "rnd")
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0:
				l.r.Lost(l.now, "lost", l.rnd)
			case 1, 2, 3:
				if d := l.r.Deadline(); !d.IsZero() && d.After(l.now) {
					l.now = d
				}
				l.r.Expire(l.now, l.rnd)
			default:
				code := rapid.SampledFrom([]int{200, 301, 401, 403, 404, 407, 423, 480, 500, 503, 603}).Draw(rt, "code")
				name := rapid.SampledFrom([]string{realm, "evil.example"}).Draw(rt, "realm")
				lines := []string{
					challengeLine(name, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "nonce"), "MD5", rapid.SampledFrom([]string{"", ", stale=true"}).Draw(rt, "stale")),
					fmt.Sprintf("Min-Expires: %d\r\n", rapid.IntRange(0, 1<<20).Draw(rt, "min")),
					fmt.Sprintf("Retry-After: %d\r\n", rapid.IntRange(0, 1<<30).Draw(rt, "after")),
					fmt.Sprintf("Contact: <%s>;expires=%d\r\n", rapid.SampledFrom([]string{here, there}).Draw(rt, "contact"), rapid.IntRange(0, 1<<30).Draw(rt, "expires")),
				}
				o, ok := l.reply(code, lines...)
				if ok && strings.Contains(o.Credentials, "evil") {
					rt.Fatalf("answered another realm: %+v", o)
				}
			}
			d := l.r.Deadline()
			if d.IsZero() || d.Sub(l.now) > 24*time.Hour {
				rt.Fatalf("at rest: %+v", l.r.Status())
			}
			if st := l.r.Status(); st.State == Registered && !st.Until.After(l.now) && d.After(l.now) && !l.r.out {
				rt.Fatalf("registered beyond its time: %+v", st)
			}
		}
	})
}

// TestReasonsAreClean: what a far end writes cannot break a line or a terminal.
func TestReasonsAreClean(t *testing.T) {
	m, fault := sip.Parse([]byte("SIP/2.0 500 \x1b[2J" + strings.Repeat("x", 500) + "\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKx\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:a@b>;tag=2\r\nCall-ID: c\r\nCSeq: 1 REGISTER\r\nContent-Length: 0\r\n\r\n"))
	if fault != nil {
		t.Skip("the gate does not let it in: ", fault)
	}
	if got := answered(m); strings.ContainsRune(got, 0x1b) || len(got) > 70 {
		t.Errorf("%q", got)
	}
}
