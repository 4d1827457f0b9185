package sip

// isAddressList tells the headers whose values are lists of hops or addresses.
func isAddressList(id HeaderID) bool {
	switch id {
	case Via, Contact, Route, RecordRoute, Path, ServiceRoute, PAssertedIdentity, PPreferredIdentity, Diversion, HistoryInfo:
		return true
	}
	return false
}

// isList tells the headers whose grammar is a comma list.
func isList(id HeaderID) bool {
	switch id {
	case Supported, Require, ProxyRequire, Unsupported, Allow, AllowEvents, Accept, AcceptEncoding, AcceptLanguage,
		ContentEncoding, Reason, AlertInfo, CallInfo, ErrorInfo, InReplyTo, Warning:
		return true
	}
	return isAddressList(id)
}

// EachValue calls fn for every element of a comma list, blanks trimmed, empty ones skipped, until fn returns false. Commas inside
// quoted strings and < > do not separate.
func EachValue(headerValue []byte, fn func([]byte) bool) { eachValue(headerValue, fn) }

// eachValue is EachValue that tells whether fn wanted to go on.
func eachValue(list []byte, fn func([]byte) bool) bool {
	for len(list) > 0 {
		var element []byte
		element, list = cutElement(list)
		if len(element) > 0 && !fn(element) {
			return false
		}
	}
	return true
}

// cutElement splits a list behind its first element. A quoted string or < without end takes the rest.
func cutElement(list []byte) (element, rest []byte) {
	angle := false
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '"':
			if angle { // not a delimiter inside a URI
				continue
			}
			end := skipQuoted(list, i)
			if end < 0 {
				return trim(list), nil
			}
			i = end - 1
		case '<':
			angle = true
		case '>':
			angle = false
		case ',':
			if !angle {
				return trim(list[:i]), list[i+1:]
			}
		}
	}
	return trim(list), nil
}
