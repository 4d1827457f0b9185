package b2bua

import (
	"slices"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// trying stops the caller's repetitions at once.
func (c *Call) trying() {
	b := sip.AppendResponse(nil, c.msg, 100, "", nil, c.source, nil, nil, nil)
	c.in.last = b
	c.s.env.Send(c.in.reply, b, 0)
}

// maxForks bounds the early dialogs of one call that are told apart. Further
// ones show under the tag in use.
const maxForks = 32

// tagFor returns the To tag of a response to the caller that stems from an
// early dialog of the B side. It is one tag for the whole hunt until an SDP
// went to the caller in a 1xx: from then on another attempt, or another early
// dialog, shows as a fork with a tag of its own (DEC-01). A hand-off leg keeps
// early dialogs apart from the start.
func (c *Call) tagFor(e early, sdp bool) string {
	known := false
	for i := range c.forks {
		if f := &c.forks[i]; f.early == e {
			if c.sdpSent && c.sdpFrom != e && f.aTag == c.sdpTag {
				// It rang under the tag under which another one's SDP went out since.
				f.aTag = c.s.mint()
			}
			c.useTag(f.aTag)
			known = true
		}
	}
	if !known && len(c.forks) < maxForks {
		if len(c.forks) > 0 && (c.sdpSent && c.sdpFrom != e || c.token.yes) {
			c.useTag(c.s.mint())
		}
		c.forks = append(c.forks, fork{e, c.tag})
	}
	if sdp && !c.sdpSent {
		c.sdpSent, c.sdpFrom, c.sdpTag = true, e, c.tag
	}
	return c.tag
}

// answerTag returns the To tag of the answer. One of an early dialog beyond
// maxForks has a tag of its own too: another one's SDP may have gone out under
// the tag in use.
func (c *Call) answerTag(e early, sdp bool) string {
	c.tagFor(e, sdp)
	if !slices.ContainsFunc(c.forks, func(f fork) bool { return f.early == e }) {
		c.useTag(c.s.mint())
	}
	return c.tag
}

// useTag makes a tag the present one; requests with any earlier one still find
// the call.
func (c *Call) useTag(tag string) {
	if tag == c.tag {
		return
	}
	if i := slices.Index(c.a.others, tag); i >= 0 {
		c.a.others[i] = c.tag
	} else {
		c.a.others = append(c.a.others, c.tag)
		c.s.enter(c.a, tag)
	}
	c.tag, c.a.localTag = tag, tag
}

// relayProvisional passes a 101-199 to the caller with its SDP, byte for byte.
func (c *Call) relayProvisional(e early, m *sip.Message) {
	if c.in == nil || m == nil {
		return
	}
	tag := c.tagFor(e, len(m.Body()) > 0)
	b := c.response(m.Status(), string(m.Reason()), tag, m, nil)
	c.in.last = b
	c.s.env.Send(c.in.reply, b, 0)
	if c.times.progress.IsZero() {
		c.times.progress = c.s.now
		c.shareState(OpenProgress)
		c.countPDD()
	}
}

// response writes a response to the caller's INVITE. from is the far end's
// response whose headers and body cross, or nil; extra is complete header
// lines.
func (c *Call) response(code int, reason, tag string, from *sip.Message, extra []byte) []byte {
	lines := make([]byte, 0, 256+len(extra))
	if code < 300 {
		lines = sip.AppendEach(lines, c.msg, sip.RecordRoute)
		lines = c.s.appendContact(lines, c.in.reply)
		lines = append(lines, allowLine...)
	}
	if c.s.cfg.UserAgent != "" {
		lines = append(append(append(lines, "Server: "...), c.s.cfg.UserAgent...), "\r\n"...)
	}
	var contentType, body []byte
	if from != nil {
		lines = appendCrossing(lines, from)
		contentType, body = from.Header(sip.ContentType), from.Body()
	}
	lines = append(lines, extra...)
	size := len(c.msg.Raw()) - len(c.msg.Body()) + len(lines) + len(body) + 128
	return sip.AppendResponse(make([]byte, 0, size), c.msg, code, reason, []byte(tag), c.source, lines, contentType, body)
}

// forward gives the caller a definitive failure of an attempt as it came
// (S-034, S-053). What belongs to the B leg alone the sequence engine does not
// forward (DEC-23).
func (c *Call) forward(t *try) {
	if t == nil || t.final == nil {
		c.fail(500, "")
		return
	}
	c.definitive = true
	c.end.cause = vendorCause(t.final.Status())
	c.finalFailure(t.final.Status(), string(t.final.Reason()), t.final)
}

// fail gives the caller our own final response.
func (c *Call) fail(code int, cause string) {
	c.end.cause = cause
	c.finalFailure(code, "", nil)
}

// finalFailure ends the caller's INVITE and with it the call.
func (c *Call) finalFailure(code int, reason string, from *sip.Message) {
	if c.in == nil || c.phase != hunting {
		return
	}
	if reason == "" {
		reason = sip.ReasonPhrase(code)
	}
	extra := []byte(c.end.extra)
	if code == 480 && c.end.cause == causeUnregistered {
		extra = append(extra, "Reason: Q.850;cause=20;text=\"subscriber absent\"\r\n"...)
	} else if code == 480 && from == nil {
		extra = append(extra, "Reason: Q.850;cause=38;text=\"network out of order\"\r\n"...)
	}
	if c.end.cause == causeRate {
		extra = append(extra, c.s.retrySoon()...)
	}
	if c.token.yes {
		extra = c.appendAttempts(extra, c.definitive)
	}
	b := c.response(code, reason, c.tag, from, extra)
	c.s.env.Send(c.in.reply, b, 0)
	c.closeInvite(b, true)
	c.end.code, c.end.reason = code, reason
	c.times.end = c.s.now
	if c.hand != nil && c.hand.waiting() {
		c.setPhase(settling)
		return
	}
	c.finish()
	c.remove()
}

// closeInvite turns the caller's server transaction into what lingers of it: a
// failure is repeated until its ACK, a 2xx is repeated by the call and only
// absorbs (RFC 6026).
func (c *Call) closeInvite(b []byte, failure bool) {
	in, s := c.in, c.s
	delete(s.server, in.key)
	s.answerDone(in)
	if !failure {
		b = nil
		if c.token.yes && c.times.progress.IsZero() {
			c.shareState(OpenProgress) // a hand-off that is answered is no more to be taken
		}
	}
	s.linger.AddFinal(in.key, b, in.reply, true, in.reply.Transport.Reliable(), &s.cfg.Timers, s.now)
	c.in = nil
	c.shareState(OpenClosed)
}
