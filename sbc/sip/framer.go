package sip

import "bytes"

// Framer cuts a byte stream into messages (RFC 3261 18.3). It works at every split of the stream, holds at most one incomplete
// message and the rest of the last Write, and sees line ends and Content-Length exactly as Parse does. The zero value is ready.
// After a Fault the framing is lost: the Framer swallows everything and the stream must close.
type Framer struct {
	buf     []byte
	start   int // of the unread bytes in buf
	scanned int // from start: no blank line begins before here
	need    int // from start: length of the message whose header block is complete; 0 = not known yet
	crlf    int // octets of CRLFCRLF matched between messages
	pings   int
	dead    bool
}

// Write adds bytes from the stream. They are copied.
func (f *Framer) Write(b []byte) {
	if f.dead {
		return
	}
	if f.start == len(f.buf) {
		f.buf, f.start = f.buf[:0], 0
	}
	if f.start > 0 && len(f.buf)+len(b) > cap(f.buf) {
		n := copy(f.buf, f.buf[f.start:])
		f.buf, f.start = f.buf[:n], 0
	}
	f.buf = append(f.buf, b...)
}

// Next returns the next complete message, in memory of its own that the caller may give to Parse; nil without a Fault means
// that more bytes are needed. Call it after each Write until it returns nil.
func (f *Framer) Next() ([]byte, *Fault) {
	if f.dead {
		return nil, nil
	}
	f.skipKeepAlives()
	if f.need == 0 {
		if fault := f.readHeaders(); fault != nil {
			f.dead, f.buf, f.start = true, nil, 0
			return nil, fault
		}
	}
	if f.need == 0 || len(f.buf)-f.start < f.need {
		return nil, nil
	}
	msg := bytes.Clone(f.buf[f.start : f.start+f.need])
	f.start += f.need
	f.need, f.scanned = 0, 0
	if f.start == len(f.buf) {
		f.release()
	}
	return msg, nil
}

// Pings returns how often the peer sent CRLFCRLF between messages since the last call. The transport answers CRLF (RFC 5626
// 3.5.1).
func (f *Framer) Pings() int {
	n := f.pings
	f.pings = 0
	return n
}

// Partial tells whether part of a message is waiting for the rest, for the deadline on incomplete messages.
func (f *Framer) Partial() bool { return !f.dead && f.start < len(f.buf) }

// Abandon is for the moment when the rest of a message did not come in time: the Fault answers it as far as it was understood.
func (f *Framer) Abandon() *Fault {
	fault := f.fault(f.buf[f.start:], 400, "Incomplete Message")
	f.dead, f.buf, f.start = true, nil, 0
	return fault
}

// skipKeepAlives drops CRLFs between messages and counts the pings among them. A CR waits for its LF.
func (f *Framer) skipKeepAlives() {
	if f.need != 0 || f.scanned != 0 {
		return
	}
	b := f.buf[f.start:]
	for len(b) >= 2 && b[0] == '\r' && b[1] == '\n' {
		b = b[2:]
		if f.crlf++; f.crlf == 2 {
			f.pings++
			f.crlf = 0
		}
	}
	f.start = len(f.buf) - len(b)
	if len(b) == 0 {
		f.release()
		return
	}
	if b[0] != '\r' || len(b) > 1 {
		f.crlf = 0
	}
}

// release forgets an empty buffer that has grown, since a connection is idle most of its life.
func (f *Framer) release() {
	f.start, f.buf = 0, f.buf[:0]
	if cap(f.buf) > 4096 {
		f.buf = nil
	}
}

// readHeaders looks for the end of the header block and sets need when it is there.
func (f *Framer) readHeaders() *Fault {
	b := f.buf[f.start:]
	if len(b) == 0 || len(b) == 1 && b[0] == '\r' {
		return nil
	}
	n := bytes.Index(b[f.scanned:], []byte("\r\n\r\n"))
	if n < 0 {
		if f.scanned = max(len(b)-3, 1); len(b) > MaxHeaderBlock {
			return f.fault(b, 513, "Message Too Large")
		}
		return nil
	}
	size := f.scanned + n + 4
	header := b[:size]
	length, count, ok := contentLength(header[:size-2])
	switch {
	case size > MaxHeaderBlock || ok && count == 1 && size+length > MaxMessage:
		return f.fault(header, 513, "Message Too Large")
	case count == 0:
		return f.fault(header, 400, "Missing Content-Length")
	case count > 1:
		return f.fault(header, 400, "Repeated Content-Length")
	case !ok:
		return f.fault(header, 400, "Bad Content-Length")
	}
	f.need = size + length
	return nil
}

// fault answers what stands in b, as far as it can be understood.
func (f *Framer) fault(b []byte, code int, reason string) *Fault {
	m, known := Parse(bytes.Clone(b))
	fault := Fault{Code: code, Reason: reason, Message: m, Close: true}
	switch {
	case known != nil && known.Code == 0:
		fault.Code = 0
	case known != nil:
		fault.Message = known.Message
	case !m.IsRequest() || m.Method() == ACK:
		fault.Code, fault.Message = 0, nil
	}
	return &fault
}

// contentLength reads the Content-Length headers of a header block that ends with the CRLF of its last line. It finds lines as
// Parse does: CRLF not followed by a blank.
func contentLength(header []byte) (length, count int, ok bool) {
	for len(header) > 0 {
		end := 0
		for {
			n := bytes.Index(header[end:], []byte("\r\n"))
			if n < 0 {
				return length, count, ok
			}
			if end += n + 2; end == len(header) || !isBlank(header[end]) {
				break
			}
		}
		line := header[:end-2]
		header = header[end:]
		if c := lower(line0(line)); c != 'l' && c != 'c' {
			continue
		}
		colon := bytes.IndexByte(line, ':')
		if colon < 0 || lookupHeader(trim(line[:colon])) != ContentLength {
			continue
		}
		count++
		n, valid := parseUint(trimFolded(line[colon+1:]), 1<<40)
		length, ok = int(n), valid
	}
	return length, count, ok
}

func line0(line []byte) byte {
	if len(line) == 0 {
		return 0
	}
	return line[0]
}

// trimFolded cuts blanks and folds from both ends.
func trimFolded(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }
