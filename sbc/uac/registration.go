package uac

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Times of a registration.
const (
	// backoffMin and backoffMax bound the pause before another try; it doubles with
	// each failure and is spread, so that the accounts of a carrier that comes back do
	// not come back together.
	backoffMin = time.Second
	backoffMax = 5 * time.Minute
	// refusedMin is the first pause after a refusal of the account itself: many
	// carriers shut out who guesses.
	refusedMin = 30 * time.Second
	// retryAfterMax bounds what a Retry-After may ask for.
	retryAfterMax = time.Hour
	// leastGrant is the shortest time for which a registration is believed to hold.
	leastGrant = 10 * time.Second
	// patience ends an exchange whose answer never came; it is longer than timer F.
	patience = 40 * time.Second
	// removeTries is how often a contact that goes is taken out.
	removeTries = 3
	// answersMax bounds the challenges that one exchange answers: one for a nonce kept
	// from before that is stale, and one that counts.
	answersMax = 2
)

// Order is one REGISTER to be sent (RFC 3261 section 10.2).
type Order struct {
	Seq     uint32
	Expires int // of our contact in seconds; 0 takes it out
	// Remove are contacts of ours at other nodes that go with the same request.
	Remove []string
	// Credentials is a complete header line, or empty.
	Credentials string
}

// Registration keeps one account registered. It belongs to one goroutine.
type Registration struct {
	account *trunkgroup.Account
	uri     string
	status  Status
	seq     uint32
	expires time.Duration // asked for: the account's, or more where the registrar demands it

	out      bool // a REGISTER is out
	taking   bool // it takes the contact out
	deadline time.Time
	began    bool // a REGISTER of this node has succeeded once

	challenge Challenge // the last one that was answered; its nonce serves again
	count     uint32    // uses of that nonce
	kept      bool      // the credentials of this exchange used a nonce from before
	answers   int       // challenges answered in this exchange
	stretched bool      // a 423 was heeded in this exchange
	remove    []string
	removes   int
}

// NewRegistration begins at now. seq is the first CSeq number, which should be random.
func NewRegistration(a *trunkgroup.Account, seq uint32, now time.Time) *Registration {
	r := &Registration{account: a, uri: "sip:" + a.Host, seq: seq, expires: a.Expires}
	r.status.Next, r.deadline = now, now
	return r
}

// URI is the Request-URI of all REGISTERs: the domain of the account.
func (r *Registration) URI() string { return r.uri }

// Status returns what people see.
func (r *Registration) Status() Status { return r.status }

// Deadline returns when Expire is due; zero when nothing is.
func (r *Registration) Deadline() time.Time { return r.deadline }

// Expire does what is due: it returns a REGISTER to be sent, or false. rnd is random.
func (r *Registration) Expire(now time.Time, rnd uint64) (Order, bool) {
	if r.deadline.IsZero() || now.Before(r.deadline) {
		return Order{}, false
	}
	if r.out {
		r.Lost(now, "no answer from the registrar", rnd)
		return Order{}, false
	}
	r.lapse(now)
	if now.Before(r.status.Next) || r.status.State == Removed {
		return Order{}, false
	}
	r.answers, r.stretched = 0, false
	return r.order(now, rnd), true
}

// Stop takes the contact out of the registrar. Where it holds none the registration
// is Removed at once.
func (r *Registration) Stop(now time.Time) {
	if r.status.State == Removing || r.status.State == Removed {
		return
	}
	if !r.out && r.status.Until.IsZero() {
		r.end(now, "", 0)
		return
	}
	r.set(now, Removing, "", 0)
	if !r.out {
		r.due(now)
	}
}

// Renew has the contact put in again soon: another node has registered the account,
// for a moment in which the two did not agree whose it is, and may have thrown ours
// out. What that node left there goes with the first success.
func (r *Registration) Renew(at time.Time) {
	if r.status.State == Registered {
		r.began = false
		if !r.out {
			r.due(at)
		}
	}
}

// order makes the next REGISTER. A nonce that served before serves again, which
// saves a challenge as long as the registrar takes it.
func (r *Registration) order(now time.Time, rnd uint64) Order {
	r.seq++
	o := Order{Seq: r.seq, Expires: int(r.expires / time.Second), Remove: r.remove}
	if r.taking = r.status.State == Removing; r.taking {
		o.Expires, o.Remove = 0, nil
		r.removes++
	}
	if r.status.State == Idle {
		r.set(now, Trying, "", 0)
	}
	if r.challenge.Nonce != "" {
		r.kept = r.count > 0
		r.count++
		o.Credentials = Answer(r.account, &r.challenge, r.count, rnd, "REGISTER", r.uri)
	}
	r.out, r.status.Next, r.deadline = true, time.Time{}, now.Add(patience)
	return o
}

// lapse notes that what the registrar held has ended.
func (r *Registration) lapse(now time.Time) {
	if r.status.State == Registered && !r.status.Until.IsZero() && !now.Before(r.status.Until) {
		reason := "the registration has expired"
		if r.status.Reason != "" {
			reason += ": " + r.status.Reason
		}
		r.status.Until = time.Time{}
		r.set(now, Failed, reason, r.status.Code)
		r.rearm()
	}
}

// due sets the time of the next REGISTER.
func (r *Registration) due(at time.Time) {
	r.status.Next = at
	r.rearm()
}

// rearm sets the deadline: the next REGISTER or, while the contact holds, its end.
func (r *Registration) rearm() {
	r.deadline = r.status.Next
	if u := r.status.Until; r.status.State == Registered && !u.IsZero() && u.Before(r.deadline) {
		r.deadline = u
	}
}

func (r *Registration) set(now time.Time, s State, reason string, code int) {
	if r.status.State != s {
		r.status.State, r.status.Since = s, now
	}
	r.status.Reason, r.status.Code = reason, code
}
