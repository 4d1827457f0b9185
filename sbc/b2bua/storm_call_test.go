package b2bua

import (
	"strconv"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// place makes a call from an agent to a node.
func (w *storm) place(a *agent, node *stormNode, n int) {
	called := w.changingNumber()
	if strings.HasPrefix(called, stormOutward) || called == "911" {
		a = w.agents[stormCustomer]
	}
	p := &party{
		a: a, callID: "s" + strconv.Itoa(n), caller: true, tag: "c" + a.token(), branch: "z9hG4bK" + a.token(), node: node,
		finals: map[string]bool{}, offered: !w.chance(0.15), silent: w.chance(w.weather.odd / 4),
	}
	a.parties[p.callID] = p
	w.placed = append(w.placed, p)
	in := invite{callID: p.callID, branch: p.branch, from: p.tag, host: a.addr, called: "+12145550" + strconv.Itoa(100+n%100)}
	if w.chance(w.weather.registered) {
		in.called = stormRooms
	}
	if w.chance(w.weather.parallel) {
		in.called = stormForks + "0100"
	}
	if called != "" {
		in.called = called
	}
	if p.offered {
		in.body = offer
	}
	in.lines = "X-Storm: " + p.callID + "\r\n"
	p.text = strings.Replace(in.String(), "tag=caller", "tag="+p.tag, 1)
	p.text = strings.Replace(p.text, "INVITE sip:"+in.called+"@203.0.113.1", "INVITE sip:"+in.called+"@"+node.addr, 1)
	p.ask = a.request("INVITE", node.addr, p.branch, p.text, p.response)
	if w.chance(w.weather.cancels) {
		w.after(w.upTo(12*time.Second), p.giveUp)
	}
	if w.chance(w.weather.vanish) {
		w.after(w.upTo(20*time.Second), func() { p.vanish() })
	}
	w.after(110*time.Second, func() {
		if p.code == 0 && !p.gaveUp && !p.gone() && !p.node.troubled && !p.wantCancel {
			w.breach("caller %s has no final after 110 s", p.callID)
		}
		p.giveUp()
	})
}

// vanish makes one party deaf and mute for good.
func (p *party) vanish() {
	p.a.mute[p.callID] = true
}

func (p *party) giveUp() {
	if p.code != 0 || p.gaveUp {
		return
	}
	w := p.a.w
	if len(p.dialogs) > 0 && w.chance(w.weather.odd) {
		p.dialogs[0].bye() // RFC 3261 15: a caller may end an early dialog by BYE
		return
	}
	p.wantCancel = true
	if p.ask.heard || w.chance(w.weather.odd/4) {
		p.sendCancel()
	}
}

func (p *party) sendCancel() {
	if p.cancelSent || p.gone() {
		return
	}
	p.cancelSent = true
	text := strings.Replace(strings.Replace(p.text, "INVITE ", "CANCEL ", 1), " INVITE\r\n", " CANCEL\r\n", 1)
	head, _, _ := strings.Cut(text, "Contact:")
	p.a.request("CANCEL", p.node.addr, p.branch, head+"Content-Length: 0\r\n\r\n", func(*sip.Message) {})
}

// response takes a response to the caller's INVITE.
func (p *party) response(m *sip.Message) {
	a := p.a
	if m == nil {
		p.gaveUp = true
		return
	}
	tag := string(m.ToTag())
	switch {
	case m.Status() < 200:
		if p.wantCancel {
			p.sendCancel()
		}
		if tag != "" && p.byRemote(tag) == nil {
			p.newDialog(p.tag, tag, m).out = 1
		}
	case m.Status() < 300:
		p.finals["2xx "+tag] = true
		d := p.byRemote(tag)
		if d == nil {
			d = p.newDialog(p.tag, tag, m)
			d.out = 1
		}
		d.retarget(m)
		if p.silent {
			p.code = m.Status()
			d.state = confirmed
			return
		}
		if d.acks[1] == "" {
			body := ""
			if !p.offered {
				body = offer
			}
			d.acks[1] = d.write("ACK", 1, "z9hG4bK"+a.token(), body)
		}
		a.send(d.to(), d.acks[1])
		if d.state != earlyDialog {
			p.code = m.Status() // we had hung up on the early dialog
			return
		}
		d.state = confirmed
		if p.code == 0 {
			p.code = m.Status()
			p.talk(d)
		} else {
			d.bye()
		}
	default:
		p.finals[strconv.Itoa(m.Status())] = true
		p.code = m.Status()
		ack := strings.Replace(strings.Replace(p.text, "INVITE ", "ACK ", 1), " INVITE\r\n", " ACK\r\n", 1)
		head, _, _ := strings.Cut(ack, "Contact:")
		_, to, _ := strings.Cut(string(m.Raw()), "To: ")
		to, _, _ = strings.Cut(to, "\r\n")
		before, rest, _ := strings.Cut(head, "To: ")
		_, rest, _ = strings.Cut(rest, "\r\n")
		a.send(p.node.addr, before+"To: "+to+"\r\n"+rest+"Content-Length: 0\r\n\r\n")
	}
}

// talk is what a party does while the call is up.
func (p *party) talk(d *line1) {
	w := p.a.w
	for range w.rng.IntN(4) {
		w.after(w.upTo(15*time.Second), func() {
			if d.state != confirmed || d.hungUp || p.gone() {
				return
			}
			switch w.rng.IntN(5) {
			case 0, 1:
				d.reinvite(offer)
			case 2:
				d.reinvite("")
			case 3:
				d.send("UPDATE", offer, func(m *sip.Message) {
					if m != nil && m.Status() == 481 {
						d.bye()
					}
				})
			default:
				d.send("INFO", "", func(*sip.Message) {})
			}
		})
	}
	if w.chance(0.7) {
		w.after(w.upTo(20*time.Second), d.bye)
	}
	patience := 40 * time.Second
	if w.chance(0.1) {
		patience = 300 * time.Second
	}
	w.after(patience+w.upTo(time.Second), func() {
		d.stayed = d.state == confirmed && !d.hungUp && patience > time.Minute
		d.bye()
	})
}

// invited lets a callee answer at random.
func (a *agent) invited(from string, m *sip.Message) {
	w := a.w
	p := &party{a: a, callID: string(m.CallID()), tag: "u" + a.token(), invite: m, node: w.nodeAt(from)}
	a.parties[p.callID] = p
	m.EachNamed("X-Storm", func(v []byte) bool { p.pair = string(v); return false })
	if w.traced == "*" {
		w.trace = append(w.trace, "PAIR "+p.pair+" "+p.callID[:min(len(p.callID), 22)])
	}
	if w.chance(w.weather.vanish) {
		w.after(w.upTo(20*time.Second), p.vanish)
	}
	if m.Has(sip.Handoff) || m.Has(sip.Attempts) {
		w.breach("a header of ours reached %s", a.addr)
	}
	if w.chance(0.05) {
		return // a callee that never says anything
	}
	at := time.Duration(0)
	step := func(limit time.Duration, do func()) {
		if w.chance(0.3) {
			limit /= 20
		}
		at += w.upTo(limit)
		w.after(at, do)
	}
	if w.chance(0.8) {
		step(time.Second, func() { p.say(100, "", "") })
	}
	rings := w.rng.IntN(4)
	for range rings {
		tag, body, code := p.tag, "", 180
		if w.chance(0.3) {
			code, body = 183, answerSDP
		}
		if w.chance(w.weather.odd) {
			tag = "u" + a.token() // another early dialog: there is a forking proxy
		}
		step(4*time.Second, func() { p.say(code, tag, body) })
	}
	if rings > 0 && w.chance(0.1) {
		w.after(70*time.Second, func() {
			if p.code == 0 && !p.gone() {
				p.timedOut = true
				p.finish(480)
			}
		})
		return // rings until somebody stops it
	}
	code := []int{200, 200, 200, 200, 486, 503, 503, 404, 603, 302, 401, 500}[w.rng.IntN(12)]
	step(8*time.Second, func() { p.finish(code) })
	if w.chance(w.weather.odd / 4) {
		step(time.Second, func() { p.another() })
	}
}

func (p *party) say(code int, tag, body string) {
	if p.code == 0 && !p.gone() {
		p.a.respond(p.invite, code, tag, body)
	}
}

// finish gives the callee's final.
func (p *party) finish(code int) {
	if p.code != 0 || p.gone() {
		return
	}
	p.code = code
	if code == 200 {
		p.accept(p.tag)
		return
	}
	p.a.respond(p.invite, code, p.tag, "")
	p.a.insist(p.a.server[string(p.invite.Branch())+"INVITE"], 500*time.Millisecond, 32*time.Second, func(acked bool) {
		if !acked {
			p.noAck++
		}
	})
}

// another is a second 2xx, of another branch of a forking proxy.
func (p *party) another() {
	if p.code != 0 && !p.gone() {
		p.accept("f" + p.a.token())
	}
}

func (p *party) accept(tag string) {
	a, w := p.a, p.a.w
	d := p.newDialog(tag, string(p.invite.FromTag()), p.invite)
	d.state, d.in = confirmed, p.invite.CSeq()
	d.out = uint32(w.rng.IntN(3))
	text := a.respond(p.invite, 200, tag, answerSDP)
	s := &served{last: text, to: a.server[string(p.invite.Branch())+"INVITE"].to}
	d.waiting[p.invite.CSeq()] = s
	d.lateOffer[p.invite.CSeq()] = len(p.invite.Body()) == 0
	a.insist(s, 500*time.Millisecond, 32*time.Second, func(acked bool) {
		if !acked {
			p.noAck++
			d.bye()
		}
	})
	s.then = func() { p.talk(d) } // RFC 3261 15: no BYE before the ACK
}
