package sim

import (
	"cmp"
	"hash/fnv"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// Role says which side of the SBC a far end stands on. It changes nothing in how
// it behaves; reports show it.
type Role uint8

// The roles of far ends.
const (
	PBX     Role = iota + 1 // a customer's phone system
	Carrier                 // a carrier's gateway
)

// String names the role.
func (r Role) String() string {
	switch r {
	case PBX:
		return "pbx"
	case Carrier:
		return "carrier"
	default:
		return "far end"
	}
}

// Direction tells received messages from sent ones.
type Direction bool

// The directions of a tapped message.
const (
	In  Direction = false
	Out Direction = true
)

// Tap sees each message of one side as it comes or goes. It runs inside the core:
// it must be quick and must not call back. The data must not be changed.
type Tap func(now time.Time, dir Direction, data []byte)

// CalleeConfig describes one simulated far end.
type CalleeConfig struct {
	Name      string    // shown in reports, answers and SDP
	Role      Role      // default PBX
	Behaviour Behaviour // the first script
	Timers    Timers
	Seed      uint64   // for tags and branches; 0 = a fixed one
	Forbid    []string // texts that no message may hold (topology that must stay hidden)
	KeepLegs  int      // ended legs kept for Legs; 0 = 1000, negative = none
	Tap       Tap      // may be nil
}

// Callee is the pure core of a far end: a SIP user agent that answers by a script
// and keeps exact accounts. It is not safe for concurrent use and does no I/O.
type Callee struct {
	cfg    CalleeConfig
	send   Sender
	script *Behaviour
	rng    *rand.Rand
	mem    arena

	legs    map[string]*leg // by Call-ID
	agenda  agenda[*leg]
	ghosts  map[uint64]ghost // by hash of the Call-ID
	fading  []fading         // ghosts in the order in which they fade
	seen    map[uint64]struct{}
	hash    maphash.Seed
	history []Leg // ended legs, a ring
	oldest  int

	now     time.Time // of the call into the core that is running
	account Account
	faults  faultLog
	serial  uint64
}

// ghost is what stays of an ended leg for 64*T1, to absorb what comes late.
type ghost struct {
	invite uint64 // hash of the INVITE's branch
	serial uint64
}

type fading struct {
	key, serial uint64
	at          time.Time
}

// NewCallee returns a far end that sends through send.
func NewCallee(cfg CalleeConfig, send Sender) *Callee {
	cfg.Timers = cfg.Timers.withDefaults()
	if cfg.Role == 0 {
		cfg.Role = PBX
	}
	if cfg.KeepLegs == 0 {
		cfg.KeepLegs = 1000
	}
	c := &Callee{
		cfg: cfg, send: send,
		rng:    rand.New(rand.NewPCG(cfg.Seed, nameSeed(cfg.Name))),
		legs:   make(map[string]*leg),
		ghosts: make(map[uint64]ghost),
		seen:   make(map[uint64]struct{}),
		hash:   maphash.MakeSeed(),
	}
	c.account = Account{Name: cfg.Name, Finals: make(map[int]int)}
	c.SetBehaviour(cfg.Behaviour)
	return c
}

// SetBehaviour changes the script for calls to come.
func (c *Callee) SetBehaviour(b Behaviour) { c.script = &b }

// Behaviour returns the script in force.
func (c *Callee) Behaviour() Behaviour { return *c.script }

// Account returns a copy of the account.
func (c *Callee) Account() Account {
	a := c.account.clone()
	a.Faults = append([]Fault(nil), c.faults.list...)
	a.FaultCount = c.faults.count
	for _, l := range c.legs {
		switch l.state {
		case LegRinging:
			a.Ringing++
		case LegAnswered, LegUp, LegEnding:
			a.Up++
		}
	}
	return a
}

// Legs returns the records of the live legs and of the last ended ones, the
// ended ones first.
func (c *Callee) Legs() []Leg {
	list := make([]Leg, 0, len(c.history)+len(c.legs))
	list = append(list, c.history[c.oldest:]...)
	list = append(list, c.history[:c.oldest]...)
	for _, l := range c.inOrder() {
		list = append(list, l.record())
	}
	return list
}

// inOrder returns the live legs in the order in which they came, so that a run
// can be repeated exactly.
func (c *Callee) inOrder() []*leg {
	return slices.SortedFunc(maps.Values(c.legs), func(a, b *leg) int { return cmp.Compare(a.order, b.order) })
}

// Deadline returns when Expire wants to run next, zero for never.
func (c *Callee) Deadline() time.Time {
	next := c.agenda.next()
	if len(c.fading) > 0 {
		next = earlier(next, c.fading[0].at)
	}
	return next
}

// Expire does all that is due at now.
func (c *Callee) Expire(now time.Time) {
	c.now = now
	for {
		l, ok := c.agenda.pop(now)
		if !ok {
			break
		}
		c.expire(now, l)
	}
	for len(c.fading) > 0 && reached(c.fading[0].at, now) {
		f := c.fading[0]
		c.fading = c.fading[1:]
		if c.ghosts[f.key].serial == f.serial {
			delete(c.ghosts, f.key)
		}
	}
}

// Receive takes one message from the wire.
func (c *Callee) Receive(now time.Time, p *transport.Packet) {
	c.now = now
	m := p.Message
	c.tapIn(now, m)
	if !m.IsRequest() {
		c.response(now, p)
		return
	}
	switch m.Method() {
	case sip.INVITE:
		if len(m.ToTag()) == 0 {
			c.invite(now, p)
		} else {
			c.change(now, p)
		}
	case sip.ACK:
		c.ack(now, p)
	case sip.CANCEL:
		c.cancel(now, p)
	case sip.BYE:
		c.bye(now, p)
	case sip.UPDATE, sip.INFO:
		c.change(now, p)
	case sip.OPTIONS:
		c.options(p)
	default:
		c.reply(p, 501, nil, nil, nil)
	}
}

// Malformed takes a message that the parser refused.
func (c *Callee) Malformed(now time.Time, f *sip.Fault) {
	c.faults.add(now, FaultParse, "", strconv.Itoa(f.Code)+" "+f.Reason)
}

// Drop forgets all legs, as a far end that loses its power does; they count as
// lost.
func (c *Callee) Drop(now time.Time) {
	for _, l := range c.inOrder() {
		if l.state != LegEnded && l.state != LegRefused {
			c.account.Lost++
		}
		c.end(now, l, "lost")
	}
	clear(c.ghosts)
	c.fading = nil
}

// HangUp sends BYE on every leg that is up and returns how many there were.
func (c *Callee) HangUp(now time.Time) (n int) {
	c.now = now
	for _, l := range c.inOrder() {
		if l.state == LegUp && !l.out.running() {
			c.sendBye(now, l)
			c.schedule(l)
			n++
		}
	}
	return n
}

func (c *Callee) options(p *transport.Packet) {
	c.account.Options++
	code := c.script.Options
	if code == Silent {
		return
	}
	if code == 0 {
		code = 200
	}
	c.reply(p, code, c.tag(), []byte("Allow: "+allow+"\r\nAccept: "+typeSDP+"\r\n"), nil)
}

// reply answers a request without keeping the answer.
func (c *Callee) reply(p *transport.Packet, code int, toTag, extra, sdp []byte) {
	c.transmit(replyTarget(p), c.respond(p, code, "", toTag, extra, sdp))
}

// respond builds a response.
func (c *Callee) respond(p *transport.Packet, code int, reason string, toTag, extra, sdp []byte) []byte {
	if reason == "" {
		reason = sip.ReasonPhrase(code)
	}
	var contentType []byte
	if len(sdp) > 0 {
		contentType = []byte(typeSDP)
	}
	for _, h := range c.script.Headers {
		extra = append(append(extra, h...), "\r\n"...)
	}
	b := sip.AppendResponse(c.mem.start(), p.Message, code, reason, toTag, p.Source, extra, contentType, sdp)
	return c.mem.done(b)
}

func (c *Callee) transmit(t transport.Target, data []byte) {
	if c.cfg.Tap != nil {
		c.cfg.Tap(c.now, Out, data)
	}
	c.send(t, data, 0)
}

func (c *Callee) tapIn(now time.Time, m *sip.Message) {
	if c.cfg.Tap != nil {
		c.cfg.Tap(now, In, m.Raw())
	}
	if text, bad := leaks(m.Raw(), c.cfg.Forbid); bad {
		c.faults.add(now, FaultLeak, string(m.CallID()), strconv.Quote(text)+" in "+startLine(m))
	}
}

// tag makes a new To tag.
func (c *Callee) tag() []byte {
	b := make([]byte, 0, 17)
	b = append(b, 't')
	return strconv.AppendUint(b, c.rng.Uint64(), 16)
}

func (c *Callee) key(callID []byte) uint64 { return maphash.Bytes(c.hash, callID) }

// nameSeed gives far ends of one seed tags of their own.
func nameSeed(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

// startLine shows a message in a fault.
func startLine(m *sip.Message) string {
	if m.IsRequest() {
		return m.Method()
	}
	return strconv.Itoa(m.Status()) + " to " + m.CSeqMethod()
}
