package sip

import (
	"net/netip"
	"strconv"
)

// AppendResponse appends a whole response to req, which may be the partial message of a Fault: Via, From, To, Call-ID and CSeq
// copied (RFC 3261 8.2.6.2), then extra, which must be complete header lines, then the body. The first Via gets received and
// rport from source, the address the request came from (18.2.1, RFC 3581 4); whatever stood there is replaced. toTag is added to a
// To without tag, unless it is empty. A 100 copies Timestamp (8.2.6.1). An empty reason becomes the usual one. With enough room in
// dst nothing is allocated.
func AppendResponse(dst []byte, req *Message, code int, reason string, toTag []byte, source netip.AddrPort, extra []byte,
	contentType, body []byte,
) []byte {
	dst = AppendStatusLine(dst, code, reason)
	first := true
	for i := range req.fields {
		f := &req.fields[i]
		if f.id != Via {
			continue
		}
		dst = append(dst, "Via: "...)
		if first && source.IsValid() && req.via.end != 0 {
			dst = appendTopVia(dst, req, f, source)
		} else {
			dst = appendClean(dst, f.value.of(req.raw))
		}
		dst = append(dst, '\r', '\n')
		first = false
	}
	dst = appendFirst(dst, req, From, nil)
	if len(req.ToTag()) > 0 {
		toTag = nil
	}
	dst = appendFirst(dst, req, To, toTag)
	dst = appendFirst(dst, req, CallID, nil)
	dst = appendFirst(dst, req, CSeq, nil)
	if code == 100 {
		dst = appendFirst(dst, req, Timestamp, nil)
	}
	dst = append(dst, extra...)
	return AppendBody(dst, contentType, body)
}

// appendFirst appends the first line of a header, with a tag when one is given.
func appendFirst(dst []byte, m *Message, id HeaderID, tag []byte) []byte {
	for i := range m.fields {
		f := &m.fields[i]
		if f.id != id {
			continue
		}
		dst = append(dst, headerNames[id]...)
		dst = append(dst, ':', ' ')
		dst = appendClean(dst, f.value.of(m.raw))
		if len(tag) > 0 {
			dst = append(dst, ";tag="...)
			dst = appendClean(dst, tag)
		}
		return append(dst, '\r', '\n')
	}
	return dst
}

// appendTopVia appends the line of the first Via with its received and rport parameters set to where the request came from.
func appendTopVia(dst []byte, m *Message, f *field, source netip.AddrPort) []byte {
	x, raw := &m.via, m.raw
	cuts := [2]span{x.rportParam, x.receivedParam}
	if cuts[1].off < cuts[0].off {
		cuts[0], cuts[1] = cuts[1], cuts[0]
	}
	pos := f.value.off
	for _, cut := range cuts {
		if !cut.empty() {
			dst = appendClean(dst, raw[pos:cut.off])
			pos = cut.end
		}
	}
	end := x.end
	for end > pos && isBlank(raw[end-1]) {
		end--
	}
	dst = appendClean(dst, raw[pos:end])
	addr := source.Addr().Unmap().WithZone("")
	if x.hasRPort || !sameHost(x.host.of(raw), addr) {
		dst = append(dst, ";received="...)
		dst = addr.AppendTo(dst)
	}
	if x.hasRPort {
		dst = append(dst, ";rport="...)
		dst = strconv.AppendUint(dst, uint64(source.Port()), 10)
	}
	return appendClean(dst, raw[x.end:f.value.end])
}

// sameHost tells whether a sent-by host is this very address.
func sameHost(host []byte, addr netip.Addr) bool {
	if len(host) > 2 && host[0] == '[' {
		host = host[1 : len(host)-1]
	}
	var text [48]byte
	if string(addr.AppendTo(text[:0])) == string(host) {
		return true
	}
	if len(host) == 0 || len(host) > len(text) || classes[host[0]]&classIPv6 == 0 || addr.Is4() {
		return false
	}
	parsed, err := netip.ParseAddr(string(host)) // IPv6 has many spellings
	return err == nil && parsed.Unmap() == addr
}
