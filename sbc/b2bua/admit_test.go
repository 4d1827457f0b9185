package b2bua

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// metersOf returns meters for all that a call can use, each with this share.
func metersOf(t *trunkgroup.Table, epoch time.Time, share int) map[limit.Key]*limit.Meter {
	meters := make(map[limit.Key]*limit.Meter)
	add := func(s limit.Scope, name string) {
		for _, k := range [...]limit.Kind{limit.Calls, limit.Rate} {
			m := limit.NewMeter(epoch)
			m.SetShare(share)
			m.SetLease(time.Time{})
			meters[limit.Key{Kind: k, Scope: s, Name: name}] = m
		}
	}
	for _, c := range t.Customers() {
		add(limit.Customer, c.Name)
	}
	for _, g := range t.Groups() {
		add(limit.Group, g.Name)
	}
	for _, m := range t.Members() {
		add(limit.Member, m.Key)
	}
	return meters
}

// limited is a world in which everything is counted and one limit is low.
func limited(t *testing.T, low limit.Key, share int) (*world, *limit.Meter) {
	t.Helper()
	w := newWorld(t)
	m := w.limits.Meter(low)
	m.SetShare(share)
	return w, m
}

func groupKey(k limit.Kind, name string) limit.Key {
	return limit.Key{Kind: k, Scope: limit.Group, Name: name}
}

// counted fails unless this much of each kind of limit is in use.
func (w *world) counted(want int) {
	w.t.Helper()
	for k, m := range w.limits.All() {
		if _, used := m.Read(); k.Kind == limit.Calls && used > 0 && used != want || want == 0 && used > 0 {
			w.t.Errorf("%v: %d in use, want %d", k, used, want)
		}
	}
	if n := w.limits.Underruns(); n > 0 {
		w.t.Errorf("%d uses were given back that nobody took", n)
	}
}

// stepQueue lets the waiting calls try again.
func (w *world) stepQueue() {
	for _, o := range w.queue.Step(w.now) {
		w.s.Admitted(w.now, o.Ref, o.OK)
	}
}

func TestDEC10_CallCountsWhileItIsUp(t *testing.T) {
	w, m := limited(t, groupKey(limit.Calls, "acme-in"), 1)
	_, ok := w.answeredCall()
	if _, used := m.Read(); used != 1 {
		t.Fatalf("%d in use", used)
	}
	w.advance(2 * time.Second)
	w.counted(1)
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	w.counted(1) // the PBX has not yet answered the BYE
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "BYE"), 200, "callee", ""))
	w.counted(0)
}

func TestP33_GroupFullIs503AtOnce(t *testing.T) {
	w, m := limited(t, groupKey(limit.Calls, "acme-in"), 0)
	m.SetFull(w.now.Add(time.Second))
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(carrierAddr, "SIP/2.0 100")
	r := w.take(carrierAddr, "SIP/2.0 503 Trunk Group Capacity Exceeded")
	if strings.Contains(string(r.Raw()), "Retry-After") {
		t.Error("a full group is not a matter of seconds")
	}
	w.quiet()
	if got := w.records[0]; got.HangupCause != causeCapacity || got.HandedOff || len(got.Attempts) > 0 {
		t.Errorf("record %+v", got)
	}
	w.advance(2 * time.Second)
	w.counted(0)
}

func TestP34_RateExceededIs503WithRetryAfter(t *testing.T) {
	w, m := limited(t, groupKey(limit.Rate, "acme-in"), 0)
	m.SetFull(w.now.Add(time.Second))
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(carrierAddr, "SIP/2.0 100")
	if r := w.take(carrierAddr, "SIP/2.0 503 Trunk Group Capacity Exceeded"); !strings.Contains(string(r.Raw()), "Retry-After: ") {
		t.Error("no Retry-After")
	}
	w.counted(0)
}

func TestDEC10_CallWaitsForAShare(t *testing.T) {
	w, m := limited(t, groupKey(limit.Calls, "acme-in"), 0)
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(carrierAddr, "SIP/2.0 100")
	w.none(pbx1Addr, "INVITE")
	m.SetShare(1)
	w.stepQueue()
	w.take(pbx1Addr, "INVITE")
	w.counted(1)
}

func TestDEC10_WaitEndsWithARefusal(t *testing.T) {
	w, _ := limited(t, groupKey(limit.Calls, "acme-in"), 0)
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(carrierAddr, "SIP/2.0 100")
	w.now = w.now.Add(500 * time.Millisecond)
	w.stepQueue()
	w.take(carrierAddr, "SIP/2.0 503 Trunk Group Capacity Exceeded")
	w.counted(0)
}

