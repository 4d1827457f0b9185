package transaction

import (
	"testing"
	"time"
)

// RFC 3261 17.1.1.2: "the client transaction MUST start timer A with a value of T1 [...] the timer doubles"
// and "Timer B has a value of 64*T1 seconds". The last repeat is at 31.5 s.
func TestTimerA_RepeatsUntilTimerB(t *testing.T) {
	timers := DefaultTimers()
	var c Client
	wantDo(t, "start", c.Start(epoch(), &timers, true, false), Send)
	wantState(t, c.State(), Calling)
	want(
		t, alarms(t, &c, time.Hour),
		"500ms send", "1.5s send", "3.5s send", "7.5s send", "15.5s send", "31.5s send", "32s timeout|done",
	)
	wantState(t, c.State(), Terminated)
}

// "If a reliable transport is being used, the client transaction SHOULD NOT start timer A": timer B stands alone.
func TestTimerB_AloneOverReliable(t *testing.T) {
	c := newClient(true, true)
	want(t, alarms(t, c, time.Hour), "32s timeout|done")
}

func TestTimerB_OtherT1(t *testing.T) {
	timers := Timers{T1: 100 * time.Millisecond, T2: time.Second, T4: time.Second}
	var c Client
	c.Start(epoch(), &timers, true, true)
	want(t, alarms(t, &c, time.Hour), "6.4s timeout|done")
}

// "When in either the 'Calling' or 'Proceeding' states": a provisional ends timers A and B and is passed.
func TestInviteClient_ProvisionalEndsAandB(t *testing.T) {
	for _, reliable := range []bool{false, true} {
		c := newClient(true, reliable)
		wantDo(t, "100", c.Receive(at(300*time.Millisecond), 100), Pass)
		wantState(t, c.State(), Proceeding)
		want(t, alarms(t, c, 24*time.Hour))
		wantDo(t, "180", c.Receive(at(time.Hour), 180), Pass)
		wantDo(t, "183", c.Receive(at(time.Hour), 183), Pass)
	}
}

// 17.1.1.2: "MUST pass the received response up to the TU, and the client transaction MUST generate an
// ACK request"; timer D "at least 32 seconds for unreliable transports, zero for reliable".
func TestTimerD_AbsorbsRepeatedFailures(t *testing.T) {
	c := newClient(true, false)
	wantDo(t, "486", c.Receive(at(time.Second), 486), Pass|Ack)
	wantState(t, c.State(), Completed)
	wantDo(t, "486 again", c.Receive(at(2*time.Second), 486), Ack)
	wantDo(t, "another failure", c.Receive(at(3*time.Second), 503), Ack)
	wantDo(t, "late 180", c.Receive(at(4*time.Second), 180), 0)
	want(t, alarms(t, c, time.Hour), "33s done")
	wantDo(t, "486 after the end", c.Receive(at(34*time.Second), 486), 0)
}

func TestTimerD_ZeroOverReliable(t *testing.T) {
	c := newClient(true, true)
	wantDo(t, "486", c.Receive(at(time.Second), 486), Pass|Ack|Done)
	wantState(t, c.State(), Terminated)
	want(t, alarms(t, c, time.Hour))
}

// A small T1 does not shorten timer D below 32 s; a large one makes it longer.
func TestTimerD_AtLeast32s(t *testing.T) {
	for t1, end := range map[time.Duration]string{10 * time.Millisecond: "32s done", time.Second: "1m4s done"} {
		timers := Timers{T1: t1, T2: 4 * time.Second, T4: 5 * time.Second}
		var c Client
		c.Start(epoch(), &timers, true, false)
		c.Receive(epoch(), 503)
		want(t, alarms(t, &c, time.Hour), end)
	}
}

// RFC 6026 section 7.2: a 2xx leads to Accepted for timer M, 64*T1 on every transport; each further 2xx is
// passed up, for the core acknowledges it; everything else is absorbed.
func TestTimerM_PassesEvery2xx(t *testing.T) {
	for _, reliable := range []bool{false, true} {
		c := newClient(true, reliable)
		wantDo(t, "180", c.Receive(at(time.Second), 180), Pass)
		wantDo(t, "200", c.Receive(at(2*time.Second), 200), Pass)
		wantState(t, c.State(), Accepted)
		wantDo(t, "200 again", c.Receive(at(3*time.Second), 200), Pass)
		wantDo(t, "202", c.Receive(at(3*time.Second), 202), Pass)
		wantDo(t, "180 late", c.Receive(at(3*time.Second), 180), 0)
		wantDo(t, "486 of another branch", c.Receive(at(3*time.Second), 486), 0)
		want(t, alarms(t, c, time.Hour), "34s done")
		wantState(t, c.State(), Terminated)
	}
}

