package b2bua

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// twoSites is a node of each site with the interconnect between them.
type twoSites struct {
	dal, ash *world
	crossed  []string // start lines that crossed
}

func newTwoSites(t *testing.T) *twoSites {
	p := &twoSites{dal: newWorldOf(t, "dal-1", "dallas", document()), ash: newWorldOf(t, "ash-1", "ashburn", document())}
	p.dal.peers = []geo.PeerNode{{Name: "ash-1", Site: "ashburn", Fresh: true, RTT: 30 * time.Millisecond}}
	p.ash.peers = []geo.PeerNode{{Name: "dal-1", Site: "dallas", Fresh: true, RTT: 30 * time.Millisecond}}
	p.ash.random = 99
	return p
}

// exchange carries what the nodes have for each other until nothing is left.
func (p *twoSites) exchange() {
	for {
		a := p.carry(p.dal, p.ash, "dal-1", "ash-1")
		b := p.carry(p.ash, p.dal, "ash-1", "dal-1")
		if !a && !b {
			return
		}
	}
}

func (p *twoSites) carry(from, to *world, fromName, toName string) bool {
	var rest []wire
	var moving []wire
	for _, x := range from.sent {
		if x.to.Node == toName {
			moving = append(moving, x)
		} else {
			rest = append(rest, x)
		}
	}
	from.sent = rest
	for _, x := range moving {
		line, _, _ := strings.Cut(string(x.m.Raw()), "\r\n")
		p.crossed = append(p.crossed, fromName+" "+strings.Join(strings.Fields(line)[:2], " "))
		to.packet("", fromName, string(x.m.Raw()))
	}
	return len(moving) > 0
}

func (p *twoSites) advance(d time.Duration) {
	for step := 10 * time.Millisecond; d > 0; d -= step {
		p.dal.advance(step)
		p.ash.advance(step)
		p.exchange()
	}
}

func (p *twoSites) invitesCrossed() (n int) {
	for _, line := range p.crossed {
		if strings.Contains(line, "INVITE") {
			n++
		}
	}
	return n
}

func setDown(w *world, keys ...string) {
	v := trunkgroup.NewView(w.table)
	for _, key := range keys {
		v.States[w.table.Member(key).Index] = trunkgroup.Disabled
	}
	w.view = v
}

const ashPBX = "198.51.100.74:5060"

func TestDEC04_HandedOffWhenNobodyIsActiveHere(t *testing.T) {
	p := newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	b := p.ash.take(ashPBX, "INVITE")
	if b.Has(sip.Handoff) {
		t.Error("the token leaked to the customer")
	}
	p.ash.from(ashPBX, reply(b, 180, "x", ""))
	p.exchange()
	p.dal.take(carrierAddr, "SIP/2.0 180")
	p.ash.from(ashPBX, reply(b, 200, "x", answerSDP, "Contact: <sip:pbx@198.51.100.74:5060>\r\n"))
	p.exchange()
	ok := p.dal.take(carrierAddr, "SIP/2.0 200")
	if ok.Has(sip.Attempts) {
		t.Error("the attempts list leaked to the carrier")
	}
	p.dal.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	p.exchange()
	p.ash.take(ashPBX, "ACK")
	p.dal.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	p.exchange()
	bye := p.ash.take(ashPBX, "BYE")
	p.ash.from(ashPBX, reply(bye, 200, "x", ""))
	p.exchange()
	p.dal.quiet()
	p.ash.quiet()
	if n := p.invitesCrossed(); n != 1 {
		t.Errorf("%d INVITEs crossed, want 1: %v", n, p.crossed)
	}
	rec := p.dal.records[0]
	if rec.Kind != "call" || !rec.HandedOff || rec.EgressSite != "ashburn" || rec.EgressMember != "ash-1" {
		t.Errorf("DEC-24, origin's record: %+v", rec)
	}
	if peer := p.ash.records[0]; peer.Kind != "handoff" || peer.CallID != rec.CallID {
		t.Errorf("DEC-24, peer's record: %+v", peer)
	}
}

