package simulation

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

const (
	srvPatience = 4 * time.Second  // until a caller with SRV goes on
	rings       = 75 * time.Second // until every caller gives up
	gapAfterACK = 100 * time.Millisecond
	offerSDP    = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n"
	answerSDP   = "v=0\r\no=- 2 2 IN IP4 192.0.2.2\r\ns=-\r\nc=IN IP4 192.0.2.2\r\nt=0 0\r\nm=audio 5000 RTP/AVP 0\r\n"
)

// noAnswer is the final of a caller whom nobody answered in 64*T1.
const noAnswer = -1

// caller is the A side of a call.
type caller struct {
	a        *agent
	call     *call
	callID   string
	tag      string
	branch   string
	targets  []*node
	at       int
	offers   bool
	patience time.Duration // when it gives up; 0 = as late as anybody
	ask      *ask
	dialogs  []*dialog

	final      int
	ended      time.Duration // when the final came
	moved      bool          // went on without a final of the first node
	wantCancel bool
	cancelled  bool // the CANCEL went out
	extra      int  // further answers
	entered    []*node
	boots      []uint32
	skipped    bool // could not call at all
}

func (c *caller) begin() {
	if c.a.away() {
		c.skipped = true
		return
	}
	c.a.w.sums.Calls++
	c.tag = "c" + c.a.token()
	c.a.legs[c.callID] = c
	c.invite()
	w := c.a.w
	if c.patience > 0 {
		w.after(c.patience, c.giveUp)
	}
	w.after(rings, c.giveUp)
}

// invite sends the INVITE to the present target.
func (c *caller) invite() {
	a, to := c.a, c.targets[c.at]
	c.branch = "z9hG4bK" + a.token()
	c.entered, c.boots = append(c.entered, to), append(c.boots, to.boot)
	var q *ask
	q = a.request(sip.INVITE, c.branch, to, c.text(sip.INVITE), func(m *sip.Message) { c.response(q, to, m) })
	c.ask = q
	if c.at+1 < len(c.targets) {
		a.w.after(srvPatience, func() {
			if c.ask == q && !q.heard && !q.final {
				c.failover()
			}
		})
	}
}

// failover goes on to the next target (RFC 3263 section 4.3).
func (c *caller) failover() {
	if c.at+1 >= len(c.targets) || c.wantCancel || c.final != 0 || c.a.away() {
		return
	}
	c.ask.stop, c.moved = true, c.moved || !c.ask.final
	c.at++
	c.invite()
}

// text is the INVITE, or its CANCEL.
func (c *caller) text(method string) []byte {
	to := c.targets[c.at]
	b := make([]byte, 0, 640)
	b = append(append(b, method...), " sip:"...)
	b = append(append(append(b, c.call.number...), '@'), to.addr.String()...)
	b = append(append(b, " SIP/2.0\r\nVia: SIP/2.0/UDP "...), c.a.name...)
	b = append(append(b, ";branch="...), c.branch...)
	b = append(append(b, "\r\nMax-Forwards: 70\r\nFrom: <sip:+13105551234@"...), c.a.name...)
	b = append(append(b, ">;tag="...), c.tag...)
	b = append(append(append(b, "\r\nTo: <sip:"...), c.call.number...), "@example.com>\r\nCall-ID: "...)
	b = append(append(append(b, c.callID...), "\r\nCSeq: 1 "...), method...)
	if method == sip.CANCEL {
		return append(b, "\r\nContent-Length: 0\r\n\r\n"...)
	}
	b = append(append(append(b, "\r\nContact: <sip:ua@"...), c.a.name...), ">\r\n"...)
	if !c.offers {
		return append(b, "Content-Length: 0\r\n\r\n"...)
	}
	return sip.AppendBody(b, []byte("application/sdp"), []byte(offerSDP))
}

// giveUp cancels, or hangs up on what is not answered.
func (c *caller) giveUp() {
	if c.final != 0 || c.wantCancel {
		return
	}
	c.wantCancel = true
	if c.ask.heard {
		c.cancel()
	}
}

func (c *caller) cancel() {
	if c.cancelled || c.final != 0 {
		return
	}
	c.cancelled = true
	c.a.request(sip.CANCEL, c.branch, c.targets[c.at], c.text(sip.CANCEL), func(*sip.Message) {})
	q := c.ask
	c.a.w.after(timerB, func() {
		if !q.final { // RFC 3261 9.1: then the INVITE is taken for cancelled
			q.final = true
			c.response(q, q.to, nil)
		}
	})
}

// response takes a response to one of the INVITEs; nil when none came.
func (c *caller) response(q *ask, to *node, m *sip.Message) {
	present := q == c.ask
	switch {
	case m == nil:
		if present && c.final == 0 {
			c.finish(noAnswer)
		}
	case m.Status() < 200:
		if present && c.wantCancel {
			c.cancel()
		}
	case m.Status() < 300:
		c.answered(m)
	default:
		c.a.send(to, ackOf(q.text, m))
		if !present || c.final != 0 {
			return
		}
		if m.Status() == 503 && c.at+1 < len(c.targets) && !c.wantCancel {
			c.failover()
			return
		}
		c.finish(m.Status())
	}
}

func (c *caller) finish(code int) {
	c.final, c.ended = code, c.a.w.now
	c.a.w.say("call %d: final %d", c.call.index, code)
}

// answered takes a 2xx, the first or a repeated one or one of another dialog.
func (c *caller) answered(m *sip.Message) {
	remote := string(m.ToTag())
	for _, d := range c.dialogs {
		if d.remote == remote {
			c.a.send(d.to, d.ackText)
			return
		}
	}
	d := newDialog(c.a, c.callID, c.tag, remote, m)
	d.out, d.confirmed = 1, true
	c.dialogs = append(c.dialogs, d)
	body := ""
	if !c.offers {
		body = answerSDP
	}
	d.ackText = d.text(sip.ACK, 1, "z9hG4bK"+c.a.token(), body)
	c.a.send(d.to, d.ackText)
	w := c.a.w
	if c.final >= 200 && c.final < 300 {
		c.extra++
		w.after(gapAfterACK, d.bye)
		return
	}
	if c.final == 0 {
		w.sums.Answered++
	}
	c.finish(200)
	if c.wantCancel {
		w.after(gapAfterACK, d.bye)
		return
	}
	d.converse(c.call, true)
}

func (c *caller) request(m *sip.Message) { inside(c.a, c.dialogs, m) }
func (c *caller) ack(m *sip.Message)     { confirm(c.dialogs, m) }

// ackOf is the ACK of a failure (RFC 3261 17.1.1.3).
func ackOf(invite []byte, m *sip.Message) []byte {
	b := make([]byte, 0, 400)
	uri, _, _ := cut(invite[len("INVITE "):], " SIP/2.0")
	b = append(append(append(b, "ACK "...), uri...), " SIP/2.0\r\nVia: "...)
	b = append(append(b, field(invite, "\r\nVia: ")...), "\r\nMax-Forwards: 70\r\nFrom: "...)
	b = append(append(append(b, m.Header(sip.From)...), "\r\nTo: "...), m.Header(sip.To)...)
	b = append(append(append(b, "\r\nCall-ID: "...), m.CallID()...), "\r\nCSeq: "...)
	b = appendUint(b, m.CSeq())
	return append(b, " ACK\r\nContent-Length: 0\r\n\r\n"...)
}
