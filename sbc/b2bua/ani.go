package b2bua

import (
	"bytes"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// An ANI override puts the number that the document gives to a digest user in
// the place of whatever the caller says (P-29): in From, P-Asserted-Identity and
// Remote-Party-ID of everything that leaves for the call. An anonymous From stays
// as it is (RFC 3323 4.1); whom the far end may believe is then asserted.

// overridden writes the From of a leg whose caller has an override, at a host.
func (c *Call) overridden(host string) string {
	if from := addressOf(c.msg.Header(sip.From)); string(from.Host) == "anonymous.invalid" {
		return withoutTag(c.msg.Header(sip.From))
	}
	return "<" + c.aniURI(host) + ">"
}

// shownCaller is the number that the far ends get to see, for the record.
func (c *Call) shownCaller() string {
	if c.ani != "" {
		return c.ani
	}
	return c.callerRaw
}

func (c *Call) aniURI(host string) string { return "sip:" + c.ani + "@" + host }

// callerHost is the host of the caller's address on a leg: ours, and towards a
// peer node, which puts its own there, what the caller wrote.
func (c *Call) callerHost(hop transport.Target) string {
	if hop.Node == "" {
		return c.s.sentBy(hop)
	}
	if host := addressOf(c.msg.Header(sip.From)).Host; len(host) > 0 {
		return string(host)
	}
	return "anonymous.invalid"
}

// handedCaller is the From of an INVITE to a peer node: as it came, or with the
// override, since the peer knows nothing of the user.
func (c *Call) handedCaller(hop transport.Target) string {
	if c.ani == "" {
		return withoutTag(c.msg.Header(sip.From))
	}
	return c.overridden(c.callerHost(hop))
}

// identityHeader says of a header whether it names the caller beside From.
func identityHeader(id sip.HeaderID) bool {
	return id == sip.PAssertedIdentity || id == sip.PPreferredIdentity || id == sip.RemotePartyID
}

// appendCaller appends the headers of the caller's INVITE that cross, with the
// override in the place of his identities. host is that of the From beside them.
func (c *Call) appendCaller(dst []byte, host string) []byte {
	if c.ani == "" {
		return appendCrossing(dst, c.msg)
	}
	dst = append(append(append(dst, "P-Asserted-Identity: <"...), c.aniURI(host)...), ">\r\n"...)
	c.msg.Each(func(h sip.Header) bool {
		switch {
		case h.ID == sip.RemotePartyID:
			dst = append(append(append(dst, "Remote-Party-ID: <"...), c.aniURI(host)...), '>')
			if i := bytes.LastIndexByte(h.Value, '>'); i >= 0 {
				dst = append(dst, h.Value[i+1:]...) // party, screen and privacy
			}
			dst = append(dst, "\r\n"...)
		case !stays[h.ID] && !identityHeader(h.ID):
			dst = append(append(append(append(dst, h.Name...), ": "...), h.Value...), "\r\n"...)
		}
		return true
	})
	return dst
}
