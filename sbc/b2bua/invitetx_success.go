package b2bua

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// sentAck is the ACK of one 2xx, by the To tag of its dialog.
type sentAck struct {
	tag   string
	bytes []byte
	to    transport.Target
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
		tx.s.requestDone(sip.INVITE, tx.started)
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
		target: tx.id.uri, base: tx.id.hop, reach: tx.id.reach, login: tx.id.login, veil: tx.id.veil,
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
