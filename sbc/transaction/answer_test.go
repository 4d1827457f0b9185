package transaction

import (
	"testing"
	"time"
)

// RFC 3261 13.3.1.4: T1, doubling to T2, for 64*T1, whatever the transport.
func TestAnswer_RepeatsUntilTimeout(t *testing.T) {
	timers := DefaultTimers()
	var a Answer
	a.Start(epoch(), &timers)
	if !a.Waiting() {
		t.Error("it does not wait for the ACK")
	}
	want(
		t, alarms(t, &a, time.Hour),
		"500ms send", "1.5s send", "3.5s send", "7.5s send", "11.5s send",
		"15.5s send", "19.5s send", "23.5s send", "27.5s send", "31.5s send", "32s timeout|done",
	)
	wantDo(t, "expire after the end", a.Expire(at(time.Hour)), 0)
	if a.Waiting() {
		t.Error("it still waits")
	}
}

func TestAnswer_AckEndsIt(t *testing.T) {
	timers := DefaultTimers()
	var a Answer
	if !a.Deadline().IsZero() {
		t.Error("a zero Answer waits for something")
	}
	a.Start(epoch(), &timers)
	want(t, alarms(t, &a, 2*time.Second), "500ms send", "1.5s send")
	a.Ack()
	a.Ack()
	want(t, alarms(t, &a, time.Hour))
	wantDo(t, "expire", a.Expire(at(3500*time.Millisecond)), 0)
}
