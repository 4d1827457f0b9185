package charging

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// TestS101_StartInterimStop: an answered call is a start, an interim record as often as the server wants,
// and a stop with the whole time.
func TestS101_StartInterimStop(t *testing.T) {
	o := NewOffline(Config{Session: "s", Rules: rulesFor(0), Call: Call{ID: "x", Begin: epoch}})
	call := Call{ID: "x", Begin: epoch, Answered: at(3), Egress: "carrier-b", Carrier: "voxbeam"}
	got := o.Connect(at(3), &call)
	wantKinds(t, got, Keep)
	if r := got[0].Request; r.Kind != Start || r.Number != 0 || r.Call.Egress != "carrier-b" {
		t.Fatalf("told %+v", r)
	}
	if want := at(3 + 300); !o.Deadline().Equal(want) {
		t.Fatalf("due at %s, want %s", o.Deadline(), want)
	}
	o.Answered(at(3.1), &Answer{Result: ResultSuccess, Interim: 60})
	if want := at(3.1 + 60); !o.Deadline().Equal(want) {
		t.Fatalf("due at %s, want %s: the server's own word", o.Deadline(), want)
	}
	got = o.Expire(at(63.1))
	wantKinds(t, got, Keep)
	if r := got[0].Request; r.Kind != Interim || r.Number != 1 || r.Used != 61 {
		t.Fatalf("told %+v", r)
	}
	call.Ended = at(3 + 100.001)
	got = o.End(at(103.001), &call)
	wantKinds(t, got, Keep, Done)
	if r := got[0].Request; r.Kind != Stop || r.Number != 2 || r.Used != 101 {
		t.Fatalf("told %+v", r)
	}
	if !o.Deadline().IsZero() || len(o.End(at(104), &call)) != 0 {
		t.Error("a session that is over goes on")
	}
}

// TestS101_NotAnswered: a call that was not answered is one event.
func TestS101_NotAnswered(t *testing.T) {
	o := NewOffline(Config{Session: "s", Rules: rulesFor(0), Call: Call{ID: "x", Begin: epoch}})
	got := o.End(at(9), &Call{ID: "x", Begin: epoch, Ended: at(9), Code: 486})
	wantKinds(t, got, Keep, Done)
	if r := got[0].Request; r.Kind != Event || r.Used != 0 || r.Call.Code != 486 {
		t.Fatalf("told %+v", r)
	}
}

// TestS102_Account: whose account pays.
func TestS102_Account(t *testing.T) {
	call := Call{Caller: "+12145550100", Group: "acme-out", Customer: "acme", User: "pbx1"}
	for _, c := range []struct {
		rules trunkgroup.Charging
		call  Call
		want  Account
	}{
		{trunkgroup.Charging{}, call, Account{AccountPrivate, "acme-out"}},
		{trunkgroup.Charging{Subscriber: trunkgroup.SubscriberCaller}, call, Account{AccountE164, "12145550100"}},
		{trunkgroup.Charging{Subscriber: trunkgroup.SubscriberCaller}, Call{Caller: "1001", Group: "g"}, Account{AccountPrivate, "1001"}},
		{trunkgroup.Charging{Subscriber: trunkgroup.SubscriberCaller}, Call{Group: "g"}, Account{AccountPrivate, "g"}},
		{trunkgroup.Charging{Subscriber: trunkgroup.SubscriberCustomer}, call, Account{AccountPrivate, "acme"}},
		{trunkgroup.Charging{Subscriber: trunkgroup.SubscriberUser}, call, Account{AccountPrivate, "pbx1"}},
		{trunkgroup.Charging{Subscriber: trunkgroup.SubscriberUser}, Call{Group: "g"}, Account{AccountPrivate, "g"}},
		{trunkgroup.Charging{Account: "1001"}, call, Account{AccountPrivate, "1001"}},
	} {
		if got := AccountOf(&c.rules, &c.call); got != c.want {
			t.Errorf("%+v of %+v: got %+v, want %+v", c.rules.Subscriber, c.call, got, c.want)
		}
	}
}

// TestS102_Seconds: a started second counts, as in the record.
func TestS102_Seconds(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want int64
	}{{0, 0}, {-time.Second, 0}, {1, 1}, {time.Second, 1}, {time.Second + 1, 2}, {59*time.Second + 999*time.Millisecond, 60}} {
		if got := Seconds(epoch, epoch.Add(c.d)); got != c.want {
			t.Errorf("%s: %d s, want %d", c.d, got, c.want)
		}
	}
	if Seconds(time.Time{}, epoch) != 0 || Seconds(epoch, time.Time{}) != 0 {
		t.Error("an instant that is missing is charged")
	}
}
