package sbc

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The kinds of frames that SIP nodes send each other over the interconnect.
const (
	// FrameSIP is a message of a hand-off leg.
	FrameSIP byte = 16 + iota
	// FrameForward is a message that belongs to the other node, with where
	// it came from (DEC-03, DEC-09, DEC-15).
	FrameForward
	// FrameEmit is a message that the other node shall put out by one of
	// its own sockets: the owner's answer to a forwarded request, or a
	// request to a far end that it alone can reach.
	FrameEmit
	// FrameOpen tells of open INVITEs (DEC-03).
	FrameOpen

	// FirstFrame and LastFrame bound the kinds of this package.
	FirstFrame = FrameSIP
	LastFrame  = FrameOpen
)

var errFrame = errors.New("malformed frame")

// envelope is where a message came from or goes to, at the node that has the
// socket.
type envelope struct {
	transport     trunkgroup.Transport
	listener      int
	flow          transport.Flow
	remote, local netip.AddrPort
}

func (e *envelope) append(dst []byte) []byte {
	dst = append(dst, byte(e.transport), byte(e.listener+1))
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.flow))
	dst = appendAddr(dst, e.remote)
	return appendAddr(dst, e.local)
}

func readEnvelope(b []byte) (e envelope, rest []byte, err error) {
	if len(b) < 10 {
		return e, nil, errFrame
	}
	e.transport = trunkgroup.Transport(b[0])
	e.listener = int(b[1]) - 1
	e.flow = transport.Flow(binary.BigEndian.Uint64(b[2:]))
	if e.remote, b, err = readAddr(b[10:]); err != nil {
		return e, nil, err
	}
	if e.local, b, err = readAddr(b); err != nil {
		return e, nil, err
	}
	return e, b, nil
}

// appendAddr writes a length, the address and the port.
func appendAddr(dst []byte, a netip.AddrPort) []byte {
	ip := a.Addr().WithZone("").AsSlice()
	dst = append(dst, byte(len(ip)))
	dst = append(dst, ip...)
	return binary.BigEndian.AppendUint16(dst, a.Port())
}

func readAddr(b []byte) (netip.AddrPort, []byte, error) {
	if len(b) < 1 || len(b) < int(b[0])+3 {
		return netip.AddrPort{}, nil, errFrame
	}
	n := int(b[0])
	port := binary.BigEndian.Uint16(b[1+n:])
	rest := b[n+3:]
	if n == 0 {
		return netip.AddrPort{}, rest, nil
	}
	ip, ok := netip.AddrFromSlice(b[1 : 1+n])
	if !ok {
		return netip.AddrPort{}, nil, errFrame
	}
	return netip.AddrPortFrom(ip, port), rest, nil
}

// openLen is the length of one open INVITE in a FrameOpen.
const openLen = 1 + 3*8 + 8 + 4 + 4

func appendOpen(dst []byte, o b2bua.Open) []byte {
	dst = append(dst, byte(o.State))
	dst = binary.BigEndian.AppendUint64(dst, o.Key)
	dst = binary.BigEndian.AppendUint64(dst, o.CallHash)
	dst = binary.BigEndian.AppendUint64(dst, o.Branch)
	dst = binary.BigEndian.AppendUint64(dst, o.Nonce.Nonce)
	dst = binary.BigEndian.AppendUint32(dst, o.Nonce.Second)
	return binary.BigEndian.AppendUint32(dst, o.Nonce.Count)
}

// readOpens calls fn for each open INVITE of a frame. States of a later
// version are skipped.
func readOpens(b []byte, fn func(o b2bua.Open)) error {
	for ; len(b) >= openLen; b = b[openLen:] {
		o := b2bua.Open{
			State:    b2bua.OpenState(b[0]),
			Key:      binary.BigEndian.Uint64(b[1:]),
			CallHash: binary.BigEndian.Uint64(b[9:]),
			Branch:   binary.BigEndian.Uint64(b[17:]),
			Nonce: auth.Use{
				Nonce: binary.BigEndian.Uint64(b[25:]), Second: binary.BigEndian.Uint32(b[33:]), Count: binary.BigEndian.Uint32(b[37:]),
			},
		}
		if o.State >= b2bua.OpenBegun && o.State <= b2bua.OpenParted {
			fn(o)
		}
	}
	if len(b) != 0 {
		return errFrame
	}
	return nil
}
