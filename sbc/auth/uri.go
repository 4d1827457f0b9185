package auth

import "bytes"

// sameURI says whether the uri parameter names the Request-URI (RFC 7616 section 3.4.6, RFC 3261 section 22.4 item 5). Both are compared
// as octets, but for the case of the scheme and of the host: nothing else may differ between the two copies that one caller writes.
func sameURI(uri, ruri []byte) bool {
	if bytes.Equal(uri, ruri) {
		return true
	}
	if len(uri) != len(ruri) {
		return false
	}
	scheme := bytes.IndexByte(uri, ':')
	if scheme < 0 || !bytes.EqualFold(uri[:scheme], ruri[:scheme]) || ruri[scheme] != ':' {
		return false
	}
	uri, ruri = uri[scheme+1:], ruri[scheme+1:]
	// The first '@' ends the user part: an '@' in it must be escaped (RFC 3261 section 25.1).
	if at := bytes.IndexByte(uri, '@'); at >= 0 {
		if !bytes.Equal(uri[:at+1], ruri[:at+1]) {
			return false
		}
		uri, ruri = uri[at+1:], ruri[at+1:]
	}
	end := bytes.IndexAny(uri, ";?")
	if end < 0 {
		end = len(uri)
	}
	return bytes.EqualFold(uri[:end], ruri[:end]) && bytes.Equal(uri[end:], ruri[end:])
}
