package clerk

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/sbc/charging/peers"
	"github.com/tandem-sbc/tandem/sbc/charging/spool"
)

const (
	// window bounds what is out at one time.
	window = 64
	// firstPause is the wait before a record is sent again; it doubles up to maxPause.
	firstPause = time.Second
	maxPause   = time.Minute
)

// courier sends what is kept until it is answered: the records of one session in order, one at a time.
type courier struct {
	c      *Clerk
	queues map[string]*queue // by session
	ready  []*queue          // that could be sent now
	asleep []*queue          // that wait, by no order: there are few, or nobody answers at all
	out    int
	hold   time.Time // nobody could be asked: nothing is sent until then
}

// queue is the records of one session.
type queue struct {
	items []parcel
	host  string // the server that had the session
	avoid string // that did not answer
	pause time.Duration
	until time.Time // when it is tried again
}

type parcel struct {
	id      uint64
	request charging.Request
}

func newCourier(c *Clerk) courier { return courier{c: c, queues: make(map[string]*queue)} }

func (q *courier) add(item spool.Item) { q.addTo(item.ID, item.Request, "") }

func (q *courier) addTo(id uint64, r charging.Request, host string) {
	l := q.queues[r.Session]
	if l == nil {
		l = &queue{host: host}
		q.queues[r.Session] = l
	}
	l.items = append(l.items, parcel{id, r})
	if len(l.items) == 1 {
		q.ready = append(q.ready, l)
	}
}

// idle reports whether all was told.
func (q *courier) idle() bool { return len(q.queues) == 0 }

// next is when work is due by itself.
func (q *courier) next() time.Time {
	var at time.Time
	if len(q.ready) > 0 && q.out < window {
		at = q.hold
	}
	for _, l := range q.asleep {
		if at.IsZero() || l.until.Before(at) {
			at = l.until
		}
	}
	return at
}

// work sends what can be sent.
func (q *courier) work(now time.Time) {
	kept := q.asleep[:0]
	for _, l := range q.asleep {
		if now.Before(l.until) {
			kept = append(kept, l)
		} else {
			q.ready = append(q.ready, l)
		}
	}
	q.asleep = kept
	for q.out < window && len(q.ready) > 0 && !now.Before(q.hold) {
		l := q.ready[0]
		q.ready = q.ready[1:]
		q.send(now, l)
	}
}

func (q *courier) send(now time.Time, l *queue) {
	p := &l.items[0]
	q.out++
	if p.request.ID == 0 && q.c.cfg.IDs != nil {
		p.request.ID = q.c.cfg.IDs()
	}
	r := p.request
	q.c.cfg.Peers.Send(peers.Order{
		Request: &r, Host: l.host, Avoid: l.avoid, Until: now.Add(q.c.cfg.Timeout),
		Done: func(reply peers.Reply) {
			q.c.push(func(at time.Time) { q.replied(at, l, at.Sub(now), reply) })
		},
	})
}

// replied takes what became of the first record of a session.
func (q *courier) replied(now time.Time, l *queue, took time.Duration, reply peers.Reply) {
	q.out--
	p := &l.items[0]
	q.c.counts.request(p.request.Kind, &reply, took)
	if !reply.Answered && !reply.Sent {
		q.hold = now.Add(firstPause)
		q.ready = append(q.ready, l)
		return
	}
	if !reply.Answered || again(reply.Answer.Result) {
		p.request.Repeated = true
		l.avoid = reply.Host
		l.pause = min(max(2*l.pause, firstPause), maxPause)
		l.until = now.Add(l.pause)
		q.asleep = append(q.asleep, l)
		return
	}
	if code := reply.Answer.Result; code != charging.ResultSuccess && code != charging.ResultLimited {
		q.c.counts.refused++
		q.c.cfg.Logger.Warn("a charging record was refused", "session", p.request.Session, "record", p.request.Kind.String(),
			"call_id", p.request.Call.ID, "result", code)
	}
	q.heard(now, p, &reply)
	q.c.cfg.Spool.Done(p.id)
	l.items, l.pause, l.avoid, l.host = l.items[1:], 0, "", reply.Host
	if len(l.items) > 0 {
		q.ready = append(q.ready, l)
		return
	}
	delete(q.queues, p.request.Session)
}

// heard gives a call that is up the server's wish of how often it hears of it.
func (q *courier) heard(now time.Time, p *parcel, reply *peers.Reply) {
	s := q.c.byName[p.request.Session]
	if s == nil || s.offline == nil || p.request.Kind.Online() {
		return
	}
	s.offline.Answered(now, &reply.Answer)
	q.c.arm(s)
}

// again reports whether a record that was answered so is to be sent again: the server could not
// take it now, or an agent found none (RFC 6733 7.1.3, 7.1.4).
func again(code uint32) bool {
	const outOfSpace, lost = 4002, 4003
	return code/1000 == 3 || code == outOfSpace || code == lost || code == 0
}
