package b2bua

import (
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transaction"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// inviteOwner follows an INVITE that we sent.
type inviteOwner interface {
	// progressed takes a provisional response, 100 too.
	progressed(tx *inviteTx, m *sip.Message)
	// refused takes a final response of 300 and above; it is ACKed already.
	refused(tx *inviteTx, m *sip.Message)
	// accepted takes the first 2xx. The owner owes the ACK: ackSuccess.
	accepted(tx *inviteTx, m *sip.Message)
	// lost tells that no final response will come.
	lost(tx *inviteTx, err error)
}

// inviteTx is a client INVITE transaction with all that it may owe: the ACK of
// any final response, the CANCEL, and for a 2xx that nobody wants an ACK and a
// BYE (DEC-02). It outlives its owner: abandoned, it cleans up by itself.
type inviteTx struct {
	place
	s     *Shard
	owner inviteOwner // nil once abandoned
	token uint64
	fsm   transaction.Client
	bytes []byte // the INVITE, for repetition until a response comes
	id    identity

	sent        *outline // of an INVITE inside a dialog with a carrier that may challenge it
	provisional bool     // any 1xx came
	unwanted    bool     // abandoned before its final response
	finalSeen   bool
	winner      string // To tag of the 2xx that the owner has
	won         bool
	acks        []sentAck
	failAck     []byte // the ACK of a failure, for its repetitions
	cancelFSM   transaction.Client
	cancelBytes []byte
	cancelled   bool // a CANCEL went out
	moved       bool // went on over another connection than it began on
	giveUp      time.Time
	started     time.Time
	uses        []limit.Use // of the member, while the far end may have the call
	seat        Seat        // there, as long
}

// identity is what CANCEL, ACK and BYE of an INVITE are made of.
type identity struct {
	uri, callID, localTag string
	local, remote         string // From and To values without tags
	routes                []string
	seq                   uint32
	hop                   transport.Target
	leg                   *leg             // the dialog, when the INVITE is inside one
	reach                 trunkgroup.Reach // of a binding
	login                 *login           // once a carrier's challenge was answered
	credentials           string           // the header line of the answer: the ACK has the same (RFC 3261 13.2.2.4)
}

// sentAck is the ACK of one 2xx, by the To tag of its dialog.
type sentAck struct {
	tag   string
	bytes []byte
	to    transport.Target
}

// sendInvite starts a client INVITE transaction.
func (s *Shard) sendInvite(o *outline, id identity, owner inviteOwner) *inviteTx {
	tx := &inviteTx{s: s, owner: owner, token: o.token, bytes: s.appendRequest(o), id: id, started: s.now}
	if t, ok := owner.(*try); ok {
		tx.uses, t.uses = t.uses, nil
		tx.seat, t.seat = t.seat, nil
	}
	if id.leg != nil && id.leg.login != nil {
		kept := *o
		tx.sent, tx.id.credentials = &kept, o.credentials
	}
	s.client[tx.token] = tx
	do := tx.fsm.Start(s.now, &s.cfg.Timers, true, o.hop.Transport.Reliable())
	s.settle(tx.token, tx)
	tx.act(do, nil)
	return tx
}

func (tx *inviteTx) live() bool { return tx.s.client[tx.token] == responder(tx) }

func (tx *inviteTx) deadline() time.Time {
	if !tx.live() {
		return time.Time{}
	}
	d := tx.fsm.Deadline()
	for _, o := range [...]time.Time{tx.cancelDeadline(), tx.giveUp} {
		if !o.IsZero() && (d.IsZero() || o.Before(d)) {
			d = o
		}
	}
	return d
}

func (tx *inviteTx) cancelDeadline() time.Time {
	if tx.cancelBytes == nil {
		return time.Time{}
	}
	return tx.cancelFSM.Deadline()
}

func (tx *inviteTx) expire(now time.Time) {
	if !tx.giveUp.IsZero() && !now.Before(tx.giveUp) {
		tx.giveUp = time.Time{}
		tx.end(errTimeout)
		return
	}
	if d := tx.cancelDeadline(); !d.IsZero() && !now.Before(d) {
		do := tx.cancelFSM.Expire(now)
		if do&transaction.Send != 0 {
			tx.s.env.Send(tx.id.hop, tx.cancelBytes, 0)
		}
		if do&(transaction.Done|transaction.Timeout) != 0 {
			tx.cancelBytes = nil
		}
	}
	if d := tx.fsm.Deadline(); !d.IsZero() && !now.Before(d) {
		tx.act(tx.fsm.Expire(now), nil)
	}
}

func (tx *inviteTx) respond(m *sip.Message) {
	if m.CSeqMethod() == sip.CANCEL {
		if tx.cancelBytes != nil && m.Status() >= 200 {
			tx.cancelBytes = nil
		}
		return
	}
	if m.CSeqMethod() == sip.INVITE {
		tx.act(tx.fsm.Receive(tx.s.now, m.Status()), m)
	}
}

// failed takes a transport error. Once the far end has spoken it says nothing
// about this INVITE any more.
func (tx *inviteTx) failed(err error) {
	if tx.provisional || tx.finalSeen {
		return
	}
	if l := tx.id.leg; l != nil && !tx.moved && mayMove(tx.id.hop) && tx.bytes != nil {
		tx.moved = true
		tx.id.hop = l.moveOn(tx.s, tx.id.hop)
		tx.s.env.Send(tx.id.hop, tx.bytes, tx.token)
		return
	}
	if !NeverSent(err) && tx.id.hop.Node == "" {
		// An ICMP message is about one datagram: a far end that is just starting
		// may have got the next one, and ring.
		tx.gone(err)
		return
	}
	tx.fsm.Failed(tx.s.now)
	tx.end(err)
}

func (tx *inviteTx) hop() transport.Target { return tx.id.hop }

func (tx *inviteTx) branch() uint64 { return tx.token }

// gone tells the owner that no final response will come. Should the far end be
// there after all, what it says then is cleaned up as of any abandoned attempt
// (DEC-02).
func (tx *inviteTx) gone(err error) {
	owner := tx.owner
	if tx.finalSeen || tx.unwanted && owner == nil {
		return
	}
	tx.owner, tx.bytes, tx.unwanted = nil, nil, true
	tx.fsm.StopRepeating()
	tx.giveUp = tx.s.now.Add(tx.s.cfg.Timers.Life())
	tx.s.settle(tx.token, tx)
	if owner != nil {
		owner.lost(tx, err)
	}
}

func (tx *inviteTx) act(do transaction.Do, m *sip.Message) {
	if do&transaction.Send != 0 && tx.bytes != nil {
		tx.s.env.Send(tx.id.hop, tx.bytes, tx.token)
	}
	switch {
	case do&transaction.Timeout != 0:
		tx.end(errTimeout)
		return
	case m == nil:
	case m.Status() >= 300:
		tx.takeFailure(m)
		return
	case m.Status() >= 200:
		tx.takeSuccess(m)
	case do&transaction.Pass != 0:
		tx.takeProvisional(m)
	}
	if do&transaction.Done != 0 {
		tx.s.forget(tx.token, tx)
	}
}

func (tx *inviteTx) takeProvisional(m *sip.Message) {
	tx.provisional = true
	if tx.unwanted {
		tx.sendCancel()
		return
	}
	if tx.owner != nil {
		tx.owner.progressed(tx, m)
	}
}

// takeFailure ACKs a final response of 300 and above and each of its
// repetitions. The transaction stays for 64*T1 also for a 2xx that a forking
// proxy passes on behind the failure (RFC 3261 16.7 step 5).
func (tx *inviteTx) takeFailure(m *sip.Message) {
	s := tx.s
	if tx.failAck == nil {
		tx.failAck = tx.appendHopRequest(sip.ACK, string(m.Header(sip.To)))
	}
	s.env.Send(tx.id.hop, tx.failAck, 0)
	if tx.finalSeen {
		return
	}
	tx.giveUp = time.Time{} // timer D
	if tx.id.hop.Transport.Reliable() {
		tx.giveUp = s.now.Add(s.cfg.Timers.Life())
	}
	owner := tx.owner
	tx.finalSeen, tx.owner, tx.bytes, tx.cancelBytes = true, nil, nil, nil
	if tx.authorize(owner, m) {
		return // the next INVITE has what this one uses
	}
	tx.release()
	if owner != nil {
		owner.refused(tx, m)
	}
}

// takeSuccess gives the first 2xx to the owner. A repeated one gets its ACK
// again; one of another dialog, or one that nobody waits for, is ACKed and
// hung up (RFC 3261 13.2.2.4, DEC-02).
func (tx *inviteTx) takeSuccess(m *sip.Message) {
	tag := string(m.ToTag())
	for _, a := range tx.acks {
		if a.tag == tag {
			tx.s.env.Send(a.to, a.bytes, 0)
			return
		}
	}
	if !tx.finalSeen {
		tx.bytes, tx.finalSeen, tx.giveUp = nil, true, time.Time{}
	}
	switch {
	case tx.won && tx.winner == tag:
		// The ACK waits for the caller's, with the answer to a late offer.
	case !tx.won && tx.owner != nil:
		tx.won, tx.winner = true, tag
		owner := tx.owner
		owner.accepted(tx, m)
	default:
		tx.hangUp(m)
	}
}

// hangUp ends a dialog that nobody wants. An INVITE inside a dialog owes only
// its ACK: the dialog has its own BYE.
func (tx *inviteTx) hangUp(m *sip.Message) {
	tx.release()
	if tx.id.leg != nil {
		tx.ackSuccess(tx.id.leg, nil, nil)
		return
	}
	l := tx.dialog(m)
	tx.ackSuccess(l, nil, nil)
	l.bye(tx.s, "", nil)
}

// dialog makes the dialog that a 2xx to this INVITE sets up.
func (tx *inviteTx) dialog(m *sip.Message) *leg {
	l := &leg{
		callID: tx.id.callID, localTag: tx.id.localTag, remoteTag: string(m.ToTag()),
		local: tx.id.local, remote: tx.id.remote, localSeq: tx.id.seq,
		target: tx.id.uri, base: tx.id.hop, reach: tx.id.reach, login: tx.id.login,
	}
	l.setRoutes(m, true)
	l.setTarget(tx.s, m.Header(sip.Contact))
	return l
}

// ackSuccess sends the ACK of the 2xx and keeps it for the 2xx's repetitions.
func (tx *inviteTx) ackSuccess(l *leg, contentType, body []byte) {
	o := l.inside(tx.s, sip.ACK)
	o.seq, o.contentType, o.body, o.credentials = tx.id.seq, contentType, body, tx.id.credentials
	b := tx.s.appendRequest(&o)
	tx.acks = append(tx.acks, sentAck{tag: l.remoteTag, bytes: b, to: o.hop})
	tx.s.env.Send(o.hop, b, 0)
}

// abandon gives the attempt up in one of the two forms of DEC-02: after any
// provisional CANCEL, before that stop repeating and wait.
func (tx *inviteTx) abandon() {
	tx.owner = nil
	if tx.finalSeen || tx.unwanted || !tx.live() {
		return
	}
	tx.unwanted = true
	if tx.provisional {
		tx.sendCancel()
	} else {
		tx.fsm.StopRepeating()
		tx.bytes = nil
		tx.release() // nobody there has ever said a word
	}
	tx.s.settle(tx.token, tx)
}

// cancel asks the far end to give up while the owner goes on listening.
func (tx *inviteTx) cancel() {
	if tx.finalSeen || tx.unwanted || !tx.live() {
		return
	}
	tx.unwanted = true
	if tx.provisional {
		tx.sendCancel()
	}
	tx.s.settle(tx.token, tx)
}

func (tx *inviteTx) sendCancel() {
	if tx.cancelled || tx.finalSeen {
		return
	}
	tx.cancelled = true
	tx.cancelBytes = tx.appendHopRequest(sip.CANCEL, tx.id.withToTag())
	tx.cancelFSM = transaction.Client{}
	tx.cancelFSM.Start(tx.s.now, &tx.s.cfg.Timers, false, tx.id.hop.Transport.Reliable())
	tx.giveUp = tx.s.now.Add(tx.s.cfg.Timers.Life())
	tx.s.env.Send(tx.id.hop, tx.cancelBytes, 0)
}

func (id *identity) withToTag() string {
	if id.leg != nil {
		return id.leg.withRemoteTag()
	}
	return id.remote
}

// appendHopRequest writes what belongs to the INVITE's own transaction: CANCEL
// and the ACK of a failure have its Request-URI, Via branch, Route and CSeq
// number (RFC 3261 9.1, 17.1.1.3).
func (tx *inviteTx) appendHopRequest(method, to string) []byte {
	s, id := tx.s, &tx.id
	b := make([]byte, 0, 512)
	b = append(append(append(b, method...), ' '), id.uri...)
	b = append(append(append(b, " SIP/2.0\r\nVia: SIP/2.0/"...), id.hop.Transport.Via()...), ' ')
	b = append(append(b, s.sentBy(id.hop)...), ";branch="...)
	b = appendBranch(b, tx.token)
	if !id.hop.Transport.Reliable() {
		b = append(b, ";rport"...)
	}
	for _, r := range id.routes {
		b = append(append(b, "\r\nRoute: "...), r...)
	}
	b = append(append(append(b, "\r\nMax-Forwards: 70\r\nFrom: "...), id.local...), ";tag="...)
	b = append(append(append(b, id.localTag...), "\r\nTo: "...), to...)
	b = append(append(append(b, "\r\nCall-ID: "...), id.callID...), "\r\nCSeq: "...)
	b = strconv.AppendUint(b, uint64(id.seq), 10)
	return append(append(append(b, ' '), method...), "\r\nContent-Length: 0\r\n\r\n"...)
}

// end closes the transaction without a final response.
func (tx *inviteTx) end(err error) {
	tx.s.forget(tx.token, tx)
	owner := tx.owner
	tx.owner, tx.bytes, tx.finalSeen = nil, nil, true
	if owner != nil {
		owner.lost(tx, err)
	}
}

// bye sends a BYE in the dialog. lines are further header lines. Between the
// halves of a handed-over call it is sent until it is answered.
func (l *leg) bye(s *Shard, lines string, taker taker) {
	if l.hop.Node != "" {
		taker = &halfBye{s: s, leg: l, lines: lines, taker: taker, until: s.now.Add(halfGoneAfter + halfCheckEvery)}
	}
	o := l.inside(s, sip.BYE)
	o.lines = []byte(lines)
	s.send(&o, taker)
}
