package charging

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// state is where an Online stands (RFC 8506 section 7, the client's machine).
type state uint8

const (
	idle      state = iota // left by Reserve
	reserving              // CCR-I is out; left by its answer, or without one
	open                   // there is credit, or nobody bounds it
	updating               // CCR-U is out; left by its answer, or without one
	unsure                 // CCR-U was lost and the call goes on; left when it is repeated
	uncharged              // the call goes on and nobody is asked any more
	over
)

// String returns the state as an operator sees it.
func (s state) String() string {
	return [...]string{"idle", "reserving", "open", "updating", "unsure", "uncharged", "over"}[s]
}

const (
	// askBefore is how long before its quota ends a call asks for more, unless the server says
	// otherwise: an answer that is not late costs nobody a second.
	askBefore = time.Second
	// endBefore is how long before the last second of credit is over a call is ended, so that no
	// further second begins.
	endBefore = 250 * time.Millisecond
	// askAgain is the wait before a lost request is repeated while its call goes on.
	askAgain = 10 * time.Second
)

// Config is what a machine begins with.
type Config struct {
	Session string // Session-Id
	Rules   *trunkgroup.Charging
	Call    Call
	Timeout time.Duration // how long one request may take: Tx (RFC 8506 13)
	// IDs returns the identifier of a further request, which is not 0; nil: requests have none yet.
	IDs func() uint32
}

// id returns the identifier of a further request.
func (c *Config) id() uint32 {
	if c.IDs == nil {
		return 0
	}
	return c.IDs()
}

// Online is the credit of one call. It is not safe for more than one goroutine.
type Online struct {
	cfg   Config
	rules *trunkgroup.Charging
	call  Call

	state    state
	number   uint32 // of the next request
	sent     Request
	reported int64 // seconds that were told
	failure  trunkgroup.ChargingFailure
	result   uint32
	doomed   bool // a Teardown is out
	heard    bool // a server may have the session

	quota    int64 // seconds granted beyond reported, where bounded
	bounded  bool
	last     bool
	lead     time.Duration
	renewAt  time.Time // when the grant ceases to be valid, or nothing bounds it; zero = never
	waitTill time.Time // Tx of the request that is out, or when it is repeated

	out []Action
}

// NewOnline returns the machine of a call.
func NewOnline(cfg Config) *Online {
	return &Online{cfg: cfg, rules: cfg.Rules, call: cfg.Call, failure: cfg.Rules.OnFailure}
}

// Session returns the Session-Id.
func (o *Online) Session() string { return o.cfg.Session }

// Result returns the last result code; 0 before the first answer.
func (o *Online) Result() uint32 { return o.result }

// State returns where it stands, for operators.
func (o *Online) State() string { return o.state.String() }

// Call returns what is known of the call.
func (o *Online) Call() *Call { return &o.call }

// Charged reports whether somebody bounds the call or is told of it.
func (o *Online) Charged() bool { return o.state != uncharged && o.state != over }

// Reserve asks for the first quota (S-102).
func (o *Online) Reserve(now time.Time) []Action {
	o.out = o.out[:0]
	o.send(now, o.request(now, Initial, 0), reserving)
	return o.out
}

// Connect tells that the call was answered, with what is known since then.
func (o *Online) Connect(call *Call) []Action {
	o.out = o.out[:0]
	o.call = *call
	if o.doomed {
		o.emit(Action{Kind: Teardown, Why: WhyCredit})
	}
	return o.out
}

// End tells that the call is over. What it used beyond the last report is kept, with the request
// whose answer is still due before it, so that none is lost and none counted twice.
func (o *Online) End(now time.Time, call *Call) []Action {
	o.out = o.out[:0]
	o.call = *call
	switch o.state {
	case reserving, open: // a server that has yet to answer gives back what it reserves
		o.finish(now)
	case updating, unsure:
		lost := o.sent
		lost.Repeated = true
		o.emit(Action{Kind: Keep, Request: lost})
		o.finish(now)
	case idle, uncharged:
		o.done()
	case over:
	}
	return o.out
}

func (o *Online) finish(now time.Time) {
	total := Seconds(o.call.billed(o.rules), o.call.Ended)
	o.emit(Action{Kind: Keep, Request: o.request(now, Termination, max(total-o.reported, 0))})
	o.done()
}

// Will is what is to be told if nothing more is ever heard of the call. It is for who keeps it on
// disk, and changes nothing.
func (o *Online) Will(now time.Time) (Will, bool) {
	if !o.Charged() || o.state == idle {
		return Will{}, false
	}
	w := Will{Last: o.peek(now, Termination, 0), From: o.call.billed(o.rules), Told: o.reported}
	if o.state == updating || o.state == unsure {
		w.Before = &o.sent
	}
	return w, true
}

// Reauthorize is the server's wish to be asked now (RFC 8506 5.5). It reports false when it comes
// to nothing: the call is about to ask, or ends.
func (o *Online) Reauthorize(now time.Time) ([]Action, bool) {
	o.out = o.out[:0]
	if o.state != open || o.doomed {
		return nil, o.state == updating
	}
	o.update(now, ReportForced)
	return o.out, true
}

// Abort is the server's wish that the call ends (RFC 6733 8.5).
func (o *Online) Abort() []Action {
	o.out = o.out[:0]
	o.doom(WhyCredit)
	return o.out
}

// Deadline is when Expire is due; zero when nothing is.
func (o *Online) Deadline() time.Time {
	switch o.state {
	case reserving, updating, unsure:
		return o.waitTill
	case open:
		if o.doomed {
			return time.Time{}
		}
		return earliest(o.renewAt, o.askAt())
	}
	return time.Time{}
}

// askAt is when the quota is so far used that something must happen; zero while nothing is used,
// or nothing bounds it.
func (o *Online) askAt() time.Time {
	from := o.call.billed(o.rules)
	if !o.bounded || from.IsZero() {
		return time.Time{}
	}
	end := from.Add(time.Duration(o.reported+o.quota) * time.Second)
	if o.last {
		return end.Add(-endBefore)
	}
	return end.Add(-o.lead)
}

// Expire does what is due.
func (o *Online) Expire(now time.Time) []Action {
	o.out = o.out[:0]
	if d := o.Deadline(); d.IsZero() || now.Before(d) {
		return nil
	}
	switch o.state {
	case reserving, updating:
		o.heard = true
		o.lost(now)
	case unsure:
		r := o.sent
		r.Repeated, r.At = true, now
		o.send(now, r, updating)
	case open:
		o.expireOpen(now)
	}
	return o.out
}

func (o *Online) expireOpen(now time.Time) {
	if ask := o.askAt(); !ask.IsZero() && !now.Before(ask) {
		if o.last {
			o.doom(WhyCredit)
			return
		}
		o.update(now, ReportThreshold)
		return
	}
	o.update(now, ReportValidity)
}

// update reports what was used and asks for more.
func (o *Online) update(now time.Time, why Report) {
	used := max(Seconds(o.call.billed(o.rules), now)-o.reported, 0)
	if o.bounded && why == ReportThreshold && used >= o.quota {
		why = ReportExhausted
	}
	r := o.request(now, Update, used)
	r.Report = why
	o.reported += used
	o.send(now, r, updating)
}

func (o *Online) send(now time.Time, r Request, next state) {
	o.sent, o.state, o.waitTill = r, next, now.Add(o.cfg.Timeout)
	o.emit(Action{Kind: Send, Request: r})
}

// request makes the next request, and counts it.
func (o *Online) request(now time.Time, kind Kind, used int64) Request {
	r := o.peek(now, kind, used)
	r.ID = o.cfg.id()
	o.number++
	return r
}

func (o *Online) peek(now time.Time, kind Kind, used int64) Request {
	r := Request{Session: o.cfg.Session, Kind: kind, Number: o.number, At: now, Call: o.call, Service: serviceOf(o.rules), Used: used}
	if kind == Termination {
		r.Report = ReportFinal
	}
	return r
}

// doom ends the call, once.
func (o *Online) doom(why Why) {
	if !o.doomed && o.state != over {
		o.doomed = true
		o.emit(Action{Kind: Teardown, Why: why})
	}
}

func (o *Online) done() {
	o.state = over
	o.emit(Action{Kind: Done})
}

func (o *Online) emit(a Action) { o.out = append(o.out, a) }

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
