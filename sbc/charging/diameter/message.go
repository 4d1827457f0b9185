package diameter

import (
	"encoding/binary"
	"errors"
)

// Errors of messages that cannot be read. A stream that has one cannot be read on.
var (
	ErrVersion = errors.New("diameter: not version 1")
	ErrLength  = errors.New("diameter: a length does not fit")
	ErrLarge   = errors.New("diameter: a message is too large")
)

const (
	headerSize = 20
	// MaxMessage bounds a message that is read.
	MaxMessage = 64 << 10
	// maxAVPs bounds the AVPs of one level that are looked at, and maxDepth the levels.
	maxAVPs = 512
)

// Flags of a message.
const (
	FlagRequest   = 0x80
	FlagProxiable = 0x40
	FlagError     = 0x20
	FlagRepeated  = 0x10 // T: it may have been sent before
)

// Commands.
const (
	CapabilitiesExchange = 257
	ReAuth               = 258
	Accounting           = 271
	CreditControl        = 272
	AbortSession         = 274
	DeviceWatchdog       = 280
	DisconnectPeer       = 282
)

// Applications.
const (
	AppAccounting = 3
	AppCredit     = 4
)

// Header is what stands before the AVPs of a message.
type Header struct {
	Flags    byte
	Command  uint32
	App      uint32
	HopByHop uint32
	EndToEnd uint32
}

// Request reports whether the message is a request.
func (h *Header) Request() bool { return h.Flags&FlagRequest != 0 }

// Message is a message as it was read. Its AVPs are parts of the octets it was read from.
type Message struct {
	Header
	AVPs []byte
}

// Size returns the length of the message that begins with b, which has at least four octets.
func Size(b []byte) (int, error) {
	if len(b) < 4 || b[0] != 1 {
		return 0, ErrVersion
	}
	n := int(binary.BigEndian.Uint32(b) & 0xffffff)
	switch {
	case n < headerSize || n%4 != 0:
		return 0, ErrLength
	case n > MaxMessage:
		return 0, ErrLarge
	}
	return n, nil
}

// Parse reads one whole message.
func Parse(b []byte) (Message, error) {
	n, err := Size(b)
	if err != nil {
		return Message{}, err
	}
	if n != len(b) {
		return Message{}, ErrLength
	}
	m := Message{
		Header: Header{
			Flags: b[4], Command: binary.BigEndian.Uint32(b[4:]) & 0xffffff, App: binary.BigEndian.Uint32(b[8:]),
			HopByHop: binary.BigEndian.Uint32(b[12:]), EndToEnd: binary.BigEndian.Uint32(b[16:]),
		},
		AVPs: b[headerSize:],
	}
	return m, check(m.AVPs)
}

// AVP is one attribute of a message.
type AVP struct {
	Code, Vendor uint32
	Flags        byte
	Data         []byte
}

// Flags of an AVP.
const (
	flagVendor    = 0x80
	flagMandatory = 0x40
)

// next takes one AVP off the front.
func next(b []byte) (a AVP, rest []byte, err error) {
	if len(b) < 8 {
		return a, nil, ErrLength
	}
	a.Code, a.Flags = binary.BigEndian.Uint32(b), b[4]
	n, head := int(binary.BigEndian.Uint32(b[4:])&0xffffff), 8
	if a.Flags&flagVendor != 0 {
		head = 12
	}
	if n < head || n > len(b) {
		return a, nil, ErrLength
	}
	if head == 12 {
		a.Vendor = binary.BigEndian.Uint32(b[8:])
	}
	a.Data = b[head:n]
	return a, b[min((n+3)&^3, len(b)):], nil
}

// check walks through the AVPs of one level.
func check(b []byte) error {
	for n := 0; len(b) > 0; n++ {
		if n == maxAVPs {
			return ErrLarge
		}
		var err error
		if _, b, err = next(b); err != nil {
			return err
		}
	}
	return nil
}

// each calls fn with the AVPs of one level, up to the first that cannot be read.
func each(b []byte, fn func(AVP)) {
	for n := 0; len(b) > 0 && n < maxAVPs; n++ {
		a, rest, err := next(b)
		if err != nil {
			return
		}
		fn(a)
		b = rest
	}
}

// is reports whether the AVP is the one of a code, of the base protocol or the 3GPP's.
func (a *AVP) is(code uint32) bool {
	if code >= first3GPP && code < ends3GPP {
		return a.Code == code && a.Vendor == vendor3GPP
	}
	return a.Code == code && a.Vendor == 0
}

// number reads an Unsigned32 or an Enumerated; 0 when it is none.
func (a *AVP) number() uint32 {
	if len(a.Data) != 4 {
		return 0
	}
	return binary.BigEndian.Uint32(a.Data)
}

// text finds a text; empty when there is none.
func (m *Message) text(code uint32) string {
	s := ""
	each(m.AVPs, func(a AVP) {
		if s == "" && a.is(code) && len(a.Data) <= 255 {
			s = string(a.Data)
		}
	})
	return s
}

// Session returns the Session-Id; empty when there is none.
func (m *Message) Session() string { return m.text(avpSessionID) }

// Origin returns who made the message.
func (m *Message) Origin() (host, realm string) { return m.text(avpOriginHost), m.text(avpOriginRealm) }

// Result returns the result code, also of an Experimental-Result; 0 when there is none.
func (m *Message) Result() uint32 {
	var code uint32
	each(m.AVPs, func(a AVP) {
		switch {
		case code != 0:
		case a.is(avpResultCode):
			code = a.number()
		case a.is(avpExperimentalResult):
			each(a.Data, func(b AVP) {
				if b.is(avpExperimentalResultCode) {
					code = b.number()
				}
			})
		}
	})
	return code
}
