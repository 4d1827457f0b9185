package peers

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/sbc/charging/diameter"
)

const (
	// sweepEvery is how often requests that nobody waits for are given up.
	sweepEvery = 200 * time.Millisecond
	// writeTimeout ends a connection whose other side does not read.
	writeTimeout = 10 * time.Second
)

// serve is the middle of a connection's life: what comes, and what time brings.
func (l *link) serve(ctx context.Context, conn net.Conn, in <-chan diameter.Message, failed <-chan error) error {
	tick := time.NewTicker(min(sweepEvery, l.set.cfg.Watchdog))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
			id := l.set.ID()
			_, _ = conn.Write(diameter.AppendDisconnect(nil, &l.set.cfg.Identity, id, id)) // it is as good as gone
			l.down(nil)
			return nil
		case err := <-failed:
			return err
		case m := <-in:
			if m.Request() && m.Command == diameter.DisconnectPeer { // the last word goes past the queue
				_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
				_, _ = conn.Write(diameter.AppendReply(nil, &l.set.cfg.Identity, &m, charging.ResultSuccess)) // it closes in any case
				return errGoodbye
			}
			l.take(&m)
		case now := <-tick.C:
			if !l.sweep(now) {
				return errors.New("the peer does not answer the watchdog")
			}
		}
	}
}

// take takes one message.
func (l *link) take(m *diameter.Message) {
	l.mu.Lock()
	l.dog.Heard(time.Now(), m.Command == diameter.DeviceWatchdog && !m.Request())
	l.mu.Unlock()
	if m.Request() {
		l.asked(m)
		return
	}
	l.mu.Lock()
	p, ok := l.pending[m.HopByHop]
	if ok = ok && p.answers(m); ok {
		delete(l.pending, m.HopByHop)
		l.answered++
	}
	l.mu.Unlock()
	if ok {
		host, _ := m.Origin()
		p.order.Done(Reply{Answered: true, Answer: diameter.ParseAnswer(m), Host: orText(host, p.host), Sent: true})
	}
}

// answers reports whether a message is the answer to the request: of its kind, and of its
// session where it names one, as it must unless an agent has made it (RFC 6733 6.2). Another
// call's credit is none of this one's.
func (p *pending) answers(m *diameter.Message) bool {
	want := uint32(diameter.Accounting)
	if p.order.Request.Kind.Online() {
		want = diameter.CreditControl
	}
	named := m.Session()
	return m.Command == want && (named == "" || named == p.order.Request.Session)
}

func orText(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// asked answers a request of the peer.
func (l *link) asked(m *diameter.Message) {
	result := uint32(charging.ResultSuccess)
	switch {
	case m.Command == diameter.DeviceWatchdog:
	case m.Command == diameter.ReAuth || m.Command == diameter.AbortSession:
		if !l.set.cfg.Asked(m.Session(), m.Command == diameter.AbortSession) {
			result = charging.ResultUnknownID
		}
	default:
		result = diameter.ResultUnsupported
	}
	l.put(diameter.AppendReply(nil, &l.set.cfg.Identity, m, result)) // a peer that floods us with requests gets none
}

// sweep gives up what nobody waits for, and asks whether the peer lives. It reports false when it
// does not.
func (l *link) sweep(now time.Time) bool {
	l.mu.Lock()
	if l.dog.Expire(now) {
		id := l.set.ID()
		l.put(diameter.AppendWatchdog(nil, &l.set.cfg.Identity, id, id))
	}
	health := l.dog.Health()
	var late []pending
	for hop, p := range l.pending {
		// RFC 3539 3.4: what is out at a peer that is suspect fails over to another one.
		if health != diameter.Okay && health != diameter.Reopened || !p.order.Until.IsZero() && now.After(p.order.Until) {
			late = append(late, p)
			delete(l.pending, hop)
		}
	}
	l.lost += uint64(len(late))
	l.mu.Unlock()
	for _, p := range late {
		p.order.Done(Reply{Host: p.host, Sent: true})
	}
	return health != diameter.Dead
}

// reader reads messages off a stream.
type reader struct {
	conn net.Conn
	b    *bufio.Reader
}

func newReader(c net.Conn) *reader { return &reader{c, bufio.NewReaderSize(c, 16<<10)} }

func (r *reader) next() (diameter.Message, error) {
	head, err := r.b.Peek(4)
	if err != nil {
		return diameter.Message{}, err
	}
	n, err := diameter.Size(head)
	if err != nil {
		return diameter.Message{}, err
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r.b, b); err != nil {
		return diameter.Message{}, err
	}
	return diameter.Parse(b)
}

func (r *reader) run(in chan<- diameter.Message, ended <-chan struct{}) error {
	for {
		m, err := r.next()
		if err != nil {
			return err
		}
		select {
		case in <- m:
		case <-ended:
			return nil
		}
	}
}

func write(conn net.Conn, out <-chan []byte, ended <-chan struct{}) error {
	for {
		select {
		case b := <-out:
			_ = conn.SetWriteDeadline(time.Now().Add(writeTimeout))
			if _, err := conn.Write(b); err != nil {
				return err
			}
		case <-ended:
			return nil
		}
	}
}

func secure(ctx context.Context, conn net.Conn, p Peer) (net.Conn, error) {
	cfg := p.TLS()
	if cfg.ServerName == "" {
		cfg = cfg.Clone()
		cfg.ServerName = p.Host
		if host, _, err := net.SplitHostPort(p.Address); err == nil && cfg.ServerName == "" {
			cfg.ServerName = host
		}
	}
	c := tls.Client(conn, cfg)
	if err := c.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}
