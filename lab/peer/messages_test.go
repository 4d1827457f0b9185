package peer

import "testing"

const logText = "----------------------------------------------- 2026-11-30 01:40:53.845933\n" +
	"UDP message received [514] bytes :\n\nINVITE sip:x@h SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=1\r\nVia: SIP/2.0/UDP g;branch=0\r\n" +
	"To: <sip:x@h>;tag=9;x=y\r\nCall-ID: 1\r\nCSeq: 1 INVITE\r\n\r\nv=0\r\n\n" +
	"----------------------------------------------- 2026-11-30 01:40:53.845999\n" +
	"UDP message received [514] bytes :\n\nINVITE sip:x@h SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=1\r\nCall-ID: 1\r\nCSeq: 1 INVITE\r\n\r\n\n" +
	"----------------------------------------------- 2026-11-30 01:40:54.000001\n" +
	"TCP message sent (312 bytes):\n\nSIP/2.0 180 Ringing\r\nCall-ID: 1\r\nCSeq: 1 INVITE\r\n\r\n\n" +
	"----------------------------------------------- 2026-11-30 01:40:54.000002\n" +
	"UDP message received [50] bytes :\n\nSIP/2.0 486 Busy Here\r\nCSeq: 1 INVITE\r\n\r\n"

func TestParseMessages(t *testing.T) {
	list := ParseMessages([]byte(logText))
	if len(list) != 4 {
		t.Fatalf("%d messages, want 4", len(list))
	}
	if m := list[0]; m.Sent || m.Method() != "INVITE" || m.Code() != 0 || len(m.Headers("via")) != 2 || m.Body() != "v=0\n\n" {
		t.Errorf("first: %+v", m)
	}
	if got := Tag(list[0].Header("To")); got != "9" {
		t.Errorf("To tag %q, want 9", got)
	}
	if m := list[2]; !m.Sent || m.Method() != "" || m.Code() != 180 {
		t.Errorf("third: %+v", m)
	}
	if d := list[2].At.Sub(list[0].At); d.Microseconds() != 154068 {
		t.Errorf("%v between the first and the third message", d)
	}
	if n := len(Received(list, "INVITE")); n != 1 {
		t.Errorf("%d INVITEs received, want 1: repeats count once", n)
	}
	if r := Responses(list, "INVITE"); len(r) != 1 || r[0].Code() != 486 {
		t.Errorf("responses received: %+v", r)
	}
}
