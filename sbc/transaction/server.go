package transaction

import "time"

// Server is a server transaction: one request that we received, by its branch. The zero value waits
// for Start.
type Server struct {
	clock
	timers    *Timers
	state     State
	invite    bool
	reliable  bool
	responded bool
}

// Start takes the first copy of the request. Timers must stay valid and unchanged for the life of the
// machine. The 100 to an INVITE is the caller's to send, by Respond.
func (s *Server) Start(now time.Time, t *Timers, invite, reliable bool) {
	*s = Server{clock: clock{start: now}, timers: t, invite: invite, reliable: reliable}
	s.state = Trying
	if invite {
		s.state = Proceeding
	}
}

// State returns the state of the machine.
func (s *Server) State() State { return s.state }

// Deadline is when Expire must be called next, zero for never.
func (s *Server) Deadline() time.Time { return s.next() }

// Repeat takes another copy of the request. The last response is sent again (Send) where the state
// asks for it; else the copy is absorbed. In Accepted the core repeats its 2xx by itself (type Answer)
// and a copy changes nothing (RFC 6026 section 7.1).
func (s *Server) Repeat(time.Time) Do {
	if s.responded && (s.state == Proceeding || s.state == Completed) {
		return Send
	}
	return 0
}

// Respond takes a response of the transaction user: Send when it may go out, 0 when the state forbids
// it, as a second final response.
func (s *Server) Respond(now time.Time, code int) Do {
	switch s.state {
	case Trying, Proceeding:
		s.responded = true
		switch {
		case code < 200:
			s.state = Proceeding
			return Send
		case s.invite && code < 300:
			s.enter(Accepted, s.after(now, s.timers.Life())) // timer L
			return Send
		case s.invite:
			s.enter(Completed, s.after(now, s.timers.Life())) // timer H
			if !s.reliable {
				s.repeatEvery(now, s.timers.T1) // timer G
			}
			return Send
		}
		if s.reliable { // timer J is zero
			return s.terminate() | Send
		}
		s.enter(Completed, s.after(now, s.timers.Life()))
		return Send
	case Accepted:
		// RFC 6026 section 7.1: a further 2xx of the core is passed to the transport.
		if code >= 200 && code < 300 {
			return Send
		}
	}
	return 0
}

// Ack takes an ACK that matches the INVITE: of a failure it ends the repetition, of a 2xx it is passed
// to the core (RFC 6026 section 7.1).
func (s *Server) Ack(now time.Time) Do {
	switch {
	case !s.invite:
		return 0
	case s.state == Accepted:
		return Pass
	case s.state != Completed:
		return 0
	case s.reliable: // timer I is zero
		return s.terminate()
	}
	s.enter(Confirmed, s.after(now, s.timers.T4))
	return 0
}

// Expire fires the timers that are due.
func (s *Server) Expire(now time.Time) Do {
	if s.due(s.end, now) {
		if s.invite && s.state == Completed { // timer H: no ACK came
			return s.terminate() | Timeout
		}
		return s.terminate() // timers I, J and L
	}
	if s.due(s.repeat, now) { // timer G
		s.repeated(now, s.timers.T2)
		return Send
	}
	return 0
}

func (s *Server) enter(state State, end alarm) {
	s.state, s.repeat, s.end = state, off, end
}

func (s *Server) terminate() Do {
	s.enter(Terminated, off)
	return Done
}
