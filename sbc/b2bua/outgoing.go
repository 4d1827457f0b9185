package b2bua

import (
	"errors"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transaction"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// errTimeout is what a client transaction reports when nobody answered in
// 64*T1 (timer F).
var errTimeout = errors.New("no response")

// taker gets the responses to a request that we sent.
type taker interface {
	// replied takes a response, or nil and the reason why there is none.
	replied(o *outgoing, m *sip.Message, err error)
}

// outgoing is a client transaction of any method but INVITE.
type outgoing struct {
	place
	s      *Shard
	token  uint64
	method string
	fsm    transaction.Client
	began  time.Time
	bytes  []byte
	to     transport.Target
	leg    *leg // the dialog, when the request is inside one
	taker  taker
	// sent is the request inside a dialog with a carrier that may challenge it.
	sent *outline
	// until ends the wait before timer F does; zero leaves it to timer F.
	until time.Time
}

// send starts a non-INVITE client transaction. taker may be nil.
func (s *Shard) send(o *outline, taker taker) *outgoing {
	tx := &outgoing{s: s, token: o.token, method: o.method, to: o.hop, leg: o.leg, taker: taker, began: s.now, bytes: s.appendRequest(o)}
	if o.leg != nil && o.leg.login != nil {
		kept := *o
		tx.sent = &kept
	}
	s.client[tx.token] = tx
	do := tx.fsm.Start(s.now, &s.cfg.Timers, false, o.hop.Transport.Reliable())
	s.settle(tx.token, tx)
	tx.act(do, nil)
	return tx
}

func (o *outgoing) deadline() time.Time {
	if o.s.client[o.token] != responder(o) {
		return time.Time{}
	}
	return earliest(o.fsm.Deadline(), o.until)
}

func (o *outgoing) expire(now time.Time) {
	if !o.until.IsZero() && !now.Before(o.until) {
		o.finish(nil, errTimeout)
		return
	}
	o.act(o.fsm.Expire(now), nil)
}

func (o *outgoing) respond(m *sip.Message) {
	if m.CSeqMethod() == o.method {
		o.act(o.fsm.Receive(o.s.now, m.Status()), m)
	}
}

func (o *outgoing) failed(err error) {
	if o.leg != nil && mayMove(o.to) {
		o.to, o.leg = o.leg.moveOn(o.s, o.to), nil
		o.s.env.Send(o.to, o.bytes, o.token)
		return
	}
	if do := o.fsm.Failed(o.s.now); do != 0 {
		o.finish(nil, err)
	}
}

func (o *outgoing) act(do transaction.Do, m *sip.Message) {
	if do&transaction.Send != 0 {
		o.s.env.Send(o.to, o.bytes, o.token)
	}
	if do&transaction.Timeout != 0 {
		o.finish(nil, errTimeout)
		return
	}
	if do&transaction.Pass != 0 && m != nil {
		if m.Status() >= 200 {
			if !o.authorize(m) {
				o.finish(m, nil)
			}
			return
		}
		if o.taker != nil {
			o.taker.replied(o, m, nil)
		}
	}
	if do&transaction.Done != 0 {
		o.s.forget(o.token, o)
	}
}

func (o *outgoing) hop() transport.Target { return o.to }

func (o *outgoing) branch() uint64 { return o.token }

func (o *outgoing) gone(err error) { o.finish(nil, err) }

// finish ends the transaction at its final response: a repeated response
// finds nothing and is dropped, as RFC 3261 asks of timer K.
func (o *outgoing) finish(m *sip.Message, err error) {
	o.s.forget(o.token, o)
	if m != nil {
		o.s.requestDone(o.method, o.began)
	}
	if o.taker != nil {
		o.taker.replied(o, m, err)
	}
}
