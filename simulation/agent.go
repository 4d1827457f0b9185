package simulation

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// mood is what a far end is like at a time.
type mood uint8

const (
	good      mood = iota
	refusing       // its process is gone: ICMP, and no memory of anything afterwards
	blackHole      // its network is gone: no word in either direction
	busy503        // answers 503 to everything
	sick503        // answers 503 to calls, 200 to probes
	hanging        // says 100 and nothing more
	late           // takes seconds for its first word
	moods
)

var moodNames = [...]string{"good", "refusing", "black hole", "503 to all", "503 to calls", "hanging", "late"}

// agent is a PBX or a carrier's gateway: caller and callee, by RFC 3261.
type agent struct {
	w      *world
	index  int
	addr   netip.AddrPort
	name   string // the address as text
	site   string
	mood   mood
	legs   map[string]party   // by Call-ID
	asks   map[string]*ask    // our requests, by branch and method
	served map[string]*served // theirs, by branch and method
	n      int
	ill    spans // when its mood was not good
}

// party is one end of a call at an agent.
type party interface {
	// request takes a request inside a dialog of the party.
	request(m *sip.Message)
	// ack takes an ACK of a 2xx.
	ack(m *sip.Message)
}

// ask is a client transaction.
type ask struct {
	method string
	to     *node
	text   []byte
	heard  bool // a provisional came
	final  bool
	stop   bool
	on     func(m *sip.Message) // every response; nil when none came in 64*T1
}

// served is a server transaction: the last response, repeated on a repeated
// request, and a final of an INVITE until its ACK.
type served struct {
	last  []byte
	to    *node
	acked bool
}

const (
	t1     = 500 * time.Millisecond
	t2     = 4 * time.Second
	timerB = 64 * t1
)

func (w *world) makeAgents() {
	for i, p := range [...]struct{ addr, site string }{
		{"192.0.2.10:5060", dallas},
		{"192.0.2.74:5060", ashburn},
		{"192.0.2.20:5060", dallas},
		{"192.0.2.84:5060", ashburn},
		{"198.51.100.10:5060", dallas},
		{"198.51.100.11:5060", dallas},
		{"198.51.100.74:5060", ashburn},
		{"198.51.100.75:5060", ashburn},
		{"198.51.100.20:5060", dallas},
		{"198.51.100.84:5060", ashburn},
		{"198.51.100.30:5060", dallas},
	} {
		a := &agent{
			w: w, index: i, addr: netip.MustParseAddrPort(p.addr), name: p.addr, site: p.site,
			legs: make(map[string]party), asks: make(map[string]*ask), served: make(map[string]*served),
		}
		w.agents = append(w.agents, a)
		w.byAddr[a.addr] = a
	}
}

// away tells whether nothing comes to the agent or from it.
func (a *agent) away() bool { return a.mood == refusing || a.mood == blackHole }

// set changes the agent's mood.
func (a *agent) set(m mood) {
	if a.mood == m {
		return
	}
	a.w.say("%s is %s", a.name, moodNames[m])
	if a.mood == good {
		a.ill.begin(a.w.now)
	}
	if m == good {
		a.ill.end(a.w.now)
	}
	if m == refusing {
		a.legs, a.asks, a.served = make(map[string]party), make(map[string]*ask), make(map[string]*served)
	}
	a.mood = m
}

// token is a fresh word for tags, branches and Call-IDs.
func (a *agent) token() string {
	a.n++
	return strconv.Itoa(a.index) + "x" + strconv.Itoa(a.n) + "x" + strconv.FormatUint(a.w.users.Uint64()>>40, 36)
}

// send puts a datagram on the way to a node.
func (a *agent) send(to *node, b []byte) {
	if !a.away() && to != nil {
		a.w.toNode(a, to, b)
	}
}

// request starts a client transaction and repeats it as timers A and E say.
func (a *agent) request(method, branch string, to *node, text []byte, on func(m *sip.Message)) *ask {
	q := &ask{method: method, to: to, text: text, on: on}
	a.asks[branch+method] = q
	a.send(to, text)
	a.repeat(q, t1, timerB-t1)
	return q
}

func (a *agent) repeat(q *ask, gap, left time.Duration) {
	a.w.after(min(gap, left), func() {
		switch {
		case q.final || q.stop || q.method == sip.INVITE && q.heard:
			return
		case left <= gap:
			q.final = true
			q.on(nil)
			return
		}
		a.send(q.to, q.text)
		next := 2 * gap
		if q.method != sip.INVITE {
			next = min(next, t2)
		}
		a.repeat(q, next, left-gap)
	})
}

