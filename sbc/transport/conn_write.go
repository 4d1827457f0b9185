package transport

import (
	"net"
	"time"
)

// entry is one message on its way.
type entry struct {
	data   []byte
	off    int // bytes of data that have left already
	ref    uint64
	target Target
	branch []byte    // of a request that may be sent again
	at     time.Time // when it was given to the connection
	fresh  bool      // the connection was being dialled for it: no second try
	resent bool      // this is the second try
	pong   bool      // a keep-alive: nobody waits for it
}

// send takes a message: written at once when the socket takes it whole, else queued for the writer goroutine. False when the
// connection has ended. A full queue fails the message, so a peer that does not read costs its own messages only.
func (c *conn) send(e entry) bool {
	c.mu.Lock()
	switch {
	case c.state == connEnded:
		c.mu.Unlock()
		return false
	case len(c.queue) >= c.set.limits.QueueMessages || c.queueBytes+len(e.data) > c.set.limits.QueueBytes:
		c.mu.Unlock()
		if !e.pong {
			c.set.fail(e.ref, e.target, ErrQueueFull)
		}
		return true
	}
	e.fresh = c.state == connOpening
	if c.pooled && !e.pong && e.target.Flow == 0 && expectsAnswer(e.data) {
		e.branch, e.at = BranchOf(e.data), time.Now()
	}
	if c.state != connOpening && !c.writing && c.direct != nil {
		if e.off = c.direct.write(e.data); e.off == len(e.data) {
			c.written(&e)
			if e.branch != nil {
				c.await(e)
			}
			c.mu.Unlock()
			return true
		}
	}
	c.queue = append(c.queue, e)
	c.queueBytes += len(e.data)
	if c.state != connOpening {
		c.startWriter()
	}
	c.mu.Unlock()
	return true
}

// written notes, under mu, that a message has left whole.
func (c *conn) written(e *entry) {
	c.touch()
	if !e.pong {
		c.set.counters.Sent[c.transport].Add(1)
	}
}

// startWriter runs the writer goroutine, under mu, when there is something to write and none runs.
func (c *conn) startWriter() {
	if c.writing || len(c.queue) == 0 {
		return
	}
	c.writing = c.set.spawn(c.write)
}

// write is the writer goroutine: it empties the queue and ends. The deadline of each write bounds how long a peer that does not
// read can hold it.
func (c *conn) write() {
	for {
		e, stream := c.take()
		if stream == nil {
			return
		}
		err := stream.SetWriteDeadline(time.Now().Add(c.set.limits.Write))
		if err == nil {
			_, err = stream.Write(e.data[e.off:])
		}
		if err != nil {
			if isTimeout(err) {
				c.set.counters.Expired.Add(1)
			}
			c.end(err)
			return
		}
		c.mu.Lock()
		c.current = entry{}
		c.queueBytes -= len(e.data)
		c.written(&e)
		c.mu.Unlock()
	}
}

// take gives the writer its next message, a nil stream when there is none. A request is remembered before it is written, since
// its answer may be faster than the writer.
func (c *conn) take() (e entry, stream net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == connEnded || len(c.queue) == 0 {
		c.writing = false
		return entry{}, nil
	}
	e = c.queue[0]
	c.queue[0] = entry{}
	c.queue = c.queue[1:]
	if e.branch != nil {
		c.await(e)
	} else {
		c.current = e
	}
	return e, c.stream
}
