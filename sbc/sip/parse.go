package sip

import "bytes"

// Limits of the gate. They bound the work that one message can cause.
const (
	MaxMessage     = 65535     // bytes of a whole message
	MaxHeaderBlock = 16 * 1024 // bytes of start line and headers together
	MaxHeaders     = 128       // header lines
)

// parser is the state of one Parse call; it lives on the stack.
type parser struct {
	m         *Message
	b         []byte
	fault     Fault
	faulty    bool
	known     bool   // the request method is one of ours
	seen      uint64 // singletons met so far, by id
	length    int    // Content-Length, -1 = absent
	toOff     int    // To URI, for the REGISTER rule
	toEnd     int
	star      bool // Contact: *
	contacts  int
	expires0  bool // Expires: 0
	viaValues int
}

// Parse reads one message: a datagram, or what a Framer cut from a stream. It is the gate and the index in one pass over the header
// block, linear in its size, and allocates the Message only. It keeps b and replaces folds in it by blanks: the caller gives b up.
//
// A nil Fault means that the message is well-formed: one start line of SIP/2.0, one of each singleton header, all mandatory
// headers (RFC 3261 8.1.1 without Max-Forwards, which RFC 2543 peers lack), valid Via, From, To, CSeq and Contact, no stray
// control character. Octets behind Content-Length are cut (18.3). A faulty response or ACK is never answered: Code 0.
func Parse(b []byte) (*Message, *Fault) {
	if len(b) > MaxMessage {
		return nil, &Fault{Reason: "Message Too Large", Close: true}
	}
	m := &Message{raw: b, maxForwards: -1}
	m.fields = m.inline[:0]
	p := parser{m: m, b: b, length: -1}
	pos := 0
	for pos+1 < len(b) && b[pos] == '\r' && b[pos+1] == '\n' { // RFC 3261 7.5
		pos += 2
	}
	pos = p.startLine(pos)
	for pos >= 0 {
		pos = p.headerLine(pos)
	}
	p.finish()
	if p.faulty {
		return nil, p.verdict()
	}
	return m, nil
}

// reject notes the first defect.
func (p *parser) reject(code int, reason string) {
	if !p.faulty {
		p.faulty = true
		p.fault.Code, p.fault.Reason = code, reason
	}
}

// bad notes a plain 400.
func (p *parser) bad(reason string) { p.reject(400, reason) }

// unframed notes a 400 after which a stream cannot be trusted.
func (p *parser) unframed(reason string) {
	p.bad(reason)
	p.fault.Close = true
}

// verdict builds the Fault: silence for what must not or cannot be answered.
func (p *parser) verdict() *Fault {
	f := p.fault
	m := p.m
	if m.status != 0 || m.method == "" || m.method == ACK || !m.Has(Via) {
		f.Code = 0
		return &f
	}
	f.Message = m
	return &f
}

// startLine reads the request or status line and returns the position behind it, -1 when there is none.
func (p *parser) startLine(pos int) (next int) {
	b := p.b
	n := bytes.IndexByte(b[pos:], '\n')
	if n < 0 || n > MaxHeaderBlock {
		p.unframed("Bad Start Line")
		return -1
	}
	next = pos + n + 1
	end := next - 1
	if end == pos || b[end-1] != '\r' {
		p.unframed("Bare LF In Start Line")
	} else {
		end--
	}
	line := b[pos:end]
	if hasControl(line) {
		p.unframed("Control Character In Start Line")
	}
	if len(line) > 4 && equalFold(line[:4], "SIP/") {
		p.statusLine(pos, end)
		return next
	}
	p.requestLine(pos, end)
	return next
}

// requestLine reads Method SP Request-URI SP SIP-Version (RFC 3261 7.1): single spaces and nothing else.
func (p *parser) requestLine(pos, end int) {
	line := p.b[pos:end]
	first, last := bytes.IndexByte(line, ' '), bytes.LastIndexByte(line, ' ')
	if first < 1 || !isToken(line[:first]) {
		p.bad("Bad Request Line")
		return
	}
	p.m.method, p.known = internMethod(line[:first])
	if last <= first {
		p.bad("Bad Request Line")
		return
	}
	version := line[last+1:]
	uri := line[first+1 : last]
	p.m.uri = spanOf(pos+first+1, pos+last)
	if !equalFold(version, "SIP/2.0") {
		if len(version) > 4 && equalFold(version[:4], "SIP/") && all(version[4:], classHost) {
			p.reject(505, "Version Not Supported")
			return
		}
		p.bad("Bad Request Line")
		return
	}
	u, err := ParseURI(uri)
	switch {
	case err == ErrScheme:
		p.reject(416, "Unsupported URI Scheme")
	case err != nil:
		p.bad("Bad Request-URI")
	case len(u.Headers) > 0:
		p.bad("Headers In Request-URI")
	}
}

