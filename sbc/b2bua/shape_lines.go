package b2bua

import (
	"bytes"
	"strings"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// What is wrong with a route that was decided: reasons of EventRouteFault.
const (
	// FaultUnknownPolicy: it names a number policy that the document does not have.
	FaultUnknownPolicy = "unknown_number_policy"
	// FaultRefusedHeader: it wants a header that is not its to write (S-081).
	FaultRefusedHeader = "refused_header"
	// FaultBadURI: its Request-URI cannot be read.
	FaultBadURI = "bad_ruri"
)

// maxDetail bounds what an event repeats of a route's text.
const maxDetail = 80

// fault tells what of a route was not done. The attempt goes on without it.
func (w *shaping) fault(reason, detail string) {
	c := w.call
	if len(detail) > maxDetail {
		detail = detail[:maxDetail]
	}
	c.s.env.Count(Event{Kind: EventRouteFault, Call: c.id, Group: c.customer, Carrier: w.route.CarrierID, Reason: reason, Detail: detail})
}

// refusedHeaders are those that a route may not write, for they are those of the dialog and of
// the message (S-081), or agreed leg by leg (DEC-23): a Require or a second Content-Type
// would break the call. Credentials are the route's to give.
var refusedHeaders = func() (t [256]bool) {
	t = stays
	for _, id := range [...]sip.HeaderID{
		sip.Authorization, sip.ProxyAuthorization, sip.UserAgent, sip.Timestamp, sip.Event, sip.RetryAfter, sip.Server,
	} {
		t[id] = false
	}
	t[sip.ContentEncoding] = true
	return t
}()

// mayWrite reports whether the route may put a header on the INVITE. Where it withholds the
// caller, it may not tell who he is, and where nobody is asserted, nor may it.
func (w *shaping) mayWrite(h *trunkgroup.NameValue) bool {
	id := sip.LookupHeader(h.Name)
	switch {
	case refusedHeaders[id] || !sip.ValidHeader(h.Name, h.Value):
		return false
	case id == sip.UserAgent:
		return w.call.s.cfg.UserAgent == ""
	case id == sip.PAssertedIdentity:
		return !w.group.Unasserted
	case id == sip.PPreferredIdentity, id == sip.RemotePartyID, id == sip.Privacy:
		return !w.route.Restricted
	}
	return true
}

// appendLines appends the header lines of the INVITE: the identities, what crosses from the
// caller, and last what the route brings along, which takes the place of a header of the
// caller's with the same name.
func (w *shaping) appendLines(dst []byte, ids *identities, v *veil) []byte {
	m := w.call.msg
	brought := make([]*trunkgroup.NameValue, 0, len(w.route.Headers))
	for i := range w.route.Headers {
		h := &w.route.Headers[i]
		if !w.mayWrite(h) {
			w.fault(FaultRefusedHeader, h.Name)
			continue
		}
		brought = append(brought, h)
	}
	dst = append(dst, allowLine...)
	for _, list := range [...]struct {
		id       sip.HeaderID
		personas []persona
	}{
		{sip.PAssertedIdentity, ids.asserted},
		{sip.PPreferredIdentity, ids.preferred},
		{sip.RemotePartyID, ids.remote},
		{sip.Diversion, ids.diversions},
	} {
		for i := range list.personas {
			if !replaced(brought, list.id, nil) {
				dst = appendPersona(dst, list.id, &list.personas[i], v)
			}
		}
	}
	if v != nil && v.withheld {
		dst = appendPrivacy(dst, m)
	}
	m.Each(func(h sip.Header) bool {
		if w.crosses(&h, v) && !replaced(brought, h.ID, h.Name) {
			dst = append(append(append(append(dst, h.Name...), ": "...), h.Value...), "\r\n"...)
		}
		return true
	})
	for _, h := range brought {
		dst = sip.AppendHeader(dst, h.Name, h.Value)
	}
	return dst
}

// crosses reports whether a header of the caller's goes to the carrier as it is.
func (w *shaping) crosses(h *sip.Header, v *veil) bool {
	switch {
	case stays[h.ID] || identityHeader(h.ID) || h.ID == sip.Diversion:
		return false
	case h.ID == sip.Privacy:
		return v == nil || !v.withheld
	case h.ID == sip.Identity && len(w.number) > 0:
		return false // it is signed for the number that was dialled (RFC 8225 section 5.2.1)
	}
	return v.passes(h)
}

// replaced reports whether the route brings the header along.
func replaced(brought []*trunkgroup.NameValue, id sip.HeaderID, name []byte) bool {
	for _, h := range brought {
		if id != sip.Other && sip.LookupHeader(h.Name) == id || id == sip.Other && strings.EqualFold(h.Name, string(name)) {
			return true
		}
	}
	return false
}

// appendPersona appends the line of one identity, but not where it tells who is withheld.
func appendPersona(dst []byte, id sip.HeaderID, p *persona, v *veil) []byte {
	base := len(dst)
	dst = append(append(dst, id.String()...), ": "...)
	at := len(dst)
	dst = p.append(dst)
	if v != nil && v.withheld && id != sip.PAssertedIdentity && v.mentions(dst[at:]) {
		return dst[:base]
	}
	return append(dst, "\r\n"...)
}

// appendPrivacy appends the caller's Privacy with id among its values (RFC 3325 section 7):
// "none" would contradict it.
func appendPrivacy(dst []byte, m *sip.Message) []byte {
	dst = append(dst, "Privacy: "...)
	m.EachOf(sip.Privacy, func(v []byte) bool {
		for part := range bytes.FieldsFuncSeq(v, func(r rune) bool { return r == ';' || r == ',' || r == ' ' || r == '\t' }) {
			if !bytes.EqualFold(part, []byte("id")) && !bytes.EqualFold(part, []byte("none")) && sip.ValidHeader(string(part), "") {
				dst = append(append(dst, part...), ';')
			}
		}
		return true
	})
	return append(dst, "id\r\n"...)
}
