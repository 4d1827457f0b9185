package b2bua

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// Registrar keeps the bindings of the cluster.
type Registrar interface {
	// Origin adds to where a REGISTER came from what the sockets know.
	Origin(p *transport.Packet) registrar.Origin
	// Register asks for what a REGISTER changes; the answer comes as Registered
	// with the same ref. It reports false when there is no room for it now.
	Register(ref uint64, r *registrar.Request) bool
}

// Registered is what became of a REGISTER.
type Registered struct {
	// Refusal is nil when it was done.
	Refusal *registrar.Refusal
	// Extra are the header lines of the 200.
	Extra []byte
	// Result is a word of ours for the metrics.
	Result string
}

// maxRegistering bounds the REGISTERs of a shard that wait for the registrar.
const maxRegistering = 1 << 14

// registerPatience is how long the registrar may take; it takes milliseconds.
const registerPatience = 10 * time.Second

// registering is a REGISTER that waits for the registrar: a server transaction
// in Trying (RFC 3261 17.2.2).
type registering struct {
	place
	s      *Shard
	packet Packet
	in     *incoming
	ref    uint64
	until  time.Time
}

// register takes a REGISTER (RFC 3261 10.3). Whoever cannot prove who he is gets
// a challenge, whatever he wants to register: the address of record is not
// looked at before. Who can gets the same 403 for an address of record
// that is not his and for one that does not exist.
func (s *Shard) register(p *Packet, key uint64) {
	table, _ := s.env.Routing()
	switch {
	case p.Peer != "" || p.Relay != "":
		s.refuse(p, 403, "", "") // nodes register nothing at each other, and pass no REGISTER on
		return
	case table == nil:
		s.refuse(p, 503, "", s.retrySpread())
		return
	}
	v := s.judge(p, table)
	if v.Outcome != auth.OK {
		s.challenge(p, table, v)
		s.noteChallenged(p, &v)
		return
	}
	s.spend(p, v.Use)
	aor, ok := registrar.AOR(p.Message)
	if !ok {
		s.answer(p, key, Registered{Refusal: &registrar.Refusal{Code: 400, Reason: "Bad Address of Record", Result: "aor"}})
		return
	}
	member := table.MatchAOR(aor)
	if member == nil || !member.MayRegister(v.Group, v.Username) {
		s.answer(p, key, forbidden("user"))
		return
	}
	if from := p.Source.Addr(); !member.Group.ACL.Admits(from) || !member.Registration.AllowedFrom(from) || !v.Credential.AllowedFrom(from) {
		s.answer(p, key, forbidden("source"))
		return
	}
	r, refusal := registrar.Parse(p.Message, member, v.Username, s.env.Origin(&p.Packet))
	if refusal != nil {
		s.answer(p, key, Registered{Refusal: refusal, Result: refusal.Result})
		return
	}
	s.ask(p, key, r)
}

func forbidden(result string) Registered {
	return Registered{Refusal: &registrar.Refusal{Code: 403, Result: result}}
}

// spend tells the other nodes which nonce a REGISTER used, so that nobody can
// send it to them once more (DEC-25).
func (s *Shard) spend(p *Packet, use auth.Use) {
	m := p.Message
	s.env.Share(Open{
		Key: s.openKey(m), CallHash: CallHash(s.seed, m.CallID()), Branch: s.branchHash(m), State: OpenClosed, Nonce: use,
	})
}

// ask gives a REGISTER to the registrar.
func (s *Shard) ask(p *Packet, key uint64, r *registrar.Request) {
	reg := &registering{s: s, packet: *p, ref: s.newBranch(), until: s.now.Add(registerPatience)}
	if len(s.registers) >= maxRegistering || !s.env.Register(reg.ref, r) {
		s.refuse(p, 503, "", s.retrySpread())
		s.noteRegister("busy")
		return
	}
	reg.in = &incoming{key: key, msg: p.Message, reply: replyTo(p), source: p.Source, began: s.now}
	s.server[key], s.registers[reg.ref] = reg.in, reg
	s.alarms.set(reg)
}

// Registered takes the registrar's answer.
func (s *Shard) Registered(now time.Time, ref uint64, a Registered) {
	s.now, s.hot = now, nil
	if reg := s.registers[ref]; reg != nil {
		s.hot = reg
		reg.end(a)
	}
}

// end answers a REGISTER that waited.
func (r *registering) end(a Registered) {
	r.drop()
	r.s.answerDone(r.in)
	r.s.answer(&r.packet, r.in.key, a)
}

// drop forgets it.
func (r *registering) drop() {
	delete(r.s.registers, r.ref)
	delete(r.s.server, r.in.key)
	r.s.alarms.drop(r)
	r.until = time.Time{}
}

func (r *registering) deadline() time.Time { return r.until }

// expire answers for a registrar that does not: the sender comes back.
func (r *registering) expire(time.Time) {
	r.end(Registered{Refusal: &registrar.Refusal{Code: 503, Extra: r.s.retrySpread(), Result: "silent"}})
}

// answer ends the transaction of a REGISTER.
func (s *Shard) answer(p *Packet, key uint64, a Registered) {
	code, reason, extra := 200, "", a.Extra
	if f := a.Refusal; f != nil {
		code, reason, extra, a.Result = f.Code, f.Reason, []byte(f.Extra), f.Result
		if code == 503 && f.Extra == "" {
			extra = []byte(s.retrySpread())
		}
	}
	var tag [16]byte
	to := replyTo(p)
	b := s.response1(p, code, reason, s.hashTag(&tag, p.Message), extra)
	s.env.Send(to, b, 0)
	s.linger.AddFinal(key, b, to, false, p.Transport.Reliable(), &s.cfg.Timers, s.now)
	if a.Refusal != nil {
		s.noteRefused(p, a.Result, "")
		return
	}
	s.noteRegister(a.Result)
}

func (s *Shard) noteRegister(result string) {
	s.env.Count(Event{Kind: EventRegister, Result: result})
}
