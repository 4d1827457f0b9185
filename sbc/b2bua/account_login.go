package b2bua

import (
	"errors"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/uac"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// login is what a dialog with a carrier goes on with once its INVITE had to answer a
// challenge: requests inside it show credentials at once (RFC 3261 section 22.2).
type login struct {
	account   *trunkgroup.Account
	challenge uac.Challenge
	count     uint32 // uses of the nonce
}

// credentials is the header line for the next request of the dialog.
func (l *login) credentials(s *Shard, method, uri string) string {
	l.count++
	return uac.Answer(l.account, &l.challenge, l.count, s.env.Random(), method, uri)
}

// keep remembers the request of an attempt to a carrier that may want it again with
// credentials.
func (t *try) keep(o *outline) {
	if t.cand.Member.Account != nil {
		kept := *o
		t.sent = &kept
	}
}

// authorize answers a carrier's challenge with its account: the same INVITE, in the
// same would-be dialog and with the next number (RFC 3261 section 22.2), once. The
// attempt goes on with the timers that it has; the hunt hears nothing. It reports
// false when the 401 or 407 is the attempt's final response. The carrier who is
// answered is the one that was called: credentials go where the INVITE went and
// nowhere else, and to no other realm.
func (t *try) authorize(tx *inviteTx, m *sip.Message) bool {
	if t.node >= 0 || t.sent == nil || m.Status() != 401 && m.Status() != 407 {
		return false
	}
	if t.authorized {
		t.count("refused")
		return false
	}
	s, member := t.call.s, t.cand.Member
	c, err := uac.Choose(member.Account, m)
	if err != nil {
		t.count(choice(err))
		return false
	}
	t.hear()
	t.count("answered")
	o := *t.sent
	t.authorized = true
	l := &login{account: member.Account, challenge: c}
	o.seq, o.token = o.seq+1, s.newBranch()
	o.credentials = l.credentials(s, sip.INVITE, o.uri)
	o.sizeEstimate += len(o.credentials)
	id := tx.id
	id.seq, id.login, id.credentials = o.seq, l, o.credentials
	t.uses, tx.uses = tx.uses, nil
	t.seat, tx.seat = tx.seat, nil
	t.tx = s.sendInvite(&o, id, t)
	return true
}

// authorize answers the challenge of an INVITE, once, whoever follows it.
func (tx *inviteTx) authorize(owner inviteOwner, m *sip.Message) bool {
	switch o := owner.(type) {
	case *try:
		return o.authorize(tx, m)
	case *reinvite:
		return o.authorize(tx, m)
	}
	return false
}

// authorize answers the challenge of an INVITE inside a dialog with a carrier that
// challenged the first one too.
func (r *reinvite) authorize(tx *inviteTx, m *sip.Message) bool {
	if tx.sent == nil || tx.unwanted || r.authorized || m.Status() != 401 && m.Status() != 407 {
		return false
	}
	l, s := tx.id.leg, tx.s
	c, err := uac.Choose(l.login.account, m)
	if err != nil {
		return false
	}
	r.authorized = true
	o, id := *tx.sent, tx.id
	l.login.challenge, l.login.count = c, 0
	l.localSeq++
	o.seq, o.token = l.localSeq, s.newBranch()
	o.credentials = l.login.credentials(s, sip.INVITE, o.uri)
	id.seq, id.credentials = o.seq, o.credentials
	r.tx = s.sendInvite(&o, id, r)
	return true
}

// count counts what became of a challenge.
func (t *try) count(result string) {
	m := t.cand.Member
	t.call.s.env.Count(Event{Kind: EventAccount, Group: m.Group, Member: m, Result: result})
}

// choice words why a challenge is not answered.
func choice(err error) string {
	switch {
	case errors.Is(err, uac.ErrRealm):
		return "other_realm"
	case errors.Is(err, uac.ErrAlgorithm):
		return "other_algorithm"
	}
	return "no_challenge"
}

// authorize answers the challenge of a request inside a dialog with a carrier, once:
// what it accepted at the start of a call, it must not refuse at its end, or it bills
// on.
func (o *outgoing) authorize(m *sip.Message) bool {
	if o.sent == nil || o.leg == nil || m.Status() != 401 && m.Status() != 407 {
		return false
	}
	l := o.leg
	c, err := uac.Choose(l.login.account, m)
	if err != nil {
		return false
	}
	again := *o.sent
	l.login.challenge, l.login.count = c, 0
	l.localSeq++
	again.seq, again.token = l.localSeq, o.s.newBranch()
	again.credentials = l.login.credentials(o.s, again.method, again.uri)
	again.leg = nil // it is not sent a third time
	o.s.forget(o.token, o)
	o.s.send(&again, o.taker)
	return true
}