func TestV21_AllDeadEverywhere(t *testing.T) {
	p := newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	setDown(p.ash, "acme-in/ash-1")
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	p.dal.take(carrierAddr, "SIP/2.0 503")
	rec := p.dal.records[0]
	if len(rec.Attempts) != 3 {
		t.Fatalf("attempts of both sites: %+v", rec.Attempts)
	}
	for _, a := range rec.Attempts {
		if a.Dialed {
			t.Errorf("dialed: %+v", a)
		}
	}
	if p.invitesCrossed() != 1 {
		t.Errorf("crossed: %v", p.crossed)
	}
	p.advance(40 * time.Second)
	p.dal.quiet()
	p.ash.quiet()
}

func TestDEC04_BusyAtThePeerIsTheLastWord(t *testing.T) {
	p := newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	b := p.ash.take(ashPBX, "INVITE")
	p.ash.from(ashPBX, reply(b, 486, "x", ""))
	p.exchange()
	p.dal.take(carrierAddr, "SIP/2.0 486")
}

func TestDEC05_BlackHoleHereStillCompletesThere(t *testing.T) {
	p := newTwoSites(t)
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.advance(8*time.Second + 50*time.Millisecond) // two b_timers
	b := p.ash.take(ashPBX, "INVITE")
	p.ash.from(ashPBX, reply(b, 200, "x", answerSDP, "Contact: <sip:pbx@198.51.100.74:5060>\r\n"))
	p.exchange()
	p.dal.take(carrierAddr, "SIP/2.0 200")
	if got := p.dal.now.Sub(p.dal.records0().start); got > 15*time.Second {
		t.Errorf("answered after %v, past max_pdd", got)
	}
}

func (w *world) records0() times {
	for c := range w.s.calls {
		return c.times
	}
	return times{start: w.now}
}

func TestCancelReachesThePeersMember(t *testing.T) {
	p := newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	b := p.ash.take(ashPBX, "INVITE")
	p.ash.from(ashPBX, reply(b, 180, "x", ""))
	p.exchange()
	p.dal.from(carrierAddr, strings.Replace(invite{}.String(), "INVITE", "CANCEL", 2))
	p.exchange()
	p.dal.take(carrierAddr, "SIP/2.0 487")
	cancel := p.ash.take(ashPBX, "CANCEL")
	p.ash.from(ashPBX, reply(cancel, 200, "x", ""))
	p.ash.from(ashPBX, reply(b, 487, "x", ""))
	p.advance(40 * time.Second)
	p.dal.quiet()
	p.ash.quiet()
}

func TestDEC07_SilentPeerNodeCostsOneShortWait(t *testing.T) {
	p := newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.dal.peers = append([]geo.PeerNode{{Name: "ash-0", Site: "ashburn", Fresh: true}}, p.dal.peers...)
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	p.dal.take("ash-0", "INVITE")
	p.advance(600 * time.Millisecond)
	b := p.ash.take(ashPBX, "INVITE")
	p.ash.from(ashPBX, reply(b, 200, "x", answerSDP))
	p.exchange()
	p.dal.take(carrierAddr, "SIP/2.0 200")
}

func TestDEC08_TokenFromOutsideIsStrippedAndCounted(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer, lines: "X-Tandem-Handoff: anything\r\n"}.String())
	b := w.take(pbx1Addr, "INVITE")
	if b.Has(sip.Handoff) {
		t.Error("the header crossed")
	}
	counted := false
	for _, e := range w.events {
		counted = counted || e.Kind == EventHandoffHeader
	}
	if !counted {
		t.Error("the header was not counted")
	}
}

func TestDEC08_ForgedTokenIsRefused(t *testing.T) {
	w := newWorldOf(t, "ash-1", "ashburn", document())
	w.packet("", "dal-1", invite{body: offer, lines: "X-Tandem-Handoff: call=1;mac=00\r\n"}.String())
	w.take("dal-1", "SIP/2.0 403")
}

// A captured hand-off is worth nothing: neither during its call nor after it.
func TestDEC08_ReplayedHandoffIsRefused(t *testing.T) {
	p := newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.dal.from(carrierAddr, invite{body: offer}.String())
	captured := string(p.dal.take("ash-1", "INVITE").Raw())
	p.ash.packet("", "dal-1", captured)
	b := p.ash.take(ashPBX, "INVITE")
	replay := func(branch string) {
		old := string(sipBranch(t, captured))
		p.ash.packet("", "dal-1", strings.Replace(captured, old, branch, 1))
		p.ash.take("dal-1", "SIP/2.0 482")
		p.ash.none(ashPBX, "INVITE")
	}
	replay("z9hG4bKagain1")
	p.ash.from(ashPBX, reply(b, 486, "x", ""))
	p.ash.advance(10 * time.Second)
	replay("z9hG4bKagain2")
}

func sipBranch(t *testing.T, text string) []byte {
	t.Helper()
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		t.Fatal(fault)
	}
	return m.Branch()
}

func TestDEC03_SameINVITEAtAnotherNode(t *testing.T) {
	owner, other := newWorld(t), newWorldOf(t, "dal-2", "dallas", document())
	owner.from(carrierAddr, invite{body: offer}.String())
	begun := owner.shared[0]

	t.Run("same branch: passed to the owner, nothing answered", func(t *testing.T) {
		other.s.Shared(other.now, "dal-1", begun)
		other.from(carrierAddr, invite{body: offer}.String())
		if len(other.sent) != 0 || len(other.forward) != 1 {
			t.Errorf("sent %s forwarded %v", other.trace(), other.forward)
		}
	})
	t.Run("other branch, young: a fork, 482", func(t *testing.T) {
		other.from(carrierAddr, invite{body: offer, branch: "z9hG4bKother"}.String())
		other.advance(inviteHold)
		other.take(carrierAddr, "SIP/2.0 482")
	})
	t.Run("other branch at the owner: 482", func(t *testing.T) {
		owner.from(carrierAddr, invite{body: offer, branch: "z9hG4bKother"}.String())
		owner.take(carrierAddr, "SIP/2.0 482")
	})
	t.Run("CANCEL at another node is passed on", func(t *testing.T) {
		other.from(carrierAddr, strings.Replace(invite{}.String(), "INVITE", "CANCEL", 2))
		if n := len(other.forward); n != 2 || other.forward[1] != "dal-1 CANCEL" {
			t.Errorf("forwarded %v", other.forward)
		}
	})
	t.Run("other branch, older, no 18x: the owner gives up and this node takes it", func(t *testing.T) {
		other.advance(time.Second)
		other.from(carrierAddr, invite{body: offer, branch: "z9hG4bKlater"}.String())
		other.take(pbx1Addr, "INVITE")
		var give *Open
		for i := range other.shared {
			if other.shared[i].State == OpenGiveUp {
				give = &other.shared[i]
			}
		}
		if give == nil {
			t.Fatal("the owner was not asked to give up")
		}
		owner.s.Shared(owner.now, "dal-2", *give)
		owner.take(carrierAddr, "SIP/2.0 487")
	})
}

func TestDEC03_ProgressMakesItAFork(t *testing.T) {
	w := newWorldOf(t, "dal-2", "dallas", document())
	owner := newWorld(t)
	owner.from(carrierAddr, invite{body: offer}.String())
	open := owner.shared[0]
	w.s.Shared(w.now, "dal-1", open)
	open.State = OpenProgress
	w.s.Shared(w.now, "dal-1", open)
	w.advance(5 * time.Second)
	w.from(carrierAddr, invite{body: offer, branch: "z9hG4bKlater"}.String())
	w.advance(inviteHold)
	w.take(carrierAddr, "SIP/2.0 482")
}

// A caller that got a failure after it had heard ringing goes on to this node,
// perhaps faster than the news that the first one is done with it.
func TestDEC03_FailoverAfterProgressIsANewCall(t *testing.T) {
	w := newWorldOf(t, "dal-2", "dallas", document())
	owner := newWorld(t)
	owner.from(carrierAddr, invite{body: offer}.String())
	open := owner.shared[0]
	w.s.Shared(w.now, "dal-1", open)
	open.State = OpenProgress
	w.s.Shared(w.now, "dal-1", open)
	w.from(carrierAddr, invite{body: offer, branch: "z9hG4bKlater"}.String())
	w.none(carrierAddr, "SIP/2.0")
	open.State = OpenClosed
	w.s.Shared(w.now, "dal-1", open)
	w.take(pbx1Addr, "INVITE")
}

func TestDEC03_DeadOwnerOrClosedEntryIsANewCall(t *testing.T) {
	owner := newWorld(t)
	owner.from(carrierAddr, invite{body: offer}.String())
	open := owner.shared[0]
	for name, prepare := range map[string]func(w *world){
		"owner dead": func(w *world) { w.down["dal-1"] = true },
		"closed": func(w *world) {
			closed := open
			closed.State = OpenClosed
			w.s.Shared(w.now, "dal-1", closed)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(t, "dal-2", "dallas", document())
			w.s.Shared(w.now, "dal-1", open)
			prepare(w)
			w.from(carrierAddr, invite{body: offer, branch: "z9hG4bKlater"}.String())
			w.take(pbx1Addr, "INVITE")
		})
	}
}

// A caller who got the owner's final response may reach this node before the
// news of it.
func TestDEC03_FailoverFasterThanTheNewsIsANewCall(t *testing.T) {
	owner, w := newWorld(t), newWorldOf(t, "dal-2", "dallas", document())
	owner.from(carrierAddr, invite{body: offer}.String())
	open := owner.shared[0]
	w.s.Shared(w.now, "dal-1", open)
	w.from(carrierAddr, invite{body: offer, branch: "z9hG4bKlater"}.String())
	w.none(carrierAddr, "SIP/2.0 482")
	w.advance(15 * time.Millisecond)
	open.State = OpenClosed
	w.s.Shared(w.now, "dal-1", open)
	w.take(pbx1Addr, "INVITE")
}

func TestDEC09_InDialogAtAnotherNode(t *testing.T) {
	owner := newWorld(t)
	_, ok := owner.answeredCall()
	at := func(state func(w *world)) *world {
		w := newWorldOf(t, "dal-2", "dallas", document())
		w.peers = []geo.PeerNode{{Name: "dal-1", Site: "dallas", Fresh: true}}
		state(w)
		return w
	}
	t.Run("owner up: passed on", func(t *testing.T) {
		w := at(func(*world) {})
		w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
		if len(w.forward) != 1 || len(w.sent) != 0 {
			t.Errorf("forward %v, sent %s", w.forward, w.trace())
		}
	})
	t.Run("owner cut off: 500 with Retry-After", func(t *testing.T) {
		w := at(func(w *world) { w.down["dal-1"] = true })
		w.from(carrierAddr, inside(ok, "INFO", 2, "", ""))
		if got := w.take(carrierAddr, "SIP/2.0 500"); !got.Has(sip.RetryAfter) {
			t.Error("no Retry-After")
		}
	})
	t.Run("BYE is tried again for five seconds", func(t *testing.T) {
		w := at(func(w *world) { w.down["dal-1"] = true })
		w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
		w.advance(2 * time.Second)
		if len(w.sent) != 0 {
			t.Errorf("answered too soon: %s", w.trace())
		}
		w.down["dal-1"] = false
		w.advance(time.Second)
		if len(w.forward) != 1 {
			t.Errorf("forward %v", w.forward)
		}
	})
	t.Run("not ours: 481, nothing forwarded", func(t *testing.T) {
		w := at(func(*world) {})
		w.from(carrierAddr, strings.Replace(inside(ok, "BYE", 2, "", ""), string(ok.ToTag()), "t"+string(ok.ToTag())[1:31]+"A", 1))
		w.take(carrierAddr, "SIP/2.0 481")
		if len(w.forward) != 0 {
			t.Errorf("forward %v", w.forward)
		}
	})
}
