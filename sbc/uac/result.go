package uac

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// Answer takes the final response to the REGISTER that is out. contact is our Contact's
// URI in it; ours tells of another URI whether it is a Contact of the same account at
// another node. It returns the REGISTER that follows at once, if any.
func (r *Registration) Answer(now time.Time, m *sip.Message, contact string, ours func(uri string) bool, rnd uint64) (Order, bool) {
	if !r.out {
		return Order{}, false
	}
	r.out = false
	r.status.Contact = contact
	code := m.Status()
	switch {
	case code == 401 || code == 407:
		return r.challenged(now, m, rnd)
	case code == 423 && !r.stretched && r.status.State != Removing && r.stretch(m):
		r.answers = 0
		return r.order(now, rnd), true
	case code >= 200 && code < 300:
		return r.accepted(now, m, contact, ours, rnd)
	}
	r.fail(now, answered(m), code, retryAfter(m), rnd)
	return Order{}, false
}

// Lost tells that no final response will come: cause says why.
func (r *Registration) Lost(now time.Time, cause string, rnd uint64) {
	if r.out {
		r.out = false
		r.fail(now, cause, 0, 0, rnd)
	}
}

// challenged answers a challenge, or takes it for a refusal. An answer that is not
// taken is not given again, unless it was the nonce's fault.
func (r *Registration) challenged(now time.Time, m *sip.Message, rnd uint64) (Order, bool) {
	c, err := Choose(r.account, m)
	switch {
	case err != nil:
		r.fail(now, fmt.Sprintf("%d: %v", m.Status(), err), m.Status(), 0, rnd)
	case r.answers >= answersMax || r.answers > 0 && !c.Stale && !r.kept:
		r.challenge, r.count = Challenge{}, 0
		r.fail(now, fmt.Sprintf("%d: the registrar does not take the username or the hash: a wrong password, or a hash of another user or realm", m.Status()), m.Status(), 0, rnd)
	default:
		r.answers++
		r.challenge, r.count = c, 0
		return r.order(now, rnd), true
	}
	return Order{}, false
}

// stretch takes the registrar's Min-Expires (RFC 3261 section 10.2.8).
func (r *Registration) stretch(m *sip.Message) bool {
	least, ok := seconds(m.Header(sip.MinExpires))
	if !ok || least <= r.expires || least > 24*time.Hour {
		return false
	}
	r.expires, r.stretched = least, true
	return true
}

// accepted takes a 2xx. Contacts of ours that another node left there go, but only
// once, when this node takes over: two nodes that each believe to be the one must not
// throw each other out for ever.
func (r *Registration) accepted(now time.Time, m *sip.Message, contact string, ours func(string) bool, rnd uint64) (Order, bool) {
	if r.taking {
		r.end(now, "", 0)
		return Order{}, false
	}
	held := readContacts(m)
	granted := held.granted(m, contact, r.expires)
	if r.status.State == Removing { // since the REGISTER went out
		r.status.Until = now.Add(granted)
		return r.order(now, rnd), true
	}
	if granted <= 0 {
		r.fail(now, "the registrar took the request and holds nothing", m.Status(), 0, rnd)
		return Order{}, false
	}
	granted = max(granted, leastGrant)
	r.status.Until, r.status.Failures, r.remove = now.Add(granted), 0, nil
	r.set(now, Registered, "", 0)
	// Between 70 and 80 % of the time, so that failures find time for another try.
	r.due(now.Add(granted*7/10 + time.Duration(rnd%uint64(granted/10))))
	if !r.began {
		r.began = true
		if r.remove = held.leftovers(contact, ours); len(r.remove) > 0 {
			r.answers = 0
			return r.order(now, rnd), true
		}
	}
	return Order{}, false
}

// fail ends an exchange without success and plans the next one.
func (r *Registration) fail(now time.Time, reason string, code int, pause time.Duration, rnd uint64) {
	r.status.Failures++
	if r.status.State == Removing {
		if r.removes >= removeTries {
			r.end(now, reason, code)
			return
		}
		r.due(now.Add(backoff(r.status.Failures, backoffMin, rnd)))
		return
	}
	state := Failed
	if r.status.State == Registered && now.Before(r.status.Until) {
		state = Registered // the contact holds until its time is over
	}
	r.set(now, state, reason, code)
	least := backoffMin
	if r.status.refused() {
		least = refusedMin
	}
	r.due(now.Add(max(backoff(r.status.Failures, least, rnd), min(pause, retryAfterMax))))
}

// end is the last step of a registration.
func (r *Registration) end(now time.Time, reason string, code int) {
	r.set(now, Removed, reason, code)
	r.status.Until, r.status.Next, r.deadline = time.Time{}, time.Time{}, time.Time{}
}

// backoff is the pause after n failures in a row: doubled with each, between half of
// it and all of it.
func backoff(n int, least time.Duration, rnd uint64) time.Duration {
	d := backoffMax
	if n < 16 {
		d = min(d, 2*least<<(n-1))
	}
	return d/2 + time.Duration(rnd%uint64(d/2+1))
}

// answered words a final response for people: its code and the reason phrase, which
// is the far end's text and cut short.
func answered(m *sip.Message) string {
	phrase := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return -1
		}
		return c
	}, string(m.Reason()))
	return strconv.Itoa(m.Status()) + " " + phrase[:min(len(phrase), 64)]
}

func retryAfter(m *sip.Message) time.Duration {
	d, _ := seconds(m.Header(sip.RetryAfter))
	return d
}

// seconds reads a number of seconds; what follows it does not matter.
func seconds(v []byte) (time.Duration, bool) {
	n := 0
	for n < len(v) && v[n] >= '0' && v[n] <= '9' {
		n++
	}
	s, err := strconv.ParseUint(string(v[:n]), 10, 31)
	return time.Duration(s) * time.Second, err == nil
}
