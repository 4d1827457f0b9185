package registrar

import (
	"encoding/binary"
	"errors"
	"math"
	"net/netip"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// ErrRecord says that octets are no record.
var ErrRecord = errors.New("registrar: malformed record")

// The tags of a record's fields. They are never renumbered: records travel
// between versions of the program.
const (
	tagContact  = 1
	tagPath     = 2 // one for each
	tagWay      = 3 // transport, reach, flags
	tagAddr     = 4
	tagLocal    = 5
	tagFlow     = 6
	tagQ        = 7
	tagSessions = 8
	tagInstance = 9
	tagAgent    = 10
	tagUser     = 11
	tagAge      = 12 // milliseconds since the first registration
	tagCallID   = 13
	tagCSeq     = 14
	tagSite     = 15
	tagRegID    = 16
	tagName     = 17 // by which far ends know the listener
	tagEnded    = 18 // milliseconds from the last REGISTER to the end of the connection
)

const flagBulk = 1

// Append appends the record as nodes tell it each other. What is left out says
// the frame around it: the key, the node with its boot, the age, the time to live.
func (r *Record) Append(dst []byte, now time.Time) []byte {
	dst = appendText(dst, tagContact, r.Contact)
	for _, p := range r.Path {
		dst = appendText(dst, tagPath, p)
	}
	var flags byte
	if r.Bulk {
		flags |= flagBulk
	}
	dst = append(dst, tagWay, 3, byte(r.Transport), byte(r.Reach), flags)
	dst = appendAddr(dst, tagAddr, r.Addr)
	dst = appendAddr(dst, tagLocal, r.Local)
	dst = appendNumber(dst, tagFlow, r.Flow)
	dst = appendNumber(dst, tagQ, uint64(r.Q))
	dst = appendNumber(dst, tagSessions, uint64(r.Sessions+1))
	dst = appendText(dst, tagInstance, r.Instance)
	dst = appendText(dst, tagAgent, r.Agent)
	dst = appendText(dst, tagUser, r.User)
	dst = appendNumber(dst, tagAge, uint64(max(0, now.Sub(r.Since).Milliseconds())))
	dst = appendNumber(dst, tagCallID, r.CallID)
	dst = appendNumber(dst, tagCSeq, uint64(r.CSeq))
	if r.RegID != 0 {
		dst = appendNumber(dst, tagRegID, uint64(r.RegID))
	}
	if d := r.Changed.Sub(r.Taken); d > 0 && !r.Taken.IsZero() {
		dst = appendNumber(dst, tagEnded, uint64(d.Milliseconds()))
	}
	dst = appendText(dst, tagName, r.Advertise)
	return appendText(dst, tagSite, r.Site)
}

func appendText(dst []byte, tag byte, s string) []byte {
	if s == "" {
		return dst
	}
	dst = binary.AppendUvarint(append(dst, tag), uint64(len(s)))
	return append(dst, s...)
}

func appendNumber(dst []byte, tag byte, n uint64) []byte {
	var b [binary.MaxVarintLen64]byte
	k := binary.PutUvarint(b[:], n)
	return append(append(dst, tag, byte(k)), b[:k]...)
}

func appendAddr(dst []byte, tag byte, a netip.AddrPort) []byte {
	ip := a.Addr().WithZone("").AsSlice()
	dst = append(dst, tag, byte(len(ip)+2))
	return binary.BigEndian.AppendUint16(append(dst, ip...), a.Port())
}

// Meta is what the frame around a record says.
type Meta struct {
	Key     string
	Node    string
	Boot    uint32
	Taken   time.Time
	Expires time.Time
}

// ParseRecord reads a record. Unknown tags are skipped.
func ParseRecord(m Meta, value []byte) (*Record, error) {
	r := &Record{Taken: m.Taken, Changed: m.Taken}
	r.Node, r.Boot, r.Expires, r.Since = m.Node, m.Boot, m.Expires, m.Taken
	r.Q, r.Sessions = 1000, -1
	var ok bool
	if r.AOR, r.ID, ok = SplitKey(m.Key); !ok {
		return nil, ErrRecord
	}
	text := string(value) // one copy; the fields are parts of it
	for len(text) > 0 {
		n, size := uvarint(text[1:])
		if size <= 0 || n > uint64(len(text)-1-size) {
			return nil, ErrRecord
		}
		field := text[1+size : 1+size+int(n)]
		if !r.field(text[0], field) {
			return nil, ErrRecord
		}
		text = text[1+size+int(n):]
	}
	if r.Contact == "" || !r.Addr.IsValid() || r.Reach.String() == "" {
		return nil, ErrRecord
	}
	return r, nil
}

// SplitKey takes the key of a binding apart.
func SplitKey(key string) (aor, id string, ok bool) {
	aor, id, ok = strings.Cut(key, "\x00")
	return aor, id, ok && aor != "" && id != ""
}

// field takes one field; false when it cannot be.
func (r *Record) field(tag byte, v string) (ok bool) {
	ok = true
	switch tag {
	case tagContact:
		r.Contact = v
	case tagPath:
		if v != "" {
			r.Path = append(r.Path, v)
		}
	case tagWay:
		if ok = len(v) >= 3; ok {
			r.Transport, r.Reach = trunkgroup.Transport(v[0]), trunkgroup.Reach(v[1])
			r.Bulk = v[2]&flagBulk != 0
		}
	case tagAddr:
		r.Addr, ok = readAddr(v)
	case tagLocal:
		r.Local, ok = readAddr(v)
	case tagInstance:
		r.Instance = v
	case tagAgent:
		r.Agent = v
	case tagUser:
		r.User = v
	case tagName:
		r.Advertise = v
	case tagSite:
		r.Site = v
	default:
		return r.number(tag, v)
	}
	return ok
}

func (r *Record) number(tag byte, v string) bool {
	switch tag {
	case tagFlow, tagQ, tagSessions, tagAge, tagCallID, tagCSeq, tagRegID, tagEnded:
	default:
		return true // of a later version
	}
	n, size := uvarint(v)
	if size != len(v) || size == 0 {
		return false
	}
	switch tag {
	case tagFlow:
		r.Flow = n
	case tagQ:
		r.Q = int(min(n, 1000))
	case tagSessions:
		r.Sessions = int(min(n, math.MaxInt32)) - 1
	case tagAge:
		r.Since = r.Taken.Add(-time.Duration(min(n, maxAge)) * time.Millisecond)
	case tagEnded:
		r.Changed = r.Taken.Add(time.Duration(min(n, maxAge)) * time.Millisecond)
	case tagCallID:
		r.CallID = n
	case tagCSeq:
		r.CSeq = uint32(min(n, math.MaxUint32))
	case tagRegID:
		r.RegID = uint32(min(n, math.MaxUint32))
	}
	return true
}

// uvarint is binary.Uvarint of a string; size is 0 or less for what is none.
func uvarint(s string) (n uint64, size int) {
	var b [binary.MaxVarintLen64]byte
	return binary.Uvarint(b[:copy(b[:], s)])
}

// maxAge bounds what is believed of a registration's age: ten years.
const maxAge = 10 * 365 * 24 * 3600 * 1000

func readAddr(v string) (netip.AddrPort, bool) {
	if len(v) < 2 {
		return netip.AddrPort{}, false
	}
	b := []byte(v)
	n := len(b) - 2
	port := binary.BigEndian.Uint16(b[n:])
	if n == 0 {
		return netip.AddrPort{}, true
	}
	ip, ok := netip.AddrFromSlice(b[:n])
	return netip.AddrPortFrom(ip, port), ok
}
