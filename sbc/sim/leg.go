package sim

import (
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// leg is one call at a far end.
type leg struct {
	due
	dialog
	order   uint64   // rises with each leg
	state   LegState // 0: the INVITE was seen and nothing sent yet
	script  *Behaviour
	invite  *transport.Packet // kept until the final is ACKed
	reply   transport.Target
	branch  []byte
	tags    [][]byte // our To tags by early dialog
	sentBy  string
	session uint64
	version int // of our session description

	step    int       // next response of the script
	stepAt  time.Time // zero = none is waited for
	final   repeat    // the final response to the INVITE, until its ACK
	last    []byte    // the last response to the INVITE, for repeated INVITEs
	code    int       // the final's code
	number  uint32    // CSeq number of the INVITE
	offered bool      // the INVITE carried SDP

	change   repeat // our 2xx to a re-INVITE, until its ACK
	changing []byte // branch of that re-INVITE
	changeNo uint32
	heard    uint32 // highest CSeq number of the other side

	then    int // next action of the script
	thenAt  time.Time
	out     repeat // our own request in the dialog
	outName string
	outID   []byte // its branch

	rec Leg
}

func (l *leg) when() *due { return &l.due }

func (l *leg) record() Leg {
	r := l.rec
	r.State = l.state
	r.Code = l.code
	r.Tags = nil
	for _, t := range l.tags {
		r.Tags = append(r.Tags, string(t))
	}
	return r
}

// newLeg sets up the leg of an INVITE.
func (c *Callee) newLeg(now time.Time, p *transport.Packet) *leg {
	m := p.Message
	kept := *p // the batch that holds p is reused
	l := &leg{
		script: c.script, invite: &kept, reply: replyTarget(p), branch: m.Branch(),
		number: m.CSeq(), heard: m.CSeq(), offered: len(m.Body()) > 0,
		sentBy: p.Local.String(), session: c.rng.Uint64() >> 20, version: 1,
	}
	l.callID = m.CallID()
	l.remote = m.Header(sip.From)
	l.target = contactOf(m)
	l.contact = contactURI(c.cfg.Name, p.Transport, p.Local)
	l.learnRoutes(m, false, l.reply)
	l.tags = [][]byte{c.tag()}
	l.rec = Leg{
		CallID: string(l.callID), From: string(l.remote), To: string(m.Header(sip.To)), URI: string(m.RequestURI()),
		Invited: now, Invite: m.Raw(),
	}
	c.serial++
	l.order = c.serial
	c.legs[l.rec.CallID] = l
	return l
}

// schedule puts the leg into the agenda at its earliest deadline.
func (c *Callee) schedule(l *leg) {
	at := earlier(l.stepAt, l.thenAt)
	at = earlier(at, l.final.deadline())
	at = earlier(at, l.change.deadline())
	at = earlier(at, l.out.deadline())
	c.agenda.set(l, at)
}

// expire does what is due on one leg.
func (c *Callee) expire(now time.Time, l *leg) {
	if again, over := l.final.expire(now); again {
		c.transmit(l.reply, l.final.data)
	} else if over {
		c.noAck(now, l)
	}
	if again, over := l.change.expire(now); again {
		c.transmit(l.reply, l.change.data)
	} else if over {
		c.faults.add(now, FaultNoACK, l.rec.CallID, "200 to a re-INVITE")
	}
	if again, over := l.out.expire(now); again {
		c.transmit(l.hop, l.out.data)
	} else if over {
		c.faults.add(now, FaultUnanswered, l.rec.CallID, l.outName)
		if l.state == LegEnding {
			c.end(now, l, "callee")
		}
	}
	if reached(l.stepAt, now) {
		c.play(now, l)
	}
	if reached(l.thenAt, now) && !l.out.running() {
		c.act(now, l)
	}
	if l.state != LegEnded {
		c.schedule(l)
	}
}

// noAck ends the wait for the ACK to our final response.
//
// "If the server retransmits the 2xx response for 64*T1 seconds without
// receiving an ACK, the dialog is confirmed, but the session SHOULD be
// terminated. This is accomplished with a BYE" (RFC 3261 13.3.1.4).
func (c *Callee) noAck(now time.Time, l *leg) {
	if l.code == 0 { // a far end that will never answer forgets the call
		c.end(now, l, "timeout")
		return
	}
	if l.script.Ack != AckDeaf {
		c.faults.add(now, FaultNoACK, l.rec.CallID, strconv.Itoa(l.code))
	}
	switch l.state {
	case LegAnswered:
		c.sendBye(now, l)
	case LegRefused:
		c.end(now, l, "refused")
	}
}

// end closes the leg: its record moves to the history and a ghost stays.
func (c *Callee) end(now time.Time, l *leg, by string) {
	if l.state == LegEnded {
		return
	}
	l.state = LegEnded
	l.rec.EndedBy, l.rec.Ended = by, now
	c.agenda.remove(l)
	delete(c.legs, l.rec.CallID)
	c.serial++
	key := c.key(l.callID)
	c.ghosts[key] = ghost{invite: c.key(l.branch), serial: c.serial}
	c.fading = append(c.fading, fading{key: key, serial: c.serial, at: now.Add(c.cfg.Timers.lifetime())})
	switch {
	case c.cfg.KeepLegs < 0:
	case len(c.history) < c.cfg.KeepLegs:
		c.history = append(c.history, l.record())
	default:
		c.history[c.oldest] = l.record()
		c.oldest = (c.oldest + 1) % len(c.history)
	}
}
