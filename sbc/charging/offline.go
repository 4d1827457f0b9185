package charging

import "time"

// Offline is the account of one call. All that it tells is kept until it is answered, so it waits
// for nobody and never holds a call up. It is not safe for more than one goroutine.
type Offline struct {
	cfg      Config
	call     Call
	number   uint32
	started  bool
	over     bool
	interval time.Duration
	next     time.Time
	result   uint32
	out      []Action
}

// NewOffline returns the machine of a call.
func NewOffline(cfg Config) *Offline {
	return &Offline{cfg: cfg, call: cfg.Call, interval: cfg.Rules.Interim}
}

// Session returns the Session-Id.
func (o *Offline) Session() string { return o.cfg.Session }

// Result returns the last result code; 0 before the first answer.
func (o *Offline) Result() uint32 { return o.result }

// Call returns what is known of the call.
func (o *Offline) Call() *Call { return &o.call }

// Connect tells that the call was answered, by whom it says (S-101).
func (o *Offline) Connect(now time.Time, call *Call) []Action {
	o.out = o.out[:0]
	if o.started || o.over {
		return nil
	}
	o.call, o.started = *call, true
	o.keep(now, Start)
	o.arm(now)
	return o.out
}

// End tells that the call is over. One that was never answered is one event (TS 32.260 5.1).
func (o *Offline) End(now time.Time, call *Call) []Action {
	o.out = o.out[:0]
	if o.over {
		return nil
	}
	o.call, o.over, o.next = *call, true, time.Time{}
	if o.started {
		o.keep(now, Stop)
	} else {
		o.keep(now, Event)
	}
	o.out = append(o.out, Action{Kind: Done})
	return o.out
}

// Answered takes a server's answer: it may say how often it wants to hear of the call.
func (o *Offline) Answered(now time.Time, a *Answer) {
	o.result = a.Result
	if a.Interim > 0 && o.started && !o.over {
		o.interval = time.Duration(a.Interim) * time.Second
		if next := now.Add(o.interval); o.next.IsZero() || next.Before(o.next) {
			o.next = next
		}
	}
}

// Will is what is to be told if nothing more is ever heard of the call.
func (o *Offline) Will(now time.Time) (Will, bool) {
	if !o.started || o.over {
		return Will{}, false
	}
	return Will{Last: o.request(now, Stop), From: o.call.Answered}, true
}

// Deadline is when Expire is due; zero when nothing is.
func (o *Offline) Deadline() time.Time { return o.next }

// Expire does what is due.
func (o *Offline) Expire(now time.Time) []Action {
	o.out = o.out[:0]
	if o.next.IsZero() || now.Before(o.next) {
		return nil
	}
	o.keep(now, Interim)
	o.arm(now)
	return o.out
}

func (o *Offline) arm(now time.Time) {
	o.next = time.Time{}
	if o.interval > 0 {
		o.next = now.Add(o.interval)
	}
}

func (o *Offline) keep(now time.Time, kind Kind) {
	r := o.request(now, kind)
	r.ID = o.cfg.id()
	o.number++
	o.out = append(o.out, Action{Kind: Keep, Request: r})
}

func (o *Offline) request(now time.Time, kind Kind) Request {
	r := Request{Session: o.cfg.Session, Kind: kind, Number: o.number, At: now, Call: o.call, Service: serviceOf(o.cfg.Rules)}
	switch kind {
	case Interim:
		r.Used = Seconds(o.call.Answered, now)
	case Stop:
		r.Used = Seconds(o.call.Answered, o.call.Ended)
	}
	return r
}
