package transaction

import (
	"testing"
	"time"
)

// RFC 3261 17.1.2.2: timer E starts at T1 and doubles up to T2; timer F fires at 64*T1.
func TestTimerE_DoublesToT2UntilTimerF(t *testing.T) {
	timers := DefaultTimers()
	var c Client
	wantDo(t, "start", c.Start(epoch(), &timers, false, false), Send)
	wantState(t, c.State(), Trying)
	want(
		t, alarms(t, &c, time.Hour),
		"500ms send", "1.5s send", "3.5s send", "7.5s send", "11.5s send",
		"15.5s send", "19.5s send", "23.5s send", "27.5s send", "31.5s send", "32s timeout|done",
	)
}

func TestTimerF_AloneOverReliable(t *testing.T) {
	c := newClient(false, true)
	want(t, alarms(t, c, time.Hour), "32s timeout|done")
}

// "If Timer E fires while in the 'Proceeding' state, the request MUST be passed to the transport layer for
// retransmission, and Timer E MUST be reset with a value of T2 seconds." Timer F goes on.
func TestTimerE_T2InProceeding(t *testing.T) {
	c := newClient(false, false)
	wantDo(t, "100", c.Receive(at(600*time.Millisecond), 100), Pass)
	wantState(t, c.State(), Proceeding)
	want(
		t, alarms(t, c, time.Hour),
		"500ms send", "4.5s send", "8.5s send", "12.5s send", "16.5s send", "20.5s send", "24.5s send", "28.5s send", "32s timeout|done",
	)
}

func TestTimerF_InProceedingOverReliable(t *testing.T) {
	c := newClient(false, true)
	wantDo(t, "100", c.Receive(at(time.Second), 100), Pass)
	wantDo(t, "100 again", c.Receive(at(2*time.Second), 100), Pass)
	want(t, alarms(t, c, time.Hour), "32s timeout|done")
}

// "Timer K to fire in T4 seconds for unreliable transports, and zero seconds for reliable transports":
// repeated finals are absorbed.
func TestTimerK_AbsorbsRepeats(t *testing.T) {
	c := newClient(false, false)
	wantDo(t, "200", c.Receive(at(time.Second), 200), Pass)
	wantState(t, c.State(), Completed)
	wantDo(t, "200 again", c.Receive(at(2*time.Second), 200), 0)
	wantDo(t, "100 late", c.Receive(at(2*time.Second), 100), 0)
	want(t, alarms(t, c, time.Hour), "6s done")
}

func TestTimerK_ZeroOverReliable(t *testing.T) {
	c := newClient(false, true)
	wantDo(t, "481", c.Receive(at(time.Second), 481), Pass|Done)
	want(t, alarms(t, c, time.Hour))
}

// Figure 6: a transport error ends Trying and Proceeding.
func TestOtherClient_TransportErrors(t *testing.T) {
	c := newClient(false, false)
	wantDo(t, "trying", c.Failed(epoch()), Done)

	c = newClient(false, false)
	c.Receive(epoch(), 100)
	wantDo(t, "proceeding", c.Failed(epoch()), Done)

	c = newClient(false, false)
	c.Receive(epoch(), 200)
	wantDo(t, "completed", c.Failed(epoch()), 0)
	c.Cancelled(epoch())
	want(t, alarms(t, c, time.Hour), "5s done")
}
