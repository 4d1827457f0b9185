package registrar

import (
	"strconv"
	"time"
)

// maxExtra bounds the header lines of an answer, so that it fits into a
// datagram whatever is registered. What the REGISTER is about comes first.
const maxExtra = 48 << 10

// Extra returns the header lines of the 200 to a REGISTER (RFC 3261 10.3 step
// 8): all bindings with what is left of their time, those of the REGISTER
// first.
func Extra(now time.Time, r *Request, have []*Record) []byte {
	b := make([]byte, 0, 256+128*len(have))
	own := func(rec *Record) bool {
		for i := range r.Contacts {
			if r.Contacts[i].ID == rec.ID {
				return true
			}
		}
		return false
	}
	outbound := false
	for _, first := range [...]bool{true, false} {
		for _, rec := range have {
			if own(rec) == first && len(b) < maxExtra {
				b = appendContact(b, now, rec)
				outbound = outbound || first && rec.RegID != 0
			}
		}
	}
	if r.echoPath {
		for _, p := range r.Path {
			b = append(append(append(b, "Path: "...), p...), '\r', '\n')
		}
	}
	b = append(b, "Supported: path, outbound, gin\r\n"...)
	switch {
	case r.gin:
		b = append(b, "Require: gin\r\n"...)
	case outbound:
		b = append(b, "Require: outbound\r\n"...)
	}
	b = append(b, "Date: "...)
	return append(now.UTC().AppendFormat(b, "Mon, 02 Jan 2006 15:04:05 GMT"), '\r', '\n')
}

func appendContact(b []byte, now time.Time, rec *Record) []byte {
	b = append(append(append(b, "Contact: <"...), rec.Contact...), ">;expires="...)
	left := (rec.Expires.Sub(now) + time.Second - 1) / time.Second
	b = strconv.AppendInt(b, max(1, int64(left)), 10)
	if rec.Q < 1000 {
		b = append(b, ";q=0."...)
		b = append(b, strconv.Itoa(1000 + rec.Q)[1:]...)
	}
	if rec.Instance != "" {
		b = append(append(append(b, `;+sip.instance="`...), rec.Instance...), '"')
	}
	if rec.RegID != 0 {
		b = strconv.AppendUint(append(b, ";reg-id="...), uint64(rec.RegID), 10)
	}
	return append(b, '\r', '\n')
}
