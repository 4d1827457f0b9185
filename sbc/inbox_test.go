package sbc

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// message is a request of a method, in a dialog when tag is set, or a response.
func message(t testing.TB, method, tag string, n int) *sip.Message {
	t.Helper()
	if tag != "" {
		tag = ";tag=" + tag
	}
	first, seq := method+" sip:+12145550100@192.0.2.1 SIP/2.0", "CSeq: "+strconv.Itoa(n)+" "+method
	if method == "200" {
		first, seq = "SIP/2.0 200 OK", "CSeq: "+strconv.Itoa(n)+" INVITE"
	}
	m, fault := sip.Parse([]byte(first + "\r\nVia: SIP/2.0/UDP 192.0.2.10;branch=z9hG4bK" + strconv.Itoa(n) +
		"\r\nMax-Forwards: 70\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>" + tag + "\r\nCall-ID: c" + strconv.Itoa(n) + "\r\n" + seq + "\r\nContent-Length: 0\r\n\r\n"))
	if fault != nil {
		t.Fatal(fault)
	}
	return m
}

func packetOf(m *sip.Message) transport.Packet { return transport.Packet{Message: m} }

func names(events []event) string {
	var list []string
	for _, e := range events {
		switch {
		case e.kind != evPacket:
			list = append(list, "event")
		case e.packet.Message.IsRequest():
			list = append(list, e.packet.Message.Method()+strconv.Itoa(int(e.packet.Message.CSeq())))
		default:
			list = append(list, "200")
		}
	}
	return strings.Join(list, " ")
}

// What exists goes before what would begin; each kind keeps its order.
func TestInboxPutsCallsBeforeNewCalls(t *testing.T) {
	var b inbox
	now := time.Now()
	b.packets(now, []transport.Packet{
		packetOf(message(t, "INVITE", "", 1)), packetOf(message(t, "OPTIONS", "", 2)), packetOf(message(t, "ACK", "x", 3)),
		packetOf(message(t, "INVITE", "", 4)), packetOf(message(t, "BYE", "x", 5)),
	})
	b.event(event{kind: evFailed})
	b.packet(now, b2bua.Packet{Packet: packetOf(message(t, "200", "x", 6))})
	b.packet(now, b2bua.Packet{Packet: packetOf(message(t, "CANCEL", "", 7))})
	b.packet(now, b2bua.Packet{Packet: packetOf(message(t, "INVITE", "x", 8))})
	if got := names(b.take(nil, 4)); got != "ACK3 BYE5 event 200" {
		t.Errorf("first %s", got)
	}
	if got := names(b.take(nil, 100)); got != "INVITE8 INVITE1 OPTIONS2 INVITE4 CANCEL7" {
		t.Errorf("then %s", got)
	}
}

// A CANCEL right behind its INVITE must not overtake it.
func TestCancelStaysBehindItsInvite(t *testing.T) {
	var b inbox
	b.packets(time.Now(), []transport.Packet{packetOf(message(t, "INVITE", "", 1)), packetOf(message(t, "CANCEL", "", 1))})
	if got := names(b.take(nil, 2)); got != "INVITE1 CANCEL1" {
		t.Errorf("order %s", got)
	}
}

func TestInboxIsBounded(t *testing.T) {
	var b inbox
	m := message(t, "INVITE", "", 1)
	for range maxQueue + 10 {
		b.packet(time.Time{}, b2bua.Packet{Packet: packetOf(m)})
	}
	if b.lost() != 10 {
		t.Errorf("%d dropped, want 10", b.lost())
	}
	b.event(event{kind: evFailed})
	if got := names(b.take(nil, 2)); got != "event INVITE1" {
		t.Errorf("a full queue of new calls holds up the rest: %s", got)
	}
	n := 0
	for work := b.take(nil, 1000); len(work) > 0; work = b.take(nil, 1000) {
		n += len(work)
	}
	if n != maxQueue-1 || len(b.fresh.ring) != 0 {
		t.Errorf("%d came out, room for %d is kept", n, len(b.fresh.ring))
	}
}

func TestQueueKeepsItsOrderWhileItGrows(t *testing.T) {
	var q queue
	next, want := uint64(0), uint64(0)
	for round := range 200 {
		for range round % 67 {
			q.push(event{ref: next})
			next++
		}
		for _, e := range q.take(nil, round%59) {
			if e.ref != want {
				t.Fatalf("%d came out, want %d", e.ref, want)
			}
			want++
		}
	}
}

// A pause of the machine makes INVITEs late and is no overload; lateness that
// lasts is.
func TestOverloadIsLatenessThatLasts(t *testing.T) {
	start := time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	late := func(now time.Duration) *event {
		return &event{kind: evPacket, at: at(now - lateAfter - time.Millisecond), packet: b2bua.Packet{Packet: packetOf(message(t, "INVITE", "", 1))}}
	}
	inTime := func(now time.Duration) *event { e := late(now); e.at = at(now - lateAfter); return e }
	var o overload
	for now := time.Second; now <= time.Second+latePatience; now += 10 * time.Millisecond {
		if o.refuses(at(now), late(now)) {
			t.Fatalf("refused after %v", now-time.Second)
		}
	}
	now := time.Second + latePatience + time.Millisecond
	if !o.refuses(at(now), late(now)) {
		t.Error("not refused")
	}
	for method, tag := range map[string]string{"OPTIONS": "", "BYE": "x", "INVITE": "x", "CANCEL": ""} {
		e := late(now)
		e.packet.Message = message(t, method, tag, 1)
		if o.refuses(at(now), e) {
			t.Errorf("%s refused", method)
		}
	}
	if o.refuses(at(now), inTime(now)) || o.refuses(at(now+time.Millisecond), late(now)) {
		t.Error("refused although the shard is in time again")
	}
}
