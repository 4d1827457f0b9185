package b2bua

import (
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// downgraded reports whether a call to a sips address came without TLS: somebody
// on its way has already broken the promise (RFC 5630 3.1).
func downgraded(p *Packet) bool {
	if p.Transport.Secure() || p.Transport == trunkgroup.Interconnect {
		return false
	}
	uri, err := sip.ParseURI(p.Message.RequestURI())
	return err == nil && uri.Scheme == "sips"
}
