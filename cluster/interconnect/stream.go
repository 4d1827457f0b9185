package interconnect

import (
	"net"
	"sync"
	"time"
)

// stream is the writing half of a connection to a peer. Callers append frames to
// a buffer under a lock that is held for one copy; one goroutine takes the whole
// buffer and writes it with one call. So a lone frame leaves at once and many
// frames that come during a write leave together.
type stream struct {
	conn  net.Conn
	limit int // octets that may wait

	mu     sync.Mutex
	urgent []byte // heartbeats: ahead of everything that waits
	queue  []byte
	closed bool
	// finishing: another stream has taken the place of this one; what waits is written, nothing is added.
	finishing bool

	wake chan struct{} // one token: something waits
	done chan struct{} // closed when the stream is broken or closed
}

func newStream(conn net.Conn, limit int) *stream {
	return &stream{conn: conn, limit: limit, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// send queues one frame and never blocks. False: closed, or the queue is full.
func (s *stream) send(kind byte, payload []byte) bool {
	s.mu.Lock()
	if s.closed || s.finishing || len(s.queue)+frameHeader+len(payload) > s.limit {
		s.mu.Unlock()
		return false
	}
	s.queue = appendFrame(s.queue, kind, payload)
	s.mu.Unlock()
	s.poke()
	return true
}

// beat queues a heartbeat ahead of the other frames.
func (s *stream) beat(kind byte, b beat) {
	var buf [beatLength]byte
	s.mu.Lock()
	if !s.closed && len(s.urgent) < 64*(frameHeader+beatLength) {
		s.urgent = appendFrame(s.urgent, kind, b.append(buf[:0]))
	}
	s.mu.Unlock()
	s.poke()
}

func (s *stream) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// writeLoop writes what is queued until the stream is closed or breaks.
func (s *stream) writeLoop() {
	defer s.close()
	var urgent, queue []byte
	for {
		select {
		case <-s.done:
			return
		case <-s.wake:
		}
		s.mu.Lock()
		s.urgent, urgent = urgent, s.urgent
		s.queue, queue = recycle(queue), s.queue
		last := s.finishing
		s.mu.Unlock()
		out := queue
		if len(urgent) > 0 { // one write, and with TLS one record, for both
			urgent = append(urgent, queue...)
			out = urgent
		}
		if err := s.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return
		}
		if len(out) > 0 {
			if _, err := s.conn.Write(out); err != nil {
				return
			}
		}
		urgent = recycle(urgent)
		if last {
			s.endWriting()
			return
		}
	}
}

// endWriting tells the other side that nothing more comes, and waits until it has read all and closes.
func (s *stream) endWriting() {
	if half, ok := s.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		<-s.done
	}
}

// recycle returns b emptied for the next round, or nothing when a burst made it
// so large that keeping it would waste memory.
func recycle(b []byte) []byte {
	const keep = 256 << 10
	if cap(b) > keep {
		return nil
	}
	return b[:0]
}

// close ends the stream; frames that wait are lost. It may be called repeatedly.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	close(s.done)
	// A reset or a broken pipe while closing tells nothing new.
	_ = s.conn.Close()
}
