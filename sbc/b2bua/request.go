package b2bua

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// incoming is a request that has no final response yet: the TU's side of a
// server transaction in Trying or Proceeding.
type incoming struct {
	key    uint64
	msg    *sip.Message
	reply  transport.Target
	source netip.AddrPort
	last   []byte // the last provisional, repeated on a repeated request
	call   *Call  // the call that it began, or nil
	began  time.Time
}

const (
	allowLine     = "Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE, INFO, MESSAGE\r\n"
	acceptLine    = "Accept: application/sdp\r\n"
	supportedLine = "Supported:\r\n"
)

// request takes a request: a repetition is answered from memory, an ACK and a
// CANCEL find their INVITE, the rest is inside a dialog or begins something.
func (s *Shard) request(p *Packet) {
	m := p.Message
	if m.Method() == sip.ACK {
		s.ack(p)
		return
	}
	key := s.serverKey(m, m.Method())
	if s.repeated(key) {
		return
	}
	switch {
	case m.Method() == sip.CANCEL:
		s.cancel(p, key)
	case len(m.ToTag()) > 0:
		s.inDialog(p, key)
	default:
		s.outside(p, key)
	}
}

// repeated absorbs a retransmitted request and repeats our last response.
func (s *Shard) repeated(key uint64) bool {
	if in, ok := s.server[key]; ok {
		s.env.Count(Event{Kind: EventRetransmission, Method: in.msg.Method()})
		if in.last != nil {
			s.resend(in.last, in.reply)
		}
		return true
	}
	b, to, ok := s.linger.Hit(key, s.now)
	if ok && b != nil {
		s.resend(b, to)
	}
	return ok
}

// outside takes a request outside of any dialog.
func (s *Shard) outside(p *Packet, key uint64) {
	m := p.Message
	if m.Method() != sip.INVITE && m.Method() != sip.REGISTER { // whose sender is identified first
		if options := required(m); options != "" {
			s.refuse(p, 420, "", "Unsupported: "+options+"\r\n")
			return
		}
	}
	if s.returned(p) || s.closed(p) {
		return
	}
	switch m.Method() {
	case sip.INVITE:
		s.invite(p, key)
	case sip.OPTIONS:
		s.options(p)
	case sip.BYE, sip.UPDATE, sip.INFO, sip.PRACK, sip.NOTIFY:
		s.refuse(p, 481, "", "")
	case sip.REGISTER:
		s.register(p, key)
	case sip.SUBSCRIBE, sip.PUBLISH, sip.MESSAGE, sip.REFER:
		s.refuse(p, 405, "", allowLine)
	default:
		s.refuse(p, 501, "", allowLine)
	}
}

// replyTo returns where the responses to a request go: the connection it came
// by, or once that has ended a new one to the port of sent-by; else the packet's
// source address with the port that RFC 3261 18.2.2 and RFC 3581 choose.
func replyTo(p *Packet) transport.Target {
	t := transport.Target{
		Transport: p.Transport, Addr: p.Source, Listener: p.Listener,
		Flow: p.Flow, Node: p.Peer, ViaNode: p.Relay,
	}
	via := p.Message.TopVia()
	port := via.Port
	if port == 0 {
		port = p.Transport.DefaultPort()
	}
	switch {
	case p.Flow != 0:
		t.ReturnPort = port
	case p.Transport == trunkgroup.UDP && !via.RPort:
		t.Addr = netip.AddrPortFrom(p.Source.Addr(), port)
	}
	return t
}

// briefReplyTo is replyTo for who is not known, and for answers that nothing is kept of.
// When his connection has gone the answer is lost: else a stranger who hangs up at once
// had us call him, at any port that he likes (RFC 3261 18.2.2).
func briefReplyTo(p *Packet) transport.Target {
	t := replyTo(p)
	t.ReturnPort = 0
	return t
}

// refuse answers a request without keeping any state (RFC 3261 8.2.7): the
// To tag is a hash of the request, so that a repetition gets the same answer.
func (s *Shard) refuse(p *Packet, code int, reason, extra string) {
	var tag [16]byte
	s.env.Send(briefReplyTo(p), s.response1(p, code, reason, s.hashTag(&tag, p.Message), []byte(extra)), 0)
	if code >= 400 && code != 401 && p.Message.Method() == sip.INVITE { // a challenge is no refusal
		s.env.Count(Event{Kind: EventReject, Reason: strconv.Itoa(code)})
	}
}

// hashTag writes a To tag that depends on nothing but the request.
func (s *Shard) hashTag(dst *[16]byte, m *sip.Message) []byte {
	const digits = "0123456789abcdef"
	h := s.openKey(m)
	for i := range dst {
		dst[i] = digits[h>>(60-4*i)&0xf]
	}
	return dst[:]
}

func (s *Shard) response1(p *Packet, code int, reason string, tag, extra []byte) []byte {
	if len(p.Message.ToTag()) > 0 {
		tag = nil
	}
	if reason == "" {
		reason = sip.ReasonPhrase(code)
	}
	return sip.AppendResponse(nil, p.Message, code, reason, tag, p.Source, extra, nil, nil)
}

