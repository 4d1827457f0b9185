package sip

import "bytes"

// The methods that Tandem knows. A Message's method is one of these constants, or for an extension its own bytes: methods are
// case-sensitive (RFC 3261 7.1) and are never changed.
const (
	INVITE    = "INVITE"
	ACK       = "ACK"
	BYE       = "BYE"
	CANCEL    = "CANCEL"
	OPTIONS   = "OPTIONS"
	REGISTER  = "REGISTER"
	PRACK     = "PRACK"
	UPDATE    = "UPDATE"
	INFO      = "INFO"
	SUBSCRIBE = "SUBSCRIBE"
	NOTIFY    = "NOTIFY"
	MESSAGE   = "MESSAGE"
	REFER     = "REFER"
	PUBLISH   = "PUBLISH"
)

// internMethod returns the constant for a known method without allocating; known is false for extensions.
func internMethod(b []byte) (method string, known bool) {
	switch string(b) {
	case INVITE:
		return INVITE, true
	case ACK:
		return ACK, true
	case BYE:
		return BYE, true
	case CANCEL:
		return CANCEL, true
	case OPTIONS:
		return OPTIONS, true
	case REGISTER:
		return REGISTER, true
	case PRACK:
		return PRACK, true
	case UPDATE:
		return UPDATE, true
	case INFO:
		return INFO, true
	case SUBSCRIBE:
		return SUBSCRIBE, true
	case NOTIFY:
		return NOTIFY, true
	case MESSAGE:
		return MESSAGE, true
	case REFER:
		return REFER, true
	case PUBLISH:
		return PUBLISH, true
	}
	return string(b), false
}

// Kind says what a message is that was built here: the method of a request, with code 0, or the status code of a response and the
// method in its CSeq. It allocates for the method of an extension only.
func Kind(raw []byte) (method string, code int) {
	rest, response := bytes.CutPrefix(raw, []byte("SIP/2.0 "))
	if !response {
		word, _, _ := bytes.Cut(raw, []byte(" "))
		method, _ = internMethod(word)
		return method, 0
	}
	for _, c := range rest[:min(3, len(rest))] {
		code = 10*code + int(c-'0')
	}
	_, rest, _ = bytes.Cut(rest, []byte("\r\nCSeq: "))
	line, _, _ := bytes.Cut(rest, []byte("\r\n"))
	_, word, _ := bytes.Cut(line, []byte(" "))
	method, _ = internMethod(word)
	return method, code
}
