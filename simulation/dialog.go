package simulation

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// dialog is one dialog at a far end.
type dialog struct {
	a             *agent
	callID        string
	local, remote string
	target        string
	to, owner     *node // where requests go, and who the dialog is with
	out, in       uint32
	confirmed     bool
	over          bool
	misled        bool // was told that the dialog is gone
	hungUp        bool
	waiting       *served // our 2xx
	ackText       []byte
	left          bool // hung up by itself, long after the call should have ended
	ended         func()
}

func newDialog(a *agent, callID, local, remote string, m *sip.Message) *dialog {
	d := &dialog{a: a, callID: callID, local: local, remote: remote}
	if v := m.Header(sip.Contact); v != nil {
		addr, _ := sip.ParseNameAddr(v)
		d.target = string(addr.URI)
	}
	d.owner = a.w.nodeAt(strings.TrimPrefix(d.target, "sip:"))
	d.to = d.owner
	return d
}

// text writes a request in the dialog.
func (d *dialog) text(method string, seq uint32, branch, body string) []byte {
	b := make([]byte, 0, 512)
	b = append(append(append(b, method...), ' '), d.target...)
	b = append(append(b, " SIP/2.0\r\nVia: SIP/2.0/UDP "...), d.a.name...)
	b = append(append(b, ";branch="...), branch...)
	b = append(append(b, "\r\nMax-Forwards: 70\r\nFrom: <sip:us@example.com>;tag="...), d.local...)
	b = append(append(b, "\r\nTo: <sip:them@example.com>;tag="...), d.remote...)
	b = append(append(append(b, "\r\nCall-ID: "...), d.callID...), "\r\nCSeq: "...)
	b = append(append(append(appendUint(b, seq), ' '), method...), "\r\nContact: <sip:ua@"...)
	b = append(append(b, d.a.name...), ">\r\n"...)
	if body == "" {
		return append(b, "Content-Length: 0\r\n\r\n"...)
	}
	return sip.AppendBody(b, []byte("application/sdp"), []byte(body))
}

// send sends a request in the dialog; now and then to the other node of the
// site (DEC-09).
func (d *dialog) send(method, body string, on func(m *sip.Message)) {
	to := d.to
	if to != nil && chance(d.a.w.users, 0.05) && d.a.w.nodes[to.index^1].runs() {
		to = d.a.w.nodes[to.index^1]
	}
	d.sendTo(to, method, body, on)
}

func (d *dialog) sendTo(to *node, method, body string, on func(m *sip.Message)) {
	d.out++
	branch := "z9hG4bK" + d.a.token()
	d.a.request(method, branch, to, d.text(method, d.out, branch, body), on)
}

// byeTries bounds the BYEs of a party whom the far side asks for patience, or
// whose first one went to a node that is gone.
const byeTries = 4

// bye hangs up.
func (d *dialog) bye() {
	if d.hungUp || d.over {
		return
	}
	d.hungUp = true
	tries := 0
	var try func()
	take := func(m *sip.Message) {
		switch {
		case m != nil && m.Status() < 200:
		case (m == nil || m.Status() == 500) && tries < byeTries && d.a.legs[d.callID] != nil:
			d.a.w.after(3*time.Second, try)
		default:
			// DEC-09: a node that is cut off from the owner for long says that there
			// is no such call.
			d.misled = m != nil && m.Status() == 481
			d.finish()
		}
	}
	try = func() {
		if tries++; tries == 1 {
			d.send(sip.BYE, "", take)
			return
		}
		d.sendTo(d.to, sip.BYE, "", take)
	}
	try()
}

func (d *dialog) finish() {
	if !d.over {
		d.over = true
		if d.ended != nil {
			d.ended()
		}
	}
}

// alive tells whether the agent still knows the dialog and wants it.
func (d *dialog) alive() bool { return !d.over && !d.hungUp && d.a.legs[d.callID] != nil }

// converse is what a party does while the call is up.
func (d *dialog) converse(c *call, caller bool) {
	w := d.a.w
	if chance(w.users, 0.2) {
		w.after(upTo(w.users, c.talk), func() {
			if d.alive() && !d.a.away() {
				d.send(sip.INFO, "", func(m *sip.Message) {
					if m != nil && m.Status() == 481 {
						d.bye()
					}
				})
			}
		})
	}
	if caller == c.byCaller {
		w.after(c.talk, d.bye)
	}
	w.after(c.talk+30*time.Second, func() {
		if d.alive() {
			d.left = true
			d.bye()
		}
	})
}

// inside takes a request of the far side in one of these dialogs.
func inside(a *agent, list []*dialog, m *sip.Message) {
	for _, d := range list {
		if d.local != string(m.ToTag()) || d.remote != string(m.FromTag()) {
			continue
		}
		switch {
		case m.CSeq() <= d.in:
			a.respond(m, 500, "", "")
			return
		case d.over && m.Method() != sip.BYE:
			a.respond(m, 481, "", "")
			return
		}
		d.in = m.CSeq()
		a.respond(m, 200, "", "")
		if m.Method() == sip.BYE {
			d.finish()
		}
		return
	}
	a.respond(m, 481, "", "")
}

// confirm takes an ACK of a 2xx to a re-INVITE or a repeated one: nothing waits
// for it here.
func confirm([]*dialog, *sip.Message) {}

func appendUint(b []byte, n uint32) []byte { return strconv.AppendUint(b, uint64(n), 10) }

func cut(b []byte, sep string) (before, after []byte, found bool) { return bytes.Cut(b, []byte(sep)) }
