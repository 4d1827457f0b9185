package charging

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

var epoch = time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

func rulesFor(on trunkgroup.ChargingFailure) *trunkgroup.Charging {
	return &trunkgroup.Charging{Online: true, Offline: true, Requested: 30 * time.Second, Interim: 5 * time.Minute, OnFailure: on, DeniedCode: 402}
}

func newOnline(on trunkgroup.ChargingFailure) *Online {
	return NewOnline(Config{
		Session: "host;1;1;x", Rules: rulesFor(on), Call: Call{ID: "x", Begin: epoch}, Timeout: 2 * time.Second,
	})
}

func kinds(list []Action) (out []ActionKind) {
	for _, a := range list {
		out = append(out, a.Kind)
	}
	return out
}

func wantKinds(t *testing.T, got []Action, want ...ActionKind) {
	t.Helper()
	k := kinds(got)
	if len(k) != len(want) {
		t.Fatalf("got actions %v, want %v", k, want)
	}
	for i := range k {
		if k[i] != want[i] {
			t.Fatalf("got actions %v, want %v", k, want)
		}
	}
}

func grant(seconds int64) *Answer {
	return &Answer{Result: ResultSuccess, Granted: seconds, HasGrant: true}
}

// TestS102_AsksAgainBeforeTheQuotaEnds: time that rings is free, the next quota is asked for a second
// before the last one ends, and each report is what was not reported yet.
func TestS102_AsksAgainBeforeTheQuotaEnds(t *testing.T) {
	o := newOnline(trunkgroup.ChargingTerminate)
	wantKinds(t, o.Reserve(epoch), Send)
	wantKinds(t, o.Answered(at(0.1), 0, grant(30)), Grant)
	if !o.Deadline().IsZero() {
		t.Fatal("something is due while nothing is used")
	}
	call := Call{ID: "x", Begin: epoch, Answered: at(7)}
	wantKinds(t, o.Connect(&call))
	if want := at(7 + 29); !o.Deadline().Equal(want) {
		t.Fatalf("due at %s, want %s", o.Deadline(), want)
	}
	got := o.Expire(at(36))
	wantKinds(t, got, Send)
	if r := got[0].Request; r.Kind != Update || r.Number != 1 || r.Used != 29 || r.Service.Requested != 30 {
		t.Fatalf("asked %+v", r)
	}
	wantKinds(t, o.Answered(at(36.2), 1, grant(30)))
	if want := at(7 + 29 + 30 - 1); !o.Deadline().Equal(want) {
		t.Fatalf("due at %s, want %s", o.Deadline(), want)
	}
	call.Ended = at(7 + 40.2)
	got = o.End(at(47.2), &call)
	wantKinds(t, got, Keep, Done)
	if r := got[0].Request; r.Kind != Termination || r.Number != 2 || r.Used != 41-29 {
		t.Fatalf("told %+v", r)
	}
}

// TestS102_Results: what a server's answers do to a call that waits, and to one that is up.
func TestS102_Results(t *testing.T) {
	for _, c := range []struct {
		name    string
		answer  Answer
		waiting ActionKind
		up      ActionKind // 0: nothing
	}{
		{"granted", *grant(30), Grant, 0},
		{"no bound", Answer{Result: ResultSuccess}, Grant, 0},
		{"4011: free", Answer{Result: ResultFree}, Grant, 0},
		{"4012: no credit", Answer{Result: ResultNoCredit}, Refuse, Teardown},
		{"4010", Answer{Result: ResultDenied}, Refuse, Teardown},
		{"5003", Answer{Result: ResultRejected}, Refuse, Teardown},
		{"5030: unknown user", Answer{Result: ResultUnknownUser}, Refuse, Teardown},
		{"5031", Answer{Result: ResultNoRating}, Refuse, Teardown},
		{"4012 of the service", Answer{Result: ResultSuccess, Service: ResultNoCredit}, Refuse, Teardown},
		{"nothing granted", *grant(0), Refuse, Teardown},
		{"3004: busy is no answer", Answer{Result: ResultBusy}, Refuse, Teardown},
		{"5012", Answer{Result: 5012}, Refuse, Teardown},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOnline(trunkgroup.ChargingTerminate)
			o.Reserve(epoch)
			got := o.Answered(at(0.1), 0, &c.answer)
			if len(got) == 0 || got[0].Kind != c.waiting {
				t.Fatalf("a call that waits: %v, want %v", kinds(got), c.waiting)
			}
			o = newOnline(trunkgroup.ChargingTerminate)
			o.Reserve(epoch)
			o.Answered(at(0.1), 0, grant(10))
			o.Connect(&Call{Begin: epoch, Answered: at(1)})
			wantKinds(t, o.Expire(at(10)), Send)
			got = o.Answered(at(10.1), 1, &c.answer)
			switch {
			case c.up == 0 && len(got) != 0, c.up != 0 && (len(got) != 1 || got[0].Kind != c.up):
				t.Fatalf("a call that is up: %v, want %v", kinds(got), c.up)
			}
		})
	}
}

// TestS102_LastUnits: with Final-Unit-Indication the call ends before a further second begins.
func TestS102_LastUnits(t *testing.T) {
	o := newOnline(trunkgroup.ChargingTerminate)
	o.Reserve(epoch)
	o.Answered(at(0.1), 0, &Answer{Result: ResultSuccess, Granted: 12, HasGrant: true, Last: true})
	o.Connect(&Call{Begin: epoch, Answered: at(5)})
	due := o.Deadline()
	wantKinds(t, o.Expire(due), Teardown)
	if used := Seconds(at(5), due); used != 12 {
		t.Fatalf("ended after %d s, want 12", used)
	}
	if !o.Deadline().IsZero() {
		t.Error("more is due after the end")
	}
}

