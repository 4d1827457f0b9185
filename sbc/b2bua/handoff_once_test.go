package b2bua

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/sip"
)

// The origin loses the node that has just taken its hand-off and asks the other one
// of the site, which still believes that the first has the call.
func TestDEC07_SecondNodeTakesWhatTheLostOneGivesUp(t *testing.T) {
	p := newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	open := p.ash.shared[0]
	ask := string(p.ash.handedINVITE(t).Raw())
	for name, c := range map[string]struct {
		news OpenState
		want string
	}{
		"the first gives it up": {OpenClosed, "SIP/2.0 100"},
		"the first has it":      {OpenProgress, "SIP/2.0 482"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(t, "ash-1", "ashburn", document())
			w.s.Shared(w.now, "ash-0", open)
			w.packet("", "dal-1", ask)
			w.none("dal-1", "SIP/2.0")
			news := open
			news.State = c.news
			w.s.Shared(w.now, "ash-0", news)
			w.advance(handoffHold)
			w.take("dal-1", c.want)
		})
	}
}

// The node that was asked first has the call and is lost before its word came; the
// other one has just said 482 for that. It is asked once more, and what it says then
// counts.
func TestDEC07_TheOtherNodeIsAskedAgainWhenTheFirstIsLost(t *testing.T) {
	p := newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.dal.peers = append(p.dal.peers, geo.PeerNode{Name: "ash-2", Site: "ashburn", Fresh: true, RTT: 31 * time.Millisecond})
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.dal.take("ash-1", "INVITE")
	p.dal.advance(firstWord)
	p.dal.packet("", "ash-2", reply(p.dal.take("ash-2", "INVITE"), 482, "x", ""))
	p.lose(p.dal, "ash-1")
	again := p.dal.take("ash-2", "INVITE")
	p.dal.packet("", "ash-2", reply(again, 180, "y", ""))
	p.dal.take(carrierAddr, "SIP/2.0 180")
	p.dal.packet("", "ash-2", reply(again, 200, "y", answerSDP))
	p.dal.take(carrierAddr, "SIP/2.0 200")
}

// handedINVITE is the hand-off as it arrived.
func (w *world) handedINVITE(t *testing.T) *sip.Message {
	t.Helper()
	for c := range w.s.calls {
		return c.msg
	}
	t.Fatal("no call was handed over")
	return nil
}

// A hand-off that waits here dies with its origin: nobody would hear of the call.
func TestDEC07_AWaitingHandoffOfALostNodeIsDropped(t *testing.T) {
	p := newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	w := newWorldOf(t, "ash-1", "ashburn", document())
	w.s.Shared(w.now, "ash-0", p.ash.shared[0])
	w.packet("", "dal-1", string(p.ash.handedINVITE(t).Raw()))
	w.s.NodeLost(w.now, "dal-1")
	w.s.NodeLost(w.now, "ash-0")
	w.advance(handoffHold)
	if len(w.sent) > 0 || len(w.s.calls) > 0 {
		t.Errorf("sent:\n%s", w.trace())
	}
	w.quiet()
}

// The first node's copy of a hand-off was so late that the second one has answered
// the call and closed its entry: the site has had the call.
func TestDEC07_ALateCopyOfAnAnsweredHandoffIsRefused(t *testing.T) {
	p := newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	late := string(p.ash.handedINVITE(t).Raw())
	b := p.ash.take(ashPBX, "INVITE")
	p.ash.from(ashPBX, reply(b, 200, "x", answerSDP))
	w := newWorldOf(t, "ash-1", "ashburn", document())
	for _, o := range p.ash.shared {
		w.s.Shared(w.now, "ash-0", o)
	}
	w.packet("", "dal-1", late)
	w.take("dal-1", "SIP/2.0 482")
	w.none(ashPBX, "INVITE")
	w.advance(openTTL)
	w.s.Shared(w.now, "ash-0", Open{Key: 1, State: OpenBegun})
	if len(w.s.done) != 0 {
		t.Errorf("%d hand-offs are remembered for ever", len(w.s.done))
	}
}
