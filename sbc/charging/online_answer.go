package charging

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Answered takes the answer to the request of a number. One that nobody waits for any more is
// ignored.
func (o *Online) Answered(now time.Time, number uint32, a *Answer) []Action {
	o.out = o.out[:0]
	if !o.waits(number) {
		return nil
	}
	o.result, o.heard = a.code(), true
	if a.Fails {
		o.failure = a.Failure
	}
	verdict := a.judge()
	if verdict == failed {
		o.lost(now)
		return o.out
	}
	first := o.state == reserving
	switch verdict {
	case granted:
		o.state = open
		o.take(now, a)
		if first {
			o.emit(Action{Kind: Grant})
		}
	case free:
		// RFC 8506 9.1: "the service can be granted to the end user but no further
		// credit-control is needed". The session is over at the server.
		o.state = uncharged
		if first {
			o.emit(Action{Kind: Grant})
		}
	case denied:
		if first {
			o.emit(Action{Kind: Refuse, Why: WhyCredit})
			o.done()
			return o.out
		}
		o.state = open
		o.doom(WhyCredit)
	}
	return o.out
}

// Failed tells that the request of a number was answered by nobody and will not be: no server is
// connected, or the one that had it is gone. sent tells whether it may have arrived.
func (o *Online) Failed(now time.Time, number uint32, sent bool) []Action {
	o.out = o.out[:0]
	if o.waits(number) {
		o.heard = o.heard || sent
		o.lost(now)
	}
	return o.out
}

func (o *Online) waits(number uint32) bool {
	return (o.state == reserving || o.state == updating) && o.sent.Number == number
}

// lost goes on without an answer (RFC 8506 5.7, Credit-Control-Failure-Handling).
func (o *Online) lost(now time.Time) {
	if o.failure == trunkgroup.ChargingRetry && !o.sent.Elsewhere {
		r := o.sent
		r.Repeated, r.Elsewhere, r.At = true, true, now
		o.send(now, r, o.state)
		return
	}
	goOn := o.failure == trunkgroup.ChargingContinue
	switch {
	case o.state == reserving && goOn:
		o.state = uncharged
		o.emit(Action{Kind: Grant})
	case o.state == reserving:
		o.emit(Action{Kind: Refuse, Why: WhyFailure})
		if o.heard { // a server that was only slow gives back what it has reserved
			o.finish(now)
			return
		}
		o.done()
	case goOn:
		o.state, o.waitTill = unsure, now.Add(askAgain)
	default:
		o.state, o.waitTill = unsure, time.Time{}
		o.doom(WhyFailure)
	}
}

// take takes a quota in place of what was left of the last one.
func (o *Online) take(now time.Time, a *Answer) {
	o.quota, o.bounded, o.last, o.renewAt = a.Granted, a.HasGrant, a.Last && a.HasGrant, time.Time{}
	grant := time.Duration(a.Granted) * time.Second
	o.lead = min(askBefore, grant/2)
	if t := time.Duration(a.Threshold) * time.Second; t > 0 && t < grant {
		o.lead = t
	}
	switch {
	case a.Validity > 0:
		o.renewAt = now.Add(time.Duration(a.Validity) * time.Second)
	case !a.HasGrant: // nothing says when to ask: then as often as quotas would have
		o.renewAt = now.Add(o.rules.Requested)
	}
}
