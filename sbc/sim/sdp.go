package sim

import (
	"bytes"
	"net/netip"
	"strconv"
)

// description writes an audio session description. The origin's user name is the
// name of the far end or caller, by which the other side of a call tells who
// answered even when an SBC passes no header through.
func description(name string, session uint64, version int, at netip.Addr, port uint16) []byte {
	family := " IN IP4 "
	if at.Is6() && !at.Is4In6() {
		family = " IN IP6 "
	}
	host := at.Unmap().WithZone("").String()
	b := make([]byte, 0, 320)
	b = append(b, "v=0\r\no="...)
	b = append(b, originName(name)...)
	b = append(b, ' ')
	b = strconv.AppendUint(b, session, 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(version), 10)
	b = append(b, family...)
	b = append(b, host...)
	b = append(b, "\r\ns=-\r\nc="...)
	b = append(b, family[1:]...)
	b = append(b, host...)
	b = append(b, "\r\nt=0 0\r\nm=audio "...)
	b = strconv.AppendUint(b, uint64(port), 10)
	return append(b, " RTP/AVP 0 8 101\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:8 PCMA/8000\r\n"+
		"a=rtpmap:101 telephone-event/8000\r\na=fmtp:101 0-15\r\na=ptime:20\r\na=sendrecv\r\n"...)
}

// originName makes a name fit for the origin line: without spaces, not empty.
func originName(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c <= ' ' || c >= 0x7f {
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return "-"
	}
	return string(b)
}

// originOf reads the origin's user name from a session description.
func originOf(sdp []byte) []byte {
	for line := range bytes.SplitSeq(sdp, []byte("\n")) {
		if rest, ok := bytes.CutPrefix(line, []byte("o=")); ok {
			name, _, _ := bytes.Cut(rest, []byte(" "))
			return name
		}
	}
	return nil
}