// statusLine reads SIP-Version SP Status-Code SP Reason-Phrase (RFC 3261 7.2). A missing last SP is forgiven.
func (p *parser) statusLine(pos, end int) {
	const prefix = len("SIP/2.0 ")
	line := p.b[pos:end]
	p.m.status = 1 // a response, whatever is wrong with it: never answered
	if len(line) < prefix+3 || !equalFold(line[:prefix], "SIP/2.0 ") {
		p.bad("Bad Status Line")
		return
	}
	code, ok := parseUint(line[prefix:prefix+3], 699)
	reason := prefix + 3
	if reason < len(line) {
		ok = ok && line[reason] == ' '
		reason++
	}
	if !ok || code < 100 {
		p.bad("Bad Status Code")
		return
	}
	p.m.status = uint16(code)
	p.m.uri = spanOf(pos+reason, end)
}

// headerLine indexes the header line at pos and returns the position of the next one, -1 behind the blank line or a defect that
// hides where lines end.
func (p *parser) headerLine(pos int) (next int) {
	b := p.b
	if pos+1 < len(b) && b[pos] == '\r' && b[pos+1] == '\n' {
		p.endOfHeaders(pos + 2)
		return -1
	}
	end := p.lineEnd(pos)
	switch {
	case end < 0:
		p.unframed("Incomplete Header Block")
		return -1
	case end > MaxHeaderBlock:
		p.reject(513, "Message Too Large")
		p.fault.Close = true
		return -1
	case len(p.m.fields) == MaxHeaders:
		p.unframed("Too Many Headers")
		return -1
	}
	next = end + 2
	colon := bytes.IndexByte(b[pos:end], ':')
	if colon < 1 || isBlank(b[pos]) {
		p.bad("Bad Header Line")
		return next
	}
	nameEnd := pos + colon
	valueOff, valueEnd := nameEnd+1, end
	for isBlank(b[nameEnd-1]) { // "TO :" is the same header as "To:" (RFC 3261 7.3.1 HCOLON)
		nameEnd--
	}
	for valueOff < end && isBlank(b[valueOff]) {
		valueOff++
	}
	for valueEnd > valueOff && isBlank(b[valueEnd-1]) {
		valueEnd--
	}
	f := field{name: spanOf(pos, nameEnd), value: spanOf(valueOff, valueEnd), id: lookupHeader(b[pos:nameEnd])}
	if f.id == Other && !isToken(b[pos:nameEnd]) {
		p.bad("Bad Header Name")
		return next
	}
	if hasControl(b[valueOff:valueEnd]) {
		if bad, bare := badControl(b[valueOff:valueEnd]); bare {
			p.unframed("Bare CR Or LF In Header")
		} else if bad {
			p.bad("Control Character In Header")
		}
	}
	p.m.fields = append(p.m.fields, f)
	p.field(&f)
	return next
}

// lineEnd returns the position of the CRLF that ends the header line at pos, folds replaced by blanks on the way; -1 when there
// is none. A bare LF ends nothing: badControl finds it inside the line.
func (p *parser) lineEnd(pos int) int {
	b := p.b
	from := pos
	for from-pos <= MaxHeaderBlock {
		n := bytes.IndexByte(b[from:], '\n')
		if n < 0 {
			return -1
		}
		lf := from + n
		from = lf + 1
		if lf == pos || b[lf-1] != '\r' {
			continue
		}
		if from < len(b) && isBlank(b[from]) { // RFC 3261 7.3.1: a fold is one blank
			b[lf-1], b[lf] = ' ', ' '
			continue
		}
		return lf - 1
	}
	return MaxHeaderBlock + 1
}
