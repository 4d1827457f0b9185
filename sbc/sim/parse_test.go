package sim

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestBehaviourText(t *testing.T) {
	for text, problem := range map[string]string{
		"answer ring=1s after=2s":        "",
		"503 retry-after=60 options=200": "",
		"":                               "empty",
		"nonsense":                       "not known",
		"200":                            "not known",
		"busy after":                     "key=value",
		"busy after=-1s":                 "negative",
		"busy colour=red":                "not known",
		"answer cancel=maybe":            "not one of",
		"answer options=99":              "not a response code",
		"answer retry-after=soon":        "retry-after",
	} {
		_, err := ParseBehaviour(text)
		if (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v, want %q", text, err, problem)
		}
	}
	b, err := ParseBehaviour("503 after=1s retry-after=60 options=silent bye=500 change=488 ack=once cancel=goon")
	if err != nil {
		t.Fatal(err)
	}
	last := b.Steps[len(b.Steps)-1]
	if last.Code != 503 || last.After != time.Second || last.Headers[0] != "Retry-After: 60" ||
		b.Options != Silent || b.Bye != 500 || b.Change != 488 || b.Ack != AckOnce || b.Cancel != CancelGoOn {
		t.Errorf("%+v", b)
	}
}

func TestNumbers(t *testing.T) {
	n, err := ParseNumbers("+12145550098..+12145550101, 1001", "007..009")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range n.Count() {
		got = append(got, n.At(i))
	}
	want := "+12145550098 +12145550099 +12145550100 +12145550101 1001 007 008 009"
	if strings.Join(got, " ") != want || n.At(n.Count()) != got[0] {
		t.Errorf("%v", got)
	}
	for _, bad := range []string{"", "a b", "+5..+3", "+1..22", "1..+2", "x..y"} {
		if _, err := ParseNumbers(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestReportIsJSONAndText(t *testing.T) {
	far := startFarEnd(t, Busy(), Listen{Addr: anyPort4})
	r := runLoad(t, LoadConfig{
		CallerConfig: CallerConfig{Nodes: []Node{{Name: "dal-1", Addr: far.Addr(0)}}, Credentials: &Credentials{Username: "u", Password: "hunter2"}, Seed: 42},
		Rate:         200, Calls: 3,
	})
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("hunter2")) || !bytes.Contains(b, []byte(`"result":"rejected"`)) {
		t.Errorf("%s", b)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 started", "3 failed", "seed 42", "486 3", "via dal-1: rejected dal-1: 486"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if r.FailedShare() != 1 {
		t.Errorf("failed share %v", r.FailedShare())
	}
}

func TestLoadRefusesNonsense(t *testing.T) {
	for _, cfg := range []LoadConfig{
		{},
		{CallerConfig: CallerConfig{Nodes: []Node{{Addr: calleeAddr}}}, Rate: -1},
		{CallerConfig: CallerConfig{Nodes: []Node{{Addr: calleeAddr}}}, Cancel: 2},
		{CallerConfig: CallerConfig{Nodes: []Node{{Addr: calleeAddr}}}, To: []string{"9..1"}},
	} {
		if l, err := NewLoad(cfg); err == nil {
			t.Errorf("%+v was taken", cfg)
			l.Close()
		}
	}
}

// FuzzCores gives arbitrary messages to both sides in the middle of a call.
func FuzzCores(f *testing.F) {
	for _, text := range []string{
		"BYE sip:x@192.0.2.2 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKx\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>;tag=2\r\nCall-ID: CALLID\r\nCSeq: 2 BYE\r\n\r\n",
		"SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=BRANCH\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>;tag=2\r\nCall-ID: CALLID\r\nCSeq: 1 INVITE\r\nContact: <sip:x@192.0.2.2>\r\nRecord-Route: <sip:192.0.2.2;lr>, <sip:[::1]>\r\n\r\n",
		"SIP/2.0 401 No\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=BRANCH\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>;tag=2\r\nCall-ID: CALLID\r\nCSeq: 1 INVITE\r\nWWW-Authenticate: Digest realm=\"x\", nonce=\"y\"\r\n\r\n",
		"CANCEL sip:x@192.0.2.2 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=BRANCH\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>\r\nCall-ID: CALLID\r\nCSeq: 1 CANCEL\r\n\r\n",
		"UPDATE sip:x@192.0.2.2 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKx\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>;tag=2\r\nCall-ID: CALLID\r\nCSeq: 9 UPDATE\r\nContact: <tel:1>\r\n\r\n",
	} {
		for _, stage := range []uint8{0, 1, 2} {
			f.Add([]byte(text), stage)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, stage uint8) {
		w := newWorld(t, 1)
		w.lenient = true
		far := w.callee(calleeAddr, Answers(time.Second, time.Second).Updates(time.Second))
		c := w.caller(CallerConfig{Credentials: &Credentials{Username: "u", Password: "p"}}, calleeAddr)
		c.Place(w.now, Placement{To: "1", Hold: 5 * time.Second})
		w.run(time.Duration(stage%4) * 900 * time.Millisecond)
		k := c.calls[0]
		data = bytes.ReplaceAll(data, []byte("CALLID"), k.callID)
		data = bytes.ReplaceAll(data, []byte("BRANCH"), c.branch(k, 1))
		for _, core := range []core{far, c} {
			m, fault := sip.Parse(bytes.Clone(data))
			if fault != nil {
				core.Malformed(w.now, fault)
				continue
			}
			core.Receive(w.now, &transport.Packet{Message: m, Source: otherAddr, Local: calleeAddr, Transport: trunkgroup.UDP})
		}
		w.run(3 * time.Minute)
		if n := c.Counts(); n.Active != 0 {
			t.Fatalf("the call never ends: %+v", n)
		}
	})
}