// respond answers a request and remembers the answer.
func (a *agent) respond(m *sip.Message, code int, tag, body string) *served {
	extra := "Contact: <sip:ua@" + a.name + ">\r\n"
	var kind []byte
	if body != "" {
		kind = []byte("application/sdp")
	}
	b := sip.AppendResponse(make([]byte, 0, 512), m, code, "", []byte(tag), netip.AddrPort{}, []byte(extra), kind, []byte(body))
	key := string(m.Branch()) + m.Method()
	s := a.served[key]
	if s == nil {
		s = &served{}
		a.served[key] = s
	}
	s.last, s.to = b, a.w.nodeBehind(m)
	a.send(s.to, b)
	return s
}

// insist repeats a final response to an INVITE until its ACK.
func (a *agent) insist(s *served, gap, left time.Duration, over func()) {
	a.w.after(min(gap, left), func() {
		switch {
		case s.acked:
			return
		case left <= gap:
			over()
			return
		}
		a.send(s.to, s.last)
		a.insist(s, min(2*gap, t2), left-gap, over)
	})
}

// receive takes what the network brings.
func (a *agent) receive(from *node, b []byte) {
	m, fault := sip.Parse(b)
	if fault != nil {
		a.w.fault("%s sent what does not parse: %v: %s", from.name, fault, b)
		return
	}
	if !m.IsRequest() {
		a.response(m)
		return
	}
	key := string(m.Branch()) + m.Method()
	if m.Method() == sip.ACK {
		a.ack(m)
		return
	}
	if s := a.served[key]; s != nil {
		if s.last != nil {
			a.send(s.to, s.last)
		}
		return
	}
	p := a.legs[string(m.CallID())]
	switch {
	case m.Method() == sip.OPTIONS && len(m.ToTag()) == 0:
		a.probed(m)
	case m.Method() == sip.CANCEL:
		a.served[key] = &served{}
		a.cancel(p, m)
	case m.Method() == sip.INVITE && len(m.ToTag()) == 0:
		a.served[key] = &served{}
		if p != nil {
			a.w.fault("%s got a second INVITE in call %s", a.name, m.CallID())
			return
		}
		a.invited(from, m)
	case p != nil:
		a.served[key] = &served{}
		p.request(m)
	default:
		a.respond(m, 481, "nobody", "")
	}
}

func (a *agent) response(m *sip.Message) {
	q := a.asks[string(m.Branch())+m.CSeqMethod()]
	if q == nil {
		return // of a life before
	}
	if m.Status() < 200 {
		q.heard = true
		if !q.final {
			q.on(m)
		}
		return
	}
	q.final = true
	q.on(m)
}

// probed answers an OPTIONS.
func (a *agent) probed(m *sip.Message) {
	switch a.mood {
	case busy503:
		a.respond(m, 503, "probe", "")
	case late:
		a.w.after(between(a.w.users, 500*time.Millisecond, 3*time.Second), func() { a.respond(m, 200, "probe", "") })
	default:
		a.respond(m, 200, "probe", "")
	}
}

func (a *agent) ack(m *sip.Message) {
	if s := a.served[string(m.Branch())+sip.INVITE]; s != nil {
		s.acked = true
		return
	}
	if p := a.legs[string(m.CallID())]; p != nil {
		p.ack(m)
	}
}

func (a *agent) cancel(p party, m *sip.Message) {
	c, ok := p.(*callee)
	if !ok || string(c.invite.Branch()) != string(m.Branch()) {
		a.respond(m, 481, "nobody", "")
		return
	}
	a.respond(m, 200, c.dialog.local, "")
	c.cancelled()
}

// refused tells the agent's callers that a node's port is closed.
func (a *agent) refused(branch []byte) {
	for _, method := range [...]string{sip.INVITE, sip.BYE, sip.INFO} {
		if q := a.asks[string(branch)+method]; q != nil && !q.final && !q.heard {
			if c := a.callerOf(q); c != nil {
				c.failover()
			}
		}
	}
}

func (a *agent) callerOf(q *ask) *caller {
	for _, c := range a.w.calls {
		if c.caller != nil && c.caller.ask == q {
			return c.caller
		}
	}
	return nil
}

// errICMP is what a node's socket says of a port that is closed.
func errICMP(to netip.AddrPort) error { return &transport.ICMPError{Addr: to, Errno: refusedErrno} }
