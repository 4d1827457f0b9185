package b2bua

import (
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transaction"
	"github.com/tandem-sbc/tandem/sbc/transport"
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
	elsewhere   bool // which says that somebody else has answered
	moved       bool // went on over another connection than it began on
	giveUp      time.Time
	started     time.Time
	uses        []limit.Use // of the member, while the far end may have the call
	seat        Seat        // there, as long
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
	if !tx.provisional {
		tx.release() // nobody there has ever said a word
	}
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
	s.requestDone(sip.INVITE, tx.started)
	if tx.authorize(owner, m) {
		return // the next INVITE has what this one uses
	}
	tx.release()
	if owner != nil {
		owner.refused(tx, m)
	}
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

// end closes the transaction without a final response.
func (tx *inviteTx) end(err error) {
	tx.s.forget(tx.token, tx)
	owner := tx.owner
	tx.owner, tx.bytes, tx.finalSeen = nil, nil, true
	if owner != nil {
		owner.lost(tx, err)
	}
}
