package sim

import (
	"math/rand/v2"
	"time"

	"github.com/tandem-sbc/tandem/sbc/transport"
)

// maxLag is how far the pace may fall behind before it gives calls up instead of
// starting them in a burst: a starved generator must not look like a slow SBC.
const maxLag = 250 * time.Millisecond

// pace is the core of a Load: the caller, and the clock that starts its calls at
// a constant rate.
type pace struct {
	*Caller
	load    *Load
	rng     *rand.Rand
	running bool
	every   time.Duration
	next    time.Time // when the next call starts; zero = paused
	end     time.Time // zero = no end
	left    int       // calls to start; negative = no limit
	skipped int

	started  chan struct{} // closed when no more calls will start
	idle     chan struct{} // closed when all have ended too
	isIdle   bool
	lastCall time.Time
}

func newPace(l *Load) *pace {
	return &pace{
		Caller: l.caller, load: l, rng: rand.New(rand.NewPCG(l.cfg.Seed, 0xbace)),
		started: make(chan struct{}), idle: make(chan struct{}),
	}
}

// begin starts a run.
func (p *pace) begin(now time.Time) {
	cfg := &p.load.cfg
	p.running, p.isIdle, p.skipped = true, false, 0
	p.started, p.idle = make(chan struct{}), make(chan struct{})
	p.left = -1
	if cfg.Calls > 0 {
		p.left = cfg.Calls
	}
	p.end = time.Time{}
	if cfg.Duration > 0 {
		p.end = now.Add(cfg.Duration)
	}
	p.setRate(now, cfg.Rate)
}

func (p *pace) setRate(now time.Time, rate float64) {
	if rate <= 0 {
		p.next = time.Time{}
		return
	}
	p.every = time.Duration(float64(time.Second) / rate)
	if p.running {
		p.next = now
	}
}

// finish ends the starting of calls.
func (p *pace) finish() {
	if p.running {
		p.running = false
		p.next, p.end = time.Time{}, time.Time{}
		close(p.started)
	}
}

// abort ends a run early: nothing starts any more, every call is given up.
func (p *pace) abort(now time.Time) {
	p.finish()
	for _, k := range p.calls {
		if k.phase == phaseInvite || k.phase == phaseUp {
			p.Cancel(now, token{slot: k.slot, gen: k.gen}.ref())
		}
	}
	p.settle()
}

// settle closes idle once the last call has ended.
func (p *pace) settle() {
	if !p.running && !p.isIdle && p.counts.Active == 0 {
		p.isIdle = true
		close(p.idle)
	}
}

// Receive implements core.
func (p *pace) Receive(now time.Time, packet *transport.Packet) {
	p.Caller.Receive(now, packet)
	p.settle()
}

// Failed implements core.
func (p *pace) Failed(now time.Time, ref uint64, err error) {
	p.Caller.Failed(now, ref, err)
	p.settle()
}

// Deadline implements core.
func (p *pace) Deadline() time.Time {
	return earlier(earlier(p.Caller.Deadline(), p.next), p.end)
}

// Expire implements core: it starts the calls that are due.
func (p *pace) Expire(now time.Time) {
	p.Caller.Expire(now)
	for p.running && reached(p.next, now) && !reached(p.end, p.next) {
		if p.left == 0 {
			break
		}
		if p.left > 0 {
			p.left--
		}
		most := p.load.cfg.MaxActive
		if now.Sub(p.next) > maxLag || most > 0 && p.counts.Active >= most {
			p.skipped++
		} else {
			p.lastCall = now
			p.Place(now, p.load.placement(p.rng))
		}
		p.next = p.next.Add(p.every)
	}
	if p.running && (p.left == 0 || reached(p.end, now)) {
		p.finish()
	}
	p.settle()
}
