package sip

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
