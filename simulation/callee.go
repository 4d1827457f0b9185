package simulation

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// callee is a B leg at a far end.
type callee struct {
	a      *agent
	call   *call
	callID string
	invite *sip.Message
	from   *node
	boot   uint32
	dialog *dialog
	code   int // the final that it gave
	came   time.Duration
	mood   mood // the agent's, when the INVITE came
	rang   bool
	// bridged: the answer was confirmed and stood for a while.
	bridged bool
	stood   span
	alone   bool // rang until its own patience was over
	noACK   bool
}

// standing is how long a confirmed answer must stay to count as a call and not
// as a late 200 that is hung up at once (DEC-02).
const standing = 5 * time.Second

// invited takes an INVITE that begins a B leg.
func (a *agent) invited(from *node, m *sip.Message) {
	w := a.w
	uri, _ := sip.ParseURI(m.RequestURI())
	c := w.callOf(uri.User)
	if c == nil {
		w.fault("%s got an INVITE for nobody: %s", a.name, m.RequestURI())
		return
	}
	l := &callee{a: a, call: c, callID: string(m.CallID()), invite: m, from: from, boot: from.boot, came: w.now, mood: a.mood}
	l.dialog = newDialog(a, l.callID, "u"+a.token(), string(m.FromTag()), m)
	l.dialog.owner, l.dialog.in = from, m.CSeq()
	a.legs[l.callID] = l
	c.legs = append(c.legs, l)
	if m.Has(sip.Handoff) || m.Has(sip.Attempts) {
		w.fault("a header of ours reached %s", a.name)
	}
	switch a.mood {
	case busy503, sick503:
		l.finish(503)
	case hanging:
		a.respond(m, 100, "", "")
	case late:
		w.after(between(w.users, 2*time.Second, 12*time.Second), l.play)
	default:
		l.play()
	}
}

// play does what the callee wants to do.
func (l *callee) play() {
	w := l.a.w
	if l.code != 0 || l.lost() {
		return
	}
	if l.call.will == answersNow {
		l.accept()
		return
	}
	if chance(w.users, 0.7) {
		l.a.respond(l.invite, 100, "", "")
	}
	w.after(l.call.ring, func() {
		if l.code != 0 || l.lost() {
			return
		}
		l.rang = true
		code, body := 180, ""
		if l.call.index%3 == 0 {
			code, body = 183, answerSDP
		}
		l.a.respond(l.invite, code, l.dialog.local, body)
		w.after(l.call.answer, l.decide)
	})
}

func (l *callee) decide() {
	if l.code != 0 || l.lost() {
		return
	}
	switch l.call.will {
	case saysBusy:
		l.finish(486)
	case declines:
		l.finish(603)
	case ringsOn:
		l.a.w.after(3*time.Minute, func() {
			if l.code == 0 && !l.lost() {
				l.alone = true
				l.finish(480)
			}
		})
	default:
		l.accept()
	}
}

// lost tells whether the agent has forgotten the leg.
func (l *callee) lost() bool { return l.a.legs[l.callID] != party(l) }

// finish refuses.
func (l *callee) finish(code int) {
	if l.code != 0 || l.lost() {
		return
	}
	l.code = code
	s := l.a.respond(l.invite, code, l.dialog.local, "")
	l.a.insist(s, t1, timerB-t1, func() {})
}

// accept answers.
func (l *callee) accept() {
	l.code = 200
	s := l.a.respond(l.invite, 200, l.dialog.local, answerSDP)
	l.dialog.confirmed, l.dialog.out = true, 100
	l.dialog.waiting = s
	l.a.insist(s, t1, timerB-t1, func() {
		if !l.lost() {
			l.noACK = true
			l.dialog.bye()
		}
	})
}

func (l *callee) cancelled() {
	if l.code == 0 {
		l.finish(487)
	}
}

func (l *callee) request(m *sip.Message) { inside(l.a, []*dialog{l.dialog}, m) }

// ack takes the ACK of the answer.
func (l *callee) ack(m *sip.Message) {
	d, w := l.dialog, l.a.w
	if d.waiting == nil || d.waiting.acked {
		confirm([]*dialog{d}, m)
		return
	}
	d.waiting.acked = true
	from := w.now
	w.after(standing, func() {
		if !d.over && !l.lost() {
			l.bridged, l.stood = true, span{from, forever}
		}
	})
	d.ended = func() { l.stood.to = w.now }
	d.converse(l.call, false)
}
