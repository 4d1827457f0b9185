package sip

import "errors"

// MagicCookie starts every branch of RFC 3261 (8.1.1.7). A branch that is not longer identifies nothing.
const MagicCookie = "z9hG4bK"

// ErrVia says that a value is not a Via (RFC 3261 20.42).
var ErrVia = errors.New("sip: malformed Via")

// ViaHop is one Via value as parts of the input.
type ViaHop struct {
	Transport []byte // as written: "UDP"
	Host      []byte // sent-by host; IPv6 with its brackets
	Port      uint16 // sent-by port, 0 = none given
	Branch    []byte
	Received  []byte // both forms of RFC 5118 4.5
	RPort     bool   // the rport parameter is present, with or without a value
	RPortPort uint16 // its value; 0 = none, or not a port
}

// IsRFC3261 tells whether the branch is usable as a transaction id: the magic cookie and something behind it (RFC 4475 3.2.1).
func (v *ViaHop) IsRFC3261() bool {
	return len(v.Branch) > len(MagicCookie) && equalFold(v.Branch[:len(MagicCookie)], MagicCookie)
}

// viaIndex is a Via value as offsets.
type viaIndex struct {
	transport, host, branch, received span
	receivedParam                     span // the whole ;received=value, to be replaced in a response
	rportParam                        span // the whole ;rport[=value]
	port, rport                       uint16
	hasRPort                          bool
	end                               uint16 // of the value: its comma, or the end of the line; 0 = not parsed
}

func (x *viaIndex) hop(b []byte) ViaHop {
	return ViaHop{
		Transport: x.transport.of(b), Host: x.host.of(b), Port: x.port, Branch: x.branch.of(b),
		Received: x.received.of(b), RPort: x.hasRPort, RPortPort: x.rport,
	}
}

// scan reads one Via value at pos: sent-protocol LWS sent-by *( SEMI via-params ), white space allowed around '/', ':', ';', '='.
// next is the position of the comma behind it, or len(b).
func (x *viaIndex) scan(b []byte, pos int) (next int, ok bool) {
	if pos, ok = x.scanProtocol(b, skipBlank(b, pos)); !ok {
		return pos, false
	}
	end := scanHost(b, pos)
	if end < 0 {
		return pos, false
	}
	x.host = spanOf(pos, end)
	if pos = skipBlank(b, end); pos < len(b) && b[pos] == ':' {
		off := skipBlank(b, pos+1)
		end = off
		for end < len(b) && classes[b[end]]&classDigit != 0 {
			end++
		}
		port, valid := parseUint(b[off:end], 65535)
		if !valid || port == 0 {
			return pos, false
		}
		x.port = uint16(port)
		pos = skipBlank(b, end)
	}
	for pos < len(b) && b[pos] == ';' {
		var p param
		if p, pos, ok = scanParam(b, pos); !ok || !x.param(b, &p) {
			return pos, false
		}
	}
	if pos < len(b) && b[pos] != ',' {
		return pos, false
	}
	x.end = uint16(pos)
	return pos, true
}

// scanProtocol reads SIP / 2.0 / transport and the blank behind it.
func (x *viaIndex) scanProtocol(b []byte, pos int) (next int, ok bool) {
	for _, want := range [2]string{"SIP", "2.0"} {
		end := pos + len(want)
		if end > len(b) || !equalFold(b[pos:end], want) {
			return pos, false
		}
		if pos = skipBlank(b, end); pos == len(b) || b[pos] != '/' {
			return pos, false
		}
		pos = skipBlank(b, pos+1)
	}
	end := pos
	for end < len(b) && classes[b[end]]&classToken != 0 {
		end++
	}
	x.transport = spanOf(pos, end)
	next = skipBlank(b, end)
	return next, end > pos && next > end
}

// param files a parameter that matters; false for a second branch, or one that is a quoted string.
func (x *viaIndex) param(b []byte, p *param) bool {
	name := b[p.nameOff:p.nameEnd]
	switch {
	case equalFold(name, "branch"):
		if !x.branch.empty() || !p.hasValue || b[p.valOff] == '"' {
			return false
		}
		x.branch = spanOf(p.valOff, p.valEnd)
	case equalFold(name, "rport"):
		// A value in a request means nothing, however large; the answer goes to the packet's source (RFC 3581 4).
		x.hasRPort = true
		x.rportParam = spanOf(p.start, max(p.nameEnd, p.valEnd))
		if port, ok := parseUint(b[p.valOff:p.valEnd], 65535); ok {
			x.rport = uint16(port)
		}
	case equalFold(name, "received"):
		if !x.receivedParam.empty() {
			return false
		}
		x.receivedParam = spanOf(p.start, max(p.nameEnd, p.valEnd))
		x.received = spanOf(p.valOff, p.valEnd)
	}
	return true
}
