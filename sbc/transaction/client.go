package transaction

import "time"

// Client is a client transaction: one request that we sent, by its branch. The zero value waits for
// Start.
type Client struct {
	clock
	timers    *Timers
	state     State
	invite    bool
	reliable  bool
	abandoned bool
}

// Start sends the request: Send. Timers must stay valid and unchanged for the life of the machine.
func (c *Client) Start(now time.Time, t *Timers, invite, reliable bool) Do {
	*c = Client{clock: clock{start: now}, timers: t, invite: invite, reliable: reliable}
	c.state = Trying
	if invite {
		c.state = Calling
	}
	if !reliable {
		c.repeatEvery(now, t.T1) // timer A or E
	}
	c.end = c.after(now, t.Life()) // timer B or F
	return Send
}

// State returns the state of the machine.
func (c *Client) State() State { return c.state }

// Deadline is when Expire must be called next, zero for never.
func (c *Client) Deadline() time.Time { return c.next() }

// Receive takes a response with this status code and says whether the transaction user sees it (Pass)
// and whether it is acknowledged here (Ack).
func (c *Client) Receive(now time.Time, code int) Do {
	if c.invite {
		return c.receiveInvite(now, code)
	}
	return c.receiveOther(now, code)
}

func (c *Client) receiveInvite(now time.Time, code int) Do {
	switch c.state {
	case Calling, Proceeding:
		switch {
		case code < 200:
			c.provisional(now)
			return Pass
		case code < 300:
			// RFC 6026 section 7.2: the machine stays for timer M, so that a 2xx of another branch or a
			// repeated one still finds its transaction.
			c.enter(Accepted, c.after(now, c.timers.Life()))
			return Pass
		}
		if c.reliable { // timer D is zero
			return c.terminate() | Pass | Ack
		}
		c.enter(Completed, c.after(now, c.timers.timerD()))
		return Pass | Ack
	case Accepted:
		// RFC 6026 section 7.2: "Any 2xx responses that match this client transaction and that are
		// received while in the 'Accepted' state MUST be passed to the TU."
		if code >= 200 && code < 300 {
			return Pass
		}
	case Completed:
		if code >= 300 {
			return Ack
		}
		// A forking proxy forwards a 2xx even after a failure (RFC 3261 section 16.7 step 5); unseen, it
		// would leave a call up at the far end that nobody ends.
		if code >= 200 {
			return Pass
		}
	}
	return 0
}

func (c *Client) receiveOther(now time.Time, code int) Do {
	switch c.state {
	case Trying, Proceeding:
		if code < 200 {
			// RFC 3261 section 17.1.2.2: the running timer E is kept; its next interval is T2. Timer F goes on.
			c.state = Proceeding
			return Pass
		}
		if c.reliable { // timer K is zero
			return c.terminate() | Pass
		}
		c.enter(Completed, c.after(now, c.timers.T4))
		return Pass
	}
	return 0
}

// provisional ends the repetition and timer B of an INVITE. An INVITE that was given up while nothing
// had come is waited for anew: its CANCEL can be sent only now.
func (c *Client) provisional(now time.Time) {
	if c.state == Proceeding {
		return
	}
	c.enter(Proceeding, off)
	if c.abandoned {
		c.end = c.after(now, c.timers.Life())
	}
}

// StopRepeating gives up an INVITE that had no response yet (DEC-02): nothing is sent again, but the
// machine stays until 64*T1 after its start, so that a late response still finds it.
func (c *Client) StopRepeating() {
	c.abandoned = true
	c.repeat = off
}

// Cancelled says that a CANCEL was sent for this INVITE. RFC 3261 section 9.1: without a final response
// in 64*T1 from then the transaction counts as cancelled and ends, with Timeout.
func (c *Client) Cancelled(now time.Time) {
	if c.invite && c.state == Proceeding {
		c.end = c.after(now, c.timers.Life())
	}
}

// Failed says that the transport could not send. It ends the machine (Done) where RFC 3261 figures 5
// and 6 say so; elsewhere nothing was being sent and the error, about an earlier repeat, is ignored.
func (c *Client) Failed(time.Time) Do {
	switch c.state {
	case Calling, Trying:
		return c.terminate()
	case Proceeding:
		if !c.invite {
			return c.terminate()
		}
	case Completed:
		if c.invite { // the ACK could not be sent
			return c.terminate()
		}
	}
	return 0
}

// Expire fires the timers that are due.
func (c *Client) Expire(now time.Time) Do {
	if c.due(c.end, now) {
		switch c.state {
		case Calling, Trying, Proceeding: // timers B and F, or the wait after a CANCEL
			return c.terminate() | Timeout
		default: // timers D, K and M
			return c.terminate()
		}
	}
	if !c.due(c.repeat, now) {
		return 0
	}
	switch {
	case c.invite: // timer A doubles without a limit
		c.repeated(now, 0)
	case c.state == Proceeding: // timer E at T2
		c.repeatEvery(now, c.timers.T2)
	default:
		c.repeated(now, c.timers.T2)
	}
	return Send
}

func (c *Client) enter(s State, end alarm) {
	c.state, c.repeat, c.end = s, off, end
}

func (c *Client) terminate() Do {
	c.enter(Terminated, off)
	return Done
}
