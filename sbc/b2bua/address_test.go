package b2bua

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// Names of callers come in every form, and leave so that nobody can take what
// is in them for something else.
func TestDisplayNamesCross(t *testing.T) {
	for from, want := range map[string]string{
		`"Bob \"the\" Builder" <sip:+13105551234@x.example>`:  `"Bob \"the\" Builder" <sip:+13105551234@`,
		`"a, b; c=<d>" <sip:+13105551234@x.example>`:          `"a, b; c=<d>" <sip:+13105551234@`,
		`"back\\" <sip:+13105551234@x.example>`:               `"back\\" <sip:+13105551234@`,
		`back\ <sip:+13105551234@x.example>`:                  `"back\\" <sip:+13105551234@`,
		`Bob Builder <sip:+13105551234@x.example>`:            `"Bob Builder" <sip:+13105551234@`,
		`"" <sip:+13105551234@x.example>`:                     `<sip:+13105551234@`,
		`sip:+13105551234@x.example`:                          `<sip:+13105551234@`,
		`<sip:+13105551234;tgrp=a;trunk-context=b@x.example>`: `<sip:+13105551234;tgrp=a;trunk-context=b@`,
		`<tel:+13105551234>`:                                  `<tel:+13105551234>`,
		`"Anonymous" <sip:anonymous@anonymous.invalid>`:       `"Anonymous" <sip:anonymous@anonymous.invalid>`,
		"\"\xc3\x9cber\" <sip:+13105551234@x.example>":        "\"\xc3\x9cber\" <sip:+13105551234@",
	} {
		w := newWorld(t)
		text := strings.Replace(invite{body: offer}.String(), `"Bob" <sip:+13105551234@192.0.2.10:5060>`, from, 1)
		w.from(carrierAddr, text)
		b := w.take(pbx1Addr, "INVITE")
		if got := string(b.Header(sip.From)); !strings.HasPrefix(got, want) {
			t.Errorf("From %s left as %s, want %s", from, got, want)
		}
		w.from(pbx1Addr, reply(b, 200, "callee", answerSDP))
		ok := w.take(carrierAddr, "SIP/2.0 200")
		w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
		w.from(pbx1Addr, calleeRequest(b, "callee", "BYE", 7, "", ""))
		bye := w.take(carrierAddr, "BYE") // To is what From was
		a, err := sip.ParseNameAddr(bye.Header(sip.To))
		was, _ := sip.ParseNameAddr([]byte(from))
		if err != nil || !bytes.Equal(a.URI, was.URI) {
			t.Errorf("From %s came back as To %s", from, bye.Header(sip.To))
		}
	}
}

// A hang-up is a hang-up, whatever else it asks for.
func TestByeWithARequirementEndsTheCall(t *testing.T) {
	w := newWorld(t)
	_, ok := w.answeredCall()
	w.from(carrierAddr, inside(ok, "BYE", 2, "Require: timer\r\n", ""))
	w.take(carrierAddr, "SIP/2.0 200")
	w.take(pbx1Addr, "BYE")
}
