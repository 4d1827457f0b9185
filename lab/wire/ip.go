package wire

import (
	"encoding/binary"
	"net/netip"
)

// Protocol numbers that are looked into.
const (
	protoTCP = 6
	protoUDP = 17
)

// flow is one direction between two endpoints.
type flow struct {
	proto    uint8
	from, to netip.AddrPort
}

// segment is the transport payload of one packet.
type segment struct {
	flow flow
	seq  uint32 // TCP only: number of the first payload byte
	syn  bool   // TCP only: seq is the connection's first
	data []byte
}

// parse takes an IPv4 or IPv6 packet apart. Fragments, other protocols and
// damaged packets are not ok: the laboratory's links have no small MTU.
func parse(ip []byte) (s segment, ok bool) {
	if len(ip) < 20 {
		return s, false
	}
	var payload []byte
	var from, to netip.Addr
	switch ip[0] >> 4 {
	case 4:
		head, total := int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
		if head < 20 || total < head || total > len(ip) || binary.BigEndian.Uint16(ip[6:])&0x3fff != 0 {
			return s, false
		}
		s.flow.proto, payload = ip[9], ip[head:total]
		from, to = netip.AddrFrom4([4]byte(ip[12:])), netip.AddrFrom4([4]byte(ip[16:]))
	case 6:
		if len(ip) < 40 || len(ip) < 40+int(binary.BigEndian.Uint16(ip[4:])) {
			return s, false
		}
		s.flow.proto, payload = ip[6], ip[40:40+int(binary.BigEndian.Uint16(ip[4:]))]
		from, to = netip.AddrFrom16([16]byte(ip[8:])), netip.AddrFrom16([16]byte(ip[24:]))
	default:
		return s, false
	}
	return transport(s, from, to, payload)
}

func transport(s segment, from, to netip.Addr, p []byte) (segment, bool) {
	head := 8
	switch s.flow.proto {
	case protoUDP:
	case protoTCP:
		if len(p) < 20 {
			return s, false
		}
		head = int(p[12]>>4) * 4
		s.seq, s.syn = binary.BigEndian.Uint32(p[4:]), p[13]&2 != 0
	default:
		return s, false
	}
	if len(p) < head {
		return s, false
	}
	s.flow.from = netip.AddrPortFrom(from, binary.BigEndian.Uint16(p))
	s.flow.to = netip.AddrPortFrom(to, binary.BigEndian.Uint16(p[2:]))
	s.data = p[head:]
	return s, true
}
