package cdrsink

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

// syslogTarget sends each record as one message of RFC 5424. Syslog confirms nothing: a
// batch counts as sent when the kernel has it. When the connection then turns out to be
// gone, the batch before is sent again with the next one.
type syslogTarget struct {
	cfg    *Config
	node   string
	conn   net.Conn // nil: none
	text   []byte
	before []byte // what was sent last over a stream
}

const (
	// syslogPriority is facility local0, severity informational (RFC 5424 6.2.1).
	syslogPriority = "<134>1 "
	// maxDatagram is what fits into one datagram of UDP, with room for headers.
	maxDatagram = 65_000
	// listenFor is for how long a connection is asked whether it still stands.
	listenFor = 5 * time.Millisecond
)

func newSyslogTarget(cfg *Config, node string) *syslogTarget {
	return &syslogTarget{cfg: cfg, node: node}
}

func (t *syslogTarget) send(ctx context.Context, b *batch) error {
	if t.conn != nil && t.cfg.Transport != "udp" && t.gone() {
		t.close()
	}
	again := t.conn == nil
	if t.conn == nil {
		if err := t.dial(ctx); err != nil {
			return fmt.Errorf("syslog: %w", err)
		}
	}
	deadline, _ := ctx.Deadline()
	err := t.conn.SetDeadline(deadline)
	if err == nil && t.cfg.Transport == "udp" {
		err = t.datagrams(b)
	} else if err == nil {
		err = t.stream(b, again)
	}
	if err != nil {
		t.close()
		return fmt.Errorf("syslog: %w", err)
	}
	return nil
}

func (t *syslogTarget) dial(ctx context.Context) (err error) {
	switch t.cfg.Transport {
	case "tls":
		d := tls.Dialer{Config: t.cfg.TLS}
		t.conn, err = d.DialContext(ctx, "tcp", t.cfg.Address)
	default:
		var d net.Dialer
		t.conn, err = d.DialContext(ctx, t.cfg.Transport, t.cfg.Address)
	}
	if err != nil {
		t.conn = nil // not a typed nil
	}
	return err
}

// gone reports whether the other side has closed the connection.
func (t *syslogTarget) gone() bool {
	var b [512]byte
	if err := t.conn.SetReadDeadline(time.Now().Add(listenFor)); err != nil {
		return true
	}
	_, err := t.conn.Read(b[:])
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// datagrams sends one message per datagram (RFC 5426).
func (t *syslogTarget) datagrams(b *batch) error {
	return b.messages(func(text []byte, at time.Time) error {
		t.text = t.message(t.text[:0], text, at)
		if len(t.text) > maxDatagram {
			t.text = t.text[:maxDatagram] // a receiver takes what fits (RFC 5424 6.1)
		}
		_, err := t.conn.Write(t.text)
		return err
	})
}

// stream sends messages with their length in front (RFC 6587 3.4.1, RFC 5425 4.3).
func (t *syslogTarget) stream(b *batch, again bool) error {
	t.text = t.text[:0]
	if again {
		t.text = append(t.text, t.before...)
	}
	mark := len(t.text)
	var scratch []byte
	_ = b.messages(func(text []byte, at time.Time) error {
		scratch = t.message(scratch[:0], text, at)
		t.text = strconv.AppendInt(t.text, int64(len(scratch)), 10)
		t.text = append(t.text, ' ')
		t.text = append(t.text, scratch...)
		return nil
	})
	if _, err := t.conn.Write(t.text); err != nil {
		return err
	}
	if t.gone() {
		return net.ErrClosed
	}
	t.before = append(t.before[:0], t.text[mark:]...)
	return nil
}

// message writes one message: PRI VERSION TIMESTAMP HOSTNAME APP-NAME PROCID MSGID
// STRUCTURED-DATA MSG (RFC 5424 6).
func (t *syslogTarget) message(dst, text []byte, at time.Time) []byte {
	dst = append(dst, syslogPriority...)
	if at.IsZero() {
		dst = append(dst, '-')
	} else {
		dst = at.UTC().AppendFormat(dst, cdr.TimeLayout)
	}
	dst = append(dst, ' ')
	dst = append(dst, t.node...)
	dst = append(dst, " tandem - cdr - "...)
	if n := len(text); n > 0 && text[n-1] == '\n' {
		text = text[:n-1]
	}
	return append(dst, text...)
}

func (t *syslogTarget) close() {
	if t.conn != nil {
		_ = t.conn.Close() // what counts was written
		t.conn = nil
	}
}
