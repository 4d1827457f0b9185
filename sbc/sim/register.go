package sim

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/sbc/uac"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// RegisterConfig makes a far end one that registers (RFC 3261 section 10).
type RegisterConfig struct {
	// Node is where the REGISTERs go, by the transport of the far end's first
	// listener.
	Node netip.AddrPort
	// Account says as whom; its hashes answer the challenge.
	Account trunkgroup.Account
	// Told hears of each change of the registration, in words; it may be nil.
	Told func(state, reason string)
}

// registerLife is for how long a REGISTER is repeated (timer F).
const registerLife = 32 * time.Second

// registering is a callee that keeps itself registered.
type registering struct {
	*Callee
	cfg       RegisterConfig
	transport trunkgroup.Transport
	local     netip.AddrPort
	reg       *uac.Registration
	callID    string
	order     uac.Order
	again     time.Time // when the request is sent once more; zero = no request is out
	until     time.Time // when it is given up
	pause     time.Duration
	told      uac.Status
}

func newRegistering(c *Callee, cfg RegisterConfig, t trunkgroup.Transport, local netip.AddrPort, now time.Time) *registering {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, local, now.UnixNano())
	return &registering{
		Callee: c, cfg: cfg, transport: t, local: local, callID: fmt.Sprintf("reg-%x", h.Sum32()),
		reg: uac.NewRegistration(&cfg.Account, h.Sum32()>>8|1, now),
	}
}

// Receive takes what is for the registration and gives the rest to the callee.
func (r *registering) Receive(now time.Time, p *transport.Packet) {
	if m := p.Message; !m.IsRequest() && m.CSeqMethod() == sip.REGISTER {
		if m.Status() >= 200 && m.CSeq() == r.order.Seq && !r.again.IsZero() {
			r.again = time.Time{}
			next, more := r.reg.Answer(now, m, r.contact(), func(string) bool { return false }, r.random())
			if more {
				r.request(now, next)
			}
			r.tell()
		}
		return
	}
	r.Callee.Receive(now, p)
}

// Expire does what is due.
func (r *registering) Expire(now time.Time) {
	r.Callee.Expire(now)
	if d := r.reg.Deadline(); !d.IsZero() && !now.Before(d) {
		if order, ok := r.reg.Expire(now, r.random()); ok {
			r.request(now, order)
		}
		r.tell()
	}
	if r.again.IsZero() || now.Before(r.again) {
		return
	}
	if !now.Before(r.until) {
		r.again = time.Time{}
		r.reg.Lost(now, "no answer", r.random())
		r.tell()
		return
	}
	r.transmit(now)
}

// Deadline is when Expire is due.
func (r *registering) Deadline() time.Time {
	d := r.Callee.Deadline()
	for _, o := range [...]time.Time{r.reg.Deadline(), r.again} {
		if !o.IsZero() && (d.IsZero() || o.Before(d)) {
			d = o
		}
	}
	return d
}

func (r *registering) request(now time.Time, order uac.Order) {
	r.order, r.pause, r.until = order, r.Callee.cfg.Timers.T1, now.Add(registerLife)
	r.transmit(now)
}

// stop takes the contact out of the registrar.
func (r *registering) stop(now time.Time) {
	r.reg.Stop(now)
	r.Expire(now)
}

// gone tells whether nothing is left to take out.
func (r *registering) gone() bool { return r.reg.Status().State == uac.Removed }

// transmit sends the REGISTER that is out, once more when no answer came.
func (r *registering) transmit(now time.Time) {
	r.again = now.Add(r.pause)
	r.pause = min(2*r.pause, maxPause)
	a := &r.cfg.Account
	credentials := r.order.Credentials
	if credentials != "" && !strings.HasSuffix(credentials, "\r\n") {
		credentials += "\r\n"
	}
	b := fmt.Appendf(nil, "REGISTER sip:%s SIP/2.0\r\nVia: SIP/2.0/%s %s;branch=%s%s-%d;rport\r\nMax-Forwards: 70\r\n"+
		"From: <%s>;tag=%s\r\nTo: <%s>\r\nCall-ID: %s\r\nCSeq: %d REGISTER\r\nContact: <%s>\r\nExpires: %d\r\n%sContent-Length: 0\r\n\r\n",
		a.Host, strings.ToUpper(r.transport.String()), r.local, magic, r.callID, r.order.Seq, a.AOR, r.callID, a.AOR, r.callID,
		r.order.Seq, r.contact(), r.order.Expires, credentials)
	r.send(transport.Target{Transport: r.transport, Addr: r.cfg.Node, Listener: 0}, b, 0)
}

func (r *registering) contact() string {
	return fmt.Sprintf("sip:%s@%s%s", r.cfg.Account.User, r.local, r.transport.URIParam())
}

func (r *registering) random() uint64 { return r.rng.Uint64() }

func (r *registering) tell() {
	s := r.reg.Status()
	if r.cfg.Told != nil && (s.State != r.told.State || s.Reason != r.told.Reason) {
		r.cfg.Told(s.State.String(), s.Reason)
	}
	r.told = s
}
