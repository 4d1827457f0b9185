package sip

import (
	"strings"
	"unicode/utf8"
)

// HeaderID names a header field without a string. Compact forms and every spelling map to the same id.
type HeaderID uint8

// The headers that Tandem knows. Other stands for the rest, which keep their own name.
const (
	Other HeaderID = iota
	Via
	From
	To
	CallID
	CSeq
	MaxForwards
	Contact
	Route
	RecordRoute
	ContentLength
	ContentType
	ContentEncoding
	Authorization
	ProxyAuthorization
	WWWAuthenticate
	ProxyAuthenticate
	AuthenticationInfo
	Supported
	Require
	ProxyRequire
	Unsupported
	Allow
	AllowEvents
	Accept
	AcceptEncoding
	AcceptLanguage
	RSeq
	RAck
	SessionExpires
	MinSE
	Expires
	MinExpires
	UserAgent
	Server
	RetryAfter
	Reason
	Warning
	PAssertedIdentity
	PPreferredIdentity
	RemotePartyID
	PChargingVector
	Privacy
	Identity
	Diversion
	HistoryInfo
	Date
	Timestamp
	Subject
	Organization
	AlertInfo
	CallInfo
	Event
	SubscriptionState
	Replaces
	Join
	ReferTo
	ReferredBy
	Path
	ServiceRoute
	InReplyTo
	ErrorInfo
	Handoff  // X-Tandem-Handoff, our own
	Attempts // X-Tandem-Attempts, our own
	headerCount
)

// headerNames holds the canonical spelling by id.
var headerNames = [headerCount]string{
	Via: "Via", From: "From", To: "To", CallID: "Call-ID", CSeq: "CSeq", MaxForwards: "Max-Forwards",
	Contact: "Contact", Route: "Route", RecordRoute: "Record-Route",
	ContentLength: "Content-Length", ContentType: "Content-Type", ContentEncoding: "Content-Encoding",
	Authorization: "Authorization", ProxyAuthorization: "Proxy-Authorization",
	WWWAuthenticate: "WWW-Authenticate", ProxyAuthenticate: "Proxy-Authenticate", AuthenticationInfo: "Authentication-Info",
	Supported: "Supported", Require: "Require", ProxyRequire: "Proxy-Require", Unsupported: "Unsupported",
	Allow: "Allow", AllowEvents: "Allow-Events",
	Accept: "Accept", AcceptEncoding: "Accept-Encoding", AcceptLanguage: "Accept-Language",
	RSeq: "RSeq", RAck: "RAck", SessionExpires: "Session-Expires", MinSE: "Min-SE",
	Expires: "Expires", MinExpires: "Min-Expires",
	UserAgent: "User-Agent", Server: "Server", RetryAfter: "Retry-After", Reason: "Reason", Warning: "Warning",
	PAssertedIdentity: "P-Asserted-Identity", PPreferredIdentity: "P-Preferred-Identity",
	RemotePartyID: "Remote-Party-ID", PChargingVector: "P-Charging-Vector", Privacy: "Privacy",
	Identity: "Identity", Diversion: "Diversion", HistoryInfo: "History-Info",
	Date: "Date", Timestamp: "Timestamp", Subject: "Subject", Organization: "Organization",
	AlertInfo: "Alert-Info", CallInfo: "Call-Info",
	Event: "Event", SubscriptionState: "Subscription-State",
	Replaces: "Replaces", Join: "Join", ReferTo: "Refer-To", ReferredBy: "Referred-By",
	Path: "Path", ServiceRoute: "Service-Route", InReplyTo: "In-Reply-To", ErrorInfo: "Error-Info",
	Handoff: "X-Tandem-Handoff", Attempts: "X-Tandem-Attempts",
}

// String returns the canonical header name, or "" for Other.
func (id HeaderID) String() string {
	if id < headerCount {
		return headerNames[id]
	}
	return ""
}

// compactIDs maps the one-letter forms (RFC 3261 7.3.3 and the IANA registry) to ids, indexed by the lower-case letter.
var compactIDs = [26]HeaderID{
	'a' - 'a': Other, // Accept-Contact: no meaning here
	'b' - 'a': ReferredBy,
	'c' - 'a': ContentType,
	'e' - 'a': ContentEncoding,
	'f' - 'a': From,
	'i' - 'a': CallID,
	'k' - 'a': Supported,
	'l' - 'a': ContentLength,
	'm' - 'a': Contact,
	'o' - 'a': Event,
	'r' - 'a': ReferTo,
	's' - 'a': Subject,
	't' - 'a': To,
	'u' - 'a': AllowEvents,
	'v' - 'a': Via,
	'x' - 'a': SessionExpires,
	'y' - 'a': Identity,
}

// longestName bounds the names worth a lookup; longer ones are Other.
const longestName = 24

// headersByLength groups the ids by the length of their name, so that a lookup compares a handful of names at most. It is a
// constant in all but the keyword, computed from headerNames once.
var headersByLength = groupByLength()

func groupByLength() (groups [longestName + 1][]HeaderID) {
	for id := Via; id < headerCount; id++ {
		n := len(headerNames[id])
		groups[n] = append(groups[n], id)
	}
	return groups
}

// LookupHeader returns the id of a header name in any case or in compact form, Other for an unknown name.
func LookupHeader(name string) HeaderID { return lookupHeader([]byte(name)) }

// ValidHeader reports whether name can be the name of a header line, and value its value: nothing in them ends the line or
// leaves RFC 3261 25.1 (token; TEXT-UTF8, on one line).
func ValidHeader(name, value string) bool {
	bad, _ := badControl([]byte(value))
	return isToken([]byte(name)) && !bad && utf8.ValidString(value) && !strings.ContainsRune(value, 0x7f)
}

// lookupHeader returns the id of a header name in any case or in compact form, Other for an unknown name.
func lookupHeader(name []byte) HeaderID {
	n := len(name)
	if n == 1 {
		if c := name[0] | 0x20; c >= 'a' && c <= 'z' {
			return compactIDs[c-'a']
		}
		return Other
	}
	if n > longestName {
		return Other
	}
	for _, id := range headersByLength[n] {
		if equalFold(name, headerNames[id]) {
			return id
		}
	}
	return Other
}

// Sets of headers, by id, of which a message may hold one only. Two of them let two elements read two different messages (RFC 4475
// 3.3.8, 3.3.9).
const (
	singletonAlways = 1<<From | 1<<To | 1<<CallID | 1<<CSeq | 1<<ContentLength
	// singletonRequest is checked on requests only: a response is too valuable to be lost for a doubled Expires.
	singletonRequest = 1<<MaxForwards | 1<<ContentType | 1<<Expires | 1<<SessionExpires | 1<<MinSE | 1<<RSeq | 1<<RAck |
		1<<Replaces | 1<<ReferTo | 1<<ReferredBy | 1<<Event | 1<<Date
)
