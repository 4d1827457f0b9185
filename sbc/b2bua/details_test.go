package b2bua

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// DEC-09: after five seconds the sender of a BYE hears that its owner is away.
func TestDEC09_ByeThatFindsNoOwnerIsAnswered(t *testing.T) {
	owner := newWorld(t)
	_, ok := owner.answeredCall()
	w := newWorldOf(t, "dal-2", "dallas", document())
	w.peers = []geo.PeerNode{{Name: "dal-1", Site: "dallas", Fresh: true}}
	w.down["dal-1"] = true
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	w.advance(byeHold - byeRetry)
	w.none(carrierAddr, "SIP/2.0")
	w.advance(2 * byeRetry)
	if got := w.take(carrierAddr, "SIP/2.0 500"); !got.Has(sip.RetryAfter) {
		t.Error("no Retry-After")
	}
	if st := w.s.Stats(); st.Transactions != 0 {
		t.Errorf("left behind: %+v", st)
	}
	w.quiet()
}

// DEC-09: a BYE that found its owner away is passed on when that is back, however its
// sender was answered: nobody will say it again. A later process of the owner does
// not have the call.
func TestDEC09_ByeIsKeptForAnOwnerThatIsAway(t *testing.T) {
	owner := newWorld(t)
	_, ok := owner.answeredCall()
	for _, tc := range []struct {
		name   string
		gone   bool
		answer string
		boot   uint32 // of the process that is there later; 0: none
		passed int
	}{
		{"cut off and back", false, "SIP/2.0 500", 1, 1},
		{"paused until others thought it gone", true, "SIP/2.0 481", 1, 1},
		{"another process", true, "SIP/2.0 481", 2, 0},
		{"away for good", true, "SIP/2.0 481", 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorldOf(t, "dal-2", "dallas", document())
			w.peers = []geo.PeerNode{{Name: "dal-1", Site: "dallas", Fresh: true}}
			w.down["dal-1"] = true
			if tc.gone {
				w.lost = w.now.Add(-time.Minute)
			}
			w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
			w.advance(byeHold + byeRetry)
			w.take(carrierAddr, tc.answer)
			if w.s.lateByes != 1 || len(w.forward) != 0 {
				t.Fatalf("%d BYEs kept, %d passed on", w.s.lateByes, len(w.forward))
			}
			if tc.boot > 0 {
				w.boots = map[string]uint32{"dal-1": tc.boot}
				w.down["dal-1"], w.lost = false, time.Time{}
			}
			w.advance(byeRecall)
			if len(w.forward) != tc.passed {
				t.Errorf("%d passed on, want %d", len(w.forward), tc.passed)
			}
			w.advance(byeMemory)
			if w.s.lateByes != 0 || len(w.forward) != tc.passed {
				t.Errorf("in the end %d BYEs are kept, %d were passed on", w.s.lateByes, len(w.forward))
			}
			w.quiet()
		})
	}
}

// DEC-03: only the node that told of an INVITE takes it back; the one that is
// asked to give up is the one that has it; what was held leaves nothing.
func TestDEC03_NewsOfOtherNodes(t *testing.T) {
	owner, w := newWorld(t), newWorldOf(t, "dal-2", "dallas", document())
	owner.from(carrierAddr, invite{body: offer}.String())
	open := owner.shared[0]
	w.s.Shared(w.now, "dal-1", open)
	closed := open
	closed.State = OpenClosed
	w.s.Shared(w.now, "dal-3", closed)
	if w.s.Stats().Open != 1 {
		t.Error("another node took the entry back")
	}
	for i, branch := range []string{"z9hG4bKb", "z9hG4bKc"} {
		w.from(carrierAddr, invite{body: offer, branch: branch}.String())
		w.advance(inviteHold)
		w.take(carrierAddr, "SIP/2.0 482")
		if len(w.s.held) != 0 {
			t.Errorf("round %d: %d INVITEs are held", i, len(w.s.held))
		}
	}
	w.advance(youngInvite)
	w.from(carrierAddr, invite{body: offer, branch: "z9hG4bKd"}.String())
	w.take(pbx1Addr, "INVITE")
	if strings.Join(w.told, " ") != "dal-1" {
		t.Errorf("asked to give up: %v", w.told)
	}
}

// handoffTo returns the hand-off INVITE that dal-1 sends to a node.
func handoffTo(t *testing.T, node string) (dal *world, m *sip.Message) {
	t.Helper()
	dal = newWorld(t)
	dal.peers = []geo.PeerNode{{Name: node, Site: "ashburn", Fresh: true}}
	setDown(dal, "acme-in/dal-1", "acme-in/dal-2")
	dal.from(carrierAddr, invite{body: offer}.String())
	return dal, dal.take(node, "INVITE")
}

