package lcr

import (
	"net/netip"
	"unicode/utf8"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Request is one question (rules 1.2.c).
type Request struct {
	CallID, From, To string // of the A leg; From and To are URIs
	Dialed           string // normalised (S-010)
	Source           netip.Addr
	Transport        trunkgroup.Transport
	TrunkGroup       string                 // empty: left out
	Attributes       []trunkgroup.NameValue // none: left out
}

// AppendJSON appends the question as the server reads it. Octets that are no UTF-8 become
// the replacement character, as JSON demands.
func (r *Request) AppendJSON(b []byte) []byte {
	b = append(b, `{"version":"1","call_id":`...)
	b = appendString(b, r.CallID)
	b = appendString(append(b, `,"from":`...), r.From)
	b = appendString(append(b, `,"to":`...), r.To)
	b = appendString(append(b, `,"dialed_number":`...), r.Dialed)
	b = append(b, `,"source":{"ip":"`...)
	if r.Source.IsValid() {
		b = r.Source.Unmap().WithZone("").AppendTo(b)
	}
	b = append(b, `","transport":"`...)
	b = append(b, r.Transport.String()...)
	b = append(b, '"')
	if r.TrunkGroup != "" {
		b = appendString(append(b, `,"trunk_group":`...), r.TrunkGroup)
	}
	b = append(b, '}')
	if len(r.Attributes) > 0 {
		b = append(b, `,"attributes":`...)
		for i := range r.Attributes {
			b = append(b, "{,"[min(i, 1)])
			b = appendString(b, r.Attributes[i].Name)
			b = appendString(append(b, ':'), r.Attributes[i].Value)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

const hexDigits = "0123456789abcdef"

// appendString appends a JSON string (RFC 8259 section 7).
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
		i++
	}
	return append(b, '"')
}