// Straight from Calling, too.
func TestInviteClient_FinalWithoutProvisional(t *testing.T) {
	c := newClient(true, false)
	wantDo(t, "200", c.Receive(at(100*time.Millisecond), 200), Pass)
	want(t, alarms(t, c, time.Hour), "32.1s done")
}

// A forking proxy may let a 2xx follow a failure: it must reach the core, which ends that call.
func TestInviteClient_2xxAfterFailure(t *testing.T) {
	c := newClient(true, false)
	c.Receive(epoch(), 486)
	wantDo(t, "200", c.Receive(at(time.Second), 200), Pass)
	wantState(t, c.State(), Completed)
}

// DEC-02: an INVITE that was given up before any response is not repeated and waits for late ones until
// 64*T1 after its start.
func TestDEC02_StopRepeating(t *testing.T) {
	c := newClient(true, false)
	want(t, alarms(t, c, 4*time.Second), "500ms send", "1.5s send", "3.5s send")
	c.StopRepeating()
	want(t, alarms(t, c, time.Hour), "32s timeout|done")
}

// DEC-02: "a late 1xx (100 too) is answered by CANCEL", and RFC 3261 9.1 ends the wait for its 487 after
// another 64*T1.
func TestDEC02_LateProvisional(t *testing.T) {
	c := newClient(true, false)
	c.StopRepeating()
	wantDo(t, "late 100", c.Receive(at(20*time.Second), 100), Pass)
	c.Cancelled(at(20 * time.Second))
	wantDo(t, "late 180", c.Receive(at(21*time.Second), 180), Pass)
	want(t, alarms(t, c, time.Hour), "52s timeout|done")
}

// And so when nobody has said yet that the CANCEL was sent.
func TestDEC02_LateProvisionalWithoutCancel(t *testing.T) {
	c := newClient(true, true)
	c.StopRepeating()
	c.Receive(at(20*time.Second), 180)
	want(t, alarms(t, c, time.Hour), "52s timeout|done")
}

func TestDEC02_LateFinals(t *testing.T) {
	c := newClient(true, false)
	c.StopRepeating()
	wantDo(t, "late 487", c.Receive(at(20*time.Second), 487), Pass|Ack)
	want(t, alarms(t, c, time.Hour), "52s done")

	c = newClient(true, false)
	c.StopRepeating()
	wantDo(t, "late 200", c.Receive(at(20*time.Second), 200), Pass)
	want(t, alarms(t, c, time.Hour), "52s done")
}

// RFC 3261 9.1: "If there is no final response for the original request in 64*T1 seconds [...] the client
// SHOULD then consider the original transaction cancelled and SHOULD destroy the client transaction".
func TestCancelled_EndsTheWait(t *testing.T) {
	c := newClient(true, false)
	c.Receive(at(time.Second), 180)
	c.Cancelled(at(10 * time.Second))
	want(t, alarms(t, c, 41*time.Second))
	wantDo(t, "487", c.Receive(at(41*time.Second), 487), Pass|Ack)
	want(t, alarms(t, c, time.Hour), "1m13s done")

	c = newClient(true, false)
	c.Receive(at(time.Second), 180)
	c.Cancelled(at(10 * time.Second))
	want(t, alarms(t, c, time.Hour), "42s timeout|done")

	// A CANCEL that crosses the 200 changes nothing about timer M.
	c = newClient(true, false)
	c.Receive(at(time.Second), 200)
	c.Cancelled(at(10 * time.Second))
	want(t, alarms(t, c, time.Hour), "33s done")
}

// The borders between the classes.
func TestInviteClient_Classes(t *testing.T) {
	for code, state := range map[int]State{100: Proceeding, 199: Proceeding, 200: Accepted, 299: Accepted, 300: Completed, 699: Completed} {
		c := newClient(true, false)
		c.Receive(epoch(), code)
		wantState(t, c.State(), state)
	}
	c := newClient(true, false)
	c.Receive(epoch(), 300)
	wantDo(t, "300 again", c.Receive(epoch(), 300), Ack)
}

// Figure 5: a transport error ends Calling and Completed; a late one about an earlier repeat does not end
// a call that rings or was answered.
func TestInviteClient_TransportErrors(t *testing.T) {
	c := newClient(true, false)
	wantDo(t, "calling", c.Failed(at(time.Second)), Done)
	wantState(t, c.State(), Terminated)
	wantDo(t, "terminated", c.Failed(at(time.Second)), 0)

	c = newClient(true, false)
	c.Receive(epoch(), 180)
	wantDo(t, "proceeding", c.Failed(at(time.Second)), 0)
	c.Receive(epoch(), 200)
	wantDo(t, "accepted", c.Failed(at(time.Second)), 0)

	c = newClient(true, false)
	c.Receive(epoch(), 500)
	wantDo(t, "completed", c.Failed(at(time.Second)), Done)
}