// DEC-08: the token is of the node that sends it, DEC-07: a site takes a call id
// once, DEC-05: the peer has the time that is left.
func TestDEC08_TokenAndItsSender(t *testing.T) {
	_, m := handoffTo(t, "ash-1")
	w := newWorldOf(t, "ash-1", "ashburn", document())
	w.packet("", "dal-2", string(m.Raw()))
	w.take("dal-2", "SIP/2.0 403")
	w.none(ashPBX, "INVITE")
	w.packet("", "dal-1", string(m.Raw()))
	w.take(ashPBX, "INVITE")
	for c := range w.s.calls {
		if c.token.Budget != 15*time.Second {
			t.Errorf("budget %v", c.token.Budget)
		}
	}
	second := newWorldOf(t, "ash-2", "ashburn", document())
	second.s.Shared(second.now, "ash-1", w.shared[0])
	_, again := handoffTo(t, "ash-2")
	second.packet("", "dal-1", string(again.Raw()))
	second.advance(handoffHold)
	second.take("dal-1", "SIP/2.0 482")
	second.none(ashPBX, "INVITE")
}

func TestInsideADialogMaxForwardsGoesDownAndTargetsAreRefreshed(t *testing.T) {
	w := newWorld(t)
	_, ok := w.answeredCall()
	w.from(carrierAddr, strings.Replace(inside(ok, "INVITE", 2, "", offer), "Max-Forwards: 70", "Max-Forwards: 9", 1))
	re := w.take(pbx1Addr, "INVITE")
	if re.MaxForwards() != 8 {
		t.Errorf("Max-Forwards %d", re.MaxForwards())
	}
	w.from(pbx1Addr, reply(re, 200, "callee", answerSDP, "Contact: <sip:moved@198.51.100.44:5060>\r\n"))
	w.take("198.51.100.44:5060", "ACK")
	w.from(carrierAddr, ackFor(w.take(carrierAddr, "SIP/2.0 200"), "z9hG4bKre", ""))
	w.from(carrierAddr, inside(ok, "BYE", 3, "", ""))
	w.take("198.51.100.44:5060", "BYE")
}

// DEC-02 between the sites: a node that speaks after its stream was lost gets
// its CANCEL.
func TestDEC02_PeerSpeaksAfterItsStreamWasLost(t *testing.T) {
	w, m := handoffTo(t, "ash-1")
	w.down["ash-1"] = true
	w.s.NodeLost(w.now, "ash-1")
	w.take(carrierAddr, "SIP/2.0 503")
	delete(w.down, "ash-1")
	w.packet("", "ash-1", reply(m, 180, "x", ""))
	w.take("ash-1", "CANCEL")
	w.none(carrierAddr, "SIP/2.0 180")
}

// DEC-11: what calls say of a member.
func TestDEC11_Evidence(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 503, "x", "", "Retry-After: 30 (rest)\r\n"))
	if strings.Join(w.blame, ", ") != "acme-in/dal-1 paused 30s" {
		t.Errorf("a 503 with Retry-After: %v", w.blame)
	}
	w = newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	w.from(carrierAddr, cancelOf(invite{body: offer}.String(), "INVITE"))
	w.advance(time.Minute)
	if len(w.blame) != 0 {
		t.Errorf("the caller went before the member could speak: %v", w.blame)
	}
	w = newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "INVITE"), 100, "", ""))
	w.advance(12 * time.Second)
	w.take(pbx2Addr, "INVITE")
	if len(w.blame) != 0 {
		t.Errorf("it spoke and then took too long: %v", w.blame)
	}
}

func TestPostDialDelayIsCountedOnce(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	for range 3 {
		w.advance(time.Second)
		w.from(pbx1Addr, reply(b, 180, "x", ""))
	}
	w.from(pbx1Addr, reply(b, 200, "x", answerSDP))
	var values []float64
	for _, e := range w.events {
		if e.Kind == EventPDD {
			values = append(values, e.Value)
		}
	}
	if len(values) != 1 || values[0] != 1 {
		t.Errorf("counted %v", values)
	}
}

func TestPingWaitsForTheFinalResponse(t *testing.T) {
	w := newWorld(t)
	m := w.table.Member("acme-in/dal-1")
	w.s.Ping(w.now, PingOrder{Token: 1, Candidate: trunkgroup.Candidate{Member: m, Addr: m.Addr, Dialable: true}})
	options := w.take(pbx1Addr, "OPTIONS")
	w.from(pbx1Addr, reply(options, 100, "", ""))
	if len(w.pinged) != 0 {
		t.Errorf("pinged %+v", w.pinged)
	}
	w.advance(20 * time.Millisecond)
	w.from(pbx1Addr, reply(options, 503, "x", "", "Retry-After: 7\r\n"))
	if len(w.pinged) != 1 || w.pinged[0] != (PingResult{Code: 503, RTT: 20 * time.Millisecond, RetryAfter: 7 * time.Second}) {
		t.Errorf("pinged %+v", w.pinged)
	}
}

// DEC-06: the carrier that gave the call gets its own exhausted code, and only
// after both sites were tried.
func TestDEC06_ExhaustedCodeOfTheCarrier(t *testing.T) {
	doc := document()
	doc.TrunkGroups[2].ExhaustedCode = 480
	p := &twoSites{dal: newWorldOf(t, "dal-1", "dallas", doc), ash: newWorldOf(t, "ash-1", "ashburn", doc)}
	p.dal.peers = []geo.PeerNode{{Name: "ash-1", Site: "ashburn", Fresh: true}}
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	setDown(p.ash, "acme-in/ash-1")
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	if got := p.dal.take(carrierAddr, "SIP/2.0 480"); !got.Has(sip.Reason) {
		t.Error("480 without Reason")
	}
}
