package b2bua

import "testing"

// The stream to the node by which an INVITE came is lost and comes back. That node
// has begun the call anew: our 503 of it, or what we said just before, must not
// reach the caller behind what he is told since. (simulation: the caller got a 503
// of a call that rang, went on to the next node and was called twice.)
func TestDEC19_LastWordsDoNotOutliveTheRelay(t *testing.T) {
	for name, end := range map[string]func(p *pair, b2 *world){
		"a hunt that was given up": func(*pair, *world) {},
		"a final on its way": func(p *pair, b2 *world) {
			b2.from(pbx1Addr, reply(b2.take(pbx1Addr, "INVITE"), 486, "x", ""))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, "dal-2")
			b2 := p.nodes["dal-2"]
			p.a.from(carrierAddr, invite{body: offer}.String())
			p.exchange()
			end(p, b2)
			b2.s.NodeLost(b2.now, "dal-1")
			b2.sent = nil
			b2.advance(b2.s.cfg.Timers.Life())
			for _, x := range b2.sent {
				if x.to.ViaNode != "" {
					t.Errorf("sent by way of the lost node: %s", x.m.Raw())
				}
			}
		})
	}
}
