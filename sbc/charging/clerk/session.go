package clerk

import (
	"container/heap"
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/sbc/charging/peers"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// session is the charging of one call.
type session struct {
	key     uint64
	online  *charging.Online  // nil without
	offline *charging.Offline // nil without
	tell    func(Notice)
	host    string // the server that has the online session
	asked   string // the one that was asked last
	ended   bool
	at      time.Time // its place in the schedule
	index   int
}

func (c *Clerk) begin(now time.Time, t *Ticket, rules *trunkgroup.Charging, call *charging.Call, tell func(Notice)) {
	s := &session{key: t.Key, tell: tell, index: -1}
	c.sessions[s.key] = s
	if t.Offline != "" {
		s.offline = charging.NewOffline(charging.Config{Session: t.Offline, Rules: rules, Call: *call, IDs: c.cfg.IDs})
		c.byName[t.Offline] = s
	}
	if t.Online != "" {
		s.online = charging.NewOnline(charging.Config{Session: t.Online, Rules: rules, Call: *call, Timeout: c.cfg.Timeout, IDs: c.cfg.IDs})
		c.byName[t.Online] = s
		c.do(now, s, s.online.Reserve(now))
	}
	c.arm(s)
}

func (c *Clerk) connect(now time.Time, key uint64, call *charging.Call) {
	s := c.sessions[key]
	if s == nil {
		return
	}
	if s.online != nil {
		call.Account = s.online.Call().Account
		c.do(now, s, s.online.Connect(call))
		c.will(now, s)
	}
	if s.offline != nil {
		call.Account = s.offline.Call().Account
		c.do(now, s, s.offline.Connect(now, call))
		c.will(now, s)
	}
	c.arm(s)
}

func (c *Clerk) end(now time.Time, key uint64, call *charging.Call) {
	s := c.sessions[key]
	if s == nil {
		return
	}
	s.ended = true
	if s.online != nil {
		call.Account = s.online.Call().Account
		c.do(now, s, s.online.End(now, call))
		c.cfg.Spool.Gone(s.online.Session())
		delete(c.byName, s.online.Session())
	}
	if s.offline != nil {
		call.Account = s.offline.Call().Account
		c.do(now, s, s.offline.End(now, call))
		c.cfg.Spool.Gone(s.offline.Session())
		delete(c.byName, s.offline.Session())
	}
	c.due.remove(s)
	delete(c.sessions, key)
}

func (c *Clerk) asked(now time.Time, name string, abort bool) bool {
	s := c.byName[name]
	if s == nil || s.online == nil || s.online.Session() != name {
		return false
	}
	defer c.arm(s)
	if abort {
		c.do(now, s, s.online.Abort())
		return true
	}
	actions, ok := s.online.Reauthorize(now)
	c.do(now, s, actions)
	return ok
}

func (c *Clerk) expire(now time.Time, s *session) {
	if s.online != nil {
		c.do(now, s, s.online.Expire(now))
	}
	if s.offline != nil {
		c.do(now, s, s.offline.Expire(now))
	}
	c.arm(s)
}

// do carries out the actions of a machine. What a request comes to is worked on later, so a
// machine is never stepped inside a step.
func (c *Clerk) do(now time.Time, s *session, actions []charging.Action) {
	for i := range actions {
		a := &actions[i]
		switch a.Kind {
		case charging.Send:
			c.send(now, s, &a.Request)
		case charging.Keep:
			c.keep(&a.Request, s.host)
		case charging.Grant, charging.Refuse, charging.Teardown:
			c.counts.notice(a, s.online.State())
			s.tell(Notice{Kind: a.Kind, Why: a.Why, Result: s.online.Result()})
		case charging.Done:
		}
	}
}

func (c *Clerk) send(now time.Time, s *session, r *charging.Request) {
	key, number, began, kind := s.key, r.Number, now, r.Kind
	o := peers.Order{Request: r, Host: s.host, Until: now.Add(c.cfg.Timeout)}
	if r.Elsewhere {
		o.Host, o.Avoid = "", s.asked
	}
	o.Done = func(reply peers.Reply) {
		c.push(func(now time.Time) { c.replied(now, key, number, kind, now.Sub(began), &reply) })
	}
	s.asked = c.cfg.Peers.Send(o)
	c.will(now, s)
}

func (c *Clerk) replied(now time.Time, key uint64, number uint32, kind charging.Kind, took time.Duration, reply *peers.Reply) {
	c.counts.request(kind, reply, took)
	s := c.sessions[key]
	if s == nil {
		return
	}
	if reply.Host != "" {
		s.host = reply.Host
	}
	if reply.Answered {
		c.do(now, s, s.online.Answered(now, number, &reply.Answer))
	} else {
		c.do(now, s, s.online.Failed(now, number, reply.Sent))
	}
	c.will(now, s)
	c.arm(s)
}

// will keeps on disk what is to be told if the node dies now.
func (c *Clerk) will(now time.Time, s *session) {
	if s.ended {
		return
	}
	if s.online != nil {
		if w, ok := s.online.Will(now); ok {
			c.cfg.Spool.Will(s.online.Session(), &w)
		} else {
			c.cfg.Spool.Gone(s.online.Session())
		}
	}
	if s.offline != nil {
		if w, ok := s.offline.Will(now); ok {
			c.cfg.Spool.Will(s.offline.Session(), &w)
		}
	}
}

// keep keeps a request until it is answered.
func (c *Clerk) keep(r *charging.Request, host string) {
	id, err := c.cfg.Spool.Keep(r)
	if err != nil {
		c.counts.dropped++
		c.cfg.Logger.Error("a charging record is lost", "session", r.Session, "record", r.Kind.String(), "call_id", r.Call.ID, "error", err)
		return
	}
	c.courier.addTo(id, *r, host)
}

func (c *Clerk) arm(s *session) {
	var at time.Time
	if s.online != nil {
		at = s.online.Deadline()
	}
	if s.offline != nil {
		if d := s.offline.Deadline(); at.IsZero() || !d.IsZero() && d.Before(at) {
			at = d
		}
	}
	c.due.set(s, at)
}

// schedule is the sessions by their deadlines.
type schedule struct{ list sessionHeap }

func (q *schedule) set(s *session, at time.Time) {
	if s.ended || at.IsZero() {
		q.remove(s)
		return
	}
	s.at = at
	if s.index < 0 {
		heap.Push(&q.list, s)
	} else {
		heap.Fix(&q.list, s.index)
	}
}

func (q *schedule) remove(s *session) {
	if s.index >= 0 {
		heap.Remove(&q.list, s.index)
	}
}

func (q *schedule) next() time.Time {
	if len(q.list) == 0 {
		return time.Time{}
	}
	return q.list[0].at
}

// pop takes the first session that is due.
func (q *schedule) pop(now time.Time) *session {
	if len(q.list) == 0 || now.Before(q.list[0].at) {
		return nil
	}
	s, _ := heap.Pop(&q.list).(*session)
	return s
}

type sessionHeap []*session

func (h sessionHeap) Len() int           { return len(h) }
func (h sessionHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h sessionHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i]; h[i].index, h[j].index = i, j }

// Push implements heap.Interface.
func (h *sessionHeap) Push(x any) {
	s, _ := x.(*session)
	s.index = len(*h)
	*h = append(*h, s)
}

// Pop implements heap.Interface.
func (h *sessionHeap) Pop() any {
	old := *h
	s := old[len(old)-1]
	old[len(old)-1], s.index = nil, -1
	*h = old[:len(old)-1]
	return s
}
