// Package sip is the message model of Tandem: an index parser with the gate in the same pass, URIs, stream framing and
// append-style building.
//
// A Message is a view: offsets into the bytes that came from the wire, found in one linear pass that allocates once. The same
// pass is the gate: it refuses what RFC 3261 calls malformed and says how (a Fault: answer 400, 416, 501, 505 or 513, or be
// silent; close the stream or not), so nothing behind it ever sees two Content-Length headers, a bare LF or a missing Call-ID.
// It accepts all valid messages of RFC 4475 section 3.1 and RFC 5118.
//
// The package is pure: no I/O, no goroutine, no clock.
package sip
