package sip

import "bytes"

// field checks a header line by its id and keeps the facts that routing needs.
func (p *parser) field(f *field) {
	m := p.m
	if f.id < 64 {
		bit := uint64(1) << f.id
		mask := uint64(singletonAlways)
		if m.status == 0 {
			mask |= singletonRequest
		}
		if p.seen&bit&mask != 0 {
			if p.bad("Repeated " + headerNames[f.id]); f.id == ContentLength {
				p.fault.Close = true // two elements could frame this differently (RFC 4475 3.3.9)
			}
			return
		}
		p.seen |= bit
	}
	value := p.b[f.value.off:f.value.end]
	switch f.id {
	case Via:
		p.viaField(f)
	case From, To:
		p.addressField(f)
	case Contact:
		if m.status == 0 {
			p.contactField(f)
		}
	case CallID:
		if m.callID = f.value; f.value.empty() || bytes.ContainsAny(value, " \t") {
			p.bad("Bad Call-ID")
		}
	case CSeq:
		p.cseqField(f, value)
	case ContentLength:
		n, ok := parseUint(value, MaxMessage*16)
		if p.length = int(n); !ok {
			p.unframed("Bad Content-Length")
		}
	case MaxForwards:
		n, ok := parseUint(value, 255)
		if m.maxForwards = int16(n); !ok && m.status == 0 {
			p.bad("Bad Max-Forwards")
		}
	case Expires:
		n, ok := parseUint(value, 1<<32-1)
		p.expires0 = ok && n == 0
	}
}

// viaField checks every value of a Via line and keeps the first one of the message.
func (p *parser) viaField(f *field) {
	b := p.b[:f.value.end]
	for pos := int(f.value.off); ; pos++ { // past the comma
		var x viaIndex
		next, ok := x.scan(b, pos)
		p.viaValues++
		if !ok {
			p.bad("Bad Via")
			return
		}
		if p.viaValues == 1 {
			p.m.via = x
		}
		if pos = next; pos == len(b) {
			return
		}
	}
}

// addressField checks From or To: one address, a URI of any scheme.
func (p *parser) addressField(f *field) {
	reason := "Bad From"
	if f.id == To {
		reason = "Bad To"
	}
	b := p.b[:f.value.end]
	a, next, ok := scanAddr(b, int(f.value.off))
	if !ok || next != len(b) {
		p.bad(reason)
		return
	}
	if _, err := ParseURI(b[a.uriOff:a.uriEnd]); err == ErrURI {
		p.bad(reason)
		return
	}
	if f.id == To {
		p.m.toTag = spanOf(a.tagOff, a.tagEnd)
		p.toOff, p.toEnd = a.uriOff, a.uriEnd
		return
	}
	p.m.fromTag = spanOf(a.tagOff, a.tagEnd)
}

// contactField checks every value of a Contact line of a request.
func (p *parser) contactField(f *field) {
	b := p.b[:f.value.end]
	if string(b[f.value.off:]) == "*" {
		p.star = true
		p.contacts++
		return
	}
	for pos := int(f.value.off); ; pos++ { // past the comma
		a, next, ok := scanAddr(b, pos)
		if ok {
			_, err := ParseURI(b[a.uriOff:a.uriEnd])
			ok = err != ErrURI
		}
		if !ok {
			p.bad("Bad Contact")
			return
		}
		p.contacts++
		if pos = next; pos == len(b) {
			return
		}
	}
}

// cseqField reads number LWS method. The number is below 2^31 (RFC 3261 8.1.1.5).
func (p *parser) cseqField(f *field, value []byte) {
	n := 0
	for n < len(value) && classes[value[n]]&classDigit != 0 {
		n++
	}
	number, ok := parseUint(value[:n], 1<<31-1)
	method := value[skipBlank(value, n):]
	if !ok || len(method) == 0 || len(method)+n == len(value) || !isToken(method) {
		p.bad("Bad CSeq")
		return
	}
	m := p.m
	m.cseq = uint32(number)
	if m.status == 0 {
		if string(method) == m.method {
			m.cseqMethod = m.method
			return
		}
		if !p.known && m.method != "" { // RFC 4475 3.1.2.18: the unknown method weighs more
			p.reject(501, "Not Implemented")
		}
		p.bad("CSeq Method Mismatch")
	}
	m.cseqMethod, _ = internMethod(method)
}

// endOfHeaders sets the body that starts at pos.
func (p *parser) endOfHeaders(pos int) {
	end := len(p.b)
	switch {
	case p.length > end-pos:
		p.unframed("Content-Length Beyond Message")
	case p.length >= 0:
		end = pos + p.length
	}
	if pos > MaxHeaderBlock {
		p.reject(513, "Message Too Large")
		p.fault.Close = true
	}
	p.m.raw = p.b[:end:end]
	p.m.body = spanOf(pos, end)
}

// finish checks what only the whole header block tells.
func (p *parser) finish() {
	const mandatory = 1<<Via | 1<<From | 1<<To | 1<<CallID | 1<<CSeq
	if missing := mandatory &^ p.seen; missing != 0 && !p.faulty {
		p.bad(missingReason(missing))
	}
	if p.m.status != 0 {
		if p.viaValues > 1 { // RFC 3261 8.1.3.3: not meant for us, a user agent
			p.bad("Several Via In Response")
		}
		return
	}
	if p.star && (p.m.method != REGISTER || p.contacts > 1 || !p.expires0) { // RFC 3261 10.2.2
		p.bad("Bad Contact")
	}
	if p.m.method == REGISTER && p.toEnd > 0 { // RFC 3261 10.2: the address-of-record is a SIP or SIPS URI
		if u, err := ParseURI(p.b[p.toOff:p.toEnd]); err != nil || u.Scheme == "tel" {
			p.bad("Bad To")
		}
	}
}

// missingReason names the mandatory headers that are missing.
func missingReason(missing uint64) string {
	reason := "Missing "
	for id := Via; id < 64; id++ {
		if missing&(1<<id) == 0 {
			continue
		}
		if len(reason) > len("Missing ") {
			reason += ", "
		}
		reason += headerNames[id]
	}
	return reason
}
