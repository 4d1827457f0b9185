package hunt

import "time"

// State is where a sequence stands.
type State uint8

const (
	// Idle has not been started.
	Idle State = iota
	// Trying has an attempt in flight that has shown no progress.
	Trying
	// Ringing has an attempt in flight that has shown progress.
	Ringing
	// HandedOff waits for the peer site.
	HandedOff
	// Answered has joined the caller with somebody.
	Answered
	// Failed has given the caller a failure.
	Failed
	// Cancelled ended because the caller gave up.
	Cancelled
)

// String returns the state in lower case.
func (s State) String() string {
	names := [...]string{"idle", "trying", "ringing", "handed-off", "answered", "failed", "cancelled"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// Done reports whether the caller has got a final response.
func (s State) Done() bool { return s >= Answered }

// Sequence takes one call through its targets. It belongs to one goroutine.
type Sequence struct {
	cfg      Config
	invited  time.Time // the caller's INVITE
	peerEnd  time.Time // of the hand-off; zero = none
	attempts []Attempt
	live     []leg   // attempts in flight: at most one, but for a fork
	tallies  []tally // by index in Config.Groups; nil when none has bounds
	next     int     // next target
	from     int     // first attempt of the list in force, see Again
	peerList bool    // the peer's attempts are on the list
	state    State
	worst    verdict // of the attempts that have ended since the list last went on
	barred   bool    // an attempt ended in a way that forbids a hand-off
	cut      bool    // the local list was left early, or not begun, for the sake of the hand-off
	handed   bool    // the hand-off was asked for
	accepted bool    // the peer site took the call up
	alerted  bool    // a 18x was relayed: max_pdd is met
	out      []Action
	buffer   [2]Action // enough but for a fork: one is given up, one thing follows
	solo     [1]leg    // where live begins
}

// New prepares a sequence for a call whose INVITE came at now. The slices of targets and groups are
// kept, not copied.
func New(cfg Config, now time.Time) *Sequence {
	s := &Sequence{
		cfg:      cfg.withDefaults(),
		invited:  now,
		attempts: make([]Attempt, 0, min(len(cfg.Targets), 2)),
	}
	s.out, s.live = s.buffer[:0], s.solo[:0]
	if s.cfg.bounded() {
		s.tallies = make([]tally, len(s.cfg.Groups))
	}
	return s
}

// Start begins with the first target. The slice returned here and by every other event is valid until
// the next one.
func (s *Sequence) Start(now time.Time) []Action {
	if !s.begin(s.state == Idle) {
		return nil
	}
	if s.cfg.PeerFirst && s.mayHandOff(now) {
		s.cut = true
		s.handOff(now)
		return s.out
	}
	s.advance(now)
	return s.out
}

// State returns where the sequence stands.
func (s *Sequence) State() State { return s.state }

// Attempts returns what was tried so far, with the attempt in flight and the peer's attempts. The slice
// belongs to the sequence.
func (s *Sequence) Attempts() []Attempt { return s.attempts }

// HandoffAccepted reports whether the peer site took the call up.
func (s *Sequence) HandoffAccepted() bool { return s.accepted }

// begin clears the actions of the last event and passes on whether this one is for us.
func (s *Sequence) begin(ok bool) bool {
	s.out = s.buffer[:0]
	return ok
}

func (s *Sequence) emit(a Action) { s.out = append(s.out, a) }

func (s *Sequence) emitFor(k Kind, attempt, code int, cause string) {
	s.emit(Action{Kind: k, Attempt: attempt, Target: s.attempts[attempt].Target, Code: code, Cause: cause})
}

// target returns the target of an attempt in flight.
func (s *Sequence) target(l leg) *Target { return &s.cfg.Targets[s.attempts[l.attempt].Target] }

// advance goes on with the next target that can be dialled, or ends the local list. What a group may
// not dial any more for its number of attempts is left out, as if it were not on the list.
func (s *Sequence) advance(now time.Time) {
	s.worst = goesOn
	for s.next < len(s.cfg.Targets) {
		t := &s.cfg.Targets[s.next]
		switch {
		case s.full(t):
			s.next++
		case !t.Dialable:
			s.skip(now, t.Cause)
		case s.spent(t, now):
			s.skip(now, CauseSetupBudget)
		case s.outOfTime(now):
			return
		case s.cfg.group(t).Parallel:
			s.fork(now)
			return
		default:
			s.dial(now, s.next, 0)
			s.next++
			return
		}
	}
	s.endLocal(now)
}

// skip records the next target as one that was not dialled.
func (s *Sequence) skip(now time.Time, cause string) {
	s.attempts = append(s.attempts, Attempt{Target: s.next, Code: 503, Cause: cause, Start: now})
	s.next++
}

// dial begins an attempt.
func (s *Sequence) dial(now time.Time, target int, fork uint16) {
	t := &s.cfg.Targets[target]
	i := len(s.attempts)
	s.attempts = append(s.attempts, Attempt{Target: target, Dialed: true, Fork: fork, Start: now})
	s.live = append(s.live, leg{attempt: i, deadline: now.Add(min(s.cfg.bTimer(t), s.cfg.progress(t)))})
	s.count(t, now)
	s.emitFor(Dial, i, 0, "")
	s.watch()
}

// outOfTime asks before a dial whether max_pdd, or the local part of it, has passed, and ends the local
// list or the call when so.
func (s *Sequence) outOfTime(now time.Time) bool {
	at, reserve := s.pdd()
	switch {
	case at.IsZero() || now.Before(at):
		return false
	case reserve && s.mayHandOff(now):
		s.cut = true
		s.handOff(now)
	default:
		s.fail(503, CausePDD, false)
	}
	return true
}

// fail gives the caller a final of our own.
func (s *Sequence) fail(code int, cause string, definitive bool) {
	s.state = Failed
	s.peerEnd = time.Time{}
	if !definitive && s.accepted && s.cfg.Exhausted != 0 {
		code = s.cfg.Exhausted
	}
	s.emit(Action{Kind: Fail, Attempt: -1, Target: -1, Code: code, Cause: cause, Definitive: definitive})
}

// finish gives the caller the final that follows from all attempts.
func (s *Sequence) finish(definitive bool) {
	exhausted := 0
	if s.accepted {
		exhausted = s.cfg.Exhausted
	}
	f := FinalResponse(s.attempts[s.from:], definitive, exhausted)
	if f.Attempt >= 0 {
		f.Attempt += s.from
	}
	a := Action{Kind: Fail, Attempt: -1, Target: -1, Code: f.Code, Cause: f.Cause, Definitive: f.Definitive}
	if f.AsIs {
		a.Kind, a.Attempt, a.Target = Forward, f.Attempt, s.attempts[f.Attempt].Target
	}
	s.state = Failed
	s.emit(a)
}
