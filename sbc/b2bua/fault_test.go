package b2bua

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// A fault of ours, played by an Env that panics, costs one call and leaves
// nothing of it, even when ending the call meets the same fault.
func TestFaultOfOursEndsOneCall(t *testing.T) {
	const once, always = false, true
	for name, c := range map[string]struct {
		at     string // start of the message whose sending panics
		always bool
		play   func(w *world)
	}{
		"first INVITE":           {"INVITE", once, func(w *world) { w.from(carrierAddr, invite{body: offer}.String()) }},
		"first INVITE, for ever": {"INVITE", always, func(w *world) { w.from(carrierAddr, invite{body: offer}.String()) }},
		"all that goes out":      {"", always, func(w *world) { w.from(carrierAddr, invite{body: offer}.String()) }},
		"the next attempt, by a timer": {"INVITE sip:+12145550100@" + pbx2Addr, once, func(w *world) {
			w.from(carrierAddr, invite{body: offer}.String())
			w.advance(5 * time.Second)
		}},
		"the relayed answer": {"SIP/2.0 200", once, func(w *world) {
			w.from(carrierAddr, invite{body: offer}.String())
			w.from(pbx1Addr, reply(w.take(pbx1Addr, "INVITE"), 200, "callee", answerSDP))
		}},
		"a BYE, for ever": {"BYE", always, func(w *world) {
			_, ok := w.answeredCall()
			w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
		}},
		"no ACK, by a timer": {"BYE", always, func(w *world) {
			w.from(carrierAddr, invite{body: offer}.String())
			w.from(pbx1Addr, reply(w.take(pbx1Addr, "INVITE"), 200, "callee", answerSDP))
			w.advance(33 * time.Second)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, other := w.answeredCall()
			w.sent = nil
			w.trap = func(m *sip.Message) bool {
				if !strings.HasPrefix(string(m.Raw()), c.at) {
					return false
				}
				if !c.always {
					w.trap = nil
				}
				return true
			}
			w.rename = func(text string) string {
				return strings.NewReplacer("call-1", "call-2", "z9hG4bKa", "z9hG4bKb").Replace(text)
			}
			c.play(w)
			w.trap, w.rename = nil, nil
			if w.faults == 0 {
				t.Fatal("the fault was not met")
			}
			w.advance(time.Minute)
			st := w.s.Stats()
			if st.Calls != 1 || st.Dialogs != 2 {
				t.Errorf("one call should be left: %+v", st)
			}
			w.sent = nil
			w.from(carrierAddr, inside(other, "BYE", 2, "", ""))
			w.from(pbx1Addr, reply(w.take(pbx1Addr, "BYE"), 200, "callee", ""))
			w.quiet()
			if len(w.records) != 2 {
				t.Errorf("%d records of 2 calls", len(w.records))
			}
		})
	}
}
