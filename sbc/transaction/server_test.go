package transaction

import (
	"testing"
	"time"
)

// RFC 3261 17.2.1: "If a request retransmission is received while in the 'Proceeding' state, the most
// recent provisional response that was received from the TU MUST be passed to the transport layer".
func TestInviteServer_RepeatInProceeding(t *testing.T) {
	s := newServer(true, false)
	wantState(t, s.State(), Proceeding)
	wantDo(t, "repeat before the 100", s.Repeat(epoch()), 0)
	wantDo(t, "100", s.Respond(epoch(), 100), Send)
	wantDo(t, "repeat", s.Repeat(at(time.Second)), Send)
	wantDo(t, "180", s.Respond(at(2*time.Second), 180), Send)
	wantDo(t, "repeat", s.Repeat(at(3*time.Second)), Send)
	want(t, alarms(t, s, 24*time.Hour))
}

// 17.2.1: "timer G is set to fire in T1 seconds for unreliable transports [...] MIN(2*T1, T2)"; timer H,
// 64*T1, says that no ACK came.
func TestTimerG_RepeatsUntilTimerH(t *testing.T) {
	s := newServer(true, false)
	wantDo(t, "486", s.Respond(epoch(), 486), Send)
	wantState(t, s.State(), Completed)
	wantDo(t, "repeat", s.Repeat(at(200*time.Millisecond)), Send)
	wantDo(t, "second final", s.Respond(at(300*time.Millisecond), 500), 0)
	wantDo(t, "late 180", s.Respond(at(300*time.Millisecond), 180), 0)
	want(
		t, alarms(t, s, time.Hour),
		"500ms send", "1.5s send", "3.5s send", "7.5s send", "11.5s send",
		"15.5s send", "19.5s send", "23.5s send", "27.5s send", "31.5s send", "32s timeout|done",
	)
	wantState(t, s.State(), Terminated)
	wantDo(t, "repeat after the end", s.Repeat(at(33*time.Second)), 0)
}

func TestTimerH_AloneOverReliable(t *testing.T) {
	s := newServer(true, true)
	wantDo(t, "486", s.Respond(epoch(), 486), Send)
	want(t, alarms(t, s, time.Hour), "32s timeout|done")
}

// "Timer I, set to fire in T4 seconds for unreliable transports, and zero seconds for reliable": the ACK
// ends G and H; more ACKs and copies of the INVITE are absorbed.
func TestTimerI_AbsorbsACKs(t *testing.T) {
	s := newServer(true, false)
	s.Respond(epoch(), 486)
	wantDo(t, "ACK", s.Ack(at(300*time.Millisecond)), 0)
	wantState(t, s.State(), Confirmed)
	wantDo(t, "ACK again", s.Ack(at(time.Second)), 0)
	wantDo(t, "INVITE again", s.Repeat(at(time.Second)), 0)
	want(t, alarms(t, s, time.Hour), "5.3s done")
}

func TestTimerI_ZeroOverReliable(t *testing.T) {
	s := newServer(true, true)
	s.Respond(epoch(), 486)
	wantDo(t, "ACK", s.Ack(at(time.Second)), Done)
	want(t, alarms(t, s, time.Hour))
}

// RFC 6026 section 7.1: Accepted for timer L on every transport. Copies of the INVITE are absorbed, a
// further 2xx of the core is sent, an ACK is passed to the core.
func TestTimerL_Accepted(t *testing.T) {
	for _, reliable := range []bool{false, true} {
		s := newServer(true, reliable)
		s.Respond(epoch(), 180)
		wantDo(t, "200", s.Respond(at(time.Second), 200), Send)
		wantState(t, s.State(), Accepted)
		wantDo(t, "INVITE again", s.Repeat(at(2*time.Second)), 0)
		wantDo(t, "200 again", s.Respond(at(2*time.Second), 200), Send)
		wantDo(t, "486 too late", s.Respond(at(2*time.Second), 486), 0)
		wantDo(t, "ACK", s.Ack(at(3*time.Second)), Pass)
		wantDo(t, "ACK again", s.Ack(at(4*time.Second)), Pass)
		want(t, alarms(t, s, time.Hour), "33s done")
	}
}

func TestInviteServer_AckTooEarlyOrLate(t *testing.T) {
	s := newServer(true, false)
	wantDo(t, "ACK in proceeding", s.Ack(epoch()), 0)
	wantState(t, s.State(), Proceeding)
	s.Respond(epoch(), 200)
	alarms(t, s, time.Hour)
	wantDo(t, "ACK after the end", s.Ack(at(time.Hour)), 0)
}

// RFC 3261 17.2.2: nothing is sent for a copy in Trying; the last response in Proceeding and Completed;
// timer J is 64*T1, zero over reliable.
func TestTimerJ_AnswersRepeats(t *testing.T) {
	s := newServer(false, false)
	wantState(t, s.State(), Trying)
	wantDo(t, "repeat in trying", s.Repeat(epoch()), 0)
	wantDo(t, "100", s.Respond(epoch(), 100), Send)
	wantState(t, s.State(), Proceeding)
	wantDo(t, "repeat in proceeding", s.Repeat(epoch()), Send)
	wantDo(t, "200", s.Respond(at(time.Second), 200), Send)
	wantState(t, s.State(), Completed)
	wantDo(t, "repeat in completed", s.Repeat(at(2*time.Second)), Send)
	wantDo(t, "second final", s.Respond(at(2*time.Second), 500), 0)
	wantDo(t, "ACK of nothing", s.Ack(at(2*time.Second)), 0)
	want(t, alarms(t, s, time.Hour), "33s done")
}

func TestTimerJ_ZeroOverReliable(t *testing.T) {
	s := newServer(false, true)
	wantDo(t, "200", s.Respond(at(time.Second), 200), Send|Done)
	wantState(t, s.State(), Terminated)
	want(t, alarms(t, s, time.Hour))
}
