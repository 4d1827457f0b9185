package front

import (
	"bytes"
	"strconv"
	"time"
)

// Call is what the front saw of one call.
type Call struct {
	CallID string
	// Nodes are the nodes that it was sent to, in order.
	Nodes []string
	// Started is when its first datagram came; Answered when its INVITE got 2xx,
	// zero when it did not.
	Started, Answered time.Time
	// Code is the last final response to its INVITE, 0 when there was none.
	Code int
}

// Calls returns what was seen of all calls, in the order in which they began.
func (f *Front) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]Call, len(f.order))
	for i, c := range f.order {
		list[i] = c.Call
	}
	return list
}

// note takes a message of a node.
func (c *call) note(m message, now time.Time) {
	if m.code < 200 || !m.invite {
		return
	}
	c.Code = m.code
	if m.code < 300 && c.Answered.IsZero() {
		c.Answered = now
	}
}

// message is what the front reads of a datagram.
type message struct {
	callID string
	code   int  // 0 for a request
	invite bool // of an INVITE transaction
}

// read reads a datagram; false when it is no SIP message with a Call-ID.
func read(b []byte) (m message, ok bool) {
	if rest, found := bytes.CutPrefix(b, []byte("SIP/2.0 ")); found && len(rest) >= 3 {
		code, err := strconv.Atoi(string(rest[:3]))
		if err != nil {
			return m, false
		}
		m.code = code
	}
	for line := range bytes.Lines(b) {
		name, value, found := bytes.Cut(line, []byte(":"))
		switch value = bytes.TrimSpace(value); {
		case len(bytes.TrimSpace(line)) == 0:
			return m, m.callID != ""
		case !found:
		case bytes.EqualFold(name, []byte("Call-ID")), bytes.EqualFold(name, []byte("i")):
			m.callID = string(value)
		case bytes.EqualFold(name, []byte("CSeq")):
			m.invite = bytes.HasSuffix(value, []byte(" INVITE"))
		}
	}
	return m, m.callID != ""
}
