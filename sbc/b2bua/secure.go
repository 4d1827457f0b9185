package b2bua

import (
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// causeInsecure is the cause of an attempt that was not dialled because the call
// is to a sips address and its far end is not reached over TLS.
const causeInsecure = "insecure"

// keepSecure takes the far ends without TLS out of the try-order of a call to a
// sips address: such a call goes by TLS on every hop (RFC 3261 26.2.2, RFC 5630 3.1).
func (c *Call) keepSecure() {
	uri, err := sip.ParseURI(c.msg.RequestURI())
	if err != nil || uri.Scheme != "sips" {
		return
	}
	for i := range c.cands {
		cand := &c.cands[i]
		t := cand.Member.Transport
		if cand.Binding != nil {
			t = cand.Binding.Transport
		}
		if cand.Dialable && !t.Secure() {
			cand.Dialable, cand.Cause = false, causeInsecure
		}
	}
}

// downgraded reports whether a call to a sips address came without TLS: somebody
// on its way has already broken the promise (RFC 5630 3.1).
func downgraded(p *Packet) bool {
	if p.Transport.Secure() || p.Transport == trunkgroup.Interconnect {
		return false
	}
	uri, err := sip.ParseURI(p.Message.RequestURI())
	return err == nil && uri.Scheme == "sips"
}
