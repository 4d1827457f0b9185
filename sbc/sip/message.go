package sip

// span is a range of Message.raw. 16 bits hold every offset since no message is longer than MaxMessage.
type span struct{ off, end uint16 }

func (s span) of(b []byte) []byte { return b[s.off:s.end:s.end] }
func (s span) empty() bool        { return s.off == s.end }

func spanOf(off, end int) span { return span{uint16(off), uint16(end)} }

// field is one header line.
type field struct {
	name, value span
	id          HeaderID
}

// inlineFields is the number of header lines that a Message holds without a second allocation: an INVITE of a carrier with
// a few Via and Record-Route lines fits.
const inlineFields = 22

// Message is a parsed request or response: a view of the bytes it came in. It is immutable after Parse and may be read by
// several goroutines. Slices that its methods return are parts of Raw and must not be changed.
type Message struct {
	raw         []byte
	method      string // of a request; empty for a response
	cseqMethod  string
	fields      []field
	cseq        uint32
	status      uint16
	maxForwards int16
	uri         span // Request-URI, or the reason phrase of a response
	body        span
	callID      span
	fromTag     span
	toTag       span
	via         viaIndex
	inline      [inlineFields]field
}

// Header is one header line as Each shows it. Value is unfolded and trimmed; it may be a comma list.
type Header struct {
	ID          HeaderID
	Name, Value []byte
}

// Raw returns the message as it came, folds replaced by blanks, without octets behind the body.
func (m *Message) Raw() []byte { return m.raw }

// IsRequest tells requests from responses.
func (m *Message) IsRequest() bool { return m.status == 0 }

// Method returns the request method, a constant of this package for the known ones; empty for a response.
func (m *Message) Method() string { return m.method }

// RequestURI returns the Request-URI of a request, nil for a response.
func (m *Message) RequestURI() []byte {
	if m.status != 0 {
		return nil
	}
	return m.uri.of(m.raw)
}

// Status returns the status code of a response, 0 for a request.
func (m *Message) Status() int { return int(m.status) }

// Reason returns the reason phrase of a response, nil for a request.
func (m *Message) Reason() []byte {
	if m.status == 0 {
		return nil
	}
	return m.uri.of(m.raw)
}

// Body returns the body: Content-Length bytes, or the rest of a datagram without that header.
func (m *Message) Body() []byte { return m.body.of(m.raw) }

// CallID returns the Call-ID.
func (m *Message) CallID() []byte { return m.callID.of(m.raw) }

// CSeq returns the CSeq number.
func (m *Message) CSeq() uint32 { return m.cseq }

// CSeqMethod returns the CSeq method; for a request it equals Method.
func (m *Message) CSeqMethod() string { return m.cseqMethod }

// FromTag returns the From tag, empty when absent (RFC 2543 peers).
func (m *Message) FromTag() []byte { return m.fromTag.of(m.raw) }

// ToTag returns the To tag, empty outside a dialog.
func (m *Message) ToTag() []byte { return m.toTag.of(m.raw) }

// MaxForwards returns the Max-Forwards value 0..255, -1 when the header is absent.
func (m *Message) MaxForwards() int { return int(m.maxForwards) }

// TopVia returns the first Via hop.
func (m *Message) TopVia() ViaHop { return m.via.hop(m.raw) }

// Branch returns the branch of the first Via, empty when absent. Only one longer than MagicCookie identifies a transaction.
func (m *Message) Branch() []byte { return m.via.branch.of(m.raw) }

// Header returns the value of the first header line with this id, nil when absent. Of a comma list of hops or addresses (Via,
// Contact, Route, Record-Route, Path, Service-Route, P-Asserted-Identity, P-Preferred-Identity, Diversion, History-Info) it is the
// first element; of other headers the whole line.
func (m *Message) Header(id HeaderID) []byte {
	for i := range m.fields {
		if f := &m.fields[i]; f.id == id {
			value := f.value.of(m.raw)
			if isAddressList(id) {
				element, _ := cutElement(value)
				return element
			}
			return value
		}
	}
	return nil
}

// Has tells whether a header line with this id is present.
func (m *Message) Has(id HeaderID) bool {
	for i := range m.fields {
		if m.fields[i].id == id {
			return true
		}
	}
	return false
}

// Count returns the number of header lines with this id.
func (m *Message) Count(id HeaderID) (n int) {
	for i := range m.fields {
		if m.fields[i].id == id {
			n++
		}
	}
	return n
}

// Each calls fn for every header line in order until it returns false.
func (m *Message) Each(fn func(h Header) bool) {
	for i := range m.fields {
		f := &m.fields[i]
		if !fn(Header{ID: f.id, Name: f.name.of(m.raw), Value: f.value.of(m.raw)}) {
			return
		}
	}
}

// EachOf calls fn for every value of the header, in order, until it returns false. Comma lists are split for the headers whose
// grammar is a list (RFC 3261 7.3.1); challenges, credentials, dates and free text come whole.
func (m *Message) EachOf(id HeaderID, fn func(value []byte) bool) {
	for i := range m.fields {
		f := &m.fields[i]
		if f.id != id {
			continue
		}
		value := f.value.of(m.raw)
		if !isList(id) {
			if !fn(value) {
				return
			}
			continue
		}
		if !eachValue(value, fn) {
			return
		}
	}
}

// EachNamed calls fn for every value line of a header that has no id of its own; name is in any case.
func (m *Message) EachNamed(name string, fn func(value []byte) bool) {
	for i := range m.fields {
		f := &m.fields[i]
		if f.id == Other && equalFold(f.name.of(m.raw), name) && !fn(f.value.of(m.raw)) {
			return
		}
	}
}

// HasOption tells whether a list of tokens (Supported, Require, Allow ...) holds the token; option tags compare without case.
func (m *Message) HasOption(id HeaderID, option string) (found bool) {
	m.EachOf(id, func(value []byte) bool {
		found = equalFold(value, option)
		return !found
	})
	return found
}