// TestS102_LostUpdate: by on_failure, and by what the server says of it; a lost report is repeated as it
// was, so that no second is counted twice.
func TestS102_LostUpdate(t *testing.T) {
	up := func(on trunkgroup.ChargingFailure, first *Answer) *Online {
		o := newOnline(on)
		o.Reserve(epoch)
		o.Answered(at(0.1), 0, first)
		o.Connect(&Call{ID: "x", Begin: epoch, Answered: at(1)})
		wantKinds(t, o.Expire(at(30)), Send)
		return o
	}
	o := up(trunkgroup.ChargingTerminate, grant(30))
	wantKinds(t, o.Expire(at(32)), Teardown)

	o = up(trunkgroup.ChargingRetry, grant(30))
	got := o.Expire(at(32))
	wantKinds(t, got, Send)
	if r := got[0].Request; !r.Repeated || !r.Elsewhere || r.Number != 1 || r.Used != 29 {
		t.Fatalf("repeated %+v", r)
	}
	wantKinds(t, o.Failed(at(33), 1, true), Teardown)

	says := grant(30)
	says.Fails, says.Failure = true, trunkgroup.ChargingContinue
	o = up(trunkgroup.ChargingTerminate, says)
	wantKinds(t, o.Expire(at(32)))
	got = o.Expire(at(42))
	wantKinds(t, got, Send)
	if r := got[0].Request; !r.Repeated || r.Number != 1 || r.Used != 29 {
		t.Fatalf("repeated %+v", r)
	}
	got = o.End(at(43), &Call{ID: "x", Begin: epoch, Answered: at(1), Ended: at(43)})
	wantKinds(t, got, Keep, Keep, Done)
	if a, b := got[0].Request, got[1].Request; a.Kind != Update || !a.Repeated || a.Used != 29 || b.Kind != Termination || b.Used != 42-29 {
		t.Fatalf("kept %+v and %+v", a, b)
	}
}

// TestS102_LateAnswer: an answer that nobody waits for changes nothing.
func TestS102_LateAnswer(t *testing.T) {
	o := newOnline(trunkgroup.ChargingContinue)
	o.Reserve(epoch)
	wantKinds(t, o.Expire(at(2)), Grant)
	wantKinds(t, o.Answered(at(3), 0, &Answer{Result: ResultNoCredit}))
	wantKinds(t, o.End(at(4), &Call{}), Done)
	wantKinds(t, o.End(at(5), &Call{}))
}

// TestS102_ReportsAddUp: whatever servers answer and lose, the reports of a session add up to the call's
// own seconds, numbers rise by one, and the last request ends it.
func TestS102_ReportsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		on := trunkgroup.ChargingFailure(rapid.IntRange(0, 2).Draw(t, "on_failure"))
		o := newOnline(on)
		if rapid.Bool().Draw(t, "from invite") {
			o.rules.From = trunkgroup.FromInvite
		}
		now := epoch
		told := map[uint32]Request{}
		var out *Request
		granted, over := false, false
		carry := func(list []Action) {
			for i := range list {
				a := &list[i]
				switch a.Kind {
				case Send, Keep:
					r := a.Request
					if old, known := told[r.Number]; known && (old.Used != r.Used || old.Kind != r.Kind || !r.Repeated) {
						t.Fatalf("request %d was %+v and is repeated as %+v", r.Number, old, r)
					} else if !known && int(r.Number) != len(told) {
						t.Fatalf("request %d after %d others", r.Number, len(told))
					}
					told[r.Number] = r
					if a.Kind == Send {
						out = &r
					}
				case Grant:
					granted = true
				case Refuse, Teardown:
					over = true
				default:
				}
			}
		}
		carry(o.Reserve(now))
		var call Call
		call.Begin = epoch
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if over {
				break
			}
			now = now.Add(time.Duration(rapid.IntRange(1, 9000).Draw(t, "ms")) * time.Millisecond)
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				if out != nil {
					n := out.Number
					out = nil
					carry(o.Answered(now, n, rapid.SampledFrom([]*Answer{
						grant(30), grant(3), grant(1),
						{Result: ResultNoCredit},
						{Result: ResultFree},
						{Result: ResultBusy},
						{Result: ResultSuccess, Validity: 5},
						{Result: ResultSuccess, Granted: 4, HasGrant: true, Last: true},
					}).Draw(t, "answer")))
				}
			case 1:
				if out != nil {
					carry(o.Failed(now, out.Number, rapid.Bool().Draw(t, "sent")))
				}
			case 2:
				if granted && call.Answered.IsZero() {
					call.Answered = now
					carry(o.Connect(&call))
				}
			default:
				if d := o.Deadline(); !d.IsZero() && d.After(now) {
					now = d
				}
				carry(o.Expire(now))
			}
		}
		controlled := o.Charged() && (o.heard || len(told) > 1 || granted)
		now = now.Add(time.Duration(rapid.IntRange(1, 5000).Draw(t, "last ms")) * time.Millisecond)
		call.Ended = now
		carry(o.End(now, &call))
		if d := o.Deadline(); !d.IsZero() {
			t.Fatalf("something is due at %s after the end", d)
		}
		if !controlled {
			return
		}
		var sum int64
		for _, r := range told {
			sum += r.Used
		}
		if want := Seconds(call.billed(o.rules), call.Ended); sum != want {
			t.Fatalf("reports add up to %d s, the call has %d: %+v", sum, want, told)
		}
		if last := told[uint32(len(told)-1)]; last.Kind != Termination {
			t.Fatalf("the last request is %+v", last)
		}
	})
}
