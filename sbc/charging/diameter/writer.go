package diameter

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// Writer makes one message: Begin, the AVPs in order, End.
type Writer struct {
	b     []byte
	start int
}

// Begin appends the header of a message to b.
func Begin(b []byte, h Header) Writer {
	w := Writer{b: b, start: len(b)}
	w.b = append(w.b, 1, 0, 0, 0)
	w.b = binary.BigEndian.AppendUint32(w.b, uint32(h.Flags)<<24|h.Command&0xffffff)
	w.b = binary.BigEndian.AppendUint32(w.b, h.App)
	w.b = binary.BigEndian.AppendUint32(w.b, h.HopByHop)
	w.b = binary.BigEndian.AppendUint32(w.b, h.EndToEnd)
	return w
}

// End completes the message and returns all octets.
func (w *Writer) End() []byte {
	n := len(w.b) - w.start
	binary.BigEndian.PutUint32(w.b[w.start:], 1<<24|uint32(n))
	return w.b
}

// open appends the header of an AVP and returns where it begins.
func (w *Writer) open(code uint32) int {
	at := len(w.b)
	flags, vendor := byte(flagMandatory), code >= first3GPP && code < ends3GPP
	if optional(code) {
		flags = 0
	}
	if vendor {
		flags |= flagVendor
	}
	w.b = binary.BigEndian.AppendUint32(w.b, code)
	w.b = append(w.b, flags, 0, 0, 0)
	if vendor {
		w.b = binary.BigEndian.AppendUint32(w.b, vendor3GPP)
	}
	return at
}

// close sets the length of an AVP and pads it.
func (w *Writer) close(at int) {
	n := len(w.b) - at
	w.b[at+5], w.b[at+6], w.b[at+7] = byte(n>>16), byte(n>>8), byte(n)
	for len(w.b)&3 != w.start&3 {
		w.b = append(w.b, 0)
	}
}

// Number appends an Unsigned32 or an Enumerated.
func (w *Writer) Number(code, v uint32) {
	at := w.open(code)
	w.b = binary.BigEndian.AppendUint32(w.b, v)
	w.close(at)
}

// Text appends a text; an empty one is left out.
func (w *Writer) Text(code uint32, s string) {
	if s == "" {
		return
	}
	at := w.open(code)
	w.b = append(w.b, s...)
	w.close(at)
}

// Time appends a Time: seconds since 1900 (RFC 6733 4.3.1). The zero time is left out.
func (w *Writer) Time(code uint32, t time.Time) {
	if t.IsZero() {
		return
	}
	const since1900 = 2_208_988_800
	w.Number(code, uint32(t.Unix()+since1900))
}

// Address appends an Address.
func (w *Writer) Address(code uint32, a netip.Addr) {
	at := w.open(code)
	family := byte(2)
	if a.Is4() || a.Is4In6() {
		family = 1
	}
	w.b = append(append(w.b, 0, family), a.Unmap().AsSlice()...)
	w.close(at)
}

// Group appends an AVP of AVPs.
func (w *Writer) Group(code uint32, fill func()) {
	at := w.open(code)
	head := len(w.b)
	fill()
	if len(w.b) == head { // nothing is known
		w.b = w.b[:at]
		return
	}
	w.close(at)
}