// reject answers a request finally and remembers the answer for its
// repetitions.
func (s *Shard) reject(p *Packet, key uint64, code int, extra string) {
	var tag [16]byte
	to := replyTo(p)
	b := s.response1(p, code, "", s.hashTag(&tag, p.Message), []byte(extra))
	s.env.Send(to, b, 0)
	s.linger.AddFinal(key, b, to, p.Message.Method() == sip.INVITE, p.Transport.Reliable(), &s.cfg.Timers, s.now)
}

// ack takes an ACK: for a failure it ends the server transaction, for a 2xx it
// belongs to the dialog. It is never answered. An ACK of a 2xx may fit the
// INVITE's transaction as well: callers of RFC 2543 have no branches, and some
// later ones keep the INVITE's.
func (s *Shard) ack(p *Packet) {
	m := p.Message
	known := s.linger.Ack(s.serverKey(m, sip.INVITE))
	if l := s.findLeg(m); l != nil {
		l.call.acked(l, m)
		return
	}
	if known || s.followPassed(p) {
		return
	}
	if owner, ok := s.remoteOwner(m); ok && owner.Up {
		s.env.Forward(owner.Name, p)
	}
}

// cancel takes a CANCEL. Only the INVITE's own source may cancel it.
func (s *Shard) cancel(p *Packet, key uint64) {
	m := p.Message
	inviteKey := s.serverKey(m, sip.INVITE)
	if in, ok := s.server[inviteKey]; ok && in.call != nil {
		if !in.mayCancel(p) {
			s.refuse(p, 481, "", "")
			return
		}
		s.hot = in.call
		s.acceptCancel(p, key, in.call.tag)
		in.call.cancelled(in)
		return
	}
	if _, _, ok := s.linger.Hit(inviteKey, s.now); ok {
		// The INVITE has its final response: the CANCEL has no effect
		// (RFC 3261 9.2).
		s.reject(p, key, 200, "")
		return
	}
	if s.followPassed(p) {
		return
	}
	if o, ok := s.remoteOwner(m); ok && p.Relay == "" && o.Up && s.env.Forward(o.Name, p) {
		return // of an INVITE inside a dialog
	}
	if e, ok := s.open[s.openKey(m)]; ok && p.Relay == "" && s.env.Up(e.node) {
		if s.env.Forward(e.node, p) {
			return
		}
	}
	s.refuse(p, 481, "", "")
}

// acceptCancel answers a CANCEL with the To tag of the INVITE's responses
// (RFC 3261 9.2).
func (s *Shard) acceptCancel(p *Packet, key uint64, tag string) {
	to := replyTo(p)
	b := s.response1(p, 200, "", []byte(tag), nil)
	s.env.Send(to, b, 0)
	s.linger.AddFinal(key, b, to, false, p.Transport.Reliable(), &s.cfg.Timers, s.now)
}

// findLeg returns the dialog of an in-dialog request, by Call-ID and both tags
// and by nothing else (RFC 3261 12.2.2).
func (s *Shard) findLeg(m *sip.Message) *leg {
	l := s.dialogs[s.dialogKey(m.CallID(), m.ToTag())]
	if l == nil || !l.matches(m.CallID(), m.ToTag(), m.FromTag()) {
		return nil
	}
	s.hot = l.call
	return l
}

// inDialog takes a request with a To tag: it belongs to a dialog of ours, to
// one of another node, or to none. A To tag never opens a door: whatever has
// no dialog ends here.
func (s *Shard) inDialog(p *Packet, key uint64) {
	m := p.Message
	if l := s.findLeg(m); l != nil {
		l.call.request(l, p, key)
		return
	}
	owner, ok := s.remoteOwner(m)
	switch {
	case !ok || p.Relay != "":
		s.refuse(p, 481, "", "")
	case owner.Gone:
		s.refuse(p, 481, "", "")
		if m.Method() == sip.BYE && !owner.Over {
			s.keepBye(p)
		}
	case s.toOwner(owner, p):
	case m.Method() == sip.BYE:
		s.holdBye(p, key)
	default:
		// The dialog lives behind a cut link: 481 would end it at the far
		// end (RFC 3261 12.2.1.2), so ask for patience (DEC-09).
		s.refuse(p, 500, "", s.retrySoon())
	}
}

// toOwner passes a request on to the node that owns its dialog.
func (s *Shard) toOwner(o owner, p *Packet) bool { return o.Name != "" && s.env.Forward(o.Name, p) }

// owner is the node that a dialog identifier names.
type owner struct {
	PeerState
	// Gone: the boot that owned the dialog is over, or must be thought to be
	// (DEC-09). Over: it is, for there is a later one.
	Gone, Over bool
}

// remoteOwner reads from a request's To tag or Call-ID which other node owns
// its dialog. ok is false when nobody in the cluster minted them or we did. A
// node that we do not know, or whose boot we have not yet seen, is in doubt: it
// is away, not gone.
func (s *Shard) remoteOwner(m *sip.Message) (owner, bool) {
	id, ok := s.owner(m.ToTag())
	if !ok {
		id, ok = s.owner(m.CallID())
	}
	if !ok || s.cfg.Minter.Own(id) {
		return owner{}, false
	}
	if s.cfg.Minter.Here(id) {
		return owner{}, false // of an earlier boot of ours
	}
	st, known := s.env.Peer(id.Node)
	over := known && id.Boot < st.Boot
	return owner{PeerState: st, Gone: over || !st.Up && st.Down > ownerGoneAfter, Over: over}, true
}
