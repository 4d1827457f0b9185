package b2bua

import (
	"strconv"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

type dialogState uint8

const (
	earlyDialog dialogState = iota
	confirmed
	overDialog
)

// party is one end of a call: a caller's INVITE or a callee's.
type party struct {
	a       *agent
	callID  string
	pair    string // of a callee: the caller's Call-ID
	caller  bool
	tag     string // our own
	dialogs []*line1
	code    int // the final: given by a callee, got by a caller
	finals  map[string]bool
	invite  *sip.Message // as received
	// The caller's.
	ask        *ask
	branch     string
	node       *stormNode
	text       string
	wantCancel bool
	cancelSent bool
	offered    bool
	silent     bool // never says ACK
	gaveUp     bool // timer B
	// The callee's.
	cancelled bool
	timedOut  bool // rang until its own bell stopped
	noAck     int
}

// line1 is one dialog of a party.
type line1 struct {
	p          *party
	local      string
	remote     string
	target     string
	state      dialogState
	out        uint32
	in         uint32
	waiting    map[uint32]*served // our 2xx by CSeq number
	lateOffer  map[uint32]bool
	asked      *sip.Message // their INVITE without a final from us
	asking     *ask         // our INVITE without a final
	hungUp     bool         // we sent or got BYE
	unanswered bool
	stayed     bool // was up for minutes until we ended it
	ended      time.Time
	acks       map[uint32]string
}

func (p *party) gone() bool { return p.a.mute[p.callID] }

// dialog finds the dialog of a request by both tags.
func (p *party) dialog(m *sip.Message) *line1 {
	for _, d := range p.dialogs {
		if d.local == string(m.ToTag()) && d.remote == string(m.FromTag()) {
			return d
		}
	}
	return nil
}

func (p *party) byRemote(tag string) *line1 {
	for _, d := range p.dialogs {
		if d.remote == tag {
			return d
		}
	}
	return nil
}

func (p *party) newDialog(local, remote string, m *sip.Message) *line1 {
	d := &line1{p: p, local: local, remote: remote, waiting: map[uint32]*served{}, lateOffer: map[uint32]bool{}, acks: map[uint32]string{}}
	d.retarget(m)
	p.dialogs = append(p.dialogs, d)
	return d
}

func (d *line1) retarget(m *sip.Message) {
	if v := m.Header(sip.Contact); v != nil {
		a, _ := sip.ParseNameAddr(v)
		d.target = string(a.URI)
	}
}

// write makes a request in the dialog.
func (d *line1) write(method string, seq uint32, branch, body string) string {
	p := d.p
	us, them := "<sip:us@example.com>;tag="+d.local, "<sip:them@example.com>"
	if d.remote != "" {
		them += ";tag=" + d.remote
	}
	ct := ""
	if body != "" {
		ct = "Content-Type: application/sdp\r\n"
	}
	return method + " " + d.target + " SIP/2.0\r\nVia: SIP/2.0/UDP " + p.a.addr + ";branch=" + branch + "\r\nMax-Forwards: 70\r\nFrom: " + us +
		"\r\nTo: " + them + "\r\nCall-ID: " + p.callID + "\r\nCSeq: " + strconv.Itoa(int(seq)) + " " + method +
		"\r\nContact: <sip:ua@" + p.a.says + ">\r\n" + ct + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// to is where requests of the dialog go: the node of its Contact, or now and
// then another node of that site.
func (d *line1) to() string {
	w := d.p.a.w
	host := strings.TrimPrefix(d.target, "sip:")
	if w.chance(w.weather.odd / 4) {
		for i, n := range w.nodes {
			if x := w.nodes[i^1]; n.addr == host && !x.dead && !x.cut && !n.cut {
				return x.addr
			}
		}
	}
	return host
}

func (d *line1) send(method, body string, on func(m *sip.Message)) *ask {
	d.out++
	seq := d.out
	branch := "z9hG4bK" + d.p.a.token()
	return d.p.a.request(method, d.to(), branch, d.write(method, seq, branch, body), func(m *sip.Message) {
		if m == nil || m.Status() >= 200 {
			on(m)
		}
	})
}

func (d *line1) bye() {
	if d.hungUp || d.p.gone() {
		return
	}
	d.hungUp = true
	d.send("BYE", "", func(*sip.Message) { d.over() })
	d.p.a.w.after(33*time.Second, d.over)
}

func (d *line1) over() {
	if d.state != overDialog {
		d.ended = d.p.a.w.now
	}
	d.state = overDialog
	if d.asked != nil {
		d.refuse(487)
	}
}

// reinvite sends an INVITE in the dialog and follows it to its ACK.
func (d *line1) reinvite(body string) {
	if d.state != confirmed || d.hungUp || d.asked != nil || d.asking != nil || len(d.pending()) > 0 {
		return
	}
	a := d.p.a
	d.out++
	seq, branch := d.out, "z9hG4bK"+a.token()
	to := d.to()
	text := d.write("INVITE", seq, branch, body)
	q := a.request("INVITE", to, branch, text, nil)
	d.asking = q
	cancel := a.w.chance(a.w.weather.cancels / 4)
	finals := map[int]bool{}
	q.on = func(m *sip.Message) {
		switch {
		case m == nil:
			d.asking = nil
			d.bye()
		case m.Status() < 200:
			if cancel {
				cancel = false
				c := strings.Replace(strings.Replace(d.write("INVITE", seq, branch, ""), "INVITE", "CANCEL", 1), " INVITE\r\n", " CANCEL\r\n", 1)
				a.request("CANCEL", to, branch, c, func(*sip.Message) {})
			}
		case m.Status() < 300:
			d.asking = nil
			d.retarget(m)
			if d.acks[seq] == "" {
				answer := ""
				if body == "" {
					answer = offer
				}
				d.acks[seq] = d.write("ACK", seq, "z9hG4bK"+a.token(), answer)
			}
			a.send(d.to(), d.acks[seq])
		default:
			finals[m.Status()] = true
			if len(finals) > 1 {
				a.w.breach("%s got two finals to a re-INVITE in %s", a.addr, d.p.callID)
			}
			d.asking = nil
			ack := strings.Replace(strings.Replace(d.write("ACK", seq, branch, ""), ";tag="+d.remote, ";tag="+string(m.ToTag()), 1), "x", "x", 1)
			a.send(to, ack)
			if m.Status() == 481 || m.Status() == 408 {
				d.bye()
			}
		}
	}
}

func (d *line1) pending() (list []uint32) {
	for seq, s := range d.waiting {
		if !s.acked {
			list = append(list, seq)
		}
	}
	return list
}

// refuse gives a re-INVITE of theirs a failure.
func (d *line1) refuse(code int) {
	m := d.asked
	d.asked = nil
	a := d.p.a
	a.respond(m, code, "", "")
	a.insist(a.server[string(m.Branch())+"INVITE"], 500*time.Millisecond, 32*time.Second, func(bool) {})
}

// inside takes a request in a dialog.
func (a *agent) inside(p *party, m *sip.Message) {
	var d *line1
	if p != nil {
		d = p.dialog(m)
	}
	if d == nil {
		a.w.breach("%s got a request of no dialog: %s", a.addr, line(m))
		a.respond(m, 481, "nobody", "")
		return
	}
	if m.CSeq() <= d.in {
		// A BYE that overtook on the way is out of order, not wrong.
		a.respond(m, 500, "", "")
		return
	}
	d.in = m.CSeq()
	switch {
	case m.Method() == "BYE":
		a.respond(m, 200, "", "")
		d.hungUp = true
		d.over()
	case d.state == overDialog:
		a.respond(m, 481, "", "")
	case m.Method() == "INVITE":
		a.reinvited(d, m)
	case m.Method() == "UPDATE":
		d.retarget(m)
		a.respond(m, 200, "", answerSDP)
	default:
		a.respond(m, 200, "", "")
	}
}

func (a *agent) reinvited(d *line1, m *sip.Message) {
	w := a.w
	switch {
	case d.asking != nil:
		d.asked = m
		d.refuse(491)
		return
	case d.asked != nil || len(d.pending()) > 0:
		d2 := *d
		d2.asked = m
		d2.refuse(500)
		return
	}
	d.asked = m
	a.respond(m, 100, "", "")
	answer := func() {
		if d.asked != m || d.p.gone() {
			return
		}
		if w.chance(0.15) {
			d.refuse(488)
			return
		}
		d.asked = nil
		d.retarget(m)
		a.respond(m, 200, "", answerSDP)
		s := a.server[string(m.Branch())+"INVITE"]
		d.waiting[m.CSeq()] = s
		d.lateOffer[m.CSeq()] = len(m.Body()) == 0
		a.insist(s, 500*time.Millisecond, 32*time.Second, func(acked bool) {
			if !acked && !d.hungUp {
				d.p.noAck++
				d.bye()
			}
		})
	}
	if w.chance(0.5) {
		answer()
	} else {
		w.after(w.upTo(2*time.Second), answer)
	}
}
