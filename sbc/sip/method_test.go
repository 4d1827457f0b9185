package sip

import "testing"

func TestKind(t *testing.T) {
	for raw, want := range map[string]struct {
		method string
		code   int
	}{
		"INVITE sip:a@b SIP/2.0\r\nCSeq: 1 INVITE\r\n\r\n":             {INVITE, 0},
		"NEWTHING sip:a@b SIP/2.0\r\n\r\n":                             {"NEWTHING", 0},
		"SIP/2.0 180 Ringing\r\nVia: x\r\nCSeq: 7 INVITE\r\n\r\nCSeq:": {INVITE, 180},
		"SIP/2.0 200 OK\r\nCSeq: 2 BYE\r\n\r\n":                        {BYE, 200},
		"SIP/2.0 4":                                                    {"", 4},
		"":                                                             {"", 0},
	} {
		if method, code := Kind([]byte(raw)); method != want.method || code != want.code {
			t.Errorf("%q: %q %d", raw, method, code)
		}
	}
	raw := []byte("SIP/2.0 180 Ringing\r\nVia: x\r\nCSeq: 7 INVITE\r\n\r\n")
	if n := testing.AllocsPerRun(100, func() { Kind(raw) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
