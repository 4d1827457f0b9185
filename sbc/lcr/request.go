package lcr

import (
	"net/netip"

	"github.com/tandem-sbc/tandem/cdr"
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
	b = cdr.AppendString(b, r.CallID)
	b = cdr.AppendString(append(b, `,"from":`...), r.From)
	b = cdr.AppendString(append(b, `,"to":`...), r.To)
	b = cdr.AppendString(append(b, `,"dialed_number":`...), r.Dialed)
	b = append(b, `,"source":{"ip":"`...)
	if r.Source.IsValid() {
		b = r.Source.Unmap().WithZone("").AppendTo(b)
	}
	b = append(b, `","transport":"`...)
	b = append(b, r.Transport.String()...)
	b = append(b, '"')
	if r.TrunkGroup != "" {
		b = cdr.AppendString(append(b, `,"trunk_group":`...), r.TrunkGroup)
	}
	b = append(b, '}')
	if len(r.Attributes) > 0 {
		b = append(b, `,"attributes":`...)
		for i := range r.Attributes {
			b = append(b, "{,"[min(i, 1)])
			b = cdr.AppendString(b, r.Attributes[i].Name)
			b = cdr.AppendString(append(b, ':'), r.Attributes[i].Value)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}
