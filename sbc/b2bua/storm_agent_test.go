package b2bua

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// agent is one SIP user agent of the storm with its transactions, by the
// letter of RFC 3261 and sharing no code with the engine.
type agent struct {
	w       *storm
	addr    string
	mute    map[string]bool // calls whose user lost the network: nothing is heard or said
	parties map[string]*party
	client  map[string]*ask    // our requests, by branch
	server  map[string]*served // theirs, by branch and method
	n       int
	// says is the address that it believes to have, asked whom its NAT lets in;
	// nil without a NAT.
	says  string
	asked map[string]bool
}

// ask is a client transaction.
type ask struct {
	method, to string
	text       string
	heard      bool // any provisional
	final      bool
	stop       bool
	on         func(m *sip.Message) // every response, repeated ones too; nil when none came
}

// served is a server transaction.
type served struct {
	last  string
	to    string
	acked bool
	then  func() // once, when the ACK comes
}

func newAgent(w *storm, addr string) *agent {
	return &agent{
		w: w, addr: addr, says: addr, mute: map[string]bool{}, parties: map[string]*party{}, client: map[string]*ask{}, server: map[string]*served{},
	}
}

func (a *agent) send(to, text string) {
	_, id, _ := strings.Cut(text, "Call-ID: ")
	id, _, _ = strings.Cut(id, "\r\n")
	if !a.mute[id] {
		if a.asked != nil {
			a.asked[to] = true
		}
		a.w.datagram(a.addr, to, []byte(text))
	}
}

func (a *agent) token() string {
	a.n++
	return strconv.Itoa(a.n) + "x" + strconv.FormatUint(a.w.rng.Uint64()>>40, 36)
}

// request starts a client transaction and repeats it as timers A and E say.
func (a *agent) request(method, to, branch, text string, on func(m *sip.Message)) *ask {
	q := &ask{method: method, to: to, text: text, on: on}
	a.client[branch+method] = q
	a.send(to, text)
	a.repeat(q, 500*time.Millisecond, 31500*time.Millisecond)
	return q
}

func (a *agent) repeat(q *ask, gap, left time.Duration) {
	a.w.after(min(gap, left), func() {
		switch {
		case q.final || q.stop || q.method == "INVITE" && q.heard:
			return
		case left <= gap:
			q.final = true
			q.on(nil)
			return
		}
		a.send(q.to, q.text)
		next := 2 * gap
		if q.method != "INVITE" {
			next = min(next, 4*time.Second)
		}
		a.repeat(q, next, left-gap)
	})
}

// respond answers a request and remembers the answer.
func (a *agent) respond(req *sip.Message, code int, tag, body string) string {
	via := req.TopVia()
	to := fmt.Sprintf("%s:%d", via.Host, via.Port)
	extra := "Contact: <sip:ua@" + a.says + ">\r\n"
	var ct []byte
	if body != "" {
		ct = []byte("application/sdp")
	}
	text := string(sip.AppendResponse(nil, req, code, "", []byte(tag), netip.AddrPort{}, []byte(extra), ct, []byte(body)))
	a.send(to, text)
	key := string(req.Branch()) + req.Method()
	s := a.server[key]
	if s == nil {
		s = &served{}
		a.server[key] = s
	}
	s.last, s.to = text, to
	return text
}

// insist repeats a final response to an INVITE until its ACK; then calls over
// with whether the ACK came.
func (a *agent) insist(s *served, gap, left time.Duration, over func(acked bool)) {
	a.w.after(min(gap, left), func() {
		switch {
		case s.acked:
			over(true)
			return
		case left <= gap:
			over(false)
			return
		}
		a.send(s.to, s.last)
		a.insist(s, min(2*gap, 4*time.Second), left-gap, over)
	})
}

// receive takes what the network brings.
func (a *agent) receive(from string, m *sip.Message) {
	if a.mute[string(m.CallID())] {
		return
	}
	if !m.IsRequest() {
		q := a.client[string(m.Branch())+m.CSeqMethod()]
		if q == nil {
			a.w.breach("%s got a response to nothing: %s", a.addr, line(m))
			return
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
		return
	}
	if m.Method() == "ACK" {
		a.ack(m)
		return
	}
	key := string(m.Branch()) + m.Method()
	if s := a.server[key]; s != nil {
		if s.last != "" && !strings.HasPrefix(s.last, "SIP/2.0 2") || m.Method() != "INVITE" {
			a.send(s.to, s.last)
		}
		return
	}
	a.server[key] = &served{}
	p := a.parties[string(m.CallID())]
	switch {
	case m.Method() == "CANCEL":
		a.cancel(p, m)
	case m.Method() == "INVITE" && len(m.ToTag()) == 0:
		if p != nil {
			a.w.breach("%s got a second INVITE in call %s", a.addr, m.CallID())
			return
		}
		a.invited(from, m)
	default:
		a.inside(p, m)
	}
}

// silent tells whether a caller never says ACK: then a callee whose offer waits
// for it has none either.
func (a *agent) silent(callID string) bool {
	p := a.parties[callID]
	return p != nil && p.silent && !p.offered
}

func line(m *sip.Message) string {
	text, _, _ := strings.Cut(string(m.Raw()), "\r\n")
	return text + " Call-ID " + string(m.CallID()) + " CSeq " + strconv.Itoa(int(m.CSeq())) + " " + m.CSeqMethod()
}

// ack finds the final response that is confirmed: a failure by its branch, a
// 2xx by its dialog and number.
func (a *agent) ack(m *sip.Message) {
	if s := a.server[string(m.Branch())+"INVITE"]; s != nil {
		s.acked = true
		return
	}
	p := a.parties[string(m.CallID())]
	if p == nil {
		a.w.breach("%s got an ACK of no call: %s", a.addr, line(m))
		return
	}
	d := p.dialog(m)
	if d == nil {
		a.w.breach("%s got an ACK of no dialog: %s", a.addr, line(m))
		return
	}
	if s := d.waiting[m.CSeq()]; s != nil {
		if !s.acked && d.lateOffer[m.CSeq()] && len(m.Body()) == 0 {
			a.w.after(time.Second, func() { d.unanswered = !d.hungUp }) // well, unless a BYE was behind it
		}
		s.acked = true
		if then := s.then; then != nil {
			s.then = nil
			then()
		}
	} else {
		a.w.breach("%s got an ACK of no 2xx: %s", a.addr, line(m))
	}
}

func (a *agent) cancel(p *party, m *sip.Message) {
	s := a.server[string(m.Branch())+"INVITE"]
	if s == nil || p == nil {
		a.respond(m, 481, "nobody", "")
		return
	}
	a.respond(m, 200, p.tag, "")
	if p.invite != nil && string(p.invite.Branch()) == string(m.Branch()) {
		p.cancelled = true
		if a.w.chance(a.w.weather.odd) { // picks up, or is slow to stop
			a.w.after(a.w.upTo(3*time.Second), func() { p.finish([]int{200, 487}[a.w.rng.IntN(2)]) })
		} else {
			p.finish(487)
		}
		return
	}
	for _, d := range p.dialogs {
		if d.asked != nil && string(d.asked.Branch()) == string(m.Branch()) {
			d.refuse(487)
		}
	}
}