// TestDEC10_WaitWithoutEnd: the queue never answers.
func TestDEC10_WaitWithoutEnd(t *testing.T) {
	w, m := limited(t, groupKey(limit.Calls, "acme-in"), 0)
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(carrierAddr, "SIP/2.0 100")
	w.advance(admitWait)
	w.take(carrierAddr, "SIP/2.0 503")
	m.SetShare(1)
	w.stepQueue() // too late: what is granted goes back
	w.quiet()
	w.counted(0)
}

func TestDEC10_CancelWhileItWaits(t *testing.T) {
	w, m := limited(t, groupKey(limit.Calls, "acme-in"), 0)
	text := invite{body: offer}.String()
	w.from(carrierAddr, text)
	w.take(carrierAddr, "SIP/2.0 100")
	w.from(carrierAddr, cancelOf(text, "INVITE"))
	w.take(carrierAddr, "SIP/2.0 200")
	w.take(carrierAddr, "SIP/2.0 487")
	m.SetShare(1)
	w.stepQueue()
	w.quiet()
	w.counted(0)
}

func TestDEC10_FullMemberIsSkipped(t *testing.T) {
	w, m := limited(t, limit.Key{Kind: limit.Calls, Scope: limit.Member, Name: "acme-in/dal-1"}, 0)
	m.SetFull(w.now.Add(time.Second))
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(carrierAddr, "SIP/2.0 100")
	b := w.take(pbx2Addr, "INVITE")
	w.from(pbx2Addr, reply(b, 486, "x", ""))
	w.take(pbx2Addr, "ACK")
	w.take(carrierAddr, "SIP/2.0 486")
	a := w.records[0].Attempts
	if len(a) != 2 || a[0].Dialed || a[0].Cause != attemptCapacity || !a[1].Dialed {
		t.Errorf("attempts %+v", a)
	}
	w.advance(2 * time.Second)
	w.counted(0)
}

func TestDEC10_AttemptWaitsForItsMember(t *testing.T) {
	w, m := limited(t, limit.Key{Kind: limit.Calls, Scope: limit.Member, Name: "acme-in/dal-1"}, 0)
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(carrierAddr, "SIP/2.0 100")
	w.none(pbx1Addr, "INVITE")
	m.SetShare(1)
	w.stepQueue()
	w.take(pbx1Addr, "INVITE")
	w.counted(1)
}

func TestDEC17_EmergencyCallHasNoLimit(t *testing.T) {
	w, m := limited(t, groupKey(limit.Calls, "acme-out"), 0)
	m.SetFull(w.now.Add(time.Second))
	c := &Call{s: w.s, called: "911", customer: w.table.Group("acme-out")}
	if !c.admitted(caller{}) {
		t.Error("an emergency call was refused")
	}
}

// TestDEC10_HuntGivesBack: a member that says nothing counts no more once it was
// given up, one that rings until it has confirmed that it does not.
func TestDEC10_HuntGivesBack(t *testing.T) {
	w, m := limited(t, limit.Key{Kind: limit.Calls, Scope: limit.Member, Name: "acme-in/dal-1"}, 5)
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(pbx1Addr, "INVITE")
	w.advance(5 * time.Second)
	if _, used := m.Read(); used != 0 {
		t.Errorf("%d in use at a silent member", used)
	}
	b := w.take(pbx2Addr, "INVITE")
	w.from(pbx2Addr, reply(b, 180, "x", ""))
	second := w.limits.Meter(limit.Key{Kind: limit.Calls, Scope: limit.Member, Name: "acme-in/dal-2"})
	w.from(carrierAddr, cancelOf(invite{body: offer}.String(), "INVITE"))
	if _, used := second.Read(); used != 1 {
		t.Errorf("%d in use at a member that may still ring", used)
	}
	w.from(pbx2Addr, reply(b, 487, "x", ""))
	w.advance(2 * time.Second)
	w.counted(0)
}

func BenchmarkAdmit(b *testing.B) {
	w := newWorld(b)
	c := &Call{s: w.s, customer: w.table.Group("acme-in"), ingress: w.table.Group("carrier-a")}
	b.ReportAllocs()
	for b.Loop() {
		c.uses = nil
		c.admitted(caller{})
		w.Release(c.uses)
		w.s.rates.expire(w.now.Add(2 * time.Second))
	}
}

// TestDEC10_RefusedByICMPCountsNoMore: a member whose port is closed has no call, neither by its limit nor by
// the count that distributions and operators see.
func TestDEC10_RefusedByICMPCountsNoMore(t *testing.T) {
	w, m := limited(t, limit.Key{Kind: limit.Calls, Scope: limit.Member, Name: "acme-in/dal-1"}, 5)
	w.from(carrierAddr, invite{body: offer}.String())
	for _, x := range w.sent {
		if x.dest() == pbx1Addr {
			w.step(func() { w.s.Failed(w.now, x.ref, &transport.ICMPError{}) })
		}
	}
	w.take(pbx2Addr, "INVITE")
	if _, used := m.Read(); used != 0 {
		t.Errorf("%d in use at a member whose port is closed", used)
	}
}
